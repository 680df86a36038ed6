// Scales and zero points of post-training quantization: what the numbers must satisfy, whatever the range.

#include "passes/quantization/Parameters.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tilewright;

TEST(ActivationParameters, KnownRanges) {
  ActivationParameters p = activationParameters({0, 2.55f}, true);
  EXPECT_FLOAT_EQ(p.scale, 0.01f);
  EXPECT_EQ(p.zeroPoint, -128);
  EXPECT_EQ(activationParameters({0, 2.55f}, false).zeroPoint, 0);
  EXPECT_EQ(activationParameters({-2.55f, 0}, false).zeroPoint, 255);
  // A range that misses zero is widened: zero must be exact, for padding and ReLU.
  p = activationParameters({1, 2.55f}, true);
  EXPECT_FLOAT_EQ(p.scale, 0.01f);
  EXPECT_EQ(p.zeroPoint, -128);
  // Nothing but zeros, and nothing that float32 products could hold.
  EXPECT_EQ(activationParameters({0, 0}, true).scale, 1);
  EXPECT_EQ(activationParameters({-1e-38f, 1e-38f}, true).scale, 1);
}

TEST(ActivationParameters, EndsOfTheRangeAreReached) {
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 10000; ++i) {
    CalibratedRange range{normal(random), 0};
    range.max = range.min + std::abs(normal(random));
    ActivationParameters p = activationParameters(range, true);
    float low = p.scale * (-128 - p.zeroPoint), high = p.scale * (127 - p.zeroPoint);
    EXPECT_LE(low, std::min(range.min, 0.0f) + 0.51f * p.scale);
    EXPECT_GE(high, std::max(range.max, 0.0f) - 0.51f * p.scale);
    EXPECT_GE(p.zeroPoint, -128);
    EXPECT_LE(p.zeroPoint, 127);
  }
}

TEST(QuantizeWeights, EachChannelReaches127) {
  // [channels = 2, inner = 3], then the same stored with channels last.
  QuantizedWeights rows = quantizeWeights({1, -2, 0.5f, 10, 20, -40}, 2, 3, {}, 0.1f);
  EXPECT_EQ(rows.values, (std::vector<int8_t>{64, -127, 32, 32, 64, -127}));
  EXPECT_FLOAT_EQ(rows.scales[0], 2 / 127.0f);
  QuantizedWeights columns = quantizeWeights({1, 10, -2, 20, 0.5f, -40}, 2, 1, {}, 0.1f);
  EXPECT_EQ(columns.scales, rows.scales);
  EXPECT_EQ(columns.values, (std::vector<int8_t>{64, 32, -127, 64, 32, -127}));
}

TEST(QuantizeWeights, DeadChannels) {
  QuantizedWeights w = quantizeWeights({0, 0, 1e-30f, 0}, 2, 2, {}, 1);
  EXPECT_EQ(w.scales, (std::vector<float>{1, 1}));
  EXPECT_EQ(w.values, (std::vector<int8_t>{0, 0, 0, 0}));
}

TEST(QuantizeWeights, BiasesFitBesideTheirWeights) {
  // A folded batch normalization leaves such channels: almost no weight, an ordinary bias.
  std::vector<float> bias = {3.0f, -3.0f};
  QuantizedWeights w = quantizeWeights({1e-9f, 1.0f}, 2, 1, bias, 0.02f);
  std::vector<int32_t> q = quantizeBiases(bias, 0.02f, w.scales);
  for (int channel = 0; channel < 2; ++channel) {
    EXPECT_LE(std::abs(static_cast<double>(q[channel])), 0x1p30 + 128);
    EXPECT_NEAR(q[channel] * static_cast<double>(0.02f * w.scales[channel]), bias[channel], 1e-3);
  }
  EXPECT_FLOAT_EQ(w.scales[1], 1 / 127.0f);
}
