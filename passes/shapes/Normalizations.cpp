//===- Normalizations.cpp - shapes of normalizations and softmax ----------===//

#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

/// The first result is as the input; `vectors` more are as scale (batch statistics).
static LogicalResult batchNormalization(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  context.set(0, Dims(*x));
  auto scale = context.shape(1);
  if (x->size() >= 2 && scale && scale->size() == 1) {
    auto channels = constantOf((*x)[1]), given = constantOf(scale->front());
    if (channels && given && *channels != *given)
      return context.error() << "the scale has " << *given << " elements; the input has " << *channels << " channels";
  }
  for (unsigned i = 1; i < context.results() && scale; ++i)
    context.set(i, Dims(*scale));
  return success();
}

static LogicalResult sameWithAxis(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  context.set(0, Dims(*x));
  if (!x->empty() && context.node.attr("axis"))
    // Flattening at the rank itself, legal before version 13, leaves rows of one element.
    if (context.node.intAttr("axis", 0) != static_cast<int64_t>(x->size()) &&
        !context.axis(context.node.intAttr("axis", 0), static_cast<int64_t>(x->size())))
      return failure();
  return success();
}

/// Statistics have 1 in the normalized dimensions, from `axis` on.
static LogicalResult layerNormalization(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  auto axis = context.axis(context.node.intAttr("axis", -1), static_cast<int64_t>(x->size()));
  if (!axis)
    return failure();
  context.set(0, Dims(*x));
  Dims statistics(x->take_front(*axis));
  statistics.append(x->size() - *axis, context.constant(1));
  for (unsigned i = 1; i < context.results(); ++i) {
    context.set(i, statistics);
    if (!context.resultType(i)) // computed in float unless stash_type says bfloat16
      context.setType(i, context.node.intAttr("stash_type", 1) == 16 ? Type(BFloat16Type::get(context.symbols.context))
                                                                     : Type(Float32Type::get(context.symbols.context)));
  }
  return success();
}

/// com.microsoft SkipLayerNormalization: the sum that is normalized is the last result.
static LogicalResult skipLayerNormalization(ShapeContext &context) {
  if (auto x = context.shape(0)) {
    context.set(0, Dims(*x));
    if (context.results() > 3)
      context.set(3, Dims(*x));
  }
  return success();
}

void shapes::addNormalizationRules(ShapeTable &table) {
  table.add("BatchNormalization", batchNormalization);
  for (const char *op : {"Softmax", "LogSoftmax", "Hardmax"})
    table.add(op, sameWithAxis);
  table.add("LayerNormalization", layerNormalization);
  table.add("RMSNormalization", layerNormalization);
  for (const char *op :
       {"InstanceNormalization", "GroupNormalization", "LRN", "LpNormalization", "MeanVarianceNormalization"})
    table.add(op, sameWithAxis);
  table.addMicrosoft("SkipLayerNormalization", skipLayerNormalization);
  table.addMicrosoft("QLinearSoftmax", sameWithAxis);
}
