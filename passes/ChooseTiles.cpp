//===- ChooseTiles.cpp - tile sizes, loop order, what is streamed ---------===//
//
// For targets whose buffers are placed here, a segment at a time: what stays on chip, row rings, tiles (memory/). For
// the others, each layer's block of work that fits on chip. Nothing in this file knows a root or a target.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/memory/Placements.h"
#include "passes/memory/SegmentPlanner.h"
#include "passes/memory/Structure.h"

namespace tilewright {
#define GEN_PASS_DEF_CHOOSETILESPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::memory;
using namespace tilewright::tile;

static TilingAttr tilingOf(MLIRContext *context, const TileChoice &choice) {
  return TilingAttr::get(context, choice.sizes, {}, choice.order, StringAttr::get(context, choice.unit),
                         choice.weights);
}

static EstimateAttr estimateOf(MLIRContext *context, const CostEstimate &cost) {
  return EstimateAttr::get(context, cost.cycles, cost.idealCycles, cost.dramBytes,
                           StringAttr::get(context, cost.bound));
}

/// Tiles, of one sample and one group, of a layer whose operands' slices are staged on chip by the back end: all sizes
/// that are a power of two times the brick, and the whole extent; the fewest predicted cycles win, then the larger
/// tile.
static std::optional<LayerPlan> chooseBlock(TileRootInterface root, const TargetDescription &target) {
  IterationSpace space = root.getIterationSpace();
  std::string unit = target.unit(root);
  Brick brick = target.brick(unit, root.getOperandType(0).getElementType());
  auto steps = [](int64_t extent, int64_t granule) {
    SmallVector<int64_t> sizes;
    for (int64_t size = std::max<int64_t>(granule, 1); size < extent; size *= 2)
      sizes.push_back(size);
    sizes.push_back(extent);
    return sizes;
  };
  std::optional<LayerPlan> best;
  int64_t bestPoints = 0;
  for (int64_t channels : steps(space.channels, target.channelGranule(root)))
    for (int64_t rows : steps(space.height, 1))
      for (int64_t columns : steps(space.width, std::min(space.width, brick.pixels))) {
        if (root.getWeightsOperand() && channels * rows * columns > target.maxSums())
          continue;
        LayerPlan plan;
        plan.choice.sizes = {1, 1, channels, rows, columns};
        plan.choice.unit = unit;
        for (auto [i, size, extent] : llvm::enumerate(plan.choice.sizes, space.parallel()))
          if (size < extent)
            plan.choice.order.push_back(static_cast<LoopDim>(i));
        int64_t onChip = target.weightBytes(root, channels);
        SmallVector<int64_t> offsets(5, 0);
        for (unsigned index : root.getMapOperands()) {
          SmallVector<int64_t> extents;
          for (auto [slice, extent] : llvm::zip_equal(operandSlices(root, index, offsets, plan.choice.sizes),
                                                      root.getOperandType(index).getShape()))
            extents.push_back(std::min(slice.size, extent));
          if (root.getWeightsOperand() && index < root.getFirstResidual())
            extents[1] = std::min(extents[1], target.stagedReduction(root));
          onChip += target.mapBytes(extents, root.getOperandType(index).getElementType());
          plan.choice.mapBytes +=
              target.mapBytes(root.getOperandType(index).getShape(), root.getOperandType(index).getElementType());
        }
        if (onChip > target.mapCapacity())
          continue;
        plan.choice.mapBytes += target.mapBytes(root.getResultType().getShape(), root.getResultType().getElementType());
        if (root.getWeightsOperand())
          plan.choice.weights = WeightsPolicy::Reloaded;
        plan.cost = target.estimate(root, plan.choice);
        int64_t points = channels * rows * columns;
        if (!best || plan.cost.cycles < best->cost.cycles ||
            (plan.cost.cycles == best->cost.cycles && points > bestPoints)) {
          best = std::move(plan);
          bestPoints = points;
        }
      }
  return best;
}

static void writePlan(TileRootInterface root, const LayerPlan &plan) {
  MLIRContext *context = root->getContext();
  root->setAttr("tiling", tilingOf(context, plan.choice));
  root->setAttr("estimate", estimateOf(context, plan.cost));
}

namespace {
struct ChooseTilesPass final : tilewright::impl::ChooseTilesPassBase<ChooseTilesPass> {
  using ChooseTilesPassBase::ChooseTilesPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (failed(withTarget(function, target,
                          [&](const TargetDescription &description) { return chooseTiles(function, description); })))
      signalPassFailure();
  }

private:
  LogicalResult chooseTiles(func::FuncOp function, const TargetDescription &description) {
    if (!description.placesBuffers())
      return chooseBlocks(function, description);
    for (SmallVector<Operation *> &run : deviceRuns(function))
      legalizeMoves(run, description);
    for (SmallVector<Operation *> &run : deviceRuns(function))
      groupLayers(run, description);
    for (size_t i = 0; i < deviceRuns(function).size(); ++i) {
      GroupOp tooLarge;
      while (failed(planRun(deviceRuns(function)[i], description, tooLarge))) {
        if (!tooLarge)
          return failure();
        dissolve(tooLarge);
        tooLarge = nullptr;
      }
    }
    return success();
  }

  LogicalResult chooseBlocks(func::FuncOp function, const TargetDescription &description) {
    WalkResult result = function.walk([&](TileRootInterface root) {
      std::optional<LayerPlan> plan = chooseBlock(root, description);
      if (!plan) {
        root->emitError("no tile of this layer fits the ")
            << description.mapCapacity() << " bytes on chip of " << description.name();
        return WalkResult::interrupt();
      }
      writePlan(root, *plan);
      return WalkResult::advance();
    });
    function.walk([&](GroupOp group) {
      for (Operation &op : llvm::reverse(group.getBody().front()))
        if (auto root = dyn_cast<TileRootInterface>(op)) {
          group.setTilingAttr(root.getTilingAttr());
          break;
        }
    });
    return failure(result.wasInterrupted());
  }

  LogicalResult planRun(ArrayRef<Operation *> run, const TargetDescription &description, GroupOp &tooLarge) {
    Segment segment(run, description);
    if (failed(segment.verify()))
      return failure();
    for (MoveOp move : segment.moves) {
      TileChoice nothing;
      nothing.sizes.assign(5, 0);
      llvm::copy(move.getIterationSpace().parallel(), nothing.sizes.begin());
      nothing.unit = "none";
      move.setTilingAttr(tilingOf(move.getContext(), nothing));
    }
    if (segment.steps.empty())
      return success();
    FailureOr<std::vector<StepPlan>> plans = planSegment(segment, tooLarge);
    if (failed(plans))
      return failure();
    writeStreamed(segment);
    SmallVector<int64_t> dramOffsets(segment.storages.size(), -1);
    for (auto [i, plan] : llvm::enumerate(*plans)) {
      for (auto [layer, part] : llvm::zip_equal(segment.steps[i].layers, plan.layers))
        writePlan(layer, part);
      if (auto group = dyn_cast<GroupOp>(segment.steps[i].op))
        group.setTilingAttr(segment.steps[i].layers.back().getTilingAttr());
      writePlacements(segment, i, plan.rings, SmallVector<int64_t>(plan.rings.size(), -1), dramOffsets);
    }
    return success();
  }
};
} // namespace
