//===- OperandPlan.h - an execute job's entries -----------------*- C++ -*-===//
//
// The operand reader (sim/rtl/operand_reader.sv) works in entries: runs of steps whose
// operands come with one set of scratchpad reads. Their number, steps and read
// cycles (bank conflicts included) are the same for every block of output channels.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_MODEL_OPERANDPLAN_H
#define TILEWRIGHT_SIM_MODEL_OPERANDPLAN_H

#include "backends/systolic/isa/JobGeometry.h"

#include <array>

namespace tilewright::sim::model {

class OperandPlan {
public:
  OperandPlan(const isa::Execute &job, const ArrayConfig &config);

  int64_t groups() const { return groupCount; }
  int64_t entriesPerGroup() const { return int64_t(entrySteps.size()); }
  /// Steps of entry `entry` of any group; may be 0 (packed rows that complete no step).
  int64_t steps(int64_t entry) const { return entrySteps[size_t(entry)]; }
  /// Cycles of reads.
  int64_t readCycles(int64_t group, int64_t entry) const {
    return cycles[size_t(group * readsPerGroup + entry / entriesPerRead)];
  }
  /// Packed: bytes of a kernel row, which the lanes' byte rings hold.
  int64_t rowBytes() const { return packedRowBytes; }
  /// Words read from each bank, for one block of output channels.
  const std::array<int64_t, 4> &bankWords() const { return reads; }

private:
  void planDense(const isa::Execute &job, const ArrayConfig &config);
  void planDepthwise(const isa::Execute &job, const ArrayConfig &config);
  void planPacked(const isa::Execute &job, const ArrayConfig &config);

  int64_t groupCount = 0, readsPerGroup = 1, entriesPerRead = 1, packedRowBytes = 0;
  std::vector<int64_t> entrySteps;
  std::vector<uint8_t> cycles;
  std::array<int64_t, 4> reads = {};
};

} // namespace tilewright::sim::model

#endif
