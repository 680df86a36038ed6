//===- Quantized.cpp - shapes of quantized operators ----------------------===//
//
// Convolutions, pools, matrix products and Concat of this kind are with their unquantized relatives.
//
//===----------------------------------------------------------------------===//

#include "dialects/onnx/ConstantData.h"
#include "passes/shapes/ShapeTable.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

/// A constant scale must be a number that quantization can be done with.
static LogicalResult checkNumbers(ShapeContext &context, unsigned input) {
  Value scale = context.node.input(input);
  auto values = scale ? onnx::floats(onnx::constantValue(scale)) : std::nullopt;
  for (double value : values.value_or(SmallVector<double>()))
    if (!std::isfinite(value) || (context.node.is("QuantizeLinear") && value == 0))
      return context.error() << "the scale is " << value << "; it must be finite"
                             << (context.node.is("QuantizeLinear") ? " and not 0" : "");
  return success();
}

/// A scale or zero point is a scalar, or a vector along the axis (blocks of it are not supported).
static LogicalResult checkScale(ShapeContext &context, ArrayRef<Dim> x, unsigned input) {
  if (failed(checkNumbers(context, input)))
    return failure();
  auto scale = context.shape(input);
  if (!scale || scale->empty() || (scale->size() == 1 && constantOf(scale->front()) == 1))
    return success();
  if (context.node.intAttr("block_size", 0) != 0 || scale->size() != 1)
    return context.error() << "scales " << context.spell(*scale)
                           << " in blocks are not supported; a scalar or a vector along 'axis' is";
  auto axis = context.axis(context.node.intAttr("axis", 1), static_cast<int64_t>(x.size()));
  if (!axis)
    return failure();
  auto size = constantOf(x[*axis]), given = constantOf(scale->front());
  if (size && given && *size != *given)
    return context.error() << "the scale has " << *given << " elements; dimension " << *axis << " of "
                           << context.spell(x) << " is " << *size;
  return success();
}

static LogicalResult quantize(ShapeContext &context) {
  if (context.has(2))
    context.setType(0, context.elementType(2));
  else if (!context.node.intAttr("output_dtype", 0))
    context.setType(0, IntegerType::get(context.symbols.context, 8, IntegerType::Unsigned));
  else if (int64_t type = context.node.intAttr("output_dtype", 0); type == 2 || type == 3)
    context.setType(
        0, IntegerType::get(context.symbols.context, 8, type == 2 ? IntegerType::Unsigned : IntegerType::Signless));
  else if (type == 4 || type == 5)
    context.setType(
        0, IntegerType::get(context.symbols.context, 16, type == 4 ? IntegerType::Unsigned : IntegerType::Signless));
  else
    return context.error() << "attribute 'output_dtype' = " << type
                           << " is not supported; int8, uint8, int16, uint16 are";
  auto x = context.shape(0);
  if (!x)
    return success();
  context.set(0, Dims(*x));
  return checkScale(context, *x, 1);
}

static LogicalResult dequantize(ShapeContext &context) {
  context.setType(0, context.elementType(1));
  auto x = context.shape(0);
  if (!x)
    return success();
  context.set(0, Dims(*x));
  return checkScale(context, *x, 1);
}

static LogicalResult dynamicQuantize(ShapeContext &context) {
  if (auto x = context.shape(0))
    context.set(0, Dims(*x));
  for (unsigned i = 1; i < context.results(); ++i)
    context.set(i, {});
  return success();
}

/// QLinearAdd and QLinearMul: A, its scale and zero point, B, its scale and zero point.
static LogicalResult binary(ShapeContext &context) {
  auto a = context.shape(0), b = context.shape(3);
  if (!a || !b)
    return success();
  auto merged = context.broadcast(*a, *b);
  if (failed(merged))
    return failure();
  context.set(0, *merged);
  return success();
}

static LogicalResult qlinearWhere(ShapeContext &context) {
  auto condition = context.shape(0), a = context.shape(1), b = context.shape(4);
  if (!condition || !a || !b)
    return success();
  auto merged = context.broadcast(*condition, *a);
  if (succeeded(merged))
    merged = context.broadcast(Dims(*merged), *b);
  if (failed(merged))
    return failure();
  context.set(0, *merged);
  return success();
}

static LogicalResult same(ShapeContext &context) {
  if (auto x = context.shape(0))
    context.set(0, Dims(*x));
  return success();
}

void shapes::addQuantizedRules(ShapeTable &table) {
  table.add("QuantizeLinear", quantize);
  table.add("DequantizeLinear", dequantize);
  table.add("DynamicQuantizeLinear", dynamicQuantize);
  table.addMicrosoft("QuantizeLinear", quantize);
  table.addMicrosoft("DequantizeLinear", dequantize);
  table.addMicrosoft("QLinearAdd", binary);
  table.addMicrosoft("QLinearMul", binary);
  table.addMicrosoft("QLinearWhere", qlinearWhere);
  table.addMicrosoft("QLinearSigmoid", same);
  table.addMicrosoft("QLinearLeakyRelu", same);
}
