//===- DramCalendar.h - beats of the memory bus over time -------*- C++ -*-===//
//
// What sim/DramModel.h does cycle by cycle, burst by burst: a beat's turn comes at the
// rate that the refused ones leave; reads are served in order, no earlier than a
// latency after their request; a write takes every second turn from reads that are
// waiting, and those that come later move back by what it took.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_MODEL_DRAMCALENDAR_H
#define TILEWRIGHT_SIM_MODEL_DRAMCALENDAR_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <utility>

namespace tilewright::sim::model {

using Time = uint64_t;
inline constexpr Time never = UINT64_MAX;

class DramCalendar {
public:
  /// `interval`: cycles per beat, refusals included.
  DramCalendar(double interval, Time latency) : interval(interval), latency(latency) {}

  /// When a read wanted in `time` may be requested: one address per cycle, and so many bursts in flight.
  Time readyAt(Time time) const {
    if (outstanding.size() > maxOutstanding)
      time = std::max(time, outstanding[outstanding.size() - maxOutstanding - 1]);
    return std::max(time, nextAddress);
  }

  /// A read of `beats` beats whose address is accepted in `now`: when its first and last beat are offered.
  std::pair<Time, Time> read(Time now, int64_t beats) {
    nextAddress = now; // the request was a cycle ago
    if (outstanding.size() >= maxOutstanding)
      now = std::max(now, outstanding[outstanding.size() - maxOutstanding]);
    uint64_t turn = std::max(turnAt(now + latency), nextRead);
    if (turn != nextRead)
      busySince = turn;
    nextRead = turn + uint64_t(beats);
    Time last = timeOf(nextRead - 1);
    outstanding.push_back(last);
    if (outstanding.size() > maxOutstanding + 1)
      outstanding.pop_front();
    return {timeOf(turn), last};
  }

  /// A write beat whose data is there in `now`: when it is accepted. Beats of writes are in order.
  Time write(Time now) {
    uint64_t turn = std::max(turnAt(now), nextWrite);
    bool shared = busySince <= turn && turn < nextRead;
    nextWrite = turn + (shared ? 2 : 1);
    nextRead += shared;
    return timeOf(turn);
  }

  Time writeResponse(Time lastBeat) const { return lastBeat + latency; }

private:
  static constexpr size_t maxOutstanding = 16; // as DramModel; one more waits in the core's address register

  uint64_t turnAt(Time time) const { return uint64_t(std::ceil(double(time) / interval)); }
  Time timeOf(uint64_t turn) const { return Time(double(turn) * interval); }

  double interval;
  Time latency;
  uint64_t nextRead = 0, nextWrite = 0; ///< turns
  uint64_t busySince = 0;               ///< reads follow each other without a gap from this turn to nextRead
  Time nextAddress = 0;
  std::deque<Time> outstanding; ///< last beats of the latest bursts
};

} // namespace tilewright::sim::model

#endif
