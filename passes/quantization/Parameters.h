//===- Parameters.h - scales, zero points, 8-bit weights --------*- C++ -*-===//
//
// The arithmetic of post-training quantization: real = scale · (q − zero point). Scales are float32, as every consumer
// of the quantized network will read them; a parameter is computed from the rounded scale, not from the exact one.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_QUANTIZATION_PARAMETERS_H
#define TILEWRIGHT_PASSES_QUANTIZATION_PARAMETERS_H

#include "passes/quantization/RangeTable.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace tilewright {

/// An activation's quantization. `zeroPoint` is in the type's own domain: −128..127 or 0..255.
struct ActivationParameters {
  float scale = 1;
  int zeroPoint = 0;
};

/// Asymmetric 8-bit parameters whose range covers `range` and zero; zero is exact. A range of only zeros gets scale 1.
ActivationParameters activationParameters(CalibratedRange range, bool isSigned);

/// Weights as int8, −127..127, each output channel with a scale of its own.
struct QuantizedWeights {
  std::vector<int8_t> values;
  std::vector<float> scales;
};

/// `weights` in the order in which they are stored; element i belongs to channel (i / inner) % channels.
///
/// `biases` (empty, or one per channel) are those that will be stored as int32 with scale inputScale · scale[channel]:
/// a channel whose weights are tiny beside its bias gets a larger scale, so that the bias stays below 2^30 and the sums
/// around it cannot leave int32.
QuantizedWeights quantizeWeights(llvm::ArrayRef<float> weights, size_t channels, size_t inner,
                                 llvm::ArrayRef<float> biases, float inputScale);

/// Biases with scale inputScale · weightScales[channel], the product rounded to float32.
std::vector<int32_t> quantizeBiases(llvm::ArrayRef<float> biases, float inputScale, llvm::ArrayRef<float> weightScales);

} // namespace tilewright

#endif
