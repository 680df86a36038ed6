//===- FormElementwise.cpp - additions and unary functions to layers ------===//

#include "dialects/tile/ExactAddition.h"
#include "passes/layers/LayerFormer.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layers;

/// A constant as an activation: its integers, broadcast to `shape`, enter the device like any other tensor.
static std::optional<Activation> constantOperand(LayerFormer &former, Value real, ArrayRef<int64_t> shape) {
  std::optional<QuantizedConstant> constant = quantizedConstant(real);
  if (!constant || !constant->type.getElementType().isInteger(8) || constant->scales.size() != 1 ||
      constant->zeroPoints.size() != 1)
    return std::nullopt;
  auto type = RankedTensorType::get(shape, constant->type.getElementType());
  if (type.getRank() < constant->type.getRank() || type.getNumElements() > (1 << 24))
    return std::nullopt;
  std::vector<char> bytes(type.getNumElements());
  for (int64_t i = 0; i < type.getNumElements(); ++i) {
    int64_t rest = i, at = 0, step = 1;
    for (int64_t d = shape.size() - 1, e = constant->type.getRank() - 1; e >= 0; --d, --e) {
      int64_t extent = constant->type.getDimSize(e), position = rest % shape[d];
      if (extent != 1 && extent != shape[d])
        return std::nullopt;
      at += (extent == 1 ? 0 : position) * step;
      step *= extent;
      rest /= shape[d];
    }
    bytes[i] = static_cast<char>(constant->at(at));
  }
  Activation result;
  result.view = View::whole(former.constant(type, bytes, real.getLoc()));
  Builder &builder = former.builder;
  result.quant =
      tile::QuantAttr::get(builder.getContext(), builder.getF32FloatAttr(constant->scales[0]), constant->zeroPoints[0]);
  return result;
}

Formed layers::formAdd(LayerFormer &former, const LayerPattern &pattern) {
  onnx::NodeOp node = pattern.root;
  ArrayRef<int64_t> shape = cast<RankedTensorType>(node.getResult(0).getType()).getShape();
  std::optional<Activation> operands[2];
  for (unsigned i : {0u, 1u}) {
    operands[i] = former.read(node.input(i));
    if (!operands[i])
      operands[i] = constantOperand(former, node.input(i), shape);
    if (!operands[i])
      return refuse("operand " + Twine(i) + " is not quantized to 8 bits with one constant scale");
    if (cast<RankedTensorType>(node.input(i).getType()).getShape() != shape && operands[i]->view.base.getDefiningOp() &&
        !isa<onnx::ConstantOp>(operands[i]->view.base.getDefiningOp()))
      return refuse("an addition that broadcasts an activation");
    if (operands[i]->element() != pattern.element())
      return refuse("an addition of int8 and uint8");
  }
  if (cast<RankedTensorType>(node.input(0).getType()).getShape() != shape &&
      cast<RankedTensorType>(node.input(1).getType()).getShape() != shape)
    return refuse("an addition that broadcasts both operands");
  unsigned first = former.deviceSource(*operands[0]) || !former.deviceSource(*operands[1]) ? 0 : 1;
  std::optional<MapLayout> layout = former.layoutOf(*operands[first]);
  if (!layout)
    return refuse("its operands' layout cannot be read with strides");
  Value maps[2];
  for (unsigned i : {0u, 1u})
    if (!(maps[i] = former.toLayout(*operands[i], *layout)))
      return refuse("its operands lie in different layouts");
  Clamps clamps;
  if (std::string problem = former.readActivations(pattern, 1, 1, clamps); !problem.empty())
    return refuse(problem);
  if (clamps.slopes)
    return refuse("an addition with slopes for negative sums");

  OpBuilder &builder = former.builder;
  tile::AdditionConstants constants;
  IntegerAttr zeroPoint; // added after rounding
  tile::QuantAttr a = operands[0]->quant, b = operands[1]->quant, sum = pattern.quant;
  if (pattern.quantize->hasAttr(onnx::kRoundsWithZeroPointAttr)) {
    // One float32 operation each, in this order, the sum of products fused: docs/accelerator.md, step 4.
    constants.ra = a.scaleValue() / sum.scaleValue();
    constants.rb = b.scaleValue() / sum.scaleValue();
    constants.fix =
        static_cast<float>(sum.getZeroPoint()) - std::fma(constants.ra, static_cast<float>(a.getZeroPoint()),
                                                          constants.rb * static_cast<float>(b.getZeroPoint()));
    if (!std::isfinite(constants.ra) || !std::isfinite(constants.rb) || !std::isfinite(constants.fix))
      return refuse("scales that are not finite");
  } else {
    tile::QuantizedAddition addition{a.scaleValue(),
                                     b.scaleValue(),
                                     sum.scaleValue(),
                                     a.getZeroPoint(),
                                     b.getZeroPoint(),
                                     sum.getZeroPoint(),
                                     tile::isUnsignedStorage(pattern.element()),
                                     clamps.low,
                                     clamps.high};
    std::optional<tile::AdditionConstants> exact = tile::exactConstants(addition);
    if (!exact)
      return refuse("no constants of the array's fused addition give the bits of DequantizeLinear, Add, QuantizeLinear "
                    "for all pairs of operands: with these scales some sums are too near a tie");
    constants = *exact;
    zeroPoint = builder.getI64IntegerAttr(tile::toDevice(pattern.element(), sum.getZeroPoint()));
  }

  OperationState state(node.getLoc(), tile::ElementwiseOp::getOperationName());
  state.addOperands({maps[0], maps[1]});
  state.addTypes(former.mapType(layout->shape, pattern.element()));
  former.describe(state, pattern, {operands[0]->quant, operands[1]->quant});
  OpBuilder::InsertionGuard guard(builder);
  Block *block = former.beginEpilogue(state, {pattern.element(), pattern.element()});
  Value result = tile::ResidualAddOp::create(
      builder, node.getLoc(), pattern.element(), block->getArgument(0), block->getArgument(1),
      builder.getF32FloatAttr(constants.ra), builder.getF32FloatAttr(constants.rb),
      builder.getF32FloatAttr(constants.fix), zeroPoint, UnitAttr(), builder.getI64IntegerAttr(clamps.low),
      builder.getI64IntegerAttr(clamps.high), pattern.quant);
  tile::YieldOp::create(builder, node.getLoc(), result);
  builder.setInsertionPoint(pattern.quantize);
  return {builder.create(state)->getResult(0), layout->order, {}};
}

Formed layers::formTable(LayerFormer &former, const LayerPattern &pattern) {
  // The one activation that everything is computed from.
  Value source;
  if (!unarySource(pattern.rootValue(), source))
    return {};
  std::optional<Activation> input = former.read(source);
  if (!input)
    return {};
  if (input->element() != pattern.element())
    return refuse("a function from int8 to uint8 or back");
  if (cast<RankedTensorType>(source.getType()).getShape() != pattern.rootType().getShape())
    return refuse("a function that broadcasts its input");
  std::optional<MapLayout> layout = former.layoutOf(*input);
  Value map = layout ? former.toLayout(*input, *layout) : nullptr;
  if (!map)
    return refuse("its input's layout cannot be read with strides");
  ElementsAttr table = unaryTable(former, pattern, source, *input);
  if (!table)
    return {};
  return {rescale(former, pattern, map, *input, table), layout->order, {}};
}

Value layers::rescale(LayerFormer &former, const LayerPattern &pattern, Value map, const Activation &input,
                      ElementsAttr table) {
  OpBuilder &builder = former.builder;
  Location loc = pattern.quantize->getLoc();
  OperationState state(loc, tile::ElementwiseOp::getOperationName());
  state.addOperands(map);
  state.addTypes(map.getType());
  former.describe(state, pattern, {input.quant});
  OpBuilder::InsertionGuard guard(builder);
  Block *block = former.beginEpilogue(state, {pattern.element()});
  Value result = tile::TableOp::create(builder, loc, block->getArgument(0), table, pattern.quant);
  tile::YieldOp::create(builder, loc, result);
  builder.setInsertionPoint(pattern.quantize);
  return builder.create(state)->getResult(0);
}
