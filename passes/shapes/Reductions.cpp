//===- Reductions.cpp - shapes of reductions ------------------------------===//

#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

static const char *const kReductions[] = {"ReduceL1",  "ReduceL2",       "ReduceLogSum", "ReduceLogSumExp",
                                          "ReduceMax", "ReduceMean",     "ReduceMin",    "ReduceProd",
                                          "ReduceSum", "ReduceSumSquare"};

/// `x` without the dimensions in `axes`, or with 1 in their place.
static FailureOr<Dims> reduced(ShapeContext &context, ArrayRef<Dim> x, ArrayRef<int64_t> axes, bool keep) {
  SmallVector<bool> drop(x.size(), false);
  for (int64_t value : axes) {
    auto axis = context.axis(value, static_cast<int64_t>(x.size()), "axes value");
    if (!axis)
      return failure();
    drop[*axis] = true;
  }
  Dims result;
  for (size_t i = 0; i < x.size(); ++i)
    if (!drop[i])
      result.push_back(x[i]);
    else if (keep)
      result.push_back(context.constant(1));
  return result;
}

static LogicalResult reduction(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  bool unknown, keep = context.node.intAttr("keepdims", 1) != 0;
  auto axes = context.integersFrom("axes", 1, unknown);
  if (unknown) {
    if (keep) {
      Dims result;
      for (size_t i = 0; i < x->size(); ++i)
        result.push_back(context.fresh());
      context.set(0, result);
    }
    return success();
  }
  if (!axes || axes->empty()) {
    if (context.node.intAttr("noop_with_empty_axes", 0)) {
      context.set(0, Dims(*x));
      return success();
    }
    axes.emplace();
    for (size_t i = 0; i < x->size(); ++i)
      axes->push_back(static_cast<int64_t>(i));
  }
  auto result = reduced(context, *x, *axes, keep);
  if (failed(result))
    return failure();
  context.set(0, *result);
  if (context.node.is("ReduceProd") && x->size() == 1)
    if (auto elements = context.elements(0); elements && !llvm::is_contained(*elements, Dim())) {
      Dim product = context.constant(1);
      for (Dim element : *elements)
        product = product * element;
      context.setElements(0, {product});
    }
  return success();
}

static LogicalResult argument(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  auto result = reduced(context, *x, {context.node.intAttr("axis", 0)}, context.node.intAttr("keepdims", 1) != 0);
  if (failed(result))
    return failure();
  context.set(0, *result);
  return success();
}

void shapes::addReductionRules(ShapeTable &table) {
  for (const char *op : kReductions)
    table.add(op, reduction);
  table.add("ArgMax", argument);
  table.add("ArgMin", argument);
  table.addMicrosoft("QLinearReduceMean", [](ShapeContext &context) {
    auto x = context.shape(0);
    if (!x)
      return LogicalResult(success());
    SmallVector<int64_t> axes = context.node.intsAttr("axes");
    if (axes.empty())
      for (size_t i = 0; i < x->size(); ++i)
        axes.push_back(static_cast<int64_t>(i));
    auto result = reduced(context, *x, axes, context.node.intAttr("keepdims", 1) != 0);
    if (succeeded(result))
      context.set(0, *result);
    return LogicalResult(result);
  });
}
