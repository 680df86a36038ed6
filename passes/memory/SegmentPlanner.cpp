//===- SegmentPlanner.cpp - what stays on chip, what is streamed ----------===//
//
// Everything stays on chip at first. While some step's maps and smallest rings do not fit together, the storage that
// frees most bytes there for the least DRAM traffic is streamed. Then rings grow into what is left.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/SegmentPlanner.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::memory;
using namespace tilewright::tile;

static int64_t bytesOf(const Segment &segment, const Storage &storage) {
  return segment.target.mapBytes(storage.shape, storage.element);
}

static int64_t residentBytes(const Segment &segment, int64_t step) {
  int64_t bytes = 0;
  for (const Storage &storage : segment.storages)
    if (!storage.streamed && storage.first <= step && step <= storage.last)
      bytes += bytesOf(segment, storage);
  return bytes;
}

/// Streams one more storage that is alive at `step`; false when there is none.
static bool streamOne(Segment &segment, int64_t step) {
  int best = -1;
  double bestScore = 0;
  int64_t ringsBefore = minimalRingBytes(segment, step);
  for (auto [i, storage] : llvm::enumerate(segment.storages)) {
    if (storage.streamed || storage.pinned || storage.first > step || step > storage.last)
      continue;
    storage.streamed = true;
    int64_t saved = bytesOf(segment, storage) - (minimalRingBytes(segment, step) - ringsBefore);
    storage.streamed = false;
    if (saved <= 0)
      continue;
    double traffic = static_cast<double>(bytesOf(segment, storage)) * (storage.touches.size() + 1);
    double score = static_cast<double>(saved) / traffic;
    if (best < 0 || score > bestScore) {
      best = i;
      bestScore = score;
    }
  }
  if (best < 0)
    return false;
  segment.storages[best].streamed = true;
  return true;
}

BufferPlan memory::buffersOf(const Segment &segment, ArrayRef<SmallVector<Ring>> rings, bool earlier) {
  BufferPlan plan(segment);
  plan.addStorages();
  for (auto [i, step] : llvm::enumerate(segment.steps))
    for (auto [use, ring] : llvm::zip_equal(usesOf(step), rings[i]))
      if (ring.rows)
        plan.addRing(i, use, ring, earlier && use.index >= 0 && !segment.isInternal(use.value()));
  return plan;
}

FailureOr<std::vector<StepPlan>> memory::planSegment(Segment &segment) {
  int64_t capacity = segment.target.mapCapacity();
  double share = 1;
  for (;;) {
    std::vector<StepPlan> plans;
    std::optional<int64_t> tooFull;
    for (size_t i = 0; i < segment.steps.size() && !tooFull; ++i) {
      int64_t left = capacity - residentBytes(segment, i);
      std::optional<StepPlan> plan;
      if (left >= 0)
        plan = planStep(segment, i, static_cast<int64_t>(static_cast<double>(left) * share));
      if (!plan && left >= 0 && share < 1)
        plan = planStep(segment, i, left);
      if (plan)
        plans.push_back(std::move(*plan));
      else
        tooFull = i;
    }
    if (tooFull) {
      if (streamOne(segment, *tooFull))
        continue;
      Step &step = segment.steps[*tooFull];
      return step.op->emitError("layer '")
             << step.layers.back().getLayerName() << "' does not fit: its smallest tile takes "
             << residentBytes(segment, *tooFull) + minimalRingBytes(segment, *tooFull) << " bytes on chip, "
             << segment.target.name() << " has " << capacity;
    }
    SmallVector<SmallVector<Ring>> rings;
    for (StepPlan &plan : plans)
      rings.push_back(plan.rings);
    for (bool earlier : {true, false})
      if (buffersOf(segment, rings, earlier).allocate() <= capacity)
        return plans;
    // The sum fits but the pieces do not: smaller rings first, then one more streamed.
    if (share > 0.5) {
      share -= 0.15;
      continue;
    }
    share = 1;
    bool streamedOne = false;
    for (size_t i = 0; i < segment.steps.size() && !streamedOne; ++i)
      if (residentBytes(segment, i) > capacity / 2)
        streamedOne = streamOne(segment, i);
    for (size_t i = 0; i < segment.steps.size() && !streamedOne; ++i)
      streamedOne = streamOne(segment, i);
    if (!streamedOne)
      return segment.steps.front().op->emitError("the layers' maps cannot be placed in ")
             << capacity << " bytes of " << segment.target.name();
  }
}
