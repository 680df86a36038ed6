//===- AverageWindow.h - windows of average pools ---------------*- C++ -*-===//
//
// AveragePool, GlobalAveragePool and ReduceMean over the image, as one sum of taps and what it is divided by: for
// averages of integers, whose sums are exact.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CPU_AVERAGEWINDOW_H
#define TILEWRIGHT_BACKENDS_CPU_AVERAGEWINDOW_H

#include "dialects/onnx/OnnxDialect.h"

#include <optional>

namespace tilewright::cpu {

/// Of [N, C, spatial...] to [N, C, positions...].
struct AverageWindow {
  llvm::SmallVector<int64_t> kernel, strides, dilations; ///< one per spatial dimension
  /// Begin of each dimension, then end of each: as far as the last window reaches.
  llvm::SmallVector<int64_t> pads;
  /// Taps that count, at each position, row-major; none is 0.
  llvm::SmallVector<int64_t> counts;

  /// Nothing for other averages, and for windows that no convolution has.
  static std::optional<AverageWindow> of(onnx::NodeOp op);
};

} // namespace tilewright::cpu

#endif
