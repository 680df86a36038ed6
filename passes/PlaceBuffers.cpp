//===- PlaceBuffers.cpp - addresses on chip and in DRAM -------------------===//
//
// choose-tiles has decided what is streamed and how many rows each ring holds; here every buffer gets its place, with
// lifetimes over the segment's steps.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/memory/Placements.h"
#include "passes/memory/SegmentPlanner.h"

namespace tilewright {
#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::memory;

/// Offsets in the segment's DRAM arena, by storage. What comes from the host is there from the start, what goes to it
/// until the end.
static SmallVector<int64_t> placeInDram(const Segment &segment) {
  SmallVector<Buffer> buffers;
  SmallVector<int64_t> index(segment.storages.size(), -1), offsets(segment.storages.size(), -1);
  int64_t end = segment.steps.size();
  for (auto [i, storage] : llvm::enumerate(segment.storages)) {
    int64_t bytes = dramBytes(segment, i);
    if (!bytes)
      continue;
    index[i] = buffers.size();
    // A transfer may run ahead of or behind its step: one step more at each side.
    buffers.push_back({bytes, storage.enters ? 0 : storage.first, storage.leaves ? end : storage.last + 1});
  }
  allocate(buffers, 64);
  for (auto [offset, i] : llvm::zip_equal(offsets, index))
    if (i >= 0)
      offset = buffers[i].offset;
  return offsets;
}

namespace {
struct PlaceBuffersPass final : tilewright::impl::PlaceBuffersPassBase<PlaceBuffersPass> {
  using PlaceBuffersPassBase::PlaceBuffersPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (failed(withTarget(function, target,
                          [&](const TargetDescription &description) { return place(function, description); })))
      signalPassFailure();
  }

private:
  LogicalResult place(func::FuncOp function, const TargetDescription &description) {
    if (description.placesBuffers())
      for (SmallVector<Operation *> &run : deviceRuns(function))
        if (failed(placeRun(run, description)))
          return failure();
    return success();
  }

  LogicalResult placeRun(ArrayRef<Operation *> run, const TargetDescription &description) {
    Segment segment(run, description);
    if (failed(segment.verify()))
      return failure();
    readStreamed(segment);
    SmallVector<SmallVector<Ring>> rings;
    for (size_t i = 0; i < segment.steps.size(); ++i) {
      for (tile::TileRootInterface layer : segment.steps[i].layers)
        if (!layer.getTilingAttr() || !layer.getResultPlacementAttr())
          return layer->emitError("layer '") << layer.getLayerName() << "' has no tiling: choose-tiles must run before";
      rings.push_back(readRings(segment, i));
    }
    BufferPlan plan = buffersOf(segment, rings);
    if (int64_t used = plan.allocate(), capacity = description.mapCapacity(); used > capacity)
      return segment.steps.front().op->emitError("the chosen tiles take ")
             << used << " bytes on chip, " << description.name() << " has " << capacity;
    plan.allocateApart();
    SmallVector<int64_t> dramOffsets = placeInDram(segment);
    for (size_t i = 0; i < segment.steps.size(); ++i) {
      SmallVector<int64_t> offsets;
      for (const MapUse &use : usesOf(segment.steps[i]))
        offsets.push_back(plan.offsetOf(i, use));
      writePlacements(segment, i, rings[i], offsets, dramOffsets);
    }
    writeBoundaries(segment, dramOffsets);
    return success();
  }
};
} // namespace
