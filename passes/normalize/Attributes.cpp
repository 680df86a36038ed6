//===- Attributes.cpp - attributes that became inputs or vanished ---------===//

#include "passes/normalize/Rules.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

/// Axes that are an input from `version` on.
static Rule axesToInput(int64_t version) {
  return [version](NodeEditor &edit) {
    if (static_cast<int64_t>(edit.node.getSinceVersion()) < version)
      edit.intsToInput("axes", 1);
    return Outcome::Done;
  };
}

static Outcome clip(NodeEditor &edit) {
  if (edit.node.getSinceVersion() >= 11)
    return Outcome::Done;
  edit.removeAttr("consumed_inputs");
  if (!edit.node.attr("min") && !edit.node.attr("max"))
    return Outcome::Done;
  // The bounds take the input's type.
  auto type = dyn_cast<TensorType>(edit.node.getInputs()[0].getType());
  if (!type || !isa<FloatType>(type.getElementType()))
    return Outcome::Later;
  unsigned at = 1;
  for (const char *name : {"min", "max"}) {
    if (edit.node.attr(name))
      edit.setInput(at, edit.constantScalar(type.getElementType(), edit.node.floatAttr(name, 0)));
    edit.removeAttr(name);
    ++at;
  }
  return Outcome::Done;
}

static Outcome slice(NodeEditor &edit) {
  if (edit.node.getSinceVersion() >= 10)
    return Outcome::Done;
  edit.intsToInput("starts", 1);
  edit.intsToInput("ends", 2);
  edit.intsToInput("axes", 3);
  return Outcome::Done;
}

static Outcome pad(NodeEditor &edit) {
  if (edit.node.getSinceVersion() >= 11)
    return Outcome::Done;
  auto type = dyn_cast<TensorType>(edit.node.getInputs()[0].getType());
  if (edit.node.attr("value") && (!type || !isa<FloatType>(type.getElementType())))
    return Outcome::Later;
  edit.intsToInput(edit.node.attr("paddings") ? "paddings" : "pads", 1);
  if (edit.node.attr("value"))
    edit.setInput(2, edit.constantScalar(type.getElementType(), edit.node.floatAttr("value", 0)));
  edit.removeAttr("value");
  return Outcome::Done;
}

static Outcome reshape(NodeEditor &edit) {
  if (edit.node.getSinceVersion() < 5) {
    edit.removeAttr("consumed_inputs");
    edit.intsToInput("shape", 1);
  }
  return Outcome::Done;
}

static Outcome split(NodeEditor &edit) {
  if (edit.node.getSinceVersion() < 13)
    edit.intsToInput("split", 1);
  if (edit.node.getSinceVersion() < 18 && !edit.node.input(1)) {
    edit.dropInputsFrom(1);
    edit.setInt("num_outputs", static_cast<int64_t>(edit.node.getNumResults()));
  }
  return Outcome::Done;
}

static Outcome topK(NodeEditor &edit) {
  if (edit.node.getSinceVersion() < 10 && edit.node.attr("k")) {
    int64_t k = edit.node.intAttr("k", 0);
    edit.removeAttr("k");
    edit.setInput(1, edit.constantInts({k}));
  }
  return Outcome::Done;
}

static Outcome concat(NodeEditor &edit) {
  if (edit.node.getSinceVersion() < 4 && !edit.node.attr("axis"))
    edit.setInt("axis", 1);
  return Outcome::Done;
}

static Outcome castTo(NodeEditor &edit) {
  auto name = dyn_cast_if_present<StringAttr>(edit.node.attr("to"));
  if (!name)
    return Outcome::Done;
  static constexpr const char *kNames[] = {"UNDEFINED", "FLOAT",  "UINT8",     "INT8",       "UINT16",  "INT16",
                                           "INT32",     "INT64",  "STRING",    "BOOL",       "FLOAT16", "DOUBLE",
                                           "UINT32",    "UINT64", "COMPLEX64", "COMPLEX128", "BFLOAT16"};
  for (auto [number, spelled] : llvm::enumerate(kNames))
    if (name.getValue() == spelled)
      edit.setInt("to", static_cast<int64_t>(number));
  return Outcome::Done;
}

static Outcome selu(NodeEditor &edit) {
  edit.removeAttr("consumed_inputs");
  if (edit.node.getSinceVersion() < 6) { // the first version's defaults had fewer digits
    if (!edit.node.attr("alpha"))
      edit.setAttr("alpha", edit.builder.getF32FloatAttr(1.6732f));
    if (!edit.node.attr("gamma"))
      edit.setAttr("gamma", edit.builder.getF32FloatAttr(1.0507f));
  }
  return Outcome::Done;
}

static Outcome lpNorm(NodeEditor &edit) {
  if (auto p = dyn_cast_if_present<FloatAttr>(edit.node.attr("p")))
    edit.setInt("p", static_cast<int64_t>(p.getValueAsDouble()));
  return Outcome::Done;
}

static Outcome recurrent(NodeEditor &edit) {
  edit.removeAttr("output_sequence"); // whether the first output is wanted: its being named says so
  return Outcome::Done;
}

static Outcome dropConsumedInputs(NodeEditor &edit) {
  edit.removeAttr("consumed_inputs");
  return Outcome::Done;
}

/// Before version 7 the second input was broadcast only when told to, at a given axis.
static Outcome binary(NodeEditor &edit) {
  if (edit.node.getSinceVersion() >= 7)
    return Outcome::Done;
  if (edit.node.attr("axis") && edit.node.intAttr("broadcast", 0)) {
    auto a = edit.rank(0), b = edit.rank(1);
    if (!a || !b)
      return Outcome::Later;
    int64_t axis = edit.node.intAttr("axis", 0);
    int64_t first = axis < 0 ? axis + *a : axis;
    SmallVector<int64_t> trailing; // ones behind b's dimensions, so that they end at b's last
    for (int64_t i = *b; i < *a - first; ++i)
      trailing.push_back(i);
    if (!trailing.empty())
      edit.setInput(1, edit.create("Unsqueeze", {edit.node.getInputs()[1], edit.constantInts(trailing)}, nullptr));
  }
  for (const char *name : {"axis", "broadcast", "consumed_inputs"})
    edit.removeAttr(name);
  return Outcome::Done;
}

void normalize::addAttributeRules(Rules &rules) {
  for (const char *op : {"Squeeze", "Unsqueeze", "ReduceSum"})
    rules[op] = axesToInput(13);
  for (const char *op : {"ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean",
                         "ReduceMin", "ReduceProd", "ReduceSumSquare"})
    rules[op] = axesToInput(18);
  rules["Clip"] = clip;
  rules["Slice"] = slice;
  rules["Pad"] = pad;
  rules["Reshape"] = reshape;
  rules["Split"] = split;
  rules["TopK"] = topK;
  rules["Concat"] = concat;
  rules["Cast"] = castTo;
  rules["Selu"] = selu;
  rules["GlobalLpPool"] = lpNorm;
  for (const char *op : {"RNN", "LSTM", "GRU"})
    rules[op] = recurrent;
  for (const char *op : {"Abs", "Ceil", "Elu", "Exp", "Floor", "HardSigmoid", "InstanceNormalization", "LeakyRelu",
                         "Log", "Neg", "Reciprocal", "Relu", "Sigmoid", "Sqrt", "Tanh"})
    rules[op] = dropConsumedInputs;
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Pow", "And", "Or", "Xor", "Equal", "Greater", "Less"})
    rules[op] = binary;
}
