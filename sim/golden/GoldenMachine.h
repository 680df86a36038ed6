//===- GoldenMachine.h - state of the golden executor -----------*- C++ -*-===//
//
// Scratchpad, weight ring, tables and DRAM, and one function per kind of
// descriptor. Follows docs/accelerator.md literally where that is fast enough, and
// in another order of the same integer operations where it is not.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_GOLDEN_GOLDENMACHINE_H
#define TILEWRIGHT_SIM_GOLDEN_GOLDENMACHINE_H

#include "backends/systolic/isa/Descriptor.h"
#include "common/Error.h"
#include "sim/Executor.h"
#include "sim/golden/GoldenKernels.h"
#include <array>
#include <cstring>
#include <vector>

namespace tilewright::sim {

class GoldenMachine {
public:
  GoldenMachine(const ArrayConfig &config, std::span<uint8_t> memory, const RunOptions &options, RunResult &result);

  /// Runs one descriptor. `index`: its number in the program. Throws Error without the descriptor's place.
  void run(const isa::Descriptor &descriptor, uint32_t index);

private:
  void run(const isa::Load &job);
  void run(const isa::Weights &job);
  void run(const isa::Execute &job);
  void run(const isa::Vector &job);
  void run(const isa::Store &job);
  void run(const isa::Sync &) {}

  // GoldenMachine.cpp: memories.
  /// Word address of map row `y` of a sample and channel word, column 0. Throws if the row is not in the ring's span.
  int64_t rowAddress(const isa::Map &map, int64_t sample, int64_t plane, int64_t y) const;
  /// Throws unless [address, address + words) is in the scratchpad and, in strict mode, written.
  void checkRead(int64_t address, int64_t words) const;
  const uint8_t *read(int64_t address) const {
    checkRead(address, 1);
    return scratchpad.data() + 16 * address;
  }
  void write(int64_t address, const uint8_t *data, uint32_t mask);
  void writeDram(uint64_t address, const uint8_t *data);
  /// DRAM bytes; throws if they are outside.
  uint8_t *dram(uint64_t address, uint64_t bytes) const;
  /// 16 output channels, of which `count` are the job's, at byte `offset + channel` of the map's pixel.
  void writeChannels(int64_t pixel, const isa::Map &map, int64_t channel, int64_t count, int64_t offset,
                     const int8_t *values);
  const int8_t *table(int64_t number) const { return number ? tables[number - 1].data() : nullptr; }

  // GoldenExecute.cpp.
  struct Block; // weights and epilogue of 16 output channels
  /// Takes the job's blocks from the ring.
  std::vector<Block> readBlocks(const isa::Execute &job);
  void gatherPixel(const isa::Execute &job, int64_t sample, int64_t y, int64_t x, int16_t *out) const;
  void gatherPackedPixel(const isa::Execute &job, int64_t sample, int64_t y, int64_t x, int16_t *out) const;
  void accumulateDepthwise(const isa::Execute &job, const Block &block, int64_t sample, int64_t y, int64_t x,
                           int32_t *acc) const;
  void finish(const isa::Execute &job, const Block &block, int64_t sample, int64_t y, int64_t x, const int32_t *acc);

  const ArrayConfig &config;
  std::span<uint8_t> memory;
  const RunOptions &options;
  RunResult &result;
  const Kernels &kernel = kernels();

  std::vector<uint8_t> scratchpad;
  std::vector<uint8_t> written; ///< strict: for each word, whether anything was written to it
  std::vector<uint8_t> ring;    ///< unbounded here; capacity is the verifier's business
  size_t ringTail = 0;          ///< bytes of `ring` that are freed
  std::array<std::array<int8_t, 256>, 4> tables{};
  std::vector<int32_t> accumulators; ///< of a job with acc_finish = 0: [16-channel group][pixel][16]
  uint32_t current = 0;              ///< descriptor being run
  isa::Opcode currentKind = isa::Opcode::Sync;
};

} // namespace tilewright::sim

#endif
