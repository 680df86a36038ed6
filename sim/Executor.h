//===- Executor.h - what runs a program of the array ------------*- C++ -*-===//
//
// One interface, three executors: golden (functional), model (cycles without
// data) and rtl (Verilator; the one whose cycles count).
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_EXECUTOR_H
#define TILEWRIGHT_SIM_EXECUTOR_H

#include "backends/systolic/isa/Descriptor.h"
#include "config/ArrayConfig.h"
#include "sim/SimulatorAbi.h"
#include <array>
#include <cstdint>
#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilewright::sim {

/// Why the array took no step; numbered as TilewrightCause.
inline constexpr std::array<const char *, TilewrightCauseCount> causeNames = {
    "no_job",     "wait_load", "wait_store", "wait_vector", "wait_execute",
    "wait_table", "weight",    "drain",      "activation",  "setup"};
/// Numbered as TilewrightDramClass.
inline constexpr std::array<const char *, TilewrightDramClassCount> dramClassNames = {"descriptors", "load", "weights",
                                                                                      "store"};

/// One completed job: queue, layer, descriptor, start, end, steps and lost cycles by cause (sim/SimulatorAbi.h).
using JobRecord = TilewrightJob;

struct Progress {
  uint64_t cycles;     ///< so far; 0 for golden
  uint32_t descriptor; ///< of the execute job that runs
  uint32_t layer;
};

/// A rolling hash for each byte of a memory, over all writes to it (sim/WriteDigest.h). Empty if not collected.
class WriteDigest {
public:
  WriteDigest() = default;
  /// Pages of bytes never written stay untouched.
  explicit WriteDigest(uint64_t words)
      : words(words), hashes(static_cast<uint32_t *>(std::calloc(words * 16 + 1, sizeof(uint32_t))), &std::free) {
    if (!hashes)
      throw std::bad_alloc();
  }
  uint64_t size() const { return words; } ///< in 16-byte words
  uint32_t *word(uint64_t index) { return hashes.get() + index * 16; }
  const uint32_t *word(uint64_t index) const { return hashes.get() + index * 16; }

private:
  uint64_t words = 0;
  std::unique_ptr<uint32_t[], decltype(&std::free)> hashes{nullptr, &std::free};
};

struct RunOptions {
  uint32_t dramBytesPerCycle = 0; ///< reads plus writes; 0: the configuration's
  std::string waveFile;           ///< rtl: FST to write
  uint64_t maxCycles = 0;         ///< rtl: give up after so many; 0: when nothing completes for long
  /// Called now and then; false stops the run with an Error.
  std::function<bool(const Progress &)> progress;
  bool collectWrites = false; ///< fill the digests
  /// golden: reads of scratchpad words that nothing has written are an Error.
  bool strict = false;
  /// golden: what every byte of the scratchpad and the ring holds before the program writes it. A right program's
  /// result does not depend on it.
  uint8_t fill = 0;
  bool cyclesOnly = false; ///< model: do not compute data
  /// Writes to one word are listed in RunResult::watched; word addresses, UINT64_MAX: none.
  uint64_t watchScratchpad = UINT64_MAX, watchDram = UINT64_MAX;
};

struct RunResult {
  uint64_t cycles = 0;         ///< from the start register to done; 0 for golden
  uint64_t tail = 0;           ///< of them after the last step (no_job)
  std::vector<JobRecord> jobs; ///< in the order of completion (golden: of the program)
  std::array<uint64_t, TilewrightDramClassCount> dramBytes{};
  WriteDigest scratchpadWrites, dramWrites;
  std::vector<TilewrightWrite> watched;

  uint64_t steps() const; ///< sum over jobs
  /// Sum over jobs by cause, the tail included: steps() + their sum = cycles.
  std::array<uint64_t, TilewrightCauseCount> lost() const;
};

class Executor {
public:
  virtual ~Executor() = default;
  virtual const char *name() const = 0;
  /// Builds or opens what the first run would, so that the time of run() is the run's. Throws Error.
  virtual void prepare(const ArrayConfig &config, const RunOptions &options = {}) {}
  /// Runs the program at `programAddress` of `memory`, the DRAM image, which it changes as the program says. Throws
  /// Error (with the descriptor's number and layer) for a program that does what it must not, and what else went wrong.
  virtual RunResult run(const ArrayConfig &config, std::span<uint8_t> memory, uint64_t programAddress,
                        const RunOptions &options = {}) = 0;
};

std::unique_ptr<Executor> makeGoldenExecutor();
/// Cycles from the model, data from golden (unless RunOptions::cyclesOnly).
std::unique_ptr<Executor> makeModelExecutor();

/// The cycle model alone: fills cycles, tail, jobs and DRAM bytes. `program` must be one that the verifier accepts;
/// what is in memory does not matter.
void modelCycles(const ArrayConfig &config, std::span<const isa::Descriptor> program, uint64_t programAddress,
                 const RunOptions &options, RunResult &result);

/// Compares the writes of two runs of one program. Empty if they are the same; otherwise a message naming the first
/// word (in the order in which golden wrote them) that differs, and the job and layer that wrote it. Runs both again to
/// find them; `memory` and `programAddress` are as they were before.
std::string compareWrites(const ArrayConfig &config, std::span<const uint8_t> memory, uint64_t programAddress,
                          Executor &golden, const RunResult &goldenResult, Executor &other,
                          const RunResult &otherResult, const RunOptions &options = {});

} // namespace tilewright::sim

#endif
