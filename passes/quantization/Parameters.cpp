//===- Parameters.cpp - scales, zero points, 8-bit weights ----------------===//

#include "passes/quantization/Parameters.h"

#include <algorithm>
#include <cmath>

using namespace tilewright;

ActivationParameters tilewright::activationParameters(CalibratedRange range, bool isSigned) {
  const double low = isSigned ? -128 : 0, high = low + 255;
  double min = std::min(0.0, static_cast<double>(range.min)), max = std::max(0.0, static_cast<double>(range.max));
  float scale = static_cast<float>((max - min) / 255);
  // Products of two scales must stay normal numbers; such a tensor is zero for all purposes.
  if (!(scale >= 1e-12f))
    return {1, static_cast<int>(low)};
  double zero = std::nearbyint(low - min / scale);
  return {scale, static_cast<int>(std::clamp(zero, low, high))};
}

QuantizedWeights tilewright::quantizeWeights(llvm::ArrayRef<float> weights, size_t channels, size_t inner,
                                             llvm::ArrayRef<float> biases, float inputScale) {
  QuantizedWeights result;
  std::vector<float> largest(channels, 0);
  for (size_t i = 0; i < weights.size(); ++i) {
    float &slot = largest[(i / inner) % channels];
    slot = std::max(slot, std::abs(weights[i]));
  }
  for (size_t channel = 0; channel < channels; ++channel) {
    double scale = largest[channel] / 127.0;
    if (!biases.empty())
      scale = std::max(scale, std::abs(static_cast<double>(biases[channel])) / (inputScale * 0x1p30));
    result.scales.push_back(scale >= 1e-12 ? static_cast<float>(scale) : 1.0f);
  }
  result.values.reserve(weights.size());
  for (size_t i = 0; i < weights.size(); ++i) {
    double q = std::nearbyint(static_cast<double>(weights[i]) / result.scales[(i / inner) % channels]);
    result.values.push_back(static_cast<int8_t>(std::clamp(q, -127.0, 127.0)));
  }
  return result;
}

std::vector<int32_t> tilewright::quantizeBiases(llvm::ArrayRef<float> biases, float inputScale,
                                                llvm::ArrayRef<float> weightScales) {
  std::vector<int32_t> result;
  for (size_t channel = 0; channel < biases.size(); ++channel) {
    float scale = inputScale * weightScales[channel];
    double q = std::nearbyint(static_cast<double>(biases[channel]) / scale);
    result.push_back(static_cast<int32_t>(std::clamp(q, -0x1p31, 0x1p31 - 1)));
  }
  return result;
}
