//===- requantizer.cpp - the epilogue's steps 1 and 2 against sim/Requantize.h ===//
//
// Exhaustive: all 2^24 significands of the sum, both signs, for chosen exponents and
// scales, and all 2^23 significands of the scale for chosen sums. ctest takes a part of
// the pairs; --all takes every exponent with every scale (minutes). --random=N checks N
// random pairs instead.
//
//===----------------------------------------------------------------------===//

// FAULT ties_away in tilewright_float_pkg: fixed_point[22:0] != 23'd0 || fixed_point[24] => 1'b1
// FAULT product_truncated in tilewright_float_pkg: {24'd0, up} => 25'd0
// FAULT conversion_truncated in tilewright_float_pkg: normal[6:0] != 7'd0 || normal[8] => 1'b0
// FAULT large_results_wrap in tilewright_float_pkg: $signed(exponent) > 10'sd9 => $signed(exponent) > 10'sd10
// FAULT clamps_too_late in tilewright_float_pkg: $signed(value) > $signed(high) => $signed(value) > $signed(high) + 1

#define TESTBENCH_OWN_MAIN
#include "Testbench.h"
#include "sim/Requantize.h"

#include <bit>
#include <chrono>
#include <cmath>

namespace {

bool all = false;
int64_t randomPairs = 0;

constexpr int lanes = 16;

struct Setting {
  int32_t zeroPoint, lowest, highest;
};
constexpr Setting settings[] = {{0, -128, 127}, {-128, -128, 127}, {127, -128, 127}, {-3, -3, 127}, {5, -100, 64}};

struct Requantizer : Testbench {
  alignas(64) int32_t accumulators[lanes], biases[lanes];
  alignas(64) float scales[lanes], negatives[lanes];
  int64_t checked = 0;

  void use(const Setting &setting) {
    top.zero_point_i = uint8_t(setting.zeroPoint);
    top.clamp_min_i = uint8_t(setting.lowest);
    top.clamp_max_i = uint8_t(setting.highest);
    current = setting;
  }
  void useScale(float scale, float negative) {
    for (int k = 0; k < lanes; ++k) {
      scales[k] = scale;
      negatives[k] = negative;
    }
    std::memcpy(&top.scale_i, scales, sizeof(scales));
    std::memcpy(&top.scale_negative_i, negatives, sizeof(negatives));
  }
  /// The lanes' accumulators, biases and, if they have changed, scales against the reference. False after a difference.
  bool check() {
    std::memcpy(&top.accumulator_i, accumulators, sizeof(accumulators));
    std::memcpy(&top.bias_i, biases, sizeof(biases));
    top.eval();
    alignas(16) int8_t actual[lanes], expected[lanes];
    std::memcpy(actual, &top.result_o, lanes);
    for (int k = 0; k < lanes; ++k)
      expected[k] =
          int8_t(tilewright::sim::requantize(tilewright::sim::wrappingAdd(accumulators[k], biases[k]), scales[k],
                                             negatives[k], current.zeroPoint, current.lowest, current.highest));
    checked += lanes;
    if (std::memcmp(actual, expected, lanes) == 0)
      return true;
    for (int k = 0; k < lanes; ++k)
      if (actual[k] != expected[k]) {
        ADD_FAILURE() << accumulators[k] << " + " << biases[k] << " times " << std::hexfloat << scales[k] << " or "
                      << negatives[k] << std::dec << ", zero point " << current.zeroPoint << ", clamp "
                      << current.lowest << " to " << current.highest << ": " << int(actual[k]) << ", not "
                      << int(expected[k]);
        return false;
      }
    return false;
  }
  /// Every significand of 24 bits as a sum s * 2^exponent, positive and negative. `low` stands below the significand:
  /// bits that the conversion to float32 rounds off.
  bool everySum(int exponent, int32_t low, float scale, float negative) {
    useScale(scale, negative);
    // Through bias and accumulator: their sum counts.
    for (int k = 0; k < lanes; ++k)
      biases[k] = 977 - k;
    for (int32_t significand = 0; significand < 1 << 24; significand += lanes / 2) {
      for (int k = 0; k < lanes / 2; ++k) {
        int32_t sum = (significand + k) * (1 << exponent) + low;
        accumulators[k] = sum - biases[k];
        accumulators[k + lanes / 2] = -sum - biases[k + lanes / 2];
      }
      if (!check())
        return false;
    }
    return true;
  }
  void report(std::chrono::steady_clock::time_point start) {
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    std::printf("%lld requantizations equal, %.1f s, %.0f million/s\n", (long long)checked, seconds,
                double(checked) * 1e-6 / seconds);
  }

private:
  Setting current{};
};

/// Any sum, any finite scale; half of the pairs such that the result is within the range of int8 and around it.
TEST_F(Requantizer, RandomPairs) {
  auto start = std::chrono::steady_clock::now();
  std::mt19937_64 engine(randomPairs ? 20240 + randomPairs : 1);
  int64_t pairs = randomPairs ? randomPairs : 8'000'000;
  for (int64_t done = 0; done < pairs; done += lanes) {
    use(settings[done / lanes % std::size(settings)]);
    for (int k = 0; k < lanes; ++k) {
      uint64_t bits = engine();
      accumulators[k] = int32_t(uint32_t(bits)) >> (bits >> 59);
      biases[k] = int32_t(uint32_t(bits >> 13)) >> (bits >> 40 & 31);
      uint64_t more = engine();
      uint32_t exponent = uint32_t(more >> 32) % 255;
      int32_t sum = tilewright::sim::wrappingAdd(accumulators[k], biases[k]);
      if (more >> 63 && sum != 0)
        exponent = uint32_t(127 + int(more >> 50 & 15) - 6 - std::ilogb(std::fabs(float(sum))));
      scales[k] = std::bit_cast<float>(exponent << 23 | uint32_t(more & 0x7fffff));
      negatives[k] = std::bit_cast<float>(std::bit_cast<uint32_t>(scales[k]) ^ uint32_t(more >> 23 & 1) << 31);
    }
    std::memcpy(&top.scale_i, scales, sizeof(scales));
    std::memcpy(&top.scale_negative_i, negatives, sizeof(negatives));
    if (!check())
      return;
  }
  report(start);
}

TEST_F(Requantizer, EverySignificandOfTheSum) {
  if (randomPairs)
    GTEST_SKIP();
  auto start = std::chrono::steady_clock::now();
  // Sums reach 2^(24 + exponent); results of about 2^7 and 2^9 (so that most are clamped) at their upper end.
  struct Chosen {
    float significand;
    int shift; // result = sum * significand * 2^-(24 + exponent - shift)
  };
  const Chosen chosen[] = {
      {1.0f, 7},            // a power of two: exact ties
      {0x1.555556p-1f, 8},  // 1/3, 2/3, ...: products that are inexact in every bit
      {0x1.fffffep0f, 6},   // largest significand
      {0x1.000002p0f, 7},   // smallest after one
      {1.5f, 7},            // ties from multiples of 3
      {0x1.99999ap-4f, 11}, // 0.1
      {1.0f, 9},            // three quarters beyond the clamp
      {0x1.8p0f, 0},        // results 0 and 1 only, the tie at 0.5
  };
  int set = 0;
  for (int exponent : {0, 7, 1, 2, 3, 4, 5, 6}) {
    for (const Chosen &scale : chosen) {
      ++set;
      // By default the first exponent with every scale, the second (where the conversion rounds) with the first three.
      if (!all && exponent != 0 && (exponent != 7 || &scale >= chosen + 3))
        continue;
      use(settings[set % std::size(settings)]);
      float m = std::ldexp(scale.significand, scale.shift - 24 - exponent);
      // LeakyReLU: another scale for negative sums.
      float negative = set % 2 ? m : m * 0.3f;
      const int32_t lows[] = {0, 1, (1 << exponent) / 2, (1 << exponent) / 2 + 1, (1 << exponent) - 1};
      if (!everySum(exponent, lows[set % 5] & ((1 << exponent) - 1), m, negative))
        return;
    }
  }
  report(start);
}

TEST_F(Requantizer, EverySignificandOfTheScale) {
  if (randomPairs)
    GTEST_SKIP();
  auto start = std::chrono::steady_clock::now();
  const int32_t sums[] = {1, -3, 127, 16777217, -16777219, 1 << 30, INT32_MIN, INT32_MAX, 12345677, 5, -1, 33554431};
  int set = 0;
  for (int32_t sum : sums) {
    // Results below 2^7; with the whole set also around the first tie and beyond the clamp.
    for (int magnitude : {6, 7, 0, -1, -2, 8}) {
      if (++set; !all && (magnitude != 6 || set > 36))
        continue;
      use(settings[set % std::size(settings)]);
      uint32_t exponent = uint32_t(127 + magnitude - std::ilogb(std::fabs(float(sum)))) << 23;
      for (int k = 0; k < lanes; ++k) {
        accumulators[k] = sum;
        biases[k] = 0;
      }
      for (uint32_t significand = 0; significand < 1u << 23; significand += lanes) {
        for (uint32_t k = 0; k < lanes; ++k)
          scales[k] = negatives[k] = std::bit_cast<float>(exponent | (significand + k));
        std::memcpy(&top.scale_i, scales, sizeof(scales));
        std::memcpy(&top.scale_negative_i, scales, sizeof(scales));
        if (!check())
          return;
      }
    }
  }
  report(start);
}

TEST_F(Requantizer, ScalesAtTheEndsOfTheirRange) {
  if (randomPairs)
    GTEST_SKIP();
  auto start = std::chrono::steady_clock::now();
  for (float scale :
       {0x1p-149f, 0x1.fffffcp-127f, 0x1p-126f, 0x1p-33f, 0x1p-32f, 0x1.fffffep126f, 0x1.fffffep127f, 0.0f})
    for (const Setting &setting : settings) {
      use(setting);
      useScale(scale, -scale); // PReLU's slope may be negative
      for (int i = 0; i < 40000; ++i) {
        for (int k = 0; k < lanes; ++k) {
          accumulators[k] = int32_t(random()) >> random.below(32);
          biases[k] = int32_t(random()) >> random.below(32);
        }
        if (i == 0)
          for (int k = 0; k < lanes; ++k) {
            accumulators[k] = k % 2 ? INT32_MIN : INT32_MAX;
            biases[k] = k / 2 % 3 - 1;
          }
        if (!check())
          return;
      }
    }
  report(start);
}

} // namespace

int main(int argc, char **argv) {
  return runTestbench(argc, argv, [](const char *argument) {
    if (std::string(argument) == "--all")
      all = true;
    else if (!flag(argument, "random", randomPairs) || randomPairs <= 0)
      std::exit((std::fprintf(stderr, "unknown argument %s (there are --all and --random=PAIRS)\n", argument), 2));
  });
}
