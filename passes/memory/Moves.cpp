//===- Moves.cpp - concatenations and slices that placement can express ---===//
//
// A part of a concatenation is written where it belongs by the layer that makes it; a slice is read where it lies. What
// cannot be done so gets a layer that copies: a pass-through, or for channels that do not begin at a word, a 1x1
// contraction that selects them.
//
//===----------------------------------------------------------------------===//

#include "passes/memory/Structure.h"

#include "dialects/onnx/ConstantData.h"
#include "dialects/onnx/OnnxDialect.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

/// A layer that passes its input through.
static Value copyOf(OpBuilder &builder, Value value, Operation *like) {
  OperationState state(like->getLoc(), ElementwiseOp::getOperationName());
  state.addOperands(value);
  state.addTypes(value.getType());
  for (StringRef name : {"layer", "nodes"})
    if (Attribute attribute = like->getAttr(name))
      state.addAttribute(name, attribute);
  Block *block = new Block();
  state.addRegion()->push_back(block);
  BlockArgument element = block->addArgument(cast<RankedTensorType>(value.getType()).getElementType(), like->getLoc());
  Value result = builder.create(state)->getResult(0);
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  YieldOp::create(inner, like->getLoc(), ValueRange{element});
  return result;
}

/// The channels `from` of `input` by a 1x1 contraction with ones: float32(q) * 1 is exact.
static Value selectChannels(OpBuilder &builder, MoveOp like, Value input, ArrayRef<int64_t> from) {
  int64_t count = from.size();
  auto type = cast<RankedTensorType>(input.getType());
  Location loc = like.getLoc();
  std::vector<char> weights(count * type.getDimSize(1), 0);
  for (int64_t k = 0; k < count; ++k)
    weights[k * type.getDimSize(1) + from[k]] = 1;
  auto weightType = RankedTensorType::get({count, type.getDimSize(1), 1, 1}, builder.getIntegerType(8));
  Value constant = onnx::ConstantOp::create(builder, loc, onnx::makeConstant(weightType, weights));
  SmallVector<int64_t> shape(type.getShape());
  shape[1] = count;
  OperationState state(loc, ContractionOp::getOperationName());
  state.addOperands({input, constant});
  state.addTypes(RankedTensorType::get(shape, type.getElementType()));
  for (StringRef name : {"layer", "nodes", "input_quants"})
    if (Attribute attribute = like->getAttr(name))
      state.addAttribute(name, attribute);
  Block *block = new Block();
  state.addRegion()->push_back(block);
  block->addArgument(builder.getI32Type(), loc);
  Value result = builder.create(state)->getResult(0);
  OpBuilder inner = OpBuilder::atBlockEnd(block);
  auto one = [&](Type element, auto value) {
    auto vector = RankedTensorType::get({1}, element);
    return onnx::makeConstant(vector, {reinterpret_cast<const char *>(&value), sizeof(value)});
  };
  QuantAttr quant;
  if (like.getInputQuants())
    quant = cast<QuantAttr>((*like.getInputQuants())[0]);
  Value q = RequantizeOp::create(inner, loc, type.getElementType(), block->getArgument(0),
                                 one(builder.getI32Type(), int32_t(0)), one(builder.getF32Type(), 1.0f), ElementsAttr(),
                                 builder.getI64IntegerAttr(0), builder.getI64IntegerAttr(-128),
                                 builder.getI64IntegerAttr(127), quant);
  YieldOp::create(inner, loc, q);
  return result;
}

void memory::legalizeMoves(ArrayRef<Operation *> run, const TargetDescription &target) {
  DenseSet<Value> placed; // parts of some concatenation
  for (Operation *op : run) {
    auto move = dyn_cast<MoveOp>(op);
    if (!move)
      continue;
    OpBuilder builder(move);
    if (move.getKind() == MoveKind::Concat) {
      int64_t offset = 0;
      for (OpOperand &part : move->getOpOperands()) {
        // A part that begins within a word can be written there, but whoever else reads it expects channel 0 in byte 0.
        bool aligned = offset % target.channelWord() == 0;
        offset += cast<RankedTensorType>(part.get().getType()).getDimSize(1);
        Operation *producer = part.get().getDefiningOp();
        bool made = producer && !isa<ToMapOp>(producer) &&
                    !(isa<MoveOp>(producer) && cast<MoveOp>(producer).getKind() == MoveKind::Slice);
        if (!aligned && (!part.get().hasOneUse() || isa_and_present<MoveOp>(producer)))
          made = false;
        if (!made || !placed.insert(part.get()).second)
          part.set(copyOf(builder, part.get(), move));
      }
      continue;
    }
    if (move.getKind() == MoveKind::Gather) {
      move.getResult().replaceAllUsesWith(selectChannels(builder, move, move.getInputs()[0], *move.getIndices()));
      move.erase();
      continue;
    }
    ArrayRef<int64_t> offsets = *move.getOffsets();
    if (offsets[1] % target.channelWord() != 0) {
      SmallVector<int64_t> channels;
      for (int64_t k = 0; k < move.getResult().getType().getDimSize(1); ++k)
        channels.push_back(offsets[1] + k);
      Value selected = selectChannels(builder, move, move.getInputs()[0], channels);
      if (selected.getType() == move.getResult().getType()) {
        move.getResult().replaceAllUsesWith(selected);
        move.erase();
        continue;
      }
      SmallVector<int64_t> rest(offsets);
      rest[1] = 0;
      move->setOperand(0, selected);
      move.setOffsets(rest);
    }
    // What leaves the device needs storage of its own.
    builder.setInsertionPointAfter(move);
    Value copy;
    for (OpOperand &use : llvm::make_early_inc_range(move.getResult().getUses()))
      if (isa<FromMapOp>(use.getOwner())) {
        if (!copy)
          copy = copyOf(builder, move.getResult(), move);
        use.set(copy);
      }
  }
}
