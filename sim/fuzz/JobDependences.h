//===- JobDependences.h - the waits that a job needs ------------*- C++ -*-===//
//
// Tracks for every word of scratchpad and DRAM who wrote it last and who has read
// it since, and gives a job the smallest waits that keep its order. The fuzzer uses
// it; independent of the compiler's own dependence analysis on purpose.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_FUZZ_JOBDEPENDENCES_H
#define TILEWRIGHT_SIM_FUZZ_JOBDEPENDENCES_H

#include "backends/systolic/isa/Descriptor.h"
#include "config/ArrayConfig.h"
#include <array>
#include <cstdint>
#include <functional>
#include <vector>

namespace tilewright::sim {

/// Calls `word(address)` for every scratchpad word that the job reads; writes likewise. Padding is not read.
void forEachWordRead(const isa::Descriptor &job, const ArrayConfig &config, const std::function<void(int64_t)> &word);
void forEachWordWritten(const isa::Descriptor &job, const ArrayConfig &config,
                        const std::function<void(int64_t)> &word);
/// Calls `word(index)` for every aligned 16-byte word of DRAM that a load, weights or store job touches.
void forEachDramWord(const isa::Descriptor &job, const std::function<void(int64_t)> &word);

class JobDependences {
public:
  JobDependences(const ArrayConfig &config, uint64_t dramWords);

  /// Raises the job's waits to what its order needs and records it as issued.
  void issue(isa::Descriptor &job);
  /// Jobs issued to a queue so far.
  int64_t issued(isa::Opcode queue) const { return counts[queueOf(queue)]; }

private:
  static constexpr size_t queueCount = 5;
  static size_t queueOf(isa::Opcode opcode) { return size_t(opcode) - 1; }
  struct Word {
    uint8_t writer = UINT8_MAX;             ///< queue
    int64_t written = 0;                    ///< its job number, from 1
    std::array<int64_t, queueCount> read{}; ///< job number of the last reader in each queue
  };
  void reads(Word &word, size_t queue, std::array<int64_t, queueCount> &waits);
  void writes(Word &word, size_t queue, std::array<int64_t, queueCount> &waits);

  const ArrayConfig &config;
  std::vector<Word> scratchpad, dram;
  std::array<Word, 4> tables;
  std::array<int64_t, queueCount> counts{};
};

} // namespace tilewright::sim

#endif
