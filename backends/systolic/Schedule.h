//===- Schedule.h - one program from five queues ----------------*- C++ -*-===//
//
// Descriptors are fetched in order into queues a few entries deep, so a job that
// cannot start yet must not stand before one that could. merge() interleaves the
// queues by expected start time, under a simple model of the array and the DRAM.
// Any prefix of the result is complete: executed one after the other, each job
// finds its operands, its weights, and room in the weight ring.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_SCHEDULE_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_SCHEDULE_H

#include "backends/systolic/Jobs.h"

namespace tilewright::systolic {

struct Schedule {
  std::vector<isa::Descriptor> program; ///< waits filled in, ended by sync; DRAM addresses still relative
  int64_t expectedCycles = 0;
};

Schedule merge(const ArrayConfig &array, const JobList &jobs);

} // namespace tilewright::systolic

#endif
