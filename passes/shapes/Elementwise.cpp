//===- Elementwise.cpp - shapes of elementwise operators ------------------===//

#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

static const char *const kUnary[] = {"Abs",
                                     "Acos",
                                     "Acosh",
                                     "Asin",
                                     "Asinh",
                                     "Atan",
                                     "Atanh",
                                     "BitwiseNot",
                                     "Ceil",
                                     "Celu",
                                     "Cos",
                                     "Cosh",
                                     "Elu",
                                     "Erf",
                                     "Exp",
                                     "Floor",
                                     "Gelu",
                                     "HardSigmoid",
                                     "HardSwish",
                                     "Identity",
                                     "IsInf",
                                     "IsNaN",
                                     "LeakyRelu",
                                     "Log",
                                     "Mish",
                                     "Neg",
                                     "Not",
                                     "Reciprocal",
                                     "Relu",
                                     "Round",
                                     "Selu",
                                     "Shrink",
                                     "Sigmoid",
                                     "Sign",
                                     "Sin",
                                     "Sinh",
                                     "Softplus",
                                     "Softsign",
                                     "Sqrt",
                                     "Swish",
                                     "Tan",
                                     "Tanh",
                                     "ThresholdedRelu",
                                     "Clip",
                                     "CumSum",
                                     "Trilu"};
static const char *const kBroadcasting[] = {"Add",      "And",         "BitwiseAnd", "BitwiseOr", "BitwiseXor",
                                            "BitShift", "Div",         "Equal",      "Greater",   "GreaterOrEqual",
                                            "Less",     "LessOrEqual", "Max",        "Mean",      "Min",
                                            "Mod",      "Mul",         "Or",         "Pow",       "Sub",
                                            "Sum",      "Where",       "Xor"};

static LogicalResult sameAsFirst(ShapeContext &context) {
  if (auto shape = context.shape(0))
    context.set(0, Dims(*shape));
  if (auto elements = context.elements(0); elements && context.node.is("Identity"))
    context.setElements(0, *elements);
  return success();
}

/// An element of an operand that is broadcast to `count` elements.
static Dim elementAt(const Dims &elements, size_t i, size_t count) {
  return elements.size() == count ? elements[i] : elements.size() == 1 ? elements[0] : Dim();
}

/// Dimensions are not negative, so the integer division that truncates is the one that floors.
static Dim combine(StringRef op, Dim a, Dim b) {
  if (!a || !b)
    return Dim();
  auto x = constantOf(a), y = constantOf(b);
  if (op == "Add")
    return a + b;
  if (op == "Sub")
    return a - b;
  if (op == "Mul")
    return a * b;
  if (op == "Div" && y && *y > 0)
    return x ? getAffineConstantExpr(*x / *y, a.getContext()) : a.floorDiv(*y);
  if (op == "Mod" && y && *y > 0 && !x)
    return a % *y;
  if (op == "Max" && x && y)
    return *x > *y ? a : b;
  if (op == "Min" && x && y)
    return *x < *y ? a : b;
  if ((op == "Max" || op == "Min") && a == b)
    return a;
  return Dim();
}

/// Opset 1 to 6 broadcast only the second operand, and only when told to.
static FailureOr<Dims> oldBroadcast(ShapeContext &context, ArrayRef<Dim> a, ArrayRef<Dim> b) {
  int64_t rank = static_cast<int64_t>(a.size()), other = static_cast<int64_t>(b.size());
  int64_t from = context.node.attr("axis") ? context.node.intAttr("axis", 0) : rank - other;
  if (from < 0)
    from += rank;
  if (from < 0 || from + other > rank) {
    context.error() << "the second input does not fit the first at axis " << from;
    return failure();
  }
  Dims padded(b);
  padded.append(rank - from - other, context.constant(1));
  return context.broadcast(a, padded);
}

static LogicalResult broadcasting(ShapeContext &context) {
  std::optional<Dims> shape;
  bool old = context.node.getSinceVersion() < 7 && context.node.attr("broadcast");
  for (unsigned i = 0; i < context.inputs(); ++i) {
    auto input = context.shape(i);
    if (!input)
      return success();
    if (!shape) {
      shape = Dims(*input);
      continue;
    }
    auto merged = old ? oldBroadcast(context, *shape, *input) : context.broadcast(*shape, *input);
    if (failed(merged))
      return failure();
    shape = *merged;
  }
  if (!shape)
    return success();
  context.set(0, *shape);
  auto count = staticProduct(*shape);
  if (!count || *count > kMaxFollowedElements)
    return success();
  StringRef op = context.node.getOpType();
  if (op == "Equal" || op == "Where" || !isa_and_present<IntegerType>(context.elementType(0)))
    return success();
  std::optional<Dims> all = context.elements(0);
  for (unsigned i = 1; i < context.inputs() && all; ++i) {
    auto next = context.elements(i);
    if (!next)
      return success();
    Dims combined;
    for (int64_t k = 0; k < *count; ++k)
      combined.push_back(combine(op, elementAt(*all, k, *count), elementAt(*next, k, *count)));
    all = combined;
  }
  if (all && all->size() == static_cast<size_t>(*count) && context.inputs() > 1)
    context.setElements(0, *all);
  return success();
}

/// Where(condition, a, b) picks elements when the condition is known.
static LogicalResult where(ShapeContext &context) {
  if (failed(broadcasting(context)))
    return failure();
  auto &shape = context.result(0).shape;
  auto count = shape ? staticProduct(*shape) : std::nullopt;
  auto condition = context.elements(0), a = context.elements(1), b = context.elements(2);
  if (!count || !condition || !a || !b || *count > kMaxFollowedElements)
    return success();
  Dims elements;
  for (int64_t k = 0; k < *count; ++k) {
    Dim x = elementAt(*a, k, *count), y = elementAt(*b, k, *count);
    Dim c = elementAt(*condition, k, *count);
    auto known = c ? constantOf(c) : std::nullopt;
    elements.push_back(known ? (*known ? x : y) : x && x == y ? x : Dim());
  }
  context.setElements(0, elements);
  return success();
}

/// Equal on elements that are known, or on equal expressions.
static LogicalResult equal(ShapeContext &context) {
  if (failed(broadcasting(context)))
    return failure();
  auto &shape = context.result(0).shape;
  auto count = shape ? staticProduct(*shape) : std::nullopt;
  auto a = context.elements(0), b = context.elements(1);
  if (!count || !a || !b || *count > kMaxFollowedElements)
    return success();
  Dims elements;
  for (int64_t k = 0; k < *count; ++k) {
    Dim x = elementAt(*a, k, *count), y = elementAt(*b, k, *count);
    auto difference = x && y ? constantOf(x - y) : std::nullopt;
    // A dimension is never negative, whatever its symbols are.
    bool never = x && y && (isa<AffineSymbolExpr>(x) || isa<AffineSymbolExpr>(y)) &&
                 (constantOf(x).value_or(0) < 0 || constantOf(y).value_or(0) < 0);
    elements.push_back(difference ? context.constant(*difference == 0) : never ? context.constant(0) : Dim());
  }
  context.setElements(0, elements);
  return success();
}

static Type typeOfNumber(int64_t number, MLIRContext *context) {
  Builder b(context);
  switch (number) {
  case 1:
    return b.getF32Type();
  case 2:
    return b.getIntegerType(8, false);
  case 3:
    return b.getI8Type();
  case 4:
    return b.getIntegerType(16, false);
  case 5:
    return b.getI16Type();
  case 6:
    return b.getI32Type();
  case 7:
    return b.getI64Type();
  case 8:
    return onnx::StringType::get(context);
  case 9:
    return b.getI1Type();
  case 10:
    return b.getF16Type();
  case 11:
    return b.getF64Type();
  case 12:
    return b.getIntegerType(32, false);
  case 13:
    return b.getIntegerType(64, false);
  case 14:
    return ComplexType::get(b.getF32Type());
  case 15:
    return ComplexType::get(b.getF64Type());
  case 16:
    return b.getBF16Type();
  case 17:
    return b.getType<Float8E4M3FNType>();
  case 18:
    return b.getType<Float8E4M3FNUZType>();
  case 19:
    return b.getType<Float8E5M2Type>();
  case 20:
    return b.getType<Float8E5M2FNUZType>();
  default:
    return Type();
  }
}

static LogicalResult castTo(ShapeContext &context) {
  if (failed(sameAsFirst(context)))
    return failure();
  Type type;
  if (auto name = dyn_cast_if_present<StringAttr>(context.node.attr("to"))) // version 1 spells the type
    for (int64_t number = 1; number <= 16 && !type; ++number)
      if (Type candidate = typeOfNumber(number, context.symbols.context);
          StringRef(onnxTypeName(candidate)).upper() == name.getValue())
        type = candidate;
  if (!type)
    type = typeOfNumber(context.node.intAttr("to", 0), context.symbols.context);
  if (!type)
    return context.error() << "attribute 'to' = " << context.node.intAttr("to", 0)
                           << " names an element type that is not supported";
  context.setType(0, type);
  if (auto elements = context.elements(0);
      elements && (type.isInteger(64) || type.isInteger(32)) && isa<IntegerType>(context.elementType(0)))
    context.setElements(0, *elements);
  return success();
}

static LogicalResult castLike(ShapeContext &context) {
  if (Type type = context.elementType(1))
    context.setType(0, type);
  return sameAsFirst(context);
}

static LogicalResult prelu(ShapeContext &context) {
  auto x = context.shape(0), slope = context.shape(1);
  if (!x)
    return success();
  if (slope && context.node.getSinceVersion() >= 7) {
    auto merged = context.broadcast(*x, *slope);
    if (failed(merged))
      return failure();
    if (merged->size() != x->size())
      return context.error() << "slope " << context.spell(*slope) << " cannot be broadcast to " << context.spell(*x);
  }
  context.set(0, Dims(*x));
  return success();
}

static LogicalResult dropout(ShapeContext &context) {
  if (auto shape = context.shape(0)) {
    context.set(0, Dims(*shape));
    if (context.results() > 1)
      context.set(1, Dims(*shape));
  }
  if (context.results() > 1)
    context.setType(1, context.node.getSinceVersion() >= 10 ? Type(IntegerType::get(context.symbols.context, 1))
                                                            : context.elementType(0));
  return success();
}

void shapes::addElementwiseRules(ShapeTable &table) {
  for (const char *op : kUnary)
    table.add(op, sameAsFirst);
  for (const char *op : kBroadcasting)
    table.add(op, broadcasting);
  table.add("Where", where);
  table.add("Equal", equal);
  table.add("Cast", castTo);
  table.add("CastLike", castLike);
  table.add("PRelu", prelu);
  table.add("Dropout", dropout);
  for (const char *op : {"FastGelu", "Gelu", "QuickGelu", "BiasGelu"})
    table.addMicrosoft(op, sameAsFirst);
}
