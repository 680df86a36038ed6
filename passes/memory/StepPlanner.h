//===- StepPlanner.h - tiles of one step ------------------------*- C++ -*-===//
//
// Given which of a step's maps are streamed and how many bytes are left for rings, chooses tile sizes, loop order and
// the weights' policy by the target's cost model.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_MEMORY_STEPPLANNER_H
#define TILEWRIGHT_PASSES_MEMORY_STEPPLANNER_H

#include "passes/memory/BufferPlan.h"

namespace tilewright::memory {

struct LayerPlan {
  TileChoice choice;
  CostEstimate cost;
};

struct StepPlan {
  llvm::SmallVector<LayerPlan, 2> layers;
  llvm::SmallVector<Ring> rings; ///< parallel to usesOf(step); rows = 0 for maps that stay on chip whole
  int64_t ringBytes = 0;
  int64_t cycles = 0; ///< of the step, what is not hidden included
};

/// Nothing when even the smallest tile does not fit into `freeBytes`.
std::optional<StepPlan> planStep(const Segment &segment, int step, int64_t freeBytes);
/// Ring bytes of the smallest tile.
int64_t minimalRingBytes(const Segment &segment, int step);

} // namespace tilewright::memory

#endif
