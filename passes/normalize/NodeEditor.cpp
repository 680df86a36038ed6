//===- NodeEditor.cpp - rewriting one onnx node ---------------------------===//

#include "passes/normalize/NodeEditor.h"

#include "frontend/OnnxSchema.h"
#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;

/// What newer opsets changed so far is only which element types operators take; staying at this one, a module can be
/// written as a file that today's runtimes read.
static constexpr int64_t kCanonicalOpset = 21;

int64_t tilewright::canonicalVersion(StringRef op) {
  int64_t oldest = 0;
  const OnnxSchema *schema = findOnnxSchema("", op, kCanonicalOpset);
  if (schema && shapes::ShapeTable::get().knows("", op, schema->sinceVersion))
    return schema->sinceVersion;
  for (int64_t version : onnxSchemaVersions("", op))
    if (oldest == 0 && shapes::ShapeTable::get().knows("", op, version))
      oldest = version;
  return oldest;
}

RankedTensorType NodeEditor::type(Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type && !isa<onnx::UnknownType>(type.getElementType()) ? type : RankedTensorType();
}

RankedTensorType NodeEditor::inputType(unsigned i) { return type(node.input(i)); }

RankedTensorType NodeEditor::staticInputType(unsigned i) {
  RankedTensorType known = inputType(i);
  return known && known.hasStaticShape() ? known : RankedTensorType();
}

std::optional<int64_t> NodeEditor::rank(unsigned i) {
  RankedTensorType known = inputType(i);
  return known ? std::optional<int64_t>(known.getRank()) : std::nullopt;
}

std::optional<SmallVector<int64_t>> NodeEditor::integers(unsigned i) {
  Value value = node.input(i);
  return value ? onnx::integers(onnx::constantValue(value)) : std::nullopt;
}

void NodeEditor::setAttr(StringRef name, Attribute value) {
  NamedAttrList attributes(node.getNodeAttributes());
  attributes.set(name, value);
  node.setNodeAttributesAttr(attributes.getDictionary(node.getContext()));
}

void NodeEditor::removeAttr(StringRef name) {
  NamedAttrList attributes(node.getNodeAttributes());
  attributes.erase(name);
  node.setNodeAttributesAttr(attributes.getDictionary(node.getContext()));
}

void NodeEditor::intsToInput(StringRef name, unsigned i) {
  if (!node.attr(name))
    return;
  setInput(i, constantInts(node.intsAttr(name)));
  removeAttr(name);
}

void NodeEditor::setInput(unsigned i, Value value) {
  SmallVector<Value> inputs(node.getInputs());
  while (inputs.size() <= i)
    inputs.push_back(none());
  inputs[i] = value ? value : none();
  node.getInputsMutable().assign(inputs);
}

void NodeEditor::dropInputsFrom(unsigned i) {
  if (node.getInputs().size() > i)
    node.getInputsMutable().assign(SmallVector<Value>(node.getInputs().take_front(i)));
}

Value NodeEditor::none() { return onnx::NoneOp::create(builder, node.getLoc()); }

Value NodeEditor::constant(ElementsAttr value) { return onnx::ConstantOp::create(builder, node.getLoc(), value); }

Value NodeEditor::constantInts(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, builder.getI64Type());
  return constant(DenseElementsAttr::get(type, values));
}

Value NodeEditor::constantFloats(ArrayRef<float> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, builder.getF32Type());
  return constant(DenseElementsAttr::get(type, values));
}

Value NodeEditor::constantScalar(Type type, double value) {
  auto scalar = RankedTensorType::get({}, type);
  if (isa<FloatType>(type))
    return constant(DenseElementsAttr::get(scalar, builder.getFloatAttr(type, value)));
  return constant(DenseElementsAttr::get(
      scalar, cast<Attribute>(IntegerAttr::get(type, APInt(type.getIntOrFloatBitWidth(), static_cast<int64_t>(value),
                                                           true, /*implicitTrunc=*/true)))));
}

Value NodeEditor::create(StringRef op, ValueRange inputs, Type result, ArrayRef<NamedAttribute> attributes) {
  if (!result)
    result = UnrankedTensorType::get(onnx::UnknownType::get(builder.getContext()));
  OperationState state(node.getLoc(), onnx::NodeOp::getOperationName());
  onnx::NodeOp::build(builder, state, TypeRange(result), inputs, builder.getStringAttr(op), builder.getStringAttr(""),
                      builder.getI64IntegerAttr(canonicalVersion(op)), builder.getDictionaryAttr(attributes),
                      ArrayAttr(), 0);
  return builder.create(state)->getResult(0);
}

NamedAttribute NodeEditor::attr(StringRef name, Attribute value) { return builder.getNamedAttr(name, value); }

void NodeEditor::setOp(StringRef op, int64_t version) {
  node.setOpType(op);
  node.setSinceVersion(version);
}

void NodeEditor::replaceWith(Value value) {
  // The value keeps the name that the model has for it.
  if (auto producer = dyn_cast_if_present<onnx::NodeOp>(value.getDefiningOp());
      producer && !producer->hasAttr(onnx::kOutputNamesAttr) && producer.getNumResults() == 1)
    if (auto names = node->getAttrOfType<ArrayAttr>(onnx::kOutputNamesAttr); names && !names.empty())
      producer->setAttr(onnx::kOutputNamesAttr, builder.getArrayAttr({names[0]}));
  node.getResult(0).replaceAllUsesWith(value);
  node.erase();
  isErased = true;
}
