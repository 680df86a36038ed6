//===- Resizes.cpp - Upsample and the first Resize to today's Resize ------===//
//
// Before version 11 an output coordinate was output ÷ scale. Nearest took its floor, except that the first Resize
// rounded up where it made the tensor smaller, as onnxruntime does to this day.
//
//===----------------------------------------------------------------------===//

#include "passes/normalize/Rules.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::normalize;

static void likeBefore11(NodeEditor &edit, Value scales) {
  StringRef mode = edit.node.stringAttr("mode", "nearest");
  auto factors = onnx::floats(onnx::constantValue(scales), 64);
  auto any = [&](bool (*holds)(double)) { return factors && llvm::any_of(*factors, holds); };
  bool smaller = any([](double factor) { return factor < 1; }), larger = any([](double factor) { return factor > 1; });
  bool roundsUp = edit.node.is("Resize") && smaller;
  if (roundsUp && larger && mode == "nearest") {
    // Each axis rounds its own way: first those that grow, by themselves.
    SmallVector<float> growing, shrinking;
    for (double factor : *factors) {
      growing.push_back(static_cast<float>(std::max(factor, 1.0)));
      shrinking.push_back(static_cast<float>(std::min(factor, 1.0)));
    }
    StringAttr floor = edit.builder.getStringAttr("floor"), asymmetric = edit.builder.getStringAttr("asymmetric");
    Value grown = edit.create("Resize", {edit.node.input(0), edit.none(), edit.constantFloats(growing)}, nullptr,
                              {edit.attr("mode", edit.builder.getStringAttr(mode)), edit.attr("nearest_mode", floor),
                               edit.attr("coordinate_transformation_mode", asymmetric)});
    edit.setInput(0, grown);
    scales = edit.constantFloats(shrinking);
  }
  edit.setAttr("mode", edit.builder.getStringAttr(mode == "bilinear" || mode == "trilinear" ? "linear" : mode));
  edit.setAttr("coordinate_transformation_mode", edit.builder.getStringAttr("asymmetric"));
  edit.setAttr("nearest_mode", edit.builder.getStringAttr(roundsUp ? "ceil" : "floor"));
  edit.setOp("Resize", canonicalVersion("Resize"));
  edit.setInput(1, edit.none());
  edit.setInput(2, scales);
}

static Outcome upsample(NodeEditor &edit) {
  onnx::NodeOp node = edit.node;
  Value scales = node.input(1);
  if (auto array = dyn_cast_if_present<ArrayAttr>(node.attr("scales"))) {
    SmallVector<float> values;
    for (Attribute scale : array)
      values.push_back(static_cast<float>(cast<FloatAttr>(scale).getValueAsDouble()));
    scales = edit.constantFloats(values);
    edit.removeAttr("scales");
  } else if (node.attr("height_scale")) {
    scales = edit.constantFloats({1, 1, node.floatAttr("height_scale", 1), node.floatAttr("width_scale", 1)});
    edit.removeAttr("height_scale");
    edit.removeAttr("width_scale");
  }
  if (!scales)
    return Outcome::Later;
  likeBefore11(edit, scales);
  return Outcome::Done;
}

static Outcome resize(NodeEditor &edit) {
  onnx::NodeOp node = edit.node;
  if (node.getSinceVersion() == 10) {
    Value scales = node.input(1);
    if (!onnx::constantValue(scales))
      return Outcome::Later; // whether it rounds up hangs on them
    likeBefore11(edit, scales);
    return Outcome::Done;
  }
  // An unused roi or scales used to be an empty tensor.
  for (unsigned i : {1u, 2u, 3u})
    if (auto type = edit.inputType(i); type && type.hasStaticShape() && type.getNumElements() == 0)
      edit.setInput(i, edit.none());
  return Outcome::Done;
}

void normalize::addResizeRules(Rules &rules) {
  rules["Upsample"] = upsample;
  rules["Resize"] = resize;
}
