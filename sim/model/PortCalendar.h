//===- PortCalendar.h - who reads the scratchpad's banks, over time -*- C++ -*-===//
//
// A unit that gets what others leave of a bank waits while they read it. Jobs are entered with the share of cycles in
// which they read each bank; those of one calendar follow each other.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_MODEL_PORTCALENDAR_H
#define TILEWRIGHT_SIM_MODEL_PORTCALENDAR_H

#include "sim/model/DramCalendar.h"

#include <array>
#include <span>

namespace tilewright::sim::model {

class PortCalendar {
public:
  using Shares = std::array<double, 4>; ///< per bank

  /// `words` of each bank are read from `begin` to `end`.
  void add(Time begin, Time end, const std::array<int64_t, 4> &words) {
    while (jobs.size() > 64)
      jobs.pop_front();
    Job job{begin, end, {}};
    for (size_t bank = 0; bank < 4; ++bank)
      job.shares[bank] = end > begin ? std::min(1.0, double(words[bank]) / double(end - begin)) : 0;
    jobs.push_back(job);
  }

  /// Cycles for `words` words that lie in the banks in turn, read from `now` on in cycles that all of `others` leave.
  static Time stretched(Time now, int64_t words, std::span<const PortCalendar *const> others) {
    double left = double(words), at = double(now);
    while (left > 0) {
      Shares unused = {1, 1, 1, 1};
      Time until = never;
      for (const PortCalendar *calendar : others)
        calendar->narrow(Time(at), unused, until);
      double perWord = 0;
      for (double share : unused)
        perWord += 1 / std::max(share, leastUnused) / 4;
      if (until == never || (double(until) - at) / perWord >= left)
        return Time(at + left * perWord - double(now));
      left -= (double(until) - at) / perWord;
      at = double(until);
    }
    return Time(at - double(now));
  }

private:
  /// Even jobs that read all the time pause now and then.
  static constexpr double leastUnused = 0.02;

  struct Job {
    Time begin, end;
    Shares shares;
  };

  /// What is unused at `time`, and until when nothing changes.
  void narrow(Time time, Shares &unused, Time &until) const {
    for (auto job = jobs.rbegin(); job != jobs.rend(); ++job) {
      if (job->end <= time)
        return;
      if (job->begin > time) {
        until = std::min(until, job->begin);
        continue;
      }
      until = std::min(until, job->end);
      for (size_t bank = 0; bank < 4; ++bank)
        unused[bank] *= 1 - job->shares[bank];
    }
  }

  std::deque<Job> jobs;
};

} // namespace tilewright::sim::model

#endif
