//===- float_arithmetic.cpp - the epilogue's binary32 against the host's --===//

// FAULT tie_away in tilewright_float_pkg: fixed_point[22:0] != 23'd0 || fixed_point[24] => 1'b1
// FAULT fma_tie_away in tilewright_float_pkg: rounding[38:0] != 39'd0 || rounding[40] => 1'b1
// FAULT fma_sign in tilewright_float_pkg: larger_is_product ? product_sign : addend[31] => product_sign
// FAULT exponent_off in tilewright_float_pkg: {4'd0, @a[29:24]@} + {2'd0, scale => a[29:24] + 6'(&a[22:4])

#include "Testbench.h"

#include <cmath>

namespace {

uint32_t bits(float value) {
  uint32_t result;
  std::memcpy(&result, &value, 4);
  return result;
}
float fromBits(uint32_t value) {
  float result;
  std::memcpy(&result, &value, 4);
  return result;
}

/// Rounds to the nearest integer, ties to even; from 1024 on the hardware's 1023.
int rounded(float value) {
  if (value >= 1023.5f)
    return 1023;
  if (value <= -1023.5f)
    return -1023;
  return int(std::nearbyint(value));
}

int saturated(int value) { return value > 1023 ? 1023 : value < -1023 ? -1023 : value; }

struct Unit : Testbench {
  int requantized(int32_t sum, uint32_t scale) {
    top.sum_i = uint32_t(sum);
    top.scale_i = scale;
    top.eval();
    return int(int16_t(top.requantized_o << 4)) >> 4;
  }
  void checkRequantized(int32_t sum, uint32_t scale) {
    int expected = saturated(rounded(float(sum) * fromBits(scale)));
    int actual = saturated(requantized(sum, scale));
    // 1024 itself is representable as a rounded result but beyond every clamp.
    ASSERT_EQ(actual, expected) << sum << " x " << std::hexfloat << fromBits(scale);
  }
  void checkFma(int a, uint32_t scale, uint32_t addend) {
    top.a_i = uint32_t(a) & 0x3ff;
    top.scale_i = scale;
    top.addend_i = addend;
    top.eval();
    float expected = std::fmaf(float(a), fromBits(scale), fromBits(addend));
    ASSERT_EQ(top.fma_o, bits(expected)) << "fma(" << a << ", " << std::hexfloat << fromBits(scale) << ", "
                                         << fromBits(addend) << ") = " << expected << ", not " << fromBits(top.fma_o);
  }
};

TEST_F(Unit, RequantizesEverySignificandOfTheSum) {
  // Scales: exact powers of two (ties), and ones whose products need all bits.
  for (uint32_t scale : {bits(0x1p-10f), bits(0x1.fffffep-17f)})
    for (int32_t sum = -(1 << 23); sum < 1 << 23; ++sum)
      checkRequantized(sum, scale);
}

TEST_F(Unit, RequantizesEverySignificandOfTheScale) {
  for (int32_t sum : {-3, 16777217, INT32_MIN}) {
    uint32_t exponent = uint32_t(127 + 6 - std::ilogb(std::fabs(float(sum))));
    for (uint32_t significand = 0; significand < 1u << 23; ++significand)
      checkRequantized(sum, exponent << 23 | significand);
  }
}

TEST_F(Unit, RequantizesAnyMagnitude) {
  std::mt19937 random(1);
  for (int i = 0; i < 4000000; ++i) {
    int32_t sum = int32_t(random()) >> random() % 32;
    uint32_t scale = random() & 0x807fffff; // a negative slope of PReLU is a negative scale
    scale |= (random() % 255) << 23;        // denormals too, no infinity
    checkRequantized(sum, scale);
  }
}

TEST_F(Unit, RequantizesTies) {
  for (int shift = 1; shift < 24; ++shift)
    for (int32_t value = -1023; value <= 1023; ++value)
      for (int32_t delta : {-1, 0, 1})
        checkRequantized((2 * value + 1) * (1 << (shift - 1)) + delta, bits(std::ldexp(1.0f, -shift)));
}

TEST_F(Unit, FusedMultiplyAdd) {
  std::mt19937 random(2);
  for (int i = 0; i < 5000000; ++i) {
    int a = int(random() % 512) - 256;
    uint32_t scale = random() & 0x807fffff, addend = random() & 0x807fffff;
    uint32_t exponent = random() % 250 + 1;
    scale |= exponent << 23;
    // Exponents near the product's, where bits overlap; now and then anything, denormals included.
    int near = int(exponent) + int(random() % 48) - 20;
    addend |= uint32_t(random() % 8 ? std::min(std::max(near, 0), 254) : int(random() % 255)) << 23;
    if (random() % 64 == 0)
      scale &= 0x807fffff;
    if (random() % 64 == 0)
      addend &= 0x80000000;
    if (std::isinf(std::fmaf(float(a), fromBits(scale), fromBits(addend))))
      continue;
    checkFma(a, scale, addend);
  }
}

TEST_F(Unit, FusedMultiplyAddCancels) {
  std::mt19937 random(3);
  for (int i = 0; i < 4000000; ++i) {
    int a = int(random() % 511) - 255;
    uint32_t scale = (random() & 0x7fffff) | (random() % 200 + 20) << 23;
    uint32_t addend = bits(-float(a) * fromBits(scale));
    checkFma(a, scale, addend + random() % 3 - 1);
  }
}

TEST_F(Unit, FusedMultiplyAddOverflowsToInfinity) {
  for (int a : {-256, -2, 2, 255})
    checkFma(a, bits(0x1.fffffep127f), bits(1.0f));
  checkFma(1, bits(0x1.fffffep127f), bits(0x1p103f));
}

TEST_F(Unit, RoundsAnyFloat) {
  std::mt19937 random(4);
  for (int i = 0; i < 4000000; ++i) {
    uint32_t value = (random() & 0x807fffff) | (random() % 4 ? 110 + random() % 34 : random() % 255) << 23;
    top.value_i = value;
    top.eval();
    ASSERT_EQ(saturated(int(int16_t(top.rounded_o << 4)) >> 4), saturated(rounded(fromBits(value))))
        << std::hexfloat << fromBits(value);
  }
}

} // namespace
