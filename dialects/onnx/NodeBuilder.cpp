//===- NodeBuilder.cpp - making onnx.node operations in passes ------------===//

#include "dialects/onnx/NodeBuilder.h"

#include "mlir/Interfaces/FunctionInterfaces.h"

using namespace mlir;
using namespace tilewright;

onnx::NodeOp onnx::createNode(OpBuilder &builder, Location loc, StringRef opType, int64_t sinceVersion,
                              ValueRange inputs, TypeRange results, ArrayRef<NamedAttribute> attributes,
                              ArrayRef<StringRef> outputNames) {
  SmallVector<Value> operands(inputs);
  for (Value &operand : operands)
    if (!operand)
      operand = NoneOp::create(builder, loc);
  auto node = NodeOp::create(builder, loc, results, operands, builder.getStringAttr(opType), builder.getStringAttr(""),
                             builder.getI64IntegerAttr(sinceVersion), builder.getDictionaryAttr(attributes),
                             ArrayAttr(), /*bodiesCount=*/0);
  if (!outputNames.empty())
    node->setAttr(kOutputNamesAttr, builder.getStrArrayAttr(outputNames));
  return node;
}

StringRef onnx::tensorName(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto function = dyn_cast_if_present<FunctionOpInterface>(argument.getOwner()->getParentOp());
    if (!function || argument.getOwner() != &function.getFunctionBody().front())
      return {};
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), kNameAttr);
    return name ? name.getValue() : StringRef();
  }
  auto names = value.getDefiningOp()->getAttrOfType<ArrayAttr>(kOutputNamesAttr);
  unsigned index = cast<OpResult>(value).getResultNumber();
  return names && index < names.size() ? cast<StringAttr>(names[index]).getValue() : StringRef();
}
