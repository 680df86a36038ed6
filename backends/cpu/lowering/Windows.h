//===- Windows.h - kernel, stride, pad and dilation of a node ---*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_CPU_LOWERING_WINDOWS_H
#define TILEWRIGHT_BACKENDS_CPU_LOWERING_WINDOWS_H

#include "backends/cpu/Operators.h"

namespace tilewright::cpu {

/// One number per spatial dimension.
struct Window {
  Shape kernel, strides, dilations, padsBegin, padsEnd, output;
  size_t rank() const { return kernel.size(); }
  bool isPadded() const;
};

/// Of Conv and the pools. auto_pad is resolved; the output's size is the node's result type.
Window windowOf(onnx::NodeOp node, llvm::ArrayRef<int64_t> kernel);
/// Of ConvTranspose: `output` is the result's size, the pads cut it from the full one.
Window transposedWindowOf(onnx::NodeOp node, llvm::ArrayRef<int64_t> kernel);

/// `image` [N, C, ...] with the borders that `window` reads, at least as large as its last window; the same buffer when
/// it has none. Afterwards the window's pads are 0.
Buffer padImage(KernelBuilder &k, Buffer image, Window &window, Num padding);

} // namespace tilewright::cpu

#endif
