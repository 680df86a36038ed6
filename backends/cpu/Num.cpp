//===- Num.cpp - numbers being computed by a kernel -----------------------===//

#include "backends/cpu/Num.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;

namespace tilewright::cpu {

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

Type Num::like(Type element) const {
  if (auto vector = dyn_cast<VectorType>(v.getType()))
    return VectorType::get(vector.getShape(), element);
  return element;
}

static Num constant(Num like, TypedAttr scalar) {
  TypedAttr value = scalar;
  if (auto vector = dyn_cast<VectorType>(like.type()))
    value = DenseElementsAttr::get(VectorType::get(vector.getShape(), scalar.getType()), ArrayRef<Attribute>(scalar));
  return like.with(arith::ConstantOp::create(*like.b, like.loc, value));
}

Num Num::operator()(double value) const {
  if (!isFloat())
    return integer(static_cast<int64_t>(value));
  return constant(*this, b->getFloatAttr(element(), value));
}

Num Num::integer(int64_t value) const {
  if (isFloat())
    return (*this)(static_cast<double>(value));
  APInt bits(64, value, /*isSigned=*/true);
  return constant(*this, b->getIntegerAttr(element(), bits.sextOrTrunc(width())));
}

Num Num::bits(uint64_t pattern) const {
  auto type = cast<FloatType>(element());
  return constant(*this, FloatAttr::get(type, APFloat(type.getFloatSemantics(), APInt(type.getWidth(), pattern))));
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename IntOp> static Num binary(Num x, Num y) {
  if (x.isFloat())
    return x.with(FloatOp::create(*x.b, x.loc, x.v, y.v));
  return x.with(IntOp::create(*x.b, x.loc, x.v, y.v));
}

Num operator+(Num x, Num y) { return binary<arith::AddFOp, arith::AddIOp>(x, y); }
Num operator-(Num x, Num y) { return binary<arith::SubFOp, arith::SubIOp>(x, y); }
Num operator*(Num x, Num y) { return binary<arith::MulFOp, arith::MulIOp>(x, y); }

Num addInAnyOrder(Num x, Num y) {
  if (!x.isFloat())
    return x + y;
  return x.with(arith::AddFOp::create(*x.b, x.loc, x.v, y.v, arith::FastMathFlags::reassoc));
}

Num lowestOf(Num x) {
  if (x.isFloat())
    return x(-INFINITY);
  if (x.isUnsigned || x.isBool())
    return x.integer(0);
  return x.integer(APInt::getSignedMinValue(x.width()).getSExtValue());
}

Num highestOf(Num x) {
  if (x.isFloat())
    return x(INFINITY);
  if (x.isUnsigned || x.isBool())
    return x.integer(-1);
  return x.integer(APInt::getSignedMaxValue(x.width()).getSExtValue());
}

Num operator-(Num x) {
  if (x.isFloat())
    return x.with(arith::NegFOp::create(*x.b, x.loc, x.v));
  return x.integer(0) - x;
}

/// The divisor with 0 (and -1, for the lowest dividend) replaced by 1.
static Num safeDivisor(Num x, Num y) {
  Num bad = y == y.integer(0);
  if (!x.isUnsigned)
    bad = bad | ((y == y.integer(-1)) & (x == x.integer(APInt::getSignedMinValue(x.width()).getSExtValue())));
  return select(bad, y.integer(1), y);
}

Num operator/(Num x, Num y) {
  if (x.isFloat())
    return x.with(arith::DivFOp::create(*x.b, x.loc, x.v, y.v));
  Num divisor = safeDivisor(x, y);
  Value quotient = x.isUnsigned ? arith::DivUIOp::create(*x.b, x.loc, x.v, divisor.v).getResult()
                                : arith::DivSIOp::create(*x.b, x.loc, x.v, divisor.v).getResult();
  return select(y == y.integer(0), x.integer(0), x.with(quotient));
}

Num operator%(Num x, Num y) {
  if (x.isFloat())
    return libm("fmod", {x, y});
  // The divisor 1 leaves no remainder, which is also the answer for 0 and for the lowest number over -1.
  Num divisor = safeDivisor(x, y);
  return x.with(x.isUnsigned ? arith::RemUIOp::create(*x.b, x.loc, x.v, divisor.v).getResult()
                             : arith::RemSIOp::create(*x.b, x.loc, x.v, divisor.v).getResult());
}

Num operator&(Num x, Num y) { return x.with(arith::AndIOp::create(*x.b, x.loc, x.v, y.v)); }
Num operator|(Num x, Num y) { return x.with(arith::OrIOp::create(*x.b, x.loc, x.v, y.v)); }
Num operator^(Num x, Num y) { return x.with(arith::XOrIOp::create(*x.b, x.loc, x.v, y.v)); }
Num operator~(Num x) { return x ^ x.integer(-1); }

Num shiftLeft(Num x, Num y) {
  Num shifted = x.with(arith::ShLIOp::create(*x.b, x.loc, x.v, (y & y.integer(x.width() - 1)).v));
  Num wide(*x.b, x.loc, y.v, /*isUnsigned=*/true);
  return select(wide < wide.integer(x.width()), shifted, x.integer(0));
}

Num shiftRight(Num x, Num y) {
  Num shifted = x.with(arith::ShRUIOp::create(*x.b, x.loc, x.v, (y & y.integer(x.width() - 1)).v));
  Num wide(*x.b, x.loc, y.v, /*isUnsigned=*/true);
  return select(wide < wide.integer(x.width()), shifted, x.integer(0));
}

//===----------------------------------------------------------------------===//
// Comparison and selection
//===----------------------------------------------------------------------===//

static Num compare(Num x, Num y, arith::CmpFPredicate ofFloats, arith::CmpIPredicate ofSigned,
                   arith::CmpIPredicate ofUnsigned) {
  if (x.isFloat())
    return Num(*x.b, x.loc, arith::CmpFOp::create(*x.b, x.loc, ofFloats, x.v, y.v));
  bool asUnsigned = x.isUnsigned || x.isBool();
  return Num(*x.b, x.loc, arith::CmpIOp::create(*x.b, x.loc, asUnsigned ? ofUnsigned : ofSigned, x.v, y.v));
}

using F = arith::CmpFPredicate;
using I = arith::CmpIPredicate;
Num operator<(Num x, Num y) { return compare(x, y, F::OLT, I::slt, I::ult); }
Num operator<=(Num x, Num y) { return compare(x, y, F::OLE, I::sle, I::ule); }
Num operator>(Num x, Num y) { return compare(x, y, F::OGT, I::sgt, I::ugt); }
Num operator>=(Num x, Num y) { return compare(x, y, F::OGE, I::sge, I::uge); }
Num operator==(Num x, Num y) { return compare(x, y, F::OEQ, I::eq, I::eq); }
Num operator!=(Num x, Num y) { return compare(x, y, F::UNE, I::ne, I::ne); }
Num isNan(Num x) {
  if (!x.isFloat())
    return Num(*x.b, x.loc, x.v) != x;
  return Num(*x.b, x.loc, arith::CmpFOp::create(*x.b, x.loc, F::UNO, x.v, x.v));
}

Num select(Num condition, Num x, Num y) { return x.with(arith::SelectOp::create(*x.b, x.loc, condition.v, x.v, y.v)); }

Num maximum(Num x, Num y) {
  if (x.isFloat())
    return x.with(arith::MaximumFOp::create(*x.b, x.loc, x.v, y.v));
  return select(x > y, x, y);
}

Num minimum(Num x, Num y) {
  if (x.isFloat())
    return x.with(arith::MinimumFOp::create(*x.b, x.loc, x.v, y.v));
  return select(x < y, x, y);
}

//===----------------------------------------------------------------------===//
// Functions with an instruction of their own
//===----------------------------------------------------------------------===//

Num fma(Num x, Num y, Num z) {
  if (x.isFloat())
    return x.with(math::FmaOp::create(*x.b, x.loc, x.v, y.v, z.v));
  return x * y + z;
}
Num abs(Num x) {
  if (x.isFloat())
    return x.with(math::AbsFOp::create(*x.b, x.loc, x.v));
  return x.isUnsigned ? x : select(x < x.integer(0), -x, x);
}
Num sqrt(Num x) { return x.with(math::SqrtOp::create(*x.b, x.loc, x.v)); }
Num floor(Num x) { return x.isFloat() ? x.with(math::FloorOp::create(*x.b, x.loc, x.v)) : x; }
Num ceil(Num x) { return x.isFloat() ? x.with(math::CeilOp::create(*x.b, x.loc, x.v)) : x; }
Num roundEven(Num x) { return x.isFloat() ? x.with(math::RoundEvenOp::create(*x.b, x.loc, x.v)) : x; }
Num truncate(Num x) { return x.isFloat() ? x.with(math::TruncOp::create(*x.b, x.loc, x.v)) : x; }
Num copysign(Num magnitude, Num sign) {
  return magnitude.with(math::CopySignOp::create(*magnitude.b, magnitude.loc, magnitude.v, sign.v));
}

//===----------------------------------------------------------------------===//
// libm
//===----------------------------------------------------------------------===//

Num libm(StringRef name, ArrayRef<Num> args) {
  Num x = args.front();
  OpBuilder &b = *x.b;
  if (auto vector = dyn_cast<VectorType>(x.type())) {
    Value result = x(0).v;
    for (int64_t lane = 0; lane < vector.getNumElements(); ++lane) {
      SmallVector<Num> scalars;
      for (Num arg : args)
        scalars.push_back(arg.with(vector::ExtractOp::create(b, x.loc, arg.v, lane)));
      result = vector::InsertOp::create(b, x.loc, libm(name, scalars).v, result, lane);
    }
    return x.with(result);
  }
  std::string symbol = name.str() + (x.width() == 32 ? "f" : "");
  // The declaration follows when the kernel is complete (declareLibm): blocks built here may hang in no module yet.
  SmallVector<Value> operands;
  for (Num arg : args)
    operands.push_back(arg.v);
  return x.with(func::CallOp::create(b, x.loc, symbol, x.type(), operands).getResult(0));
}

void declareLibm(ModuleOp module) {
  OpBuilder b(module.getBodyRegion());
  SmallVector<func::CallOp> calls;
  module.walk([&](func::CallOp call) { calls.push_back(call); });
  for (func::CallOp call : calls)
    if (!module.lookupSymbol(call.getCallee())) {
      auto declaration = func::FuncOp::create(b, module.getLoc(), call.getCallee(), call.getCalleeType());
      declaration.setPrivate();
      declaration->setAttr("llvm.readnone", b.getUnitAttr());
    }
}

//===----------------------------------------------------------------------===//
// Polynomials
//===----------------------------------------------------------------------===//

static Num horner(Num x, ArrayRef<double> highestFirst) {
  Num sum = x(highestFirst.front());
  for (double coefficient : highestFirst.drop_front())
    sum = fma(sum, x, x(coefficient));
  return sum;
}

static Num bitcast(Num x, Type element) {
  return Num(*x.b, x.loc, arith::BitcastOp::create(*x.b, x.loc, x.like(element), x.v));
}

/// 2^n for a whole n in [-126, 127] given in an i32.
static Num powerOfTwo(Num n) {
  Num biased = shiftLeft(n + n.integer(127), n.integer(23));
  return bitcast(biased, Float32Type::get(n.b->getContext()));
}

// exp(x) = 2^n exp(r) with |r| <= ln2/2. The rounding constant 1.5 * 2^23 leaves n in the low bits, so no conversion
// sees a NaN. 2^n is applied in two halves: results down to the smallest subnormal come out right.
Num exp(Num x) {
  if (x.width() == 64)
    return libm("exp", {x});
  Type i32 = IntegerType::get(x.b->getContext(), 32);
  Num lowest = x(-104.0), highest = x(89.0);
  Num clamped = select(x < lowest, lowest, select(x > highest, highest, x));
  Num magic = x(12582912.0);
  Num shifted = fma(clamped, x(1.44269504088896341), magic);
  Num n = shifted - magic;
  Num r = fma(n, x(-0.693359375), clamped);
  r = fma(n, x(2.12194440054690583e-4), r);
  Num p = horner(r, {1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 0.5});
  p = fma(p, r * r, r) + 1.0;
  Num whole = bitcast(shifted, i32) - bitcast(magic, i32);
  Num half = whole.with(arith::ShRSIOp::create(*x.b, x.loc, whole.v, whole.integer(1).v));
  return p * powerOfTwo(half) * powerOfTwo(whole - half);
}

// Near zero an odd polynomial, beyond it 1 - exp(q(|x|)): both keep the relative error small.
Num erf(Num x) {
  if (x.width() == 64)
    return libm("erf", {x});
  Num t = abs(x), s = x * x;
  Num near = horner(s, {-5.96761703e-4, 4.99119423e-3, -2.67681349e-2, 1.12819925e-1, -3.76125336e-1, 1.28379166e-1});
  near = fma(near, x, x);
  Num r = fma(x(-1.72853470e-5), t, x(3.83197126e-4));
  r = fma(r, s, fma(x(-3.88396438e-3), t, x(2.42546219e-2)));
  r = fma(r, t, x(-1.06777877e-1));
  r = fma(r, t, x(-6.34846687e-1));
  r = fma(r, t, x(-1.28717512e-1));
  r = fma(r, t, -t);
  Num far = copysign(1.0 - exp(r), x);
  // r is a polynomial that turns upwards again far outside; erf is 1 in float32 from 3.92 on.
  far = select(t > x(4.0), copysign(x(1.0), x), far);
  return select(t > x(0.927734375), far, near);
}

Num tanh(Num x) {
  if (x.width() == 64)
    return libm("tanh", {x});
  Num t = abs(x), s = x * x;
  Num near = horner(s, {-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1});
  near = copysign(fma(near * s, x, x), x); // the sum of +0 and -0 is +0
  Num far = copysign(1.0 - 2.0 / (exp(t + t) + 1.0), x);
  return select(t > x(0.625), far, near);
}

// exp of minus |x| never overflows, and small results keep all their digits.
Num sigmoid(Num x) {
  Num e = exp(-abs(x));
  return select(x < x(0.0), e, x(1.0)) / (e + 1.0);
}

//===----------------------------------------------------------------------===//
// Conversion
//===----------------------------------------------------------------------===//

/// The float x truncated to the nearest number that `width` bits hold, as an integer of `element`, at least as wide; a
/// NaN is 0.
static Num truncateWithin(Num x, unsigned width, Type element, bool isUnsigned) {
  unsigned magnitude = isUnsigned ? width : width - 1, precision = x.width() == 64 ? 53 : 24;
  double low = isUnsigned ? 0.0 : -std::ldexp(1.0, width - 1), beyond = std::ldexp(1.0, magnitude);
  // The largest float below `beyond`, or the largest integer: 2^31 - 1 is no float32.
  double high = beyond - (magnitude > precision ? std::ldexp(1.0, magnitude - precision) : 1.0);
  Num safe = select(isNan(x), x(0.0), select(x < x(low), x(low), select(x > x(high), x(high), x)));
  Type type = x.like(element);
  Num whole(*x.b, x.loc,
            isUnsigned ? arith::FPToUIOp::create(*x.b, x.loc, type, safe.v).getResult()
                       : arith::FPToSIOp::create(*x.b, x.loc, type, safe.v).getResult(),
            isUnsigned);
  if (magnitude <= precision)
    return whole;
  // All magnitude bits set: -1 where the sign bit belongs to them.
  uint64_t largest = magnitude == 64 ? ~0ull : (1ull << magnitude) - 1;
  return select(x >= x(beyond), whole.integer(static_cast<int64_t>(largest)), whole);
}

Num convert(Num x, Type element, bool isUnsigned) {
  OpBuilder &b = *x.b;
  Type type = x.like(element);
  auto make = [&](Value value) { return Num(b, x.loc, value, isUnsigned); };
  if (x.element() == element)
    return make(x.v);
  if (element.isInteger(1))
    return x != x(0.0);
  unsigned to = element.getIntOrFloatBitWidth();
  if (x.isFloat() && isa<FloatType>(element)) {
    if (to > x.width())
      return make(arith::ExtFOp::create(b, x.loc, type, x.v));
    return make(arith::TruncFOp::create(b, x.loc, type, x.v));
  }
  if (x.isFloat()) {
    // Out of range: a float becomes the nearest whole number of int32 or int64 (NaN 0), of which narrower types keep
    // the low bits.
    unsigned via = to < 32 ? 32 : to;
    bool viaUnsigned = isUnsigned && to >= 32;
    Num wide = truncateWithin(x, via, b.getIntegerType(via), viaUnsigned);
    return via == to ? make(wide.v) : make(arith::TruncIOp::create(b, x.loc, type, wide.v));
  }
  if (isa<FloatType>(element)) {
    if (x.isUnsigned || x.isBool())
      return make(arith::UIToFPOp::create(b, x.loc, type, x.v));
    return make(arith::SIToFPOp::create(b, x.loc, type, x.v));
  }
  if (to < x.width())
    return make(arith::TruncIOp::create(b, x.loc, type, x.v));
  if (to == x.width())
    return make(x.v);
  if (x.isUnsigned || x.isBool())
    return make(arith::ExtUIOp::create(b, x.loc, type, x.v));
  return make(arith::ExtSIOp::create(b, x.loc, type, x.v));
}

Num saturateRounded(Num x, Type element, bool isUnsigned) {
  unsigned to = element.getIntOrFloatBitWidth();
  Num wide = truncateWithin(roundEven(x), to, x.b->getIntegerType(to < 32 ? 32 : to), isUnsigned);
  if (to >= 32)
    return wide;
  return Num(*x.b, x.loc, arith::TruncIOp::create(*x.b, x.loc, x.like(element), wide.v), isUnsigned);
}

} // namespace tilewright::cpu
