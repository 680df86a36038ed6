//===- Gemm.h - the register-tiled matrix product ---------------*- C++ -*-===//
//
// C[batch][m][n] = sum over k of A[batch][m][k] * B[batch][k][n], for convolutions (implicit GEMM: B is the image,
// packed panel by panel), Gemm and MatMul, in every number type.
//
// One task takes a few panels of kPanel columns: it packs B for them (into its own stack), then runs register tiles of
// kRows × kPanel accumulators over all of K, reading A in place as broadcasts. K is never split: sums stay in
// registers, so no partial result is rounded to the output's type.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CPU_GEMM_H
#define TILEWRIGHT_BACKENDS_CPU_GEMM_H

#include "backends/cpu/KernelBuilder.h"

#include <functional>

namespace tilewright::cpu {

struct Gemm {
  int64_t batch, m, n, k;
  /// Type of products and sums: f32, f64 or a signless integer.
  mlir::Type accumulator;

  /// A[batch][m][k], a scalar of the accumulator's type.
  std::function<mlir::Value(mlir::Value batch, mlir::Value m, mlir::Value k)> loadA;
  /// `width` neighbouring elements B[batch][k][n...] as a vector, when rows of B are contiguous. May be null. Elements
  /// beyond n must not be asked for.
  std::function<mlir::Value(mlir::Value batch, mlir::Value k, mlir::Value n, int64_t width)> loadRow;
  /// Element B[batch][k][n], a scalar.
  std::function<mlir::Value(mlir::Value batch, mlir::Value k, mlir::Value n)> loadB;
  /// Writes all k of one panel of `panelWidth` columns that begins at column n to panel[k * panelWidth + j]; columns
  /// beyond n may hold anything. Null: packed with loadRow or loadB.
  std::function<void(mlir::Value batch, mlir::Value n, mlir::Value panel, int64_t panelWidth)> packPanel;
  /// `width` neighbouring elements along k of column n, when columns of B (and rows of A) are contiguous. May be null.
  std::function<mlir::Value(mlir::Value batch, mlir::Value n, mlir::Value k, int64_t width)> loadColumn;
  std::function<mlir::Value(mlir::Value batch, mlir::Value m, mlir::Value k, int64_t width)> loadARow;

  /// Takes finished sums at [batch][m][n...]: a vector, of which the first `valid` (an index) elements exist, null:
  /// all; or a scalar.
  std::function<void(mlir::Value batch, mlir::Value m, mlir::Value n, Num sums, mlir::Value valid)> store;
};

void emitGemm(KernelBuilder &k, const Gemm &gemm);

} // namespace tilewright::cpu

#endif
