//===- Generators.cpp - shapes of operators that make a tensor ------------===//

#include "dialects/onnx/ConstantData.h"
#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

/// Shape(start, end): the dimensions as elements.
static LogicalResult shapeOf(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  int64_t rank = static_cast<int64_t>(x->size());
  auto clamp = [&](int64_t at) { return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank); };
  int64_t start = clamp(context.node.intAttr("start", 0)), end = clamp(context.node.intAttr("end", rank));
  Dims elements;
  for (int64_t i = start; i < end; ++i)
    elements.push_back((*x)[i]);
  context.set(0, {context.constant(static_cast<int64_t>(elements.size()))});
  context.setElements(0, elements);
  return success();
}

static LogicalResult sizeOf(ShapeContext &context) {
  context.set(0, {});
  auto x = context.shape(0);
  if (!x)
    return success();
  Dim product = context.constant(1);
  for (Dim dim : *x)
    product = product * dim;
  context.setElements(0, {product});
  return success();
}

static LogicalResult constant(ShapeContext &context) {
  onnx::NodeOp node = context.node;
  MLIRContext *mlir = context.symbols.context;
  auto vector = [&](StringRef name, Type type) {
    auto array = dyn_cast_if_present<ArrayAttr>(node.attr(name));
    if (array) {
      context.set(0, {context.constant(static_cast<int64_t>(array.size()))});
      context.setType(0, type);
    }
    return array != nullptr;
  };
  for (StringRef name : {"value", "sparse_value"})
    if (auto value = dyn_cast_if_present<ElementsAttr>(node.attr(name))) {
      context.set(0, context.constants(value.getShapedType().getShape()));
      context.setType(0, value.getElementType());
      if (auto numbers = onnx::integers(value, kMaxFollowedElements))
        context.setElements(0, context.constants(*numbers));
      return success();
    }
  if (node.attr("value_float") || node.attr("value_int") || node.attr("value_string")) {
    context.set(0, {});
    context.setType(0, node.attr("value_float") ? Type(Float32Type::get(mlir))
                       : node.attr("value_int") ? Type(IntegerType::get(mlir, 64))
                                                : Type(onnx::StringType::get(mlir)));
    return success();
  }
  if (vector("value_floats", Float32Type::get(mlir)) || vector("value_ints", IntegerType::get(mlir, 64)) ||
      vector("value_strings", onnx::StringType::get(mlir)))
    return success();
  return context.error() << "has no value";
}

static LogicalResult constantOfShape(ShapeContext &context) {
  auto value = dyn_cast_if_present<ElementsAttr>(context.node.attr("value"));
  context.setType(0, value ? value.getElementType() : Type(Float32Type::get(context.symbols.context)));
  auto target = context.elements(0);
  if (!target)
    return success();
  for (Dim &dim : *target) {
    if (!dim)
      dim = context.fresh();
    if (auto size = constantOf(dim); size && *size < 0)
      return context.error() << "the shape holds " << *size;
  }
  context.set(0, *target);
  auto count = staticProduct(*target);
  auto numbers = onnx::integers(value, 1);
  if (count && *count <= kMaxFollowedElements && numbers && numbers->size() == 1)
    context.setElements(0, Dims(*count, context.constant(numbers->front())));
  return success();
}

static LogicalResult range(ShapeContext &context) {
  auto element = [&](unsigned i) {
    auto elements = context.elements(i);
    return elements && elements->size() == 1 ? (*elements)[0] : Dim();
  };
  Dim start = element(0), limit = element(1), step = element(2);
  auto by = step ? constantOf(step) : std::nullopt;
  if (by && *by == 0)
    return context.error() << "the step is 0";
  if (!start || !limit || !by || !isa<IntegerType>(context.elementType(0))) {
    auto scalar = [&](unsigned i) {
      auto numbers = context.has(i) ? onnx::floats(onnx::constantValue(context.node.input(i)), 1) : std::nullopt;
      return numbers && numbers->size() == 1 ? (*numbers)[0] : NAN;
    };
    bool isKnown = true;
    for (unsigned i : {0u, 1u, 2u})
      isKnown &= context.has(i) && onnx::floats(onnx::constantValue(context.node.input(i)), 1).has_value();
    double count = std::ceil((scalar(1) - scalar(0)) / scalar(2));
    if (isKnown && !(std::abs(count) < 1e15))
      return context.error() << "from " << scalar(0) << " to " << scalar(1) << " in steps of " << scalar(2)
                             << " there is no length that a tensor can have";
    context.set(0, {isKnown ? context.constant(static_cast<int64_t>(std::max(count, 0.0))) : context.fresh()});
    return success();
  }
  Dim length = *by > 0 ? (limit - start).ceilDiv(*by) : (start - limit).ceilDiv(-*by);
  auto count = constantOf(length);
  if (count)
    length = context.constant(std::max<int64_t>(0, *count));
  context.set(0, {length});
  if (count && *count <= kMaxFollowedElements) {
    Dims elements;
    for (int64_t i = 0; i < *count; ++i)
      elements.push_back(start + i * *by);
    context.setElements(0, elements);
  }
  return success();
}

static LogicalResult eyeLike(ShapeContext &context) {
  if (auto x = context.shape(0))
    context.set(0, Dims(*x));
  if (!context.node.attr("dtype"))
    context.setType(0, context.elementType(0));
  return context.node.attr("dtype")
             ? LogicalResult(context.error() << "attribute 'dtype' is not supported; cast the input instead")
             : success();
}

void shapes::addGeneratorRules(ShapeTable &table) {
  table.add("Shape", shapeOf);
  table.add("Size", sizeOf);
  table.add("Constant", constant);
  table.add("ConstantOfShape", constantOfShape);
  table.add("Range", range);
  table.add("EyeLike", eyeLike);
}
