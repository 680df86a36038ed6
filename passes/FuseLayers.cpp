//===- FuseLayers.cpp - elementwise layers join their producer's epilogue -===//
//
// A layer that only adds, looks up or rescales is appended to the epilogue of the layer that makes one of its operands,
// if nobody else reads that and the target can do it: a residual addition costs nothing there. Of two candidates the
// later one takes it, so that the other operand exists by then. Names neither roots nor targets.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/memory/Segment.h"

#include "mlir/IR/IRMapping.h"

namespace tilewright {
#define GEN_PASS_DEF_FUSELAYERSPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

static void appendArray(Operation *op, StringRef name, ArrayAttr more) {
  if (!more)
    return;
  SmallVector<Attribute> all;
  if (auto own = op->getAttrOfType<ArrayAttr>(name))
    all.append(own.begin(), own.end());
  all.append(more.begin(), more.end());
  op->setAttr(name, ArrayAttr::get(op->getContext(), all));
}

/// The producer with the elementwise layer's work behind its own, in the elementwise layer's place; null when the
/// target does not take it. `at` is the operand of `elementwise` that the producer makes.
static Operation *fuse(TileRootInterface producer, ElementwiseOp elementwise, unsigned at,
                       const TargetDescription &target) {
  OpBuilder builder(elementwise);
  // Residuals of the fused layer: the producer's, then the other operands.
  OperationState state(producer->getLoc(), producer->getName());
  state.addOperands(producer->getOperands());
  SmallVector<unsigned> others;
  for (unsigned i = 0; i < elementwise->getNumOperands(); ++i)
    if (i != at) {
      others.push_back(i);
      state.addOperands(elementwise->getOperand(i));
    }
  state.addTypes(elementwise.getResult().getType());
  for (NamedAttribute attribute : producer->getAttrs())
    state.addAttribute(attribute.getName(), attribute.getValue());
  state.addRegion();
  if (others.size() > 0 && producer.getFirstResidual() > producer->getNumOperands())
    return nullptr;
  Operation *fused = builder.create(state);
  IRMapping mapping;
  producer->getRegion(0).cloneInto(&fused->getRegion(0), mapping);
  Block &block = fused->getRegion(0).front();
  auto yield = cast<YieldOp>(block.getTerminator());
  mapping.clear();
  Block &source = elementwise.getEpilogue().front();
  mapping.map(source.getArgument(at), yield.getOperand(0));
  for (unsigned i : others)
    mapping.map(source.getArgument(i), block.addArgument(source.getArgument(i).getType(), elementwise.getLoc()));
  for (Operation &op : source.without_terminator()) {
    if (!target.canAppend(cast<TileRootInterface>(fused), &op)) {
      fused->erase();
      return nullptr;
    }
    builder.setInsertionPoint(yield);
    Operation *copy = builder.clone(op, mapping);
    if (auto add = dyn_cast<ResidualAddOp>(copy); add && at != 0) {
      // The running value comes first; the model's order stays in `swap`.
      Value running = add.getResidual(), residual = add.getValue();
      add->setOperand(0, running);
      add->setOperand(1, residual);
      add.setSwap(!add.getSwap());
    }
  }
  yield->setOperand(0, mapping.lookup(source.getTerminator()->getOperand(0)));
  if (!yield.getOperand(0)) {
    fused->erase();
    return nullptr;
  }
  appendArray(fused, "nodes", elementwise.getNodesAttr());
  if (ArrayAttr quants = elementwise.getInputQuantsAttr()) {
    SmallVector<Attribute> added;
    for (unsigned i : others)
      added.push_back(quants[i]);
    appendArray(fused, "input_quants", ArrayAttr::get(fused->getContext(), added));
  }
  auto root = cast<TileRootInterface>(fused);
  if (target.refusal(root) ||
      (target.placesBuffers() && memory::minimalFootprint(target, root) > target.mapCapacity())) {
    fused->erase();
    return nullptr;
  }
  return fused;
}

namespace {
struct FuseLayersPass final : tilewright::impl::FuseLayersPassBase<FuseLayersPass> {
  using FuseLayersPassBase::FuseLayersPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (failed(withTarget(function, target,
                          [&](const TargetDescription &description) { return fuseLayers(function, description); })))
      signalPassFailure();
  }

private:
  LogicalResult fuseLayers(func::FuncOp function, const TargetDescription &description) {
    for (auto elementwise : llvm::make_early_inc_range(function.getBody().front().getOps<ElementwiseOp>())) {
      SmallVector<std::pair<TileRootInterface, unsigned>> candidates;
      for (unsigned i = 0; i < elementwise->getNumOperands(); ++i) {
        auto producer = elementwise->getOperand(i).getDefiningOp<TileRootInterface>();
        if (producer && producer->getBlock() == elementwise->getBlock() && producer->getResult(0).hasOneUse())
          candidates.push_back({producer, i});
      }
      llvm::sort(candidates, [](auto &a, auto &b) { return b.first->isBeforeInBlock(a.first.getOperation()); });
      for (auto [producer, at] : candidates)
        if (Operation *fused = fuse(producer, elementwise, at, description)) {
          elementwise.getResult().replaceAllUsesWith(fused->getResult(0));
          elementwise.erase();
          producer->erase();
          break;
        }
    }
    return success();
  }
};
} // namespace
