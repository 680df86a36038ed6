//===- ConvolutionCore.h - shared by float and integer Conv -----*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_CPU_LOWERING_CONVOLUTIONCORE_H
#define TILEWRIGHT_BACKENDS_CPU_LOWERING_CONVOLUTIONCORE_H

#include "backends/cpu/ContractionStore.h"
#include "backends/cpu/lowering/Windows.h"

namespace tilewright::cpu {

struct ConvolutionOperands {
  Buffer image;   // [N, C, spatial...]
  Buffer weights; // [M, C / groups, kernel...]
  int64_t groups = 1;
  Window window;
  mlir::Type accumulator;
  /// A weight or pixel as read → as multiplied (conversion, zero point). Weights are scalars, of output channel `m`.
  std::function<Num(Num weight, mlir::Value m)> weight;
  std::function<Num(Num pixel)> pixel;
  /// What lies beyond the image, in its register form.
  std::optional<Num> padding;
};

/// Emits the whole convolution with its epilogue.
void emitConvolution(KernelBuilder &k, llvm::ArrayRef<onnx::NodeOp> nodes, ConvolutionOperands conv, FinishFn finish);
bool takesImageOperand(onnx::NodeOp root, llvm::ArrayRef<int64_t> shape);

} // namespace tilewright::cpu

#endif
