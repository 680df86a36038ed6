//===- TileEpilogue.cpp - verification of epilogue operations -------------===//

#include "dialects/onnx/ConstantData.h"
#include "dialects/tile/TileDialect.h"

#include "mlir/IR/PatternMatch.h"

#include <cmath>

using namespace mlir;
using namespace tilewright::tile;

namespace {
LogicalResult verifyClamp(Operation *op, int64_t low, int64_t high) {
  if (low < -128 || high > 127 || low > high)
    return op->emitOpError("clamp [") << low << ", " << high << "] is not within [-128, 127]";
  return success();
}

bool is8Bit(Type type) { return type.isInteger(8); }

/// One entry, or one per output channel of the layer around `op`.
LogicalResult verifyPerChannel(Operation *op, StringRef name, ElementsAttr values, Type element) {
  if (!tilewright::onnx::hasValues(values))
    return op->emitOpError("'") << name << "' has no values: they were left out when it was printed";
  if (values.getElementType() != element)
    return op->emitOpError("'") << name << "' holds " << values.getElementType() << ", not " << element;
  int64_t count = values.getNumElements();
  auto root = dyn_cast_or_null<TileRootInterface>(op->getParentOp());
  if (count == 1 || !root)
    return success();
  int64_t channels = root.getResultType().getDimSize(1);
  if (count != channels)
    return op->emitOpError("'") << name << "' has " << count << " entries for " << channels << " channels";
  return success();
}
} // namespace

LogicalResult RequantizeOp::verify() {
  Builder builder(getContext());
  if (!is8Bit(getResult().getType()))
    return emitOpError("result must be i8 or ui8");
  if (!isa<IntegerType>(getValue().getType()))
    return emitOpError("takes an integer");
  if (failed(verifyPerChannel(*this, "bias", getBias(), builder.getI32Type())) ||
      failed(verifyPerChannel(*this, "scale", getScale(), builder.getF32Type())) ||
      (getNegativeScale() &&
       failed(verifyPerChannel(*this, "negative_scale", *getNegativeScale(), builder.getF32Type()))) ||
      failed(verifyClamp(*this, getClampMin(), getClampMax())))
    return failure();
  tilewright::onnx::ConstantBytes scales(getScale());
  for (int64_t i = 0; i < getScale().getNumElements(); ++i)
    if (float value = scales.get<float>(i); !std::isfinite(value) || value <= 0)
      return emitOpError("scale must be finite and positive");
  if (getNegativeScale())
    for (int64_t i = 0; i < getNegativeScale()->getNumElements(); ++i)
      if (!std::isfinite(tilewright::onnx::ConstantBytes(*getNegativeScale()).get<float>(i)))
        return emitOpError("negative_scale must be finite");
  if (getZeroPoint() < -128 || getZeroPoint() > 127)
    return emitOpError("zero point ") << getZeroPoint() << " is not within [-128, 127]";
  return success();
}

LogicalResult TableOp::verify() {
  if (!tilewright::onnx::hasValues(getTable()))
    return emitOpError("table has no values: they were left out when it was printed");
  if (getTable().getNumElements() != 256 || !getTable().getElementType().isSignlessInteger(8))
    return emitOpError("table must have 256 entries of i8");
  if (!is8Bit(getResult().getType()))
    return emitOpError("maps i8 or ui8");
  return success();
}

LogicalResult ResidualAddOp::verify() {
  if (!is8Bit(getValue().getType()) || getValue().getType() != getResidual().getType() ||
      getValue().getType() != getResult().getType())
    return emitOpError("operands and result must all be i8 or all ui8");
  for (APFloat value : {getRa(), getRb(), getFix()})
    if (!value.isFinite())
      return emitOpError("scales must be finite");
  if (getZeroPoint() && (*getZeroPoint() < -128 || *getZeroPoint() > 127))
    return emitOpError("zero point ") << *getZeroPoint() << " is not within [-128, 127]";
  return verifyClamp(*this, getClampMin(), getClampMax());
}

namespace {
/// PReLU with slope 1 is no PReLU.
struct DropEqualNegativeScale : OpRewritePattern<RequantizeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RequantizeOp op, PatternRewriter &rewriter) const override {
    if (!op.getNegativeScale() || *op.getNegativeScale() != op.getScale())
      return failure();
    rewriter.modifyOpInPlace(op, [&] { op.removeNegativeScaleAttr(); });
    return success();
  }
};
} // namespace

void RequantizeOp::getCanonicalizationPatterns(RewritePatternSet &patterns, MLIRContext *context) {
  patterns.add<DropEqualNegativeScale>(context);
}

OpFoldResult TableOp::fold(FoldAdaptor) {
  int64_t expected = -128;
  tilewright::onnx::ConstantBytes entries(getTable());
  for (unsigned i = 0; i < 256; ++i)
    if (entries.get<int8_t>(i) != expected++)
      return nullptr;
  return getValue();
}
