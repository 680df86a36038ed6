//===- Elementwise.cpp - operators of one formula -------------------------===//
//
// Every operator here is its formula; broadcasting, types and fusion are not its business. The rules for contested
// points (NaN, integer division, Cast, Mod) are in docs/numerics.md.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Operators.h"

#include <cmath>
#include <numbers>

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

/// max(x, low) and min(x, high) that keep a NaN of x.
static Num atLeast(Num x, Num low) { return select(x < low, low, x); }
static Num atMost(Num x, Num high) { return select(x > high, high, x); }
static Num relu(Num x) { return atLeast(x, x(0.0)); }
static Num log(Num x) { return libm("log", {x}); }
static Num log1p(Num x) { return libm("log1p", {x}); }
static Num softplus(Num x) { return relu(x) + log1p(exp(-abs(x))); }

static Num clip(const Elementwise &x) {
  Num y = x[0];
  if (x.has(1))
    y = atLeast(y, x[1]);
  if (x.has(2))
    y = atMost(y, x[2]);
  return y;
}

static Num elu(const Elementwise &x) { return select(x[0] < x[0](0.0), (exp(x[0]) - 1.0) * x.f("alpha", 1.0), x[0]); }

static Num gelu(const Elementwise &x) {
  Num v = x[0];
  if (x.node.stringAttr("approximate", "none") == "tanh")
    return v * 0.5 * (tanh((v + v * v * v * 0.044715) * std::sqrt(2.0 / std::numbers::pi)) + 1.0);
  return v * 0.5 * (erf(v * std::sqrt(0.5)) + 1.0);
}

static Num hardSigmoid(Num v, double alpha, double beta) { return atMost(relu(v * alpha + beta), v(1.0)); }

static Num cast(const Elementwise &x) {
  Num v = x[0];
  Type from = x.type(0), to = x.resultType();
  if (from.isF64() && (to.isF16() || to.isBF16())) {
    // Rounded to odd on the way to float32, so that the second rounding sees what the first left out.
    Num narrow = convert(v, x.k.b.getF32Type());
    Num back = convert(narrow, x.k.b.getF64Type());
    auto asBits = [&](Num n, unsigned width) {
      return Num(x.k.b, x.k.loc, arith::BitcastOp::create(x.k.b, x.k.loc, n.like(x.k.b.getIntegerType(width)), n.v));
    };
    Num bits = asBits(narrow, 32);
    // One step towards zero where rounding went away from it.
    bits = select(abs(back) > abs(v), bits - bits.integer(1), bits);
    bits = select((back == v) | isNan(v), bits, bits | bits.integer(1));
    return Num(x.k.b, x.k.loc, arith::BitcastOp::create(x.k.b, x.k.loc, narrow.type(), bits.v));
  }
  return convert(v, computeType(to), isUnsignedType(to));
}

static Num mod(const Elementwise &x) {
  Num a = x[0], b = x[1], r = a % b;
  if (x.node.intAttr("fmod", 0) || a.isUnsigned || a.isFloat())
    return r;
  // The result has the divisor's sign.
  return select((r != r(0.0)) & ((r ^ b) < r(0.0)), r + b, r);
}

/// Whole numbers, wrapping as products do. A negative power is that of 1 / base truncated, which is 0 but for 1 and -1.
static Num wholePow(Num base, Num exponent) {
  Num zero = exponent.integer(0), one = exponent.integer(1), result = base.integer(1), square = base;
  for (unsigned bit = 0; bit < exponent.width(); ++bit) {
    Num isSet = ((bit ? shiftRight(exponent, exponent.integer(bit)) : exponent) & one) != zero;
    result = select(isSet, result * square, result);
    if (bit + 1 < exponent.width())
      square = square * square;
  }
  if (exponent.isUnsigned)
    return result;
  // The lowest bit of a negative exponent tells odd from even; squares of ±1 are 1, so `result` is right for them.
  Num isUnit = base == base.integer(1);
  if (!base.isUnsigned)
    isUnit = isUnit | (base == base.integer(-1));
  return select((exponent < zero) & ~isUnit, base.integer(0), result);
}

static Num pow(const Elementwise &x) {
  Num base = x[0], exponent = x[1];
  if (!base.isFloat() && !exponent.isFloat())
    return wholePow(base, exponent);
  if (!base.isFloat()) {
    Type f64 = x.k.b.getF64Type();
    return convert(libm("pow", {convert(base, f64), convert(exponent, f64)}), base.element(), base.isUnsigned);
  }
  return libm("pow", {base, convert(exponent, base.element())});
}

static Num sign(const Elementwise &x) {
  Num v = x[0], one = v.integer(1), zero = v.integer(0);
  Num below = v.isUnsigned ? v : select(v < zero, v.integer(-1), v);
  return select(v > zero, one, below);
}

/// Integers with float parameters: in float64, truncated.
static Num shrink(const Elementwise &x) {
  Num v = x[0];
  if (!v.isFloat())
    v = convert(v, x.k.b.getF64Type());
  double lambda = x.f("lambd", 0.5), bias = x.f("bias", 0.0);
  Num y = select(v < v(-lambda), v + bias, select(v > v(lambda), v - bias, v(0.0)));
  return x[0].isFloat() ? y : convert(y, x[0].element(), x[0].isUnsigned);
}

static Num isInf(const Elementwise &x) {
  Num v = x[0];
  Num positive = v == v(INFINITY), negative = v == v(-INFINITY);
  bool wantPositive = x.node.intAttr("detect_positive", 1), wantNegative = x.node.intAttr("detect_negative", 1);
  if (wantPositive && wantNegative)
    return positive | negative;
  return wantPositive ? positive : wantNegative ? negative : v != v;
}

template <Num (*combine)(Num, Num)> static Num variadic(const Elementwise &x) {
  Num y = x[0];
  for (unsigned i = 1; i < x.node.getInputs().size(); ++i)
    y = combine(y, x[i]);
  return y;
}
static Num plus(Num a, Num b) { return a + b; }

static Num mean(const Elementwise &x) { return variadic<plus>(x) / static_cast<double>(x.node.getInputs().size()); }

static Num batchNormalization(const Elementwise &x) {
  Num scale = x[1] / sqrt(x[4] + x.f("epsilon", 1e-5));
  return fma(x[0], scale, x[2] - x[3] * scale);
}

/// Per-channel operands lie along axis 1.
static Shape alongChannels(NodeOp node, unsigned i) {
  if (node.intAttr("training_mode", 0))
    throw Unsupported("training_mode");
  Shape shape = shapeOf(node.input(i));
  if (i == 0)
    return shape;
  Shape broadcast(shapeOf(node.input(0)).size(), 1);
  (broadcast.size() > 1 ? broadcast[1] : broadcast[0]) = product(shape);
  return broadcast;
}

static Num bitShift(const Elementwise &x) {
  return x.node.stringAttr("direction", "") == "LEFT" ? shiftLeft(x[0], x[1]) : shiftRight(x[0], x[1]);
}

void addElementwise(Table &table) {
  auto add = [&](StringRef name, int64_t since, FormulaFn formula, decltype(Operator::operandShape) shape = nullptr) {
    Operator entry{name.str(), since};
    entry.formula = formula;
    entry.operandShape = shape;
    table.push_back(entry);
  };
#define FORMULA(name, since, expression) add(name, since, [](const Elementwise &x) -> Num { return expression; })
  FORMULA("Add", 7, x[0] + x[1]);
  FORMULA("Sub", 7, x[0] - x[1]);
  FORMULA("Mul", 7, x[0] * x[1]);
  FORMULA("Div", 7, x[0] / x[1]);
  FORMULA("Neg", 6, -x[0]);
  FORMULA("Abs", 6, abs(x[0]));
  FORMULA("Reciprocal", 6, 1.0 / x[0]);
  FORMULA("Sqrt", 6, sqrt(x[0]));
  FORMULA("Floor", 6, floor(x[0]));
  FORMULA("Ceil", 6, ceil(x[0]));
  FORMULA("Round", 11, roundEven(x[0]));
  FORMULA("Equal", 7, x[0] == x[1]);
  FORMULA("Less", 7, x[0] < x[1]);
  FORMULA("LessOrEqual", 12, x[0] <= x[1]);
  FORMULA("Greater", 7, x[0] > x[1]);
  FORMULA("GreaterOrEqual", 12, x[0] >= x[1]);
  FORMULA("And", 7, x[0] & x[1]);
  FORMULA("Or", 7, x[0] | x[1]);
  FORMULA("Xor", 7, x[0] ^ x[1]);
  FORMULA("Not", 1, ~x[0]);
  FORMULA("BitwiseAnd", 18, x[0] & x[1]);
  FORMULA("BitwiseOr", 18, x[0] | x[1]);
  FORMULA("BitwiseXor", 18, x[0] ^ x[1]);
  FORMULA("BitwiseNot", 18, ~x[0]);
  FORMULA("IsNaN", 9, isNan(x[0]));
  FORMULA("Where", 9, select(x[0], x[1], x[2]));
  FORMULA("Relu", 6, relu(x[0]));
  FORMULA("LeakyRelu", 6, select(x[0] < x[0](0.0), x[0] * x.f("alpha", 0.01), x[0]));
  FORMULA("PRelu", 7, select(x[0] < x[0](0.0), x[0] * x[1], x[0]));
  FORMULA("ThresholdedRelu", 10, select(x[0] > x[0](x.f("alpha", 1.0)), x[0], x[0](0.0)));
  FORMULA("Selu", 6,
          select(x[0] > x[0](0.0), x[0], (exp(x[0]) - 1.0) * x.f("alpha", 1.67326319217681884765625)) *
              x.f("gamma", 1.05070102214813232421875));
  FORMULA("Celu", 12, relu(x[0]) + atMost((exp(x[0] / x.f("alpha", 1.0)) - 1.0) * x.f("alpha", 1.0), x[0](0.0)));
  FORMULA("HardSigmoid", 6, hardSigmoid(x[0], x.f("alpha", 0.2), x.f("beta", 0.5)));
  FORMULA("HardSwish", 14, x[0] * hardSigmoid(x[0], 1.0 / 6.0, 0.5));
  FORMULA("Sigmoid", 6, sigmoid(x[0]));
  FORMULA("Swish", 24, x[0] * sigmoid(x[0] * x.f("alpha", 1.0)));
  FORMULA("Tanh", 6, tanh(x[0]));
  FORMULA("Erf", 9, erf(x[0]));
  FORMULA("Exp", 6, exp(x[0]));
  FORMULA("Log", 6, log(x[0]));
  FORMULA("Softplus", 1, softplus(x[0]));
  FORMULA("Softsign", 1, x[0] / (abs(x[0]) + 1.0));
  FORMULA("Mish", 18, x[0] * tanh(softplus(x[0])));
#undef FORMULA
#define LIBM(onnxName, since, function)                                                                                \
  add(onnxName, since, [](const Elementwise &x) -> Num { return libm(function, {x[0]}); });                            \
  table.back().scalarOnly = true
  LIBM("Sin", 7, "sin");
  LIBM("Cos", 7, "cos");
  LIBM("Tan", 7, "tan");
  LIBM("Asin", 7, "asin");
  LIBM("Acos", 7, "acos");
  LIBM("Atan", 7, "atan");
  LIBM("Sinh", 9, "sinh");
  LIBM("Cosh", 9, "cosh");
  LIBM("Asinh", 9, "asinh");
  LIBM("Acosh", 9, "acosh");
  LIBM("Atanh", 9, "atanh");
#undef LIBM
  add("Clip", 11, clip);
  add("Elu", 6, elu);
  add("Gelu", 20, gelu);
  add("Cast", 6, cast);
  add("CastLike", 15, cast);
  table.back().operandsRead = 1;
  add("Mod", 10, mod);
  add("Pow", 7, pow);
  add("Shrink", 9, shrink);
  add("Sign", 9, sign);
  add("IsInf", 10, isInf);
  add("BitShift", 11, bitShift);
  add("Max", 8, variadic<maximum>);
  add("Min", 8, variadic<minimum>);
  add("Sum", 8, variadic<plus>);
  add("Mean", 8, mean);
  add("BatchNormalization", 9, batchNormalization, alongChannels);
  for (Operator &entry : table)
    entry.scalarOnly |= llvm::is_contained({"Log", "Softplus", "Mish", "Mod", "Pow"}, entry.name);
}

} // namespace tilewright::cpu
