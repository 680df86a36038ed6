//===- Jobs.h - the jobs of a device program, queue by queue ----*- C++ -*-===//
//
// generateJobs() turns layers into descriptors in each queue's order and works
// out what every job waits for; Schedule.h then merges the queues into one
// program. The waits come from the accesses alone: two jobs are ordered exactly
// when they touch the same word (of scratchpad, DRAM or a table) and one of
// them writes it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_JOBS_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_JOBS_H

#include "backends/systolic/Layers.h"
#include "backends/systolic/isa/Descriptor.h"
#include "config/ArrayConfig.h"

namespace tilewright::systolic {

enum Queue : unsigned { LoadQueue, WeightsQueue, ExecuteQueue, VectorQueue, StoreQueue, QueueCount };

/// Jobs of each queue that must have completed, counted from the program's start.
using Waits = std::array<int64_t, QueueCount>;

struct Job {
  isa::Descriptor descriptor; ///< DRAM addresses are relative: to the constants (weights) or the arena (load, store)
  Waits waits = {};
  /// Position in the sequential order in which layers and tiles were generated: who is served first when two jobs
  /// could use the DRAM at the same time.
  int64_t order = 0;
  int64_t dramBytes = 0; ///< moved by load, weights, store
  int64_t cycles = 0;    ///< execute, vector: array or lane cycles without waiting
  /// weights: ring words appended before and including this job. execute: ring words that must have been appended when
  /// it ends, and that are free once it has ended; all counted from the program's start.
  int64_t ringAppended = 0, ringNeeded = 0, ringFreed = 0;
};

struct JobList {
  std::array<std::vector<Job>, QueueCount> queues;
  std::vector<uint8_t> constants; ///< packed weights and tables; its address must be a multiple of 64
  std::vector<LayerInfo> layers;
};

/// Throws Error naming the layer when it cannot run as placed and tiled.
JobList generateJobs(const ArrayConfig &array, const LayerProgram &program);

} // namespace tilewright::systolic

#endif
