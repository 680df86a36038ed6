//===- ContractionCore.h - shared by float and integer products -*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_CPU_LOWERING_CONTRACTIONCORE_H
#define TILEWRIGHT_BACKENDS_CPU_LOWERING_CONTRACTIONCORE_H

#include "backends/cpu/ContractionStore.h"

namespace tilewright::cpu {

struct MatrixOperands {
  Buffer a, b; // [batch..., m, k] and [batch..., k, n], or transposed in the last two
  bool transposeA = false, transposeB = false;
  mlir::Type accumulator;
  /// An element or vector as read → as multiplied. `m`: its row; `n`: its column, or with `alongN` the first of a
  /// vector's columns.
  std::function<Num(Num, mlir::Value m)> left;
  std::function<Num(Num, mlir::Value n, bool alongN)> right;
};

/// The operands of MatMul and its integer forms.
MatrixOperands matMulOperands(KernelBuilder &k, onnx::NodeOp root, mlir::Value left, mlir::Value right);
void emitMatrixProduct(KernelBuilder &k, llvm::ArrayRef<onnx::NodeOp> nodes, const MatrixOperands &p, FinishFn finish);
bool takesMatrixOperand(onnx::NodeOp root, llvm::ArrayRef<int64_t> shape);

} // namespace tilewright::cpu

#endif
