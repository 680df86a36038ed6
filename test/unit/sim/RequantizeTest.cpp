//===- RequantizeTest.cpp - one rounding for each step --------------------===//
//
// The C++ reference of the epilogue against exact arithmetic: products and sums in
// 113 bits, rounded once to float32, then once to an integer.
//
//===----------------------------------------------------------------------===//

#include "sim/Requantize.h"
#include <bit>
#include <gtest/gtest.h>
#include <random>

using namespace tilewright::sim;

namespace {

using Exact = __float128;

int64_t roundHalfEven(Exact v) {
  int64_t low = int64_t(v);
  if (Exact(low) > v)
    --low;
  Exact rest = v - low;
  return rest > Exact(0.5) || (rest == Exact(0.5) && low % 2 != 0) ? low + 1 : low;
}

int64_t exactRequantize(int32_t sum, float m, float mNegative, int32_t zeroPoint, int32_t lowest, int32_t highest) {
  float converted = float(Exact(sum));
  float v = float(Exact(converted) * (sum < 0 ? mNegative : m));
  Exact clamped = std::min<Exact>(std::max<Exact>(v, lowest - zeroPoint), highest - zeroPoint);
  return roundHalfEven(clamped) + zeroPoint;
}

int64_t exactAdd(int32_t a, int32_t b, float ra, float rb, float fix, int32_t zeroPoint, bool isUnsigned,
                 int32_t lowest, int32_t highest) {
  int32_t shift = isUnsigned ? 128 : 0;
  float inner = float(Exact(b + shift) * rb + fix);
  float s = float(Exact(a + shift) * ra + inner);
  Exact limited = std::min<Exact>(std::max<Exact>(s, -16777216), 16777216);
  return std::clamp<int64_t>(roundHalfEven(limited) + zeroPoint, lowest, highest);
}

TEST(Requantize, EqualsExactArithmetic) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 2000000; ++i) {
    int32_t sum = int32_t(random()) >> (random() % 32);
    // Scales whose products lie around int8, and some far from it.
    float m = std::ldexp(1.0f + float(random() % (1 << 23)) / float(1 << 23),
                         i % 16 ? 6 - int(std::log2(1.0 + std::abs(double(sum)))) : int(random() % 250) - 126);
    int32_t zeroPoint = int32_t(random() % 256) - 128, lowest = int32_t(random() % 256) - 128;
    int32_t highest = lowest + int32_t(random() % uint64_t(128 - lowest));
    ASSERT_EQ(requantize(sum, m, 0.3f * m, zeroPoint, lowest, highest),
              exactRequantize(sum, m, 0.3f * m, zeroPoint, lowest, highest))
        << sum << " * " << m << ", zero point " << zeroPoint;
  }
}

TEST(Requantize, RoundsTiesToEvenAndKeepsDenormals) {
  EXPECT_EQ(requantize(1, 0.5f, 0.5f, 0, -128, 127), 0);
  EXPECT_EQ(requantize(3, 0.5f, 0.5f, 0, -128, 127), 2);
  EXPECT_EQ(requantize(5, 0.5f, 0.5f, 0, -128, 127), 2);
  EXPECT_EQ(requantize(-3, 0.5f, 0.5f, 0, -128, 127), -2);
  EXPECT_EQ(requantize(-1, 1.0f, 40.0f, 0, -128, 127), -40);
  // The clamp comes before the rounding, both before the zero point is added.
  EXPECT_EQ(requantize(1000, 1.0f, 1.0f, 100, -128, 127), 127);
  EXPECT_EQ(requantize(1000, 1.0f, 1.0f, -128, -128, 127), 127);
  // 2^30 * 2^-130 is exact only if the denormal scale is kept.
  EXPECT_EQ(requantize(1 << 30, std::ldexp(1.0f, -130), 0, 0, -128, 127), 0);
  EXPECT_EQ(residualAdd(1, 0, std::ldexp(1.0f, -20), 1.0f, 0.5f, 0, false, -128, 127), 1); // just above the tie
  EXPECT_EQ(residualAdd(0, 0, std::ldexp(1.0f, -20), 1.0f, 0.5f, 0, false, -128, 127), 0);
  // The zero point of step 4 is added after rounding; one inside `fix` is rounded with the sum.
  EXPECT_EQ(residualAdd(1, 0, 0.5f, 0.5f, 0.0f, 7, false, -128, 127), 7);
  EXPECT_EQ(residualAdd(1, 0, 0.5f, 0.5f, 7.0f, 0, false, -128, 127), 8);
  EXPECT_EQ(residualAdd(-128, -128, 0.5f, 0.5f, 0.0f, -128, true, -128, 127), -128);
  // Infinity clamps.
  EXPECT_EQ(requantize(INT32_MAX, 3e38f, 3e38f, 0, -128, 127), 127);
  EXPECT_EQ(requantize(INT32_MIN, 3e38f, 3e38f, 0, -128, 127), -128);
  EXPECT_EQ(wrappingAdd(INT32_MAX, 1), INT32_MIN);
}

TEST(Requantize, ResidualEqualsExactArithmetic) {
  std::mt19937_64 random(8);
  for (int i = 0; i < 1000000; ++i) {
    int32_t a = int32_t(random() % 256) - 128, b = int32_t(random() % 256) - 128;
    auto scale = [&] { return std::bit_cast<float>(uint32_t(0x3e000000 + random() % 0x02000000)); };
    float ra = scale(), rb = scale(), fix = (i % 2 ? 1 : -1) * scale() * 32;
    ASSERT_EQ(residualAdd(a, b, ra, rb, fix, i % 256 - 128, i % 3 == 0, -100, 120),
              exactAdd(a, b, ra, rb, fix, i % 256 - 128, i % 3 == 0, -100, 120));
  }
}

} // namespace
