//===- ContractionStore.h - what happens to finished sums -------*- C++ -*-===//
//
// The last step of every contraction: bias, the fused elementwise operators, conversion and the (masked) store, on the
// vectors that emitGemm hands over.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CPU_CONTRACTIONSTORE_H
#define TILEWRIGHT_BACKENDS_CPU_CONTRACTIONSTORE_H

#include "backends/cpu/Gemm.h"
#include "backends/cpu/Operators.h"

namespace tilewright::cpu {

/// The result of a contraction as Gemm sees it: batch dimensions, then m, then n.
struct ResultLayout {
  Shape dims;
  /// Strides over `dims` of an operand that broadcasts to the result with `shape`; nothing when n neither is contiguous
  /// in it nor broadcasts.
  std::function<std::optional<Shape>(llvm::ArrayRef<int64_t> shape)> strides;
};

/// Of a matrix product with numpy's rules for the batch dimensions: the result's own dimensions.
ResultLayout matrixLayout(llvm::ArrayRef<int64_t> result);
/// Of a convolution: N, group, channel of the group, pixel.
ResultLayout imageLayout(llvm::ArrayRef<int64_t> result, int64_t groups);

/// The sums as the root's result, before the epilogue: adds a bias, requantizes, ...
using FinishFn = std::function<Num(Num sums, LoadOperand load)>;

/// A Gemm::store. `layout` and `finish` are copied.
std::function<void(mlir::Value, mlir::Value, mlir::Value, Num, mlir::Value)>
storeContraction(KernelBuilder &k, llvm::ArrayRef<onnx::NodeOp> nodes, ResultLayout layout, FinishFn finish);

/// A vector of `width` elements of a flat buffer, in its register form.
Num loadVectorAt(KernelBuilder &k, Buffer buffer, mlir::Value at, int64_t width);
/// Stores a vector, of which the first `valid` elements exist (null: all), or a scalar.
void storeVectorAt(KernelBuilder &k, Num value, Buffer buffer, mlir::Value at, mlir::Value valid);

} // namespace tilewright::cpu

#endif
