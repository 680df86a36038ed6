//===- Calibration.h - the ranges of activations ----------------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_CALIBRATION_H
#define TILEWRIGHT_DRIVER_CALIBRATION_H

#include "driver/CalibrationData.h"
#include "passes/quantization/RangeTable.h"

namespace tilewright {

/// How a tensor's range is chosen from the values it had.
struct RangeMethod {
  /// 100: the smallest and the largest value. Otherwise what is left when (100 − percentile) % are cut off at either
  /// end.
  double percentile = 100;
  /// "min-max" or "percentile:99.99". Throws Error.
  static RangeMethod parse(const std::string &text);
};

/// Runs the float network `main` (static shapes, prepared for insert-qdq) on all samples. The table has each tensor
/// that insert-qdq will ask for. Throws Error for values that are not finite.
RangeTable calibrate(mlir::func::FuncOp main, const CalibrationData &data, const RangeMethod &method);

/// How close a quantized tensor is to the float one on the samples.
struct LayerAccuracy {
  std::string tensor;
  /// 10·log10(Σ float² / Σ (float − quantized)²); infinity when they are equal.
  double signalToNoiseDb;
};

/// Runs both networks on up to `samples` samples: for each tensor that insert-qdq made 8 bits, in program order.
std::vector<LayerAccuracy> compareQuantized(mlir::func::FuncOp main, mlir::func::FuncOp quantized,
                                            const CalibrationData &data, size_t samples);

} // namespace tilewright

#endif
