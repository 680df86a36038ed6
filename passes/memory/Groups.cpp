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

static bool shouldGroup(TileRootInterface producer, TileRootInterface consumer, const TargetDescription &target) {
  RankedTensorType between = producer.getResultType();
  if (!producer->getResult(0).hasOneUse() || consumer->getOperand(0) != producer->getResult(0) ||
      consumer->getBlock() != producer->getBlock() || !target.canInterleave(producer, consumer))
    return false;
  if (target.unit(producer) == target.unit(consumer) || consumer.getWeightsOperand())
    return false;
  // Groups keep all their weights on chip.
  if (target.weightBytes(producer, between.getDimSize(1)) > target.weightCapacity())
    return false;
  // A consumer that needs most rows for its first one cannot take turns.
  int64_t height = between.getDimSize(2);
  if (height < 8 || rowsOf(consumer, 0, 1) * 2 > height)
    return false;
  auto bytes = [&](RankedTensorType type) { return target.mapBytes(type.getShape(), type.getElementType()); };
  return bytes(between) + bytes(consumer.getResultType()) > target.mapCapacity() / 2;
}

void memory::groupLayers(ArrayRef<Operation *> run, const TargetDescription &target) {
  TileRootInterface before;
  SmallVector<std::pair<TileRootInterface, TileRootInterface>> pairs;
  for (Operation *op : run) {
    auto root = dyn_cast<TileRootInterface>(op);
    if (!root || isa<MoveOp>(op))
      continue;
    if (before && shouldGroup(before, root, target)) {
      pairs.push_back({before, root});
      before = nullptr;
      continue;
    }
    before = root;
  }
  for (auto &[producer, consumer] : pairs) {
    OpBuilder builder(consumer);
    auto group = GroupOp::create(builder, consumer.getLoc(), consumer->getResultTypes(), TilingAttr(),
                                 consumer->getAttrOfType<StringAttr>("layer"));
    Block *body = builder.createBlock(&group.getBody());
    consumer->getResult(0).replaceAllUsesWith(group.getResult(0));
    producer->moveBefore(body, body->end());
    consumer->moveBefore(body, body->end());
    builder.setInsertionPointToEnd(body);
    YieldOp::create(builder, consumer.getLoc(), consumer->getResults());
  }
}
