//===- FormLayers.cpp - quantized onnx patterns become tile layers --------===//
//
// Walks the QuantizeLinear nodes in order and forms what ends there; layers/ holds one file per operator family. What
// stays onnx says why (attribute `tile.host_reason`).
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/layers/LayerFormer.h"

#include "dialects/onnx/ConstantData.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace tilewright {
#define GEN_PASS_DEF_FORMLAYERSPASS
#include "passes/Passes.h.inc"

namespace {
/// Erases what nobody uses, users first.
void eraseDead(mlir::func::FuncOp function) {
  for (mlir::Operation &op : llvm::make_early_inc_range(llvm::reverse(function.getBody().front())))
    if (mlir::isOpTriviallyDead(&op))
      op.erase();
}

/// Operators that only move or compare their elements may stand on the integers themselves: they get the same float
/// form around them as the others have, with one quantization on all sides.
void wrapIntegerOperator(onnx::NodeOp node) {
  if (!node.getDomain().empty() || !(node.is("MaxPool") || node.is("Concat") || node.is("Split") || node.is("Slice")))
    return;
  auto is8Bit = [](mlir::Value value) {
    auto type = mlir::dyn_cast<mlir::RankedTensorType>(value.getType());
    return type && type.getElementType().isInteger(8);
  };
  size_t dataOperands = node.is("Concat") ? node.getInputs().size() : 1;
  for (mlir::Value operand : node.getInputs().take_front(dataOperands))
    if (!is8Bit(operand) || onnx::constantValue(operand))
      return;
  if (!llvm::all_of(node.getResults(), is8Bit)) // MaxPool's indices
    return;
  mlir::OpBuilder builder(node);
  mlir::Location loc = node.getLoc();
  mlir::Type element = mlir::cast<mlir::RankedTensorType>(node.input(0).getType()).getElementType();
  mlir::Value scale, zero;
  if (auto producer = node.input(0).getDefiningOp<onnx::NodeOp>(); producer && producer.is("QuantizeLinear"))
    if (layers::perTensorQuant(producer, element)) {
      scale = producer.input(1);
      zero = producer.input(2);
    }
  if (!scale || !zero) {
    float one = 1;
    char nought = 0;
    scale = onnx::ConstantOp::create(builder, loc,
                                     onnx::makeConstant(mlir::RankedTensorType::get({}, builder.getF32Type()),
                                                        {reinterpret_cast<const char *>(&one), sizeof(one)}));
    zero = onnx::ConstantOp::create(builder, loc,
                                    onnx::makeConstant(mlir::RankedTensorType::get({}, element), {&nought, 1}));
  }
  auto linear = [&](llvm::StringRef name, mlir::Value value, mlir::Type resultElement) {
    auto shape = mlir::cast<mlir::RankedTensorType>(value.getType()).getShape();
    return onnx::NodeOp::create(builder, loc, mlir::TypeRange{mlir::RankedTensorType::get(shape, resultElement)},
                                mlir::ValueRange{value, scale, zero}, name, "", 21, builder.getDictionaryAttr({}),
                                mlir::ArrayAttr(), 0)
        .getResult(0);
  };
  for (unsigned i = 0; i < dataOperands; ++i)
    node->setOperand(i, linear("DequantizeLinear", node.getInputs()[i], builder.getF32Type()));
  builder.setInsertionPointAfter(node);
  for (mlir::Value result : node.getResults()) {
    auto shape = mlir::cast<mlir::RankedTensorType>(result.getType()).getShape();
    result.setType(mlir::RankedTensorType::get(shape, builder.getF32Type()));
    mlir::Value quantized = linear("QuantizeLinear", result, element);
    result.replaceAllUsesExcept(quantized, quantized.getDefiningOp());
  }
}

/// Layout operators on what leaves the device are only other strides.
void foldLayoutIntoBoundary(onnx::NodeOp node) {
  if (!layers::isLayoutNode(node) || !node.input(0))
    return;
  auto from = node.input(0).getDefiningOp<tile::FromMapOp>();
  auto type = mlir::dyn_cast<mlir::RankedTensorType>(node.getResult(0).getType());
  if (!from || !type || !type.hasStaticShape())
    return;
  layers::View view = layers::View::whole(from.getResult());
  llvm::ArrayRef<int64_t> shape = from.getMap().getType().getShape();
  if (!view.apply(node))
    return;
  auto order = layers::asMapDims(view.flat(), shape, from.getStrides());
  if (!order)
    return;
  mlir::OpBuilder builder(node);
  auto moved = tile::FromMapOp::create(builder, from.getLoc(), type, from.getMap(),
                                       builder.getDenseI64ArrayAttr(tile::mapStrides(shape, *order)), tile::DramAttr());
  if (mlir::Attribute names = node->getAttr(onnx::kOutputNamesAttr))
    moved->setAttr(onnx::kOutputNamesAttr, names);
  node.getResult(0).replaceAllUsesWith(moved.getResult());
}

struct FormLayersPass final : impl::FormLayersPassBase<FormLayersPass> {
  using FormLayersPassBase::FormLayersPassBase;

  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (mlir::failed(withTarget(
            function, target, [&](const TargetDescription &description) { return formLayers(function, description); })))
      signalPassFailure();
  }

private:
  mlir::LogicalResult formLayers(mlir::func::FuncOp function, const TargetDescription &description) {
    for (auto node : llvm::make_early_inc_range(function.getBody().front().getOps<onnx::NodeOp>()))
      wrapIntegerOperator(node);
    llvm::SmallVector<onnx::NodeOp> quantizations;
    for (auto node : function.getBody().front().getOps<onnx::NodeOp>())
      if (node.is("QuantizeLinear"))
        quantizations.push_back(node);
    layers::LayerFormer former(description, &getContext());
    for (onnx::NodeOp quantize : quantizations)
      former.form(quantize);
    for (auto node : llvm::make_early_inc_range(function.getBody().front().getOps<onnx::NodeOp>()))
      foldLayoutIntoBoundary(node);
    eraseDead(function);
    return mlir::success();
  }
};
} // namespace
} // namespace tilewright
