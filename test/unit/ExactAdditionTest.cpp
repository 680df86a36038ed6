// Additions to the bits of ONNX: what exactConstants finds is right on all pairs of bytes by exact arithmetic, it finds
// something for nearly all scales, and it says so where there is nothing.

#include "dialects/tile/ExactAddition.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

using namespace tilewright::tile;

namespace {
using Exact = __float128; // products and short sums of float32 are exact in its 113 bits

int64_t roundHalfEven(float v) {
  int64_t low = static_cast<int64_t>(std::floor(v));
  float rest = v - static_cast<float>(low);
  return rest > 0.5f || (rest == 0.5f && low % 2 != 0) ? low + 1 : low;
}

/// Pairs of bytes on which the addition of ONNX and that of the array differ; -1 when there are no constants.
int different(const QuantizedAddition &addition) {
  std::optional<AdditionConstants> constants = exactConstants(addition);
  if (!constants)
    return -1;
  int64_t shift = addition.isUnsigned ? 128 : 0;
  auto clamp = [&](int64_t v) { return std::min(std::max(v, addition.clampMin), addition.clampMax); };
  int count = 0;
  for (int64_t a = shift - 128; a < shift + 128; ++a)
    for (int64_t b = shift - 128; b < shift + 128; ++b) {
      float da = static_cast<float>(Exact(a - addition.zeroA) * addition.scaleA);
      float db = static_cast<float>(Exact(b - addition.zeroB) * addition.scaleB);
      float quotient = static_cast<float>(Exact(static_cast<float>(Exact(da) + db)) / addition.scaleSum);
      float inner = static_cast<float>(Exact(b) * constants->rb + constants->fix);
      float outer = static_cast<float>(Exact(a) * constants->ra + inner);
      int64_t zero = addition.zeroSum - shift;
      count += clamp(roundHalfEven(quotient) + zero) != clamp(roundHalfEven(outer) + zero);
    }
  return count;
}
} // namespace

TEST(ExactAddition, FindsConstantsForNearlyAllScales) {
  std::mt19937 random(5);
  std::uniform_real_distribution<float> uniform(0, 1);
  int none = 0, moved = 0;
  constexpr int kAdditions = 60;
  for (int i = 0; i < kAdditions; ++i) {
    QuantizedAddition addition;
    addition.isUnsigned = i % 2;
    int64_t lowest = addition.isUnsigned ? 0 : -128;
    addition.scaleA = 0.01f + 0.1f * uniform(random);
    addition.scaleB = 0.01f + 0.1f * uniform(random);
    addition.scaleSum = std::max(addition.scaleA, addition.scaleB) * (0.8f + 1.2f * uniform(random));
    addition.zeroA = lowest + random() % 256;
    addition.zeroB = lowest + random() % 256;
    addition.zeroSum = lowest + random() % 256;
    if (i % 3 == 0)
      addition.clampMin = addition.zeroSum - (addition.isUnsigned ? 128 : 0); // Relu
    int count = different(addition);
    none += count < 0;
    EXPECT_LE(count, 0) << addition.scaleA << ' ' << addition.scaleB << ' ' << addition.scaleSum;
    if (std::optional<AdditionConstants> constants = exactConstants(addition)) {
      moved +=
          constants->ra != addition.scaleA / addition.scaleSum || constants->rb != addition.scaleB / addition.scaleSum;
      EXPECT_TRUE(agrees(addition, *constants));
      constants->fix += 0.01f;
      EXPECT_FALSE(agrees(addition, *constants));
    }
  }
  EXPECT_LE(none, kAdditions / 20);
  EXPECT_GT(moved, 0) << "no addition needed more than the quotients: the search was not tested";
}

TEST(ExactAddition, TiesOfScalesThatArePowersOfTwo) {
  // Every other sum is a tie; the zero point is odd, so rounding with it would go the other way.
  QuantizedAddition addition{0.25f, 0.25f, 0.5f, 3, -8, 7, false};
  EXPECT_EQ(different(addition), 0);
  EXPECT_FALSE(agrees(addition, {0.5f, 0.5f, 3.5f}));
  EXPECT_TRUE(agrees(addition, {0.5f, 0.5f, 2.5f}));
  addition.isUnsigned = true;
  addition.zeroB = 255;
  EXPECT_EQ(different(addition), 0);
}

TEST(ExactAddition, SaysWhereThereIsNone) {
  // Every other sum is a tie again, but 0.1 is no float32: ONNX's roundings break most of them, the array's none.
  EXPECT_FALSE(exactConstants({0.1f, 0.1f, 0.2f, 3, -8, 7, false}));
  // Quotients and sums that overflow.
  EXPECT_FALSE(exactConstants({3e38f, 3e38f, 1e-30f, 0, 0, 0, false}));
}
