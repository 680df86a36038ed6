//===- Groups.cpp - layers that run tile by tile --------------------------===//
//
// A layer and the only reader of its result, when the second runs on another unit (it would leave the first one's idle)
// and the map between them is large: they take turns, row tile by row tile, and the map never exists as a whole.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Structure.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::memory;
using namespace tilewright::tile;

/// Cycles of the layer alone, with everything on chip.
static int64_t computeCycles(TileRootInterface root, const TargetDescription &target) {
  TileChoice whole;
  IterationSpace space = root.getIterationSpace();
  whole.sizes.assign({space.batch, space.group, space.channels, space.height, space.width});
  whole.unit = target.unit(root);
  whole.weights = root.getWeightsOperand() ? WeightsPolicy::Kept : WeightsPolicy::None;
  return target.estimate(root, whole).computeCycles;
}

static int64_t weightsOf(TileRootInterface root, const TargetDescription &target) {
  return root.getWeightsOperand() ? target.weightBytes(root, root.getResultType().getDimSize(1)) : 0;
}

static bool shouldGroup(TileRootInterface producer, TileRootInterface consumer, const TargetDescription &target) {
  RankedTensorType between = producer.getResultType();
  if (!producer->getResult(0).hasOneUse() || consumer->getOperand(0) != producer->getResult(0) ||
      consumer->getBlock() != producer->getBlock() || !target.canInterleave(producer, consumer))
    return false;
  // A consumer that needs most rows for its first one cannot take turns.
  int64_t height = between.getDimSize(2);
  if (height < 8 || rowsOf(consumer, 0, 1) * 2 > height)
    return false;
  auto bytes = [&](RankedTensorType type) { return target.mapBytes(type.getShape(), type.getElementType()); };
  // Another unit would leave the producer's idle while the map waits, on chip or not.
  if (target.unit(producer) != target.unit(consumer) && !consumer.getWeightsOperand())
    return bytes(between) + bytes(consumer.getResultType()) > target.mapCapacity() / 2;
  // Else it is worth it where the map would go through DRAM, and that takes long beside the computation.
  int64_t input = bytes(producer.getOperandType(producer.getMapOperands()[0]));
  bool fits = std::max(input, bytes(consumer.getResultType())) + bytes(between) <= target.mapCapacity();
  double traffic = 2.0 * static_cast<double>(bytes(between)) / target.bytesPerCycle();
  return !fits &&
         traffic > 0.3 * static_cast<double>(computeCycles(producer, target) + computeCycles(consumer, target));
}

void memory::groupLayers(ArrayRef<Operation *> run, const TargetDescription &target) {
  SmallVector<SmallVector<TileRootInterface>> groups;
  int64_t weights = 0;
  for (Operation *op : run) {
    auto root = dyn_cast<TileRootInterface>(op);
    if (!root || isa<MoveOp>(op))
      continue;
    // Groups keep all their weights on chip.
    int64_t more = weightsOf(root, target);
    if (!groups.empty() && weights + more <= target.weightCapacity() &&
        shouldGroup(groups.back().back(), root, target)) {
      groups.back().push_back(root);
      weights += more;
      continue;
    }
    groups.push_back({root});
    weights = more;
  }
  for (SmallVector<TileRootInterface> &layers : groups) {
    if (layers.size() < 2)
      continue;
    TileRootInterface last = layers.back();
    OpBuilder builder(last);
    auto group = GroupOp::create(builder, last->getLoc(), last->getResultTypes(), TilingAttr(),
                                 last->getAttrOfType<StringAttr>("layer"));
    Block *body = builder.createBlock(&group.getBody());
    last->getResult(0).replaceAllUsesWith(group.getResult(0));
    for (TileRootInterface layer : layers)
      layer->moveBefore(body, body->end());
    builder.setInsertionPointToEnd(body);
    YieldOp::create(builder, last->getLoc(), last->getResults());
  }
}

void memory::dissolve(GroupOp group) {
  Block &body = group.getBody().front();
  group->replaceAllUsesWith(body.getTerminator()->getOperands());
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator()))
    op.moveBefore(group);
  group->erase();
}
