//===- Num.h - numbers being computed by a kernel ---------------*- C++ -*-===//
//
// A small algebra over SSA values, so that an elementwise operator is written as its formula. A Num is a scalar or a
// vector of one: the same formula serves a loop body and the epilogue of a matrix product. Half-width floats are f32
// here; booleans i1; unsigned integers are signless with a flag.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CPU_NUM_H
#define TILEWRIGHT_BACKENDS_CPU_NUM_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"

#include <optional>

namespace tilewright::cpu {

struct Num {
  mlir::OpBuilder *b = nullptr;
  mlir::Location loc;
  mlir::Value v;
  bool isUnsigned = false;

  Num(mlir::OpBuilder &b, mlir::Location loc, mlir::Value v, bool isUnsigned = false)
      : b(&b), loc(loc), v(v), isUnsigned(isUnsigned) {}

  mlir::Type type() const { return v.getType(); }
  mlir::Type element() const { return mlir::getElementTypeOrSelf(v.getType()); }
  bool isFloat() const { return mlir::isa<mlir::FloatType>(element()); }
  bool isBool() const { return element().isInteger(1); }
  unsigned width() const { return element().getIntOrFloatBitWidth(); }

  /// Another value of this builder.
  Num with(mlir::Value value) const { return Num(*b, loc, value, isUnsigned); }
  /// A constant of this type.
  Num operator()(double value) const;
  Num integer(int64_t value) const;
  /// A floating-point constant of this shape with the given bits.
  Num bits(uint64_t pattern) const;
  /// This shape with another element type.
  mlir::Type like(mlir::Type element) const;
};

Num operator+(Num x, Num y);
Num operator-(Num x, Num y);
Num operator*(Num x, Num y);
/// Integers truncate towards zero; x / 0 is 0 and the lowest / -1 is the lowest, so that no input traps.
Num operator/(Num x, Num y);
Num operator-(Num x);
inline Num operator+(Num x, double y) { return x + x(y); }
inline Num operator-(Num x, double y) { return x - x(y); }
inline Num operator*(Num x, double y) { return x * x(y); }
inline Num operator/(Num x, double y) { return x / x(y); }
inline Num operator+(double x, Num y) { return y(x) + y; }
inline Num operator-(double x, Num y) { return y(x) - y; }
inline Num operator*(double x, Num y) { return y(x) * y; }
inline Num operator/(double x, Num y) { return y(x) / y; }

// Comparisons give i1 and are false when a NaN takes part, except != .
Num operator<(Num x, Num y);
Num operator<=(Num x, Num y);
Num operator>(Num x, Num y);
Num operator>=(Num x, Num y);
Num operator==(Num x, Num y);
Num operator!=(Num x, Num y);
Num operator&(Num x, Num y);
Num operator|(Num x, Num y);
Num operator^(Num x, Num y);
Num operator~(Num x);
Num operator%(Num x, Num y);
Num shiftLeft(Num x, Num y);
Num shiftRight(Num x, Num y);

Num select(Num condition, Num x, Num y);
/// x + y whose order of summation may be changed; for long sums.
Num addInAnyOrder(Num x, Num y);
/// The lowest and the highest value of x's type, infinities for floats.
Num lowestOf(Num x);
Num highestOf(Num x);
Num fma(Num x, Num y, Num z);
/// A NaN on either side wins.
Num maximum(Num x, Num y);
Num minimum(Num x, Num y);
Num isNan(Num x);
Num abs(Num x);
Num sqrt(Num x);
Num floor(Num x);
Num ceil(Num x);
Num roundEven(Num x);
Num truncate(Num x);
Num copysign(Num magnitude, Num sign);

// Own polynomials for f32 (errors in docs/numerics.md); libm for f64.
Num exp(Num x);
Num erf(Num x);
Num tanh(Num x);
Num sigmoid(Num x);
/// A function of libm by its f64 name, e.g. "log"; f32 uses the name with an f.
Num libm(llvm::StringRef name, llvm::ArrayRef<Num> args);
/// Declares the functions of libm that `module` calls.
void declareLibm(mlir::ModuleOp module);

/// Conversion between element types by the rules of docs/numerics.md (Cast).
Num convert(Num x, mlir::Type element, bool isUnsigned = false);
/// As convert, but rounds half to even and saturates at [low, high].
Num saturateRounded(Num x, mlir::Type element, bool isUnsigned);

} // namespace tilewright::cpu

#endif
