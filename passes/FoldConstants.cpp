//===- FoldConstants.cpp - nodes over constants become constants ----------===//
//
// Weights that are reshaped, transposed or scaled by nodes become weights. Each node is computed once and its inputs
// are read once; views share their input's memory. What a caller may override (an input with a default value) is no
// constant.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/fold/Evaluator.h"

namespace tilewright {
#define GEN_PASS_DEF_FOLDCONSTANTSPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {

struct FoldConstantsPass final : tilewright::impl::FoldConstantsPassBase<FoldConstantsPass> {
  using FoldConstantsPassBase::FoldConstantsPassBase;

  void runOnOperation() override {
    SmallVector<onnx::NodeOp> nodes;
    getOperation()->walk<WalkOrder::PreOrder>([&](onnx::NodeOp node) { nodes.push_back(node); });
    for (onnx::NodeOp node : nodes)
      foldNode(node);
    // A constant that was only an operand of folded nodes would keep its memory alive.
    getOperation()->walk([](onnx::ConstantOp constant) {
      if (constant->use_empty())
        constant->erase();
    });
  }

  void foldNode(onnx::NodeOp node) {
    fold::Results results = fold::evaluate(node, maxBytes);
    if (results.empty())
      return;
    OpBuilder builder(node);
    for (auto [result, value] : llvm::zip_equal(node.getResults(), results))
      result.replaceAllUsesWith(onnx::ConstantOp::create(builder, node.getLoc(), value));
    node.erase();
  }
};

} // namespace
