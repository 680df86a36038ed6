//===- Conversions.cpp - folding Cast and QuantizeLinear ------------------===//

#include "common/QuantizeLinear.h"
#include "passes/fold/Evaluator.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fold;

static bool fits(APFloat value, IntegerType type, APSInt &result) {
  result = APSInt(type.getWidth(), type.isUnsigned());
  bool exact;
  return !value.isNaN() && !value.isInfinity() &&
         !(value.convertToInteger(result, APFloat::rmTowardZero, &exact) & APFloat::opInvalidOp);
}

/// Through APFloat and APInt: exact in every type, with one rounding to nearest even. A float that does not fit an
/// integer type has no defined result.
static Results castTo(const Context &context) {
  const Operand *x = context.input(0);
  RankedTensorType type = context.resultType();
  Type from = x->element(), to = type.getElementType();
  if (from == to)
    return {x->attr};
  bool known = from.isIntOrFloat() && to.isIntOrFloat();
  if (!known || (isa<FloatType>(to) && to.getIntOrFloatBitWidth() < 16) ||
      (isa<FloatType>(from) && from.getIntOrFloatBitWidth() < 16))
    return {}; // 8-bit floats saturate or not by an attribute
  Buffer result(type);
  size_t fromSize = onnx::elementBytes(from), toSize = onnx::elementBytes(to);
  for (int64_t i = 0; i < x->count(); ++i) {
    uint64_t bits = 0, out = 0;
    std::memcpy(&bits, x->data.bytes().data() + i * fromSize, fromSize);
    bool fromUnsigned = from.isUnsignedInteger() || from.isInteger(1);
    if (auto floatType = dyn_cast<FloatType>(from)) {
      APFloat value(floatType.getFloatSemantics(), APInt(floatType.getWidth(), bits));
      if (auto target = dyn_cast<FloatType>(to)) {
        bool loses;
        value.convert(target.getFloatSemantics(), APFloat::rmNearestTiesToEven, &loses);
        out = value.bitcastToAPInt().getZExtValue();
      } else if (to.isInteger(1)) {
        out = !value.isZero();
      } else {
        APSInt integer;
        if (!fits(value, cast<IntegerType>(to), integer))
          return {};
        out = integer.getZExtValue();
      }
    } else {
      APInt value(from.getIntOrFloatBitWidth(), bits, false, /*implicitTrunc=*/true);
      if (auto target = dyn_cast<FloatType>(to)) {
        APFloat converted(target.getFloatSemantics());
        converted.convertFromAPInt(value, !fromUnsigned, APFloat::rmNearestTiesToEven);
        out = converted.bitcastToAPInt().getZExtValue();
      } else if (to.isInteger(1)) {
        out = !value.isZero();
      } else {
        out = fromUnsigned ? value.zextOrTrunc(64).getZExtValue() : value.sextOrTrunc(64).getZExtValue();
      }
    }
    std::memcpy(result.data() + i * toSize, &out, toSize);
  }
  return {result.finish()};
}

/// Of float32 data to 8- and 16-bit integers.
static Results quantize(const Context &context) {
  const Operand *x = context.input(0), *scale = context.input(1), *zero = context.input(2);
  RankedTensorType type = context.resultType();
  auto integer = dyn_cast<IntegerType>(type.getElementType());
  if (!x->element().isF32() || !scale->element().isF32() || !integer || integer.getWidth() > 16)
    return {};
  int64_t rank = type.getRank(), axis = context.node.intAttr("axis", 1);
  axis = axis < 0 ? axis + rank : axis;
  int64_t inner = 1, channels = scale->count();
  if (channels != 1)
    for (int64_t d = axis + 1; d < rank; ++d)
      inner *= type.getDimSize(d);
  if (channels != 1 && (axis < 0 || axis >= rank || type.getDimSize(axis) != channels))
    return {};
  auto zeros = zero ? onnx::integers(zero->attr) : std::optional(SmallVector<int64_t>(channels, 0));
  if (!zeros || static_cast<int64_t>(zeros->size()) != channels)
    return {};
  int64_t low = integer.isUnsigned() ? 0 : -(int64_t(1) << (integer.getWidth() - 1));
  int64_t high = low + (int64_t(1) << integer.getWidth()) - 1;
  QuantizeRounding rounding = context.node->hasAttr(onnx::kRoundsWithZeroPointAttr) ? QuantizeRounding::WithZeroPoint
                                                                                    : QuantizeRounding::BeforeZeroPoint;
  Buffer result(type);
  for (int64_t i = 0; i < x->count(); ++i) {
    int64_t channel = channels == 1 ? 0 : i / inner % channels;
    float number = x->data.get<float>(i), step = scale->data.get<float>(channel);
    if (std::isnan(number / step))
      return {};
    int64_t value = quantizeLinear(number, step, (*zeros)[channel], low, high, rounding);
    std::memcpy(result.data() + i * result.elementSize(), &value, result.elementSize());
  }
  return {result.finish()};
}

void fold::addConversionRules(Rules &rules) {
  rules["Cast"] = castTo;
  rules["CastLike"] = castTo;
  rules["QuantizeLinear"] = quantize;
}
