//===- ShapeTable.cpp - shape inference rules by operator -----------------===//

#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

const ShapeTable &ShapeTable::get() {
  static const ShapeTable table = [] {
    ShapeTable result;
    addElementwiseRules(result);
    addWindowRules(result);
    addMatrixRules(result);
    addReshapeRules(result);
    addSelectionRules(result);
    addResizeRules(result);
    addReductionRules(result);
    addNormalizationRules(result);
    addGeneratorRules(result);
    addQuantizedRules(result);
    addRecurrentRules(result);
    addControlFlowRules(result);
    return result;
  }();
  return table;
}

void ShapeTable::add(StringRef op, ShapeRule rule, int64_t first, int64_t last, StringRef domain) {
  for (int64_t version : onnxSchemaVersions(domain, op))
    if (version >= first && version <= last)
      rules[{domain.str(), op.str(), version}] = rule;
}

const ShapeRule *ShapeTable::find(onnx::NodeOp node) const {
  auto found = rules.find({node.getDomain().str(), node.getOpType().str(), node.getSinceVersion()});
  return found == rules.end() ? nullptr : &found->second;
}

bool ShapeTable::knows(StringRef domain, StringRef op, int64_t sinceVersion) const {
  return rules.count({domain.str(), op.str(), sinceVersion}) != 0;
}
