//===- NodeName.cpp - how messages and reports call a node ----------------===//

#include "passes/NodeName.h"

using namespace mlir;
using namespace tilewright;

std::string tilewright::describeNode(onnx::NodeOp node) {
  std::string text = node.getQualifiedName() + "(" + std::to_string(node.getSinceVersion()) + ")";
  if (!node.nodeName().empty())
    return text + " '" + node.nodeName().str() + "'";
  if (auto outputs = node->getAttrOfType<ArrayAttr>(onnx::kOutputNamesAttr))
    for (Attribute output : outputs)
      if (StringRef name = cast<StringAttr>(output).getValue(); !name.empty())
        return text + " giving '" + name.str() + "'";
  return text;
}
