//===- FormLayers.cpp - quantized onnx patterns become tile layers --------===//
//
// Walks the QuantizeLinear nodes in order and forms what ends there; layers/ holds one file per operator family. What
// stays onnx says why (attribute `tile.host_reason`).
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/layers/LayerFormer.h"

#include "common/Error.h"
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

struct FormLayersPass final : impl::FormLayersPassBase<FormLayersPass> {
  using FormLayersPassBase::FormLayersPassBase;

  void runOnOperation() override {
    mlir::func::FuncOp function = getOperation();
    if (function.isExternal() || !function.getBody().hasOneBlock())
      return;
    std::unique_ptr<TargetDescription> description;
    try {
      description = createTarget(target);
    } catch (const Error &error) {
      function.emitError(error.what());
      return signalPassFailure();
    }
    llvm::SmallVector<onnx::NodeOp> quantizations;
    for (auto node : function.getBody().front().getOps<onnx::NodeOp>())
      if (node.is("QuantizeLinear"))
        quantizations.push_back(node);
    layers::LayerFormer former(*description, &getContext());
    for (onnx::NodeOp quantize : quantizations)
      former.form(quantize);
    eraseDead(function);
  }
};
} // namespace
} // namespace tilewright
