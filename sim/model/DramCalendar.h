//===- DramCalendar.h - beats of the memory bus over time -------*- C++ -*-===//
//
// What sim/DramModel.h does cycle by cycle, a few beats at a time: a beat's turn comes at the rate that the refused
// ones leave; reads are served in order, no earlier than a latency after their address; a write takes every second turn
// from reads that are waiting. Who asks for a burst is told its times when its last beat has been given, so that writes
// of the meantime have their turns.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_MODEL_DRAMCALENDAR_H
#define TILEWRIGHT_SIM_MODEL_DRAMCALENDAR_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <deque>
#include <functional>

namespace tilewright::sim::model {

using Time = uint64_t;
inline constexpr Time never = UINT64_MAX;

class DramCalendar {
public:
  /// Times of a burst's first and last beat.
  using Done = std::function<void(Time first, Time last)>;

  /// `interval`: cycles per beat, refusals included.
  DramCalendar(double interval, Time latency) : interval(interval), latency(latency) {}

  /// When a read wanted in `time` may be requested: one address per cycle, and so many bursts in flight; `never` while
  /// that depends on beats not given yet.
  Time readyAt(Time time) const {
    // One more than those in flight waits in the core's address register.
    if (bursts > maxOutstanding) {
      Time free = endOf(bursts - maxOutstanding - 1);
      if (free == never)
        return never;
      time = std::max(time, free);
    }
    return std::max(time, nextAddress);
  }

  /// A read of `beats` beats whose address is offered in `now`.
  void read(Time now, int64_t beats, Done done) {
    nextAddress = now; // the request was a cycle ago
    pending.push_back({now, beats, bursts++, std::move(done)});
    pendingBeats += beats;
  }

  /// When the next beats are given.
  Time next() const { return pending.empty() ? never : timeOf(turnOfHead()); }

  void giveBeats() {
    Burst &burst = pending.front();
    uint64_t turn = turnOfHead();
    if (turn != nextRead)
      busySince = turn;
    int64_t beats = std::min<int64_t>(beatsAtOnce, burst.beats - burst.given);
    uint64_t last = turn;
    for (int64_t i = 0; i < beats; ++i, ++turn) {
      turn = freeTurn(turn);
      if (burst.given + i == 0)
        burst.first = timeOf(turn);
      last = turn;
    }
    while (!writeTurns.empty() && writeTurns.front() <= last)
      writeTurns.pop_front();
    nextRead = last + 1;
    burst.given += beats;
    pendingBeats -= beats;
    if (burst.given < burst.beats)
      return;
    Burst given = std::move(burst);
    pending.pop_front();
    ends.push_back(timeOf(last));
    if (ends.size() > 2 * maxOutstanding)
      ends.pop_front();
    given.done(given.first, timeOf(last));
  }

  /// A write beat whose data is there in `now`: when it is accepted. Beats of writes are in order.
  Time write(Time now) {
    uint64_t turn = std::max(turnAt(now), nextWrite);
    if (turn < nextRead) { // among beats that have been given: those that follow move back
      bool shared = busySince <= turn;
      nextWrite = turn + (shared ? 2 : 1);
      nextRead += shared;
      return timeOf(turn);
    }
    bool wanted =
        !pending.empty() && turnOfHead() <= turn && turn < turnOfHead() + uint64_t(pendingBeats) + writeTurns.size();
    writeTurns.push_back(turn);
    nextWrite = turn + (wanted ? 2 : 1);
    return timeOf(turn);
  }

  Time writeResponse(Time lastBeat) const { return lastBeat + latency; }

private:
  static constexpr size_t maxOutstanding = 16; // as DramModel
  static constexpr int64_t beatsAtOnce = 4;

  struct Burst {
    Time address;
    int64_t beats;
    size_t number;
    Done done;
    int64_t given = 0;
    Time first = 0;
  };

  /// When burst `number` has had its last beat; `never` if that is not known yet.
  Time endOf(size_t number) const {
    size_t given = bursts - pending.size();
    return number < given ? ends[ends.size() - (given - number)] : never;
  }
  /// The turn in which the first waiting burst goes on.
  uint64_t turnOfHead() const {
    const Burst &burst = pending.front();
    Time accepted = burst.address;
    if (burst.number >= maxOutstanding)
      accepted = std::max(accepted, endOf(burst.number - maxOutstanding));
    return freeTurn(std::max(turnAt(accepted + latency), nextRead));
  }
  /// `turn`, or the first after it that no write has.
  uint64_t freeTurn(uint64_t turn) const {
    for (uint64_t taken : writeTurns)
      if (taken == turn)
        ++turn;
      else if (taken > turn)
        break;
    return turn;
  }

  uint64_t turnAt(Time time) const { return uint64_t(std::ceil(double(time) / interval)); }
  Time timeOf(uint64_t turn) const { return Time(double(turn) * interval); }

  double interval;
  Time latency;
  uint64_t nextRead = 0, nextWrite = 0; ///< turns
  uint64_t busySince = 0;               ///< reads follow each other without a gap from this turn to nextRead
  Time nextAddress = 0;
  size_t bursts = 0; ///< requested so far
  std::deque<Burst> pending;
  int64_t pendingBeats = 0;
  std::deque<Time> ends;           ///< last beats of the latest bursts given
  std::deque<uint64_t> writeTurns; ///< of writes, from nextRead on
};

} // namespace tilewright::sim::model

#endif
