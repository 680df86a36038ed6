//===- Semantics.cpp - operators whose meaning changed, or that do nothing ===//

#include "passes/normalize/Rules.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

/// Constant nodes have several spellings of their value.
static Outcome constant(NodeEditor &edit) {
  onnx::NodeOp node = edit.node;
  ElementsAttr value;
  auto vector = [](ArrayAttr array, Type element) {
    return RankedTensorType::get({static_cast<int64_t>(array.size())}, element);
  };
  for (StringRef name : {"value", "sparse_value"})
    if (auto elements = dyn_cast_if_present<ElementsAttr>(node.attr(name)))
      value = elements;
  if (auto number = dyn_cast_if_present<FloatAttr>(node.attr("value_float")))
    value = DenseElementsAttr::get(RankedTensorType::get({}, number.getType()), Attribute(number));
  if (auto number = dyn_cast_if_present<IntegerAttr>(node.attr("value_int")))
    value = DenseElementsAttr::get(RankedTensorType::get({}, number.getType()), Attribute(number));
  if (auto array = dyn_cast_if_present<ArrayAttr>(node.attr("value_floats")))
    value = DenseElementsAttr::get(vector(array, edit.builder.getF32Type()), array.getValue());
  if (auto array = dyn_cast_if_present<ArrayAttr>(node.attr("value_ints")))
    value = DenseElementsAttr::get(vector(array, edit.builder.getI64Type()), array.getValue());
  auto string = onnx::StringType::get(node.getContext());
  if (auto text = dyn_cast_if_present<StringAttr>(node.attr("value_string")))
    value = DenseStringElementsAttr::get(RankedTensorType::get({}, string), {text.getValue()});
  if (auto array = dyn_cast_if_present<ArrayAttr>(node.attr("value_strings"))) {
    SmallVector<StringRef> texts;
    for (Attribute text : array)
      texts.push_back(cast<StringAttr>(text).getValue());
    value = DenseStringElementsAttr::get(vector(array, string), texts);
  }
  if (!value)
    return Outcome::Done;
  edit.replaceWith(edit.constant(value));
  return Outcome::Done;
}

static Outcome identity(NodeEditor &edit) {
  edit.replaceWith(edit.node.getInputs()[0]);
  return Outcome::Done;
}

/// Inference: the data pass unchanged, and the mask, if somebody reads it, keeps everything.
static Outcome dropout(NodeEditor &edit) {
  onnx::NodeOp node = edit.node;
  if (Value training = node.input(2)) {
    auto flag = onnx::integers(onnx::constantValue(training), 1);
    auto ratio = onnx::floats(onnx::constantValue(node.input(1)), 1);
    bool drops = !flag || (flag->front() && !(ratio && ratio->front() == 0));
    if (drops)
      return Outcome::Done; // verify-supported refuses it
  }
  if (node.getNumResults() > 1 && !node.getResult(1).use_empty()) {
    Value shape = edit.create("Shape", {node.getInputs()[0]}, nullptr);
    auto one = RankedTensorType::get({1}, edit.builder.getI1Type());
    Value mask =
        edit.create("ConstantOfShape", {shape}, nullptr, {edit.attr("value", DenseElementsAttr::get(one, true))});
    if (node.getSinceVersion() < 10) // the mask had the data's type
      mask = edit.create("CastLike", {mask, node.getInputs()[0]}, nullptr);
    node.getResult(1).replaceAllUsesWith(mask);
  }
  edit.replaceWith(node.getInputs()[0]);
  return Outcome::Done;
}

/// Inference form: one output. Versions before 14 named more in training, which nobody may read here.
static Outcome batchNormalization(NodeEditor &edit) {
  onnx::NodeOp node = edit.node;
  if (node.intAttr("training_mode", 0) || node.intAttr("spatial", 1) == 0)
    return Outcome::Done; // verify-supported refuses it
  for (OpResult result : node.getResults().drop_front())
    if (!result.use_empty())
      return Outcome::Done;
  for (const char *name : {"consumed_inputs", "is_test", "spatial", "momentum", "training_mode"})
    edit.removeAttr(name);
  if (node.getNumResults() == 1)
    return Outcome::Done;
  SmallVector<NamedAttribute> attributes(node.getNodeAttributes().begin(), node.getNodeAttributes().end());
  edit.replaceWith(edit.create("BatchNormalization", node.getInputs(), node.getResult(0).getType(), attributes));
  return Outcome::Done;
}

/// Before 13, everything from the axis on was one row: flatten, take the operator along the row, shape back.
static Outcome softmax(NodeEditor &edit) {
  onnx::NodeOp node = edit.node;
  if (node.getSinceVersion() >= 13)
    return Outcome::Done;
  auto rank = edit.rank(0);
  if (!rank)
    return Outcome::Later;
  int64_t axis = node.intAttr("axis", 1);
  axis = axis < 0 ? axis + *rank : axis;
  if (axis == *rank - 1 && *rank > 0) {
    edit.setInt("axis", axis);
    return Outcome::Done;
  }
  Value x = node.getInputs()[0];
  Value shape = edit.create("Shape", {x}, nullptr);
  Value rows = edit.create("Flatten", {x}, nullptr, {edit.attr("axis", axis)});
  Value along = edit.create(node.getOpType(), {rows}, nullptr, {edit.attr("axis", 1)});
  edit.replaceWith(edit.create("Reshape", {along, shape}, node.getResult(0).getType(), {edit.attr("allowzero", 1)}));
  return Outcome::Done;
}

/// With one input these do nothing.
static Outcome variadic(NodeEditor &edit) {
  edit.removeAttr("consumed_inputs");
  if (edit.node.getInputs().size() == 1)
    edit.replaceWith(edit.node.getInputs()[0]);
  return Outcome::Done;
}

static Outcome scatter(NodeEditor &edit) {
  edit.setOp("ScatterElements", canonicalVersion("ScatterElements"));
  return Outcome::Done;
}

/// Before version 7 the slope was one number, or one per channel without trailing ones.
static Outcome prelu(NodeEditor &edit) {
  edit.removeAttr("consumed_inputs");
  if (edit.node.getSinceVersion() >= 7)
    return Outcome::Done;
  auto rank = edit.rank(0), slope = edit.rank(1);
  if (!rank || !slope)
    return Outcome::Later;
  SmallVector<int64_t> trailing;
  for (int64_t i = 1; i + 1 < *rank; ++i)
    trailing.push_back(i);
  if (*slope == 1 && !trailing.empty())
    edit.setInput(1, edit.create("Unsqueeze", {edit.node.getInputs()[1], edit.constantInts(trailing)}, nullptr));
  return Outcome::Done;
}

/// Version 18 had scale and bias per group; since 21 they are per channel.
static Outcome groupNormalization(NodeEditor &edit) {
  onnx::NodeOp node = edit.node;
  if (node.getSinceVersion() >= 21)
    return Outcome::Done;
  RankedTensorType x = edit.inputType(0);
  int64_t groups = node.intAttr("num_groups", 0);
  if (!x || x.getRank() < 2 || x.isDynamicDim(1))
    return Outcome::Later;
  if (groups < 1 || x.getDimSize(1) % groups != 0)
    return Outcome::Done; // refused by shape inference
  for (unsigned i : {1u, 2u}) {
    Value column = edit.create("Unsqueeze", {node.getInputs()[i], edit.constantInts({1})}, nullptr);
    Value wide = edit.create("Expand", {column, edit.constantInts({groups, x.getDimSize(1) / groups})}, nullptr);
    edit.setInput(i, edit.create("Reshape", {wide, edit.constantInts({-1})}, nullptr));
  }
  return Outcome::Done;
}

/// The default, all dimensions reversed, is spelled out.
static Outcome transpose(NodeEditor &edit) {
  if (edit.node.attr("perm"))
    return Outcome::Done;
  auto rank = edit.rank(0);
  if (!rank)
    return Outcome::Later;
  SmallVector<int64_t> order;
  for (int64_t i = *rank; i-- > 0;)
    order.push_back(i);
  edit.setInts("perm", order);
  return Outcome::Done;
}

static Outcome gemm(NodeEditor &edit) {
  edit.removeAttr("broadcast");
  return Outcome::Done;
}

void normalize::addSemanticRules(Rules &rules) {
  rules["Constant"] = constant;
  rules["Identity"] = identity;
  rules["Dropout"] = dropout;
  rules["BatchNormalization"] = batchNormalization;
  for (const char *op : {"Softmax", "LogSoftmax", "Hardmax"})
    rules[op] = softmax;
  for (const char *op : {"Sum", "Max", "Min", "Mean"})
    rules[op] = variadic;
  rules["Scatter"] = scatter;
  rules["PRelu"] = prelu;
  rules["GroupNormalization"] = groupNormalization;
  rules["Transpose"] = transpose;
  rules["Gemm"] = gemm;
}
