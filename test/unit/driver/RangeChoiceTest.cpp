//===- RangeChoiceTest.cpp - ranges from known distributions --------------===//

#include "driver/RangeChoice.h"

#include "common/Error.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

using namespace tilewright;

namespace {

const RangeMethod kMinMax{RangeMethod::MinMax, 100}, kLeastError{RangeMethod::MeanSquare, 100};

using Function = float (*)(float);

CalibratedRange choose(const std::vector<float> &values, RangeMethod method, Function function = nullptr) {
  ValueStatistics statistics;
  statistics.extend(values);
  std::vector<float> results;
  if (function)
    std::transform(values.begin(), values.end(), std::back_inserter(results), function);
  llvm::ArrayRef<float> view(results);
  statistics.fill(values,
                  function ? llvm::ArrayRef<llvm::ArrayRef<float>>(view) : llvm::ArrayRef<llvm::ArrayRef<float>>());
  return statistics.choose(method);
}

std::vector<float> normal(size_t count, float mean = 0) {
  std::mt19937 generator(1);
  std::normal_distribution<float> distribution(mean);
  std::vector<float> values(count);
  for (float &value : values)
    value = distribution(generator);
  return values;
}

float sigmoid(float x) { return 1 / (1 + std::exp(-x)); }
float hardSwish(float x) { return x * std::clamp(x / 6 + 0.5F, 0.0F, 1.0F); }

/// Mean square error of 8 bits over `range`, by doing it.
double errorOf(const std::vector<float> &values, CalibratedRange range) {
  double scale = (std::max(range.max, 0.0F) - std::min(range.min, 0.0F)) / 255.0, sum = 0;
  for (float value : values) {
    double rounded = std::nearbyint(std::clamp<double>(value, range.min, range.max) / scale) * scale;
    sum += (rounded - value) * (rounded - value);
  }
  return sum / static_cast<double>(values.size());
}

TEST(RangeChoiceTest, MethodsByName) {
  EXPECT_EQ(RangeMethod::parse("min-max").kind, RangeMethod::MinMax);
  EXPECT_EQ(RangeMethod::parse("mse").kind, RangeMethod::MeanSquare);
  EXPECT_EQ(RangeMethod::parse("percentile:99.5").percentile, 99.5);
  for (const char *wrong :
       {"", "percentile", "percentile:", "percentile:50", "percentile:100.1", "mse ", "percentile:9x"})
    EXPECT_THROW(RangeMethod::parse(wrong), Error) << wrong;
}

TEST(RangeChoiceTest, MinMaxIsAllOfThem) {
  std::vector<float> values = normal(1000);
  auto [low, high] = std::minmax_element(values.begin(), values.end());
  EXPECT_EQ(choose(values, kMinMax).min, *low);
  EXPECT_EQ(choose(values, kMinMax).max, *high);
}

TEST(RangeChoiceTest, LeastErrorIsNotFarFromTheBestOfAll) {
  // No two ends on a fine grid do better than 2 %: of a bell, of one beside zero, of a bell cut off at zero.
  for (float mean : {0.0F, 3.0F})
    for (bool relu : {false, true}) {
      std::vector<float> values = normal(20000, mean);
      if (relu)
        for (float &value : values)
          value = std::max(value, 0.0F);
      CalibratedRange all = choose(values, kMinMax), chosen = choose(values, kLeastError);
      double best = INFINITY;
      for (double a = 0.4; a <= 1.001; a += 0.05)
        for (double b = 0.4; b <= 1.001; b += 0.05)
          best = std::min(best, errorOf(values, {static_cast<float>(all.min * a), static_cast<float>(all.max * b)}));
      EXPECT_LT(errorOf(values, chosen), best * 1.02) << mean << relu;
      EXPECT_LE(errorOf(values, chosen), errorOf(values, all) * 1.001) << mean << relu;
    }
}

TEST(RangeChoiceTest, SaturatingFunctionsCutBothEnds) {
  std::vector<float> values = normal(20000);
  for (float &value : values)
    value *= 10;
  // Half a quantum from 0 and 1 is reached at ±ln(510).
  for (RangeMethod method : {kMinMax, kLeastError}) {
    CalibratedRange range = choose(values, method, sigmoid);
    EXPECT_NEAR(range.min, -6.2, 0.4);
    EXPECT_NEAR(range.max, 6.2, 0.4);
  }
}

TEST(RangeChoiceTest, FlatPartsLeaveSomethingForPercentiles) {
  // Nearly everything lies where hard-swish is zero: a percentile of all values would leave the rest out.
  std::vector<float> values = normal(20000, -8);
  values[7] = 2;
  CalibratedRange range = choose(values, {RangeMethod::Percentile, 99}, hardSwish);
  EXPECT_LT(range.min, range.max);
  EXPECT_NEAR(range.max, 2, 0.02);
  EXPECT_GT(range.min, -4.5); // below it, and down to -3, there is none
  // Without a function it does.
  EXPECT_LT(choose(values, {RangeMethod::Percentile, 99}).max, -5);
}

TEST(RangeChoiceTest, DegenerateTensors) {
  for (RangeMethod method : {kMinMax, kLeastError, RangeMethod{RangeMethod::Percentile, 99}}) {
    EXPECT_EQ(choose({2, 2, 2}, method).max, 2);
    EXPECT_EQ(choose({0, 0}, method).min, 0);
    CalibratedRange two = choose({-1, 5}, method);
    EXPECT_LE(two.min, two.max);
    CalibratedRange far = choose({1000, 1001, 1002}, method);
    EXPECT_GE(far.max, 1001);
    CalibratedRange flat = choose({-9, -8, -7}, method, hardSwish);
    EXPECT_LE(flat.min, flat.max);
  }
}

} // namespace
