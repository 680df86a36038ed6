//===- NormalizeOpsets.cpp - one spelling per operator --------------------===//
//
// Everything downstream handles the newest spelling of an operator only. Some rules need types or shapes, so the pass
// runs before and after shape inference: what cannot be rewritten yet is left alone, version included.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "frontend/OnnxSchema.h"
#include "passes/normalize/Rules.h"

namespace tilewright {
#define GEN_PASS_DEF_NORMALIZEOPSETSPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

static const normalize::Rules &allRules() {
  static const normalize::Rules rules = [] {
    normalize::Rules result;
    normalize::addAttributeRules(result);
    normalize::addSemanticRules(result);
    normalize::addWindowRules(result);
    normalize::addResizeRules(result);
    return result;
  }();
  return rules;
}

namespace {

struct NormalizeOpsetsPass final : tilewright::impl::NormalizeOpsetsPassBase<NormalizeOpsetsPass> {
  void runOnOperation() override {
    SmallVector<onnx::NodeOp> nodes;
    getOperation()->walk([&](onnx::NodeOp node) {
      if (node.getDomain().empty())
        nodes.push_back(node);
    });
    for (onnx::NodeOp node : nodes)
      normalizeNode(node);
    // Values may have been replaced by others of a known type.
    getOperation()->walk([](func::FuncOp function) {
      if (!function.isExternal())
        function.setFunctionType(FunctionType::get(function.getContext(), function.getArgumentTypes(),
                                                   function.front().getTerminator()->getOperandTypes()));
    });
  }

  void normalizeNode(onnx::NodeOp node) {
    std::string op = node.getOpType().str();
    int64_t canonical = canonicalVersion(op), version = static_cast<int64_t>(node.getSinceVersion());
    // A version without a schema is not of this operator at all; verify-supported says so.
    const OnnxSchema *schema = onnxSchemaOfVersion("", op, version);
    if (canonical == 0 || !schema || !schema->fits(node.getInputs().size(), node.getNumResults()))
      return;
    NodeEditor editor(node);
    auto rule = allRules().find(op);
    auto outcome = rule == allRules().end() ? normalize::Outcome::Done : rule->second(editor);
    if (outcome == normalize::Outcome::Done && !editor.erased() && node.getOpType() == op)
      node.setSinceVersion(std::max(version, canonical));
  }
};

} // namespace
