//===- QuantizeLinear.h - QuantizeLinear of one number ----------*- C++ -*-===//
//
// What tables, folded constants and bounds in integers are made with; the host's generated code does the same
// (backends/cpu/lowering/Quantization.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_COMMON_QUANTIZELINEAR_H
#define TILEWRIGHT_COMMON_QUANTIZELINEAR_H

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tilewright {

/// When the quotient is rounded, half to even: ONNX before the zero point is added, some operators of onnxruntime
/// after.
enum class QuantizeRounding { BeforeZeroPoint, WithZeroPoint };

/// value ÷ scale in float32, rounded, with its zero point, saturated to [low, high]; `low` for a NaN, as onnxruntime's
/// conversion gives. The scale is not 0, and |zeroPoint|, |low| and |high| are below 2^24.
inline int64_t quantizeLinear(float value, float scale, int64_t zeroPoint, int64_t low, int64_t high,
                              QuantizeRounding rounding = QuantizeRounding::BeforeZeroPoint) {
  float quotient = value / scale;
  if (std::isnan(quotient))
    return low;
  float zero = static_cast<float>(zeroPoint);
  float whole =
      rounding == QuantizeRounding::WithZeroPoint ? std::nearbyint(quotient + zero) : std::nearbyint(quotient) + zero;
  return static_cast<int64_t>(std::clamp(whole, static_cast<float>(low), static_cast<float>(high)));
}

} // namespace tilewright

#endif
