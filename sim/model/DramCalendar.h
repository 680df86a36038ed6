//===- DramCalendar.h - beats of the memory bus over time -------*- C++ -*-===//
//
// What sim/DramModel.h does cycle by cycle, as a calendar: reads and writes book beats
// at the rate that the refused ones leave, reads in order no earlier than a latency
// after their request.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_MODEL_DRAMCALENDAR_H
#define TILEWRIGHT_SIM_MODEL_DRAMCALENDAR_H

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <deque>
#include <vector>

namespace tilewright::sim::model {

using Time = uint64_t;
inline constexpr Time never = UINT64_MAX;

class DramCalendar {
public:
  /// `interval`: cycles per beat, refusals included.
  DramCalendar(double interval, Time latency) : interval(interval), latency(latency), booked(window) {}

  /// When a read wanted in `time` may be requested: one address per cycle, and so many bursts in flight.
  Time readyAt(Time time) const {
    if (outstanding.size() > maxOutstanding)
      time = std::max(time, outstanding[outstanding.size() - maxOutstanding - 1]);
    return std::max(time, nextAddress);
  }

  /// A read of `beats` beats whose address is accepted in `now`: when its first and last beat are offered.
  std::pair<Time, Time> read(Time now, int64_t beats) {
    nextAddress = now; // the request was a cycle ago
    bool shared = now < writesUntil; // reads and writes take turns
    Time first = 0, last = 0;
    if (outstanding.size() >= maxOutstanding)
      now = std::max(now, outstanding[outstanding.size() - maxOutstanding]);
    uint64_t slot = std::max(slotAt(now + latency), nextRead);
    for (int64_t i = 0; i < beats; ++i) {
      slot = book(slot);
      last = timeOf(slot);
      if (i == 0)
        first = last;
      slot += shared ? 2 : 1;
    }
    nextRead = slot;
    outstanding.push_back(last);
    if (outstanding.size() > maxOutstanding + 1)
      outstanding.pop_front();
    return {first, last};
  }

  /// A write beat whose data is there in `now`: when it is accepted. Beats of writes are in order.
  Time write(Time now) {
    uint64_t slot = book(std::max(slotAt(now), nextWrite));
    nextWrite = slot + 1;
    writesUntil = timeOf(slot) + 24;
    return timeOf(slot);
  }

  Time writeResponse(Time lastBeat) const { return lastBeat + latency; }

private:
  static constexpr size_t maxOutstanding = 16; // as DramModel; one more waits in the core's address register
  static constexpr uint64_t window = 1 << 16;

  uint64_t slotAt(Time time) const { return uint64_t(std::ceil(double(time) / interval)); }
  Time timeOf(uint64_t slot) const { return Time(double(slot) * interval); }
  /// The first free slot from `slot` on, taken.
  uint64_t book(uint64_t slot) {
    while (booked[slot % window] == slot + 1)
      ++slot;
    booked[slot % window] = slot + 1;
    return slot;
  }

  double interval;
  Time latency;
  std::vector<uint64_t> booked; ///< slot + 1 of what was booked there last
  uint64_t nextRead = 0, nextWrite = 0;
  Time nextAddress = 0, writesUntil = 0;
  std::deque<Time> outstanding; ///< last beats of the latest bursts
};

} // namespace tilewright::sim::model

#endif
