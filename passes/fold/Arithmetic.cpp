//===- Arithmetic.cpp - folding elementwise operators ---------------------===//

#include "passes/fold/Evaluator.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fold;

/// Calls `with` with a value of the C++ type of `element`; false for a type that is not computed with (half floats
/// ...).
template <typename F> static bool dispatch(Type element, F &&with) {
  if (element.isF32())
    with(float());
  else if (element.isF64())
    with(double());
  else if (element.isSignlessInteger(64))
    with(int64_t());
  else if (element.isSignlessInteger(32))
    with(int32_t());
  else if (element.isSignlessInteger(16))
    with(int16_t());
  else if (element.isSignlessInteger(8))
    with(int8_t());
  else if (element.isUnsignedInteger(64))
    with(uint64_t());
  else if (element.isUnsignedInteger(32))
    with(uint32_t());
  else if (element.isUnsignedInteger(16))
    with(uint16_t());
  else if (element.isUnsignedInteger(8))
    with(uint8_t());
  else
    return false;
  return true;
}

/// An operand read as if it were broadcast to `shape`.
template <typename T> static std::vector<T> broadcasted(const Operand &x, ArrayRef<int64_t> shape, int64_t count) {
  std::vector<T> values(count);
  copyStrided(x.data.bytes().data(), broadcastStrides(x.shape(), shape), reinterpret_cast<char *>(values.data()),
              stridesOf(shape), shape, sizeof(T));
  return values;
}

/// Integers wrap around.
template <typename T> static T wrapped(StringRef op, T a, T b) {
  if constexpr (std::is_integral_v<T>) {
    uint64_t x = static_cast<uint64_t>(a), y = static_cast<uint64_t>(b);
    return static_cast<T>(op == "Add" ? x + y : op == "Sub" ? x - y : x * y);
  } else {
    return op == "Add" ? a + b : op == "Sub" ? a - b : a * b;
  }
}

/// Nothing where the result is not defined alike everywhere.
template <typename T> static std::optional<T> binaryValue(StringRef op, T a, T b) {
  constexpr bool isFloat = std::is_floating_point_v<T>;
  if (op == "Add" || op == "Sub" || op == "Mul")
    return wrapped(op, a, b);
  if (op == "Div") {
    if constexpr (isFloat)
      return a / b;
    else if (b == 0 || (std::is_signed_v<T> && b == static_cast<T>(-1)))
      return std::nullopt;
    else
      return static_cast<T>(a / b);
  }
  if (op == "Max" || op == "Min") {
    if constexpr (isFloat)
      if (std::isnan(a) || std::isnan(b))
        return std::nullopt;
    return op == "Max" ? std::max(a, b) : std::min(a, b);
  }
  if (op == "Pow") {
    if constexpr (isFloat)
      return std::pow(a, b);
  }
  return std::nullopt;
}

static Results binary(const Context &context) {
  RankedTensorType type = context.resultType();
  StringRef op = context.node.getOpType();
  int64_t count = type.getNumElements();
  Results results;
  dispatch(type.getElementType(), [&](auto tag) {
    using T = decltype(tag);
    Buffer result(type);
    for (size_t i = 0; i < context.inputs.size(); ++i) {
      const Operand *x = context.input(i);
      if (!x || x->element() != type.getElementType())
        return;
      std::vector<T> values = broadcasted<T>(*x, type.getShape(), count);
      for (int64_t k = 0; k < count; ++k) {
        auto value = i == 0 ? std::optional<T>(values[k]) : binaryValue<T>(op, result.as<T>()[k], values[k]);
        if (!value)
          return;
        result.as<T>()[k] = *value;
      }
    }
    results = {result.finish()};
  });
  return results;
}

static Results compare(const Context &context) {
  RankedTensorType type = context.resultType();
  const Operand *a = context.input(0), *b = context.input(1);
  StringRef op = context.node.getOpType();
  int64_t count = type.getNumElements();
  Results results;
  auto fill = [&](auto tag) {
    using T = decltype(tag);
    std::vector<T> x = broadcasted<T>(*a, type.getShape(), count), y = broadcasted<T>(*b, type.getShape(), count);
    Buffer result(type);
    for (int64_t k = 0; k < count; ++k)
      result.data()[k] = op == "Equal"            ? x[k] == y[k]
                         : op == "Less"           ? x[k] < y[k]
                         : op == "LessOrEqual"    ? x[k] <= y[k]
                         : op == "Greater"        ? x[k] > y[k]
                         : op == "GreaterOrEqual" ? x[k] >= y[k]
                         : op == "And"            ? x[k] && y[k]
                         : op == "Or"             ? x[k] || y[k]
                                                  : x[k] != y[k]; // Xor
    results = {result.finish()};
  };
  if (a->element().isInteger(1))
    fill(uint8_t());
  else
    dispatch(a->element(), fill);
  return results;
}

static double unaryValue(StringRef op, double x, onnx::NodeOp node) {
  if (op == "Sqrt")
    return std::sqrt(x);
  if (op == "Exp")
    return std::exp(x);
  if (op == "Log")
    return std::log(x);
  if (op == "Floor")
    return std::floor(x);
  if (op == "Ceil")
    return std::ceil(x);
  if (op == "Round")
    return std::nearbyint(x); // half to even
  if (op == "Reciprocal")
    return 1 / x;
  if (op == "Sigmoid")
    return 1 / (1 + std::exp(-x));
  if (op == "Tanh")
    return std::tanh(x);
  return std::erf(x); // Erf
}

/// Functions of floats, computed in double and rounded once.
static Results unary(const Context &context) {
  RankedTensorType type = context.resultType();
  const Operand *x = context.input(0);
  StringRef op = context.node.getOpType();
  Buffer result(type);
  for (int64_t k = 0; k < x->count(); ++k)
    if (type.getElementType().isF32())
      result.as<float>()[k] = static_cast<float>(unaryValue(op, x->data.get<float>(k), context.node));
    else if (type.getElementType().isF64())
      result.as<double>()[k] = unaryValue(op, x->data.get<double>(k), context.node);
    else
      return {};
  return {result.finish()};
}

static Results sign(const Context &context) {
  RankedTensorType type = context.resultType();
  const Operand *x = context.input(0);
  StringRef op = context.node.getOpType();
  Results results;
  dispatch(type.getElementType(), [&](auto tag) {
    using T = decltype(tag);
    Buffer result(type);
    for (int64_t k = 0; k < x->count(); ++k) {
      T value = x->data.get<T>(k);
      if constexpr (std::is_floating_point_v<T>) {
        if (op == "Relu" && std::isnan(value))
          return;
        result.as<T>()[k] = op == "Neg" ? -value : op == "Abs" ? std::fabs(value) : std::max(value, T(0));
      } else {
        T negative = static_cast<T>(uint64_t(0) - static_cast<uint64_t>(value));
        result.as<T>()[k] = op == "Neg"   ? negative
                            : op == "Abs" ? (value < T(0) ? negative : value)
                                          : std::max(value, T(0));
      }
    }
    results = {result.finish()};
  });
  return results;
}

static Results logicalNot(const Context &context) {
  const Operand *x = context.input(0);
  Buffer result(context.resultType());
  for (int64_t k = 0; k < x->count(); ++k)
    result.data()[k] = !x->data.get<uint8_t>(k);
  return {result.finish()};
}

/// Whole numbers only: start + i · step in floats depends on how it is computed.
static Results range(const Context &context) {
  auto start = context.integers(0), step = context.integers(2);
  RankedTensorType type = context.resultType();
  if (!start || !step || start->size() != 1 || step->size() != 1)
    return {};
  Results results;
  dispatch(type.getElementType(), [&](auto tag) {
    using T = decltype(tag);
    Buffer result(type);
    for (int64_t k = 0; k < type.getNumElements(); ++k)
      result.as<T>()[k] = static_cast<T>((*start)[0] + k * (*step)[0]);
    results = {result.finish()};
  });
  return results;
}

void fold::addArithmeticRules(Rules &rules) {
  for (const char *op : {"Add", "Sub", "Mul", "Div", "Max", "Min", "Pow"})
    rules[op] = binary;
  rules["Sum"] = [](const Context &context) -> Results {
    return context.inputs.size() == 1 ? binary(context) : Results();
  };
  for (const char *op : {"Equal", "Less", "LessOrEqual", "Greater", "GreaterOrEqual", "And", "Or", "Xor"})
    rules[op] = compare;
  for (const char *op : {"Sqrt", "Exp", "Log", "Floor", "Ceil", "Round", "Reciprocal", "Sigmoid", "Tanh", "Erf"})
    rules[op] = unary;
  for (const char *op : {"Neg", "Abs", "Relu"})
    rules[op] = sign;
  rules["Not"] = logicalNot;
  rules["Range"] = range;
}
