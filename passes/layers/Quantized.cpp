//===- Quantized.cpp - reading quantized tensors from QDQ form ------------===//

#include "passes/layers/Quantized.h"

#include "common/QuantizeLinear.h"

#include "mlir/IR/Builders.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layers;

static onnx::NodeOp nodeOf(Value value) { return value ? value.getDefiningOp<onnx::NodeOp>() : nullptr; }

static int64_t readInteger(const onnx::ConstantBytes &data, Type element, int64_t index) {
  switch (element.getIntOrFloatBitWidth()) {
  case 8:
    return element.isUnsignedInteger() ? int64_t(data.get<uint8_t>(index)) : data.get<int8_t>(index);
  case 16:
    return element.isUnsignedInteger() ? int64_t(data.get<uint16_t>(index)) : data.get<int16_t>(index);
  case 32:
    return data.get<int32_t>(index);
  default:
    return data.get<int64_t>(index);
  }
}

tile::QuantAttr layers::perTensorQuant(onnx::NodeOp node, Type element) {
  std::optional<SmallVector<double>> scale = onnx::floats(onnx::constantValue(node.input(1)), 1);
  // A scale that is not positive turns the order of the numbers around, or loses them: maxima and clamps in the
  // integers would be wrong.
  if (!scale || scale->size() != 1 || !(static_cast<float>((*scale)[0]) > 0) ||
      !std::isfinite(static_cast<float>((*scale)[0])))
    return nullptr;
  int64_t zero = 0;
  if (Value point = node.input(2)) {
    std::optional<SmallVector<int64_t>> value = onnx::integers(onnx::constantValue(point), 1);
    if (!value || value->size() != 1)
      return nullptr;
    zero = (*value)[0];
  }
  Builder builder(node.getContext());
  return tile::QuantAttr::get(node.getContext(), builder.getF32FloatAttr(static_cast<float>((*scale)[0])), zero);
}

std::optional<Activation> layers::activation(Value real) {
  SmallVector<onnx::NodeOp> layout; // from the use upward
  Activation result;
  Value value = real;
  onnx::NodeOp node = nodeOf(value);
  auto skipLayout = [&] {
    while (node && isLayoutNode(node)) {
      layout.push_back(node);
      value = node.input(0);
      node = nodeOf(value);
    }
  };
  skipLayout();
  if (!node || !node.is("DequantizeLinear"))
    return std::nullopt;
  value = node.input(0);
  auto type = dyn_cast_if_present<RankedTensorType>(value ? value.getType() : Type());
  if (!type || !type.hasStaticShape() || !type.getElementType().isInteger(8))
    return std::nullopt;
  result.quant = perTensorQuant(node, type.getElementType());
  if (!result.quant)
    return std::nullopt;
  node = nodeOf(value);
  skipLayout();
  if (onnx::constantValue(value))
    return std::nullopt;
  auto baseType = dyn_cast<RankedTensorType>(value.getType());
  if (!baseType || !baseType.hasStaticShape())
    return std::nullopt;
  result.view = View::whole(value);
  for (onnx::NodeOp step : llvm::reverse(layout))
    if (!result.view.apply(step))
      return std::nullopt;
  return result;
}

int64_t QuantizedConstant::at(int64_t index) const { return readInteger(data, type.getElementType(), index); }

std::optional<QuantizedConstant> layers::quantizedConstant(Value real) {
  onnx::NodeOp node = nodeOf(real);
  if (!node || !node.is("DequantizeLinear") || node.attr("block_size"))
    return std::nullopt;
  ElementsAttr elements = onnx::constantValue(node.input(0));
  if (!elements || !isa<IntegerType>(elements.getElementType()))
    return std::nullopt;
  QuantizedConstant constant{
      cast<RankedTensorType>(elements.getShapedType()), onnx::ConstantBytes(elements), {}, {}, 0, {node}};
  std::optional<SmallVector<double>> scales = onnx::floats(onnx::constantValue(node.input(1)));
  if (!scales || scales->empty())
    return std::nullopt;
  for (double scale : *scales)
    constant.scales.push_back(static_cast<float>(scale));
  constant.zeroPoints = {0};
  if (Value point = node.input(2)) {
    std::optional<SmallVector<int64_t>> values = onnx::integers(onnx::constantValue(point));
    if (!values || values->empty())
      return std::nullopt;
    constant.zeroPoints.assign(values->begin(), values->end());
  }
  constant.axis = node.intAttr("axis", 1);
  int64_t rank = constant.type.getRank();
  if (constant.axis < 0)
    constant.axis += rank;
  size_t entries = std::max(constant.scales.size(), constant.zeroPoints.size());
  if (entries > 1 && (constant.axis < 0 || constant.axis >= rank ||
                      constant.type.getDimSize(constant.axis) != static_cast<int64_t>(entries)))
    return std::nullopt;
  return constant;
}

std::optional<SmallVector<float>> layers::realConstant(Value real, int64_t limit) {
  if (ElementsAttr elements = onnx::constantValue(real)) {
    std::optional<SmallVector<double>> values = onnx::floats(elements, limit);
    if (!values)
      return std::nullopt;
    SmallVector<float> result;
    for (double value : *values)
      result.push_back(static_cast<float>(value));
    return result;
  }
  std::optional<QuantizedConstant> constant = quantizedConstant(real);
  if (!constant || constant->type.getNumElements() > limit)
    return std::nullopt;
  int64_t inner = 1;
  for (int64_t d = constant->axis + 1; d < constant->type.getRank(); ++d)
    inner *= constant->type.getDimSize(d);
  SmallVector<float> result;
  for (int64_t i = 0; i < constant->type.getNumElements(); ++i) {
    int64_t channel =
        constant->type.getRank()
            ? (i / inner) %
                  std::max<int64_t>(
                      constant->type.getDimSize(std::min<int64_t>(constant->axis, constant->type.getRank() - 1)), 1)
            : 0;
    result.push_back(static_cast<float>(constant->at(i) - constant->zeroPoint(channel)) * constant->scale(channel));
  }
  return result;
}

int64_t layers::quantize(float value, tile::QuantAttr quant, Type element) {
  int64_t low = element.isUnsignedInteger() ? 0 : -128, high = element.isUnsignedInteger() ? 255 : 127;
  return quantizeLinear(value, quant.scaleValue(), quant.getZeroPoint(), low, high);
}
