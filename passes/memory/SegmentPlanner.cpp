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

/// Streams one more storage that is alive at `step`; false when there is none. Of those that make the step fit the one
/// with the least traffic, else the one that frees most.
static bool streamOne(Segment &segment, int64_t step) {
  struct Option {
    int storage;
    int64_t saved, traffic;
  };
  std::optional<Option> best;
  int64_t ringsBefore = minimalRingBytes(segment, step);
  int64_t excess = residentBytes(segment, step) + ringsBefore - segment.target.mapCapacity();
  for (auto [i, storage] : llvm::enumerate(segment.storages)) {
    if (storage.streamed || storage.pinned || storage.first > step || step > storage.last)
      continue;
    storage.streamed = true;
    int64_t saved = bytesOf(segment, storage) - (minimalRingBytes(segment, step) - ringsBefore);
    storage.streamed = false;
    if (saved <= 0)
      continue;
    Option option{static_cast<int>(i), saved,
                  bytesOf(segment, storage) * static_cast<int64_t>(storage.touches.size() + 1)};
    bool enough = option.saved >= excess, bestEnough = best && best->saved >= excess;
    if (!best || (enough && !bestEnough) || (enough && option.traffic < best->traffic) ||
        (!enough && !bestEnough && option.saved > best->saved))
      best = option;
  }
  if (!best)
    return false;
  segment.storages[best->storage].streamed = true;
  return true;
}

BufferPlan memory::buffersOf(const Segment &segment, ArrayRef<SmallVector<Ring>> rings) {
  BufferPlan plan(segment);
  plan.addStorages();
  for (auto [i, step] : llvm::enumerate(segment.steps))
    for (auto [use, ring] : llvm::zip_equal(usesOf(step), rings[i]))
      if (ring.rows)
        plan.addRing(i, use, ring);
  return plan;
}

namespace {
/// Plans with what is streamed as it is; `tooFull` is a step that does not fit, or -1 when only the pieces do not.
struct Attempt {
  std::optional<std::vector<StepPlan>> plans;
  int64_t tooFull = -1;
  int64_t cycles() const {
    int64_t sum = 0;
    for (const StepPlan &plan : *plans)
      sum += plan.cycles;
    return sum;
  }
};
} // namespace

static Attempt attempt(const Segment &segment) {
  int64_t capacity = segment.target.mapCapacity();
  // Rings may take all that is left at a step; smaller ones when the pieces then do not fit together.
  for (double share : {1.0, 0.85, 0.7, 0.5}) {
    std::vector<StepPlan> plans;
    SmallVector<SmallVector<Ring>> rings;
    for (size_t i = 0; i < segment.steps.size(); ++i) {
      int64_t left = capacity - residentBytes(segment, i);
      std::optional<StepPlan> plan;
      if (left >= 0)
        plan = planStep(segment, i, static_cast<int64_t>(static_cast<double>(left) * share));
      if (!plan && left >= 0 && share < 1)
        plan = planStep(segment, i, left);
      if (!plan)
        return {std::nullopt, static_cast<int64_t>(i)};
      rings.push_back(plan->rings);
      plans.push_back(std::move(*plan));
    }
    if (buffersOf(segment, rings).allocate() <= capacity)
      return {std::move(plans), -1};
  }
  return {};
}

FailureOr<std::vector<StepPlan>> memory::planSegment(Segment &segment, GroupOp &tooLarge) {
  int64_t capacity = segment.target.mapCapacity();
  Attempt best = attempt(segment);
  while (!best.plans) {
    if (best.tooFull >= 0) {
      if (!streamOne(segment, best.tooFull)) {
        Step &step = segment.steps[best.tooFull];
        tooLarge = dyn_cast<GroupOp>(step.op);
        if (tooLarge)
          return failure();
        step.op->emitError("layer '") << step.layers.back().getLayerName() << "' does not fit: its smallest tile takes "
                                      << residentBytes(segment, best.tooFull) + minimalRingBytes(segment, best.tooFull)
                                      << " bytes on chip, " << segment.target.name() << " has " << capacity;
        return failure();
      }
    } else {
      bool more = false;
      for (size_t i = 0; i < segment.steps.size() && !more; ++i)
        if (residentBytes(segment, i) > capacity / 2)
          more = streamOne(segment, i);
      for (size_t i = 0; i < segment.steps.size() && !more; ++i)
        more = streamOne(segment, i);
      if (!more) {
        segment.steps.front().op->emitError("the layers' maps cannot be placed in ")
            << capacity << " bytes of " << segment.target.name();
        return failure();
      }
    }
    best = attempt(segment);
  }
  // What was streamed early may have room now that other storages are.
  for (Storage &storage : segment.storages) {
    if (!storage.streamed || storage.enters)
      continue;
    storage.streamed = false;
    Attempt without = attempt(segment);
    if (without.plans && without.cycles() <= best.cycles())
      best = std::move(without);
    else
      storage.streamed = true;
  }
  return std::move(*best.plans);
}
