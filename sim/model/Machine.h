//===- Machine.h - what the units of the cycle model share ------*- C++ -*-===//
//
// The model has the units of the RTL (sim/rtl): fetch, queues, load, weights,
// execute, vector, store, DRAM. A unit works out the times of a piece of its work (a
// burst, a descriptor, a run of entries) as soon as everything that it depends on is
// known, with times that may lie ahead; pieces are taken in the order of time, so
// that units share the DRAM as in hardware. Cycle 0 is the start register's.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_MODEL_MACHINE_H
#define TILEWRIGHT_SIM_MODEL_MACHINE_H

#include "backends/systolic/isa/Descriptor.h"
#include "sim/Executor.h"
#include "sim/model/PortCalendar.h"

namespace tilewright::sim::model {

inline constexpr size_t queueCount = 5;
inline size_t queueOf(isa::Opcode opcode) { return size_t(opcode) - 1; }

/// A job in its queue.
struct QueuedJob {
  uint32_t descriptor;
  Time pushed; ///< cycle in which the queue sees it
};

struct Machine {
  Machine(const ArrayConfig &config, std::span<const isa::Descriptor> program, const RunOptions &options,
          RunResult &result);

  const ArrayConfig &config;
  std::span<const isa::Descriptor> program;
  RunResult &result;
  DramCalendar dram;
  int64_t busWords; ///< 16-byte words of a bus beat

  std::array<std::deque<QueuedJob>, queueCount> queues;
  /// When each job's completion is visible to waits.
  std::array<std::vector<Time>, queueCount> completed;
  /// Places of the queues that became free: times at which jobs were taken.
  std::array<std::vector<Time>, queueCount> taken;

  // The weight ring, in words since the start.
  std::deque<Time> arrivals; ///< when each word is visible to the sequencer, from word `firstArrival` on
  int64_t firstArrival = 0;
  struct Free {
    int64_t words; ///< so many are free again ...
    Time time;     ///< ... from then on
  };
  std::deque<Free> frees;
  int64_t freedWords = 0;

  PortCalendar operandReads, vectorReads;

  /// When the waits of `job` have all held; `never` if that is not known yet.
  Time waitsHold(const isa::Header &job) const;
  /// The same for one queue's wait.
  Time waitHolds(size_t queue, int64_t count) const {
    return count == 0 ? 0 : count <= int64_t(completed[queue].size()) ? completed[queue][size_t(count - 1)] : never;
  }
  /// The front job of a queue and when it is offered (its waits hold, the queue's head register is loaded); `never` if
  /// unknown.
  Time offered(size_t queue, Time previousTake) const;
  void complete(size_t queue, uint32_t descriptor, Time start, Time end, Time visible);

  // Costs that are the RTL's structure.
  static constexpr Time queueLatency = 2; ///< push to head register
  static constexpr Time beatToUse = 1;    ///< bus beat to the unit's buffer
};

/// A unit of the machine.
class Unit {
public:
  virtual ~Unit() = default;
  /// Earliest time at which it can do its next piece of work; `never` while that depends on something not known.
  virtual Time next() = 0;
  virtual void act(Time now) = 0;
};

} // namespace tilewright::sim::model

#endif
