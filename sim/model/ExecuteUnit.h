//===- ExecuteUnit.h - reader, sequencer and drain in the model -*- C++ -*-===//
//
// operand_reader.sv, sequencer.sv, systolic_array.sv and drain_group.sv, entry by
// entry. Every cycle without a step is charged to the cause that the sequencer would
// name.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_MODEL_EXECUTEUNIT_H
#define TILEWRIGHT_SIM_MODEL_EXECUTEUNIT_H

#include "sim/model/Machine.h"
#include "sim/model/OperandPlan.h"
#include <optional>

namespace tilewright::sim::model {

class ExecuteUnit final : public Unit {
public:
  explicit ExecuteUnit(Machine &machine) : machine(machine) {}
  Time next() override;
  void act(Time now) override;
  /// The cycle after the last step so far.
  Time lastStep() const { return free; }

private:
  Time takeTime() const;
  void take(Time now);
  /// Goes on until the job ends or waits for weights whose arrival is not known yet.
  void advance();
  bool header();
  bool step();
  void beginEntry();
  void finishEntry(Time lastStep);
  void finishBrick(Time lastStep);
  void finishJob(Time lastStep);
  void chargeWait(Time until);
  void charge(TilewrightCause cause, Time until) {
    if (until > clock) {
      record.lost[cause] += until - clock;
      clock = until;
    }
  }
  /// When the sequencer sees the word at `position`; `never` if not known.
  Time arrival(int64_t position) const {
    int64_t index = position - machine.firstArrival;
    return index < int64_t(machine.arrivals.size()) ? machine.arrivals[size_t(index)] : never;
  }
  void freeWords(int64_t words, Time time);

  Machine &machine;

  // The job at work.
  std::optional<OperandPlan> plan;
  isa::Execute job;
  JobRecord record{};
  int64_t block = 0, group = 0, entry = 0, stepInEntry = 0, headerWord = 0;
  int64_t blocks = 0;
  int64_t tail = 0, position = 0, blockPosition = 0; ///< ring words since the start
  Time began = 0;

  // Reader.
  Time form = 0, formReady = 0, groupReady = 0, visible = 0, readerFree = 0;
  int64_t readCycles = 1;
  std::array<Time, 8> slotFree{}; ///< of the last eight entries: their last step
  size_t slot = 0;
  std::deque<std::pair<int64_t, Time>> packedDone; ///< bytes of the lanes' rings so far, freed in
  int64_t packedBytes = 0;

  // Sequencer and drain.
  Time clock = 0, free = 0; ///< next cycle to account for; the cycle after the last step
  std::array<Time, 2> bankFree{}, parametersFree{};
  size_t bank = 0, parameters = 0;
  Time lastDrain = 0, lastWritten = 0, drainWalkFree = 0;
  std::deque<Time> pixelUse; ///< when the bricks before this one used their prepared pixels
  std::deque<Time> takeTimes;
};

} // namespace tilewright::sim::model

#endif
