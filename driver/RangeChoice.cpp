//===- RangeChoice.cpp - which range of values gets 8 bits ----------------===//

#include "driver/RangeChoice.h"

#include "common/Error.h"

#include <algorithm>
#include <charconv>

using namespace tilewright;
using llvm::ArrayRef;

RangeMethod RangeMethod::parse(const std::string &text) {
  static constexpr std::string_view kPercentile = "percentile:";
  if (text == "min-max")
    return {MinMax, 100};
  if (text == "mse")
    return {MeanSquare, 100};
  RangeMethod method{Percentile, 0};
  const char *last = text.data() + text.size();
  if (text.starts_with(kPercentile)) {
    auto [end, error] = std::from_chars(text.data() + kPercentile.size(), last, method.percentile);
    if (error == std::errc() && end == last && method.percentile > 50 && method.percentile <= 100)
      return method;
  }
  throw Error("--calibration-range=" + text + ": expected mse, min-max, or percentile:P with 50 < P <= 100");
}

void ValueStatistics::extend(ArrayRef<float> values) {
  for (float value : values) {
    min = std::min(min, value);
    max = std::max(max, value);
  }
}

size_t ValueStatistics::binOf(float value) const {
  double perUnit = max > min ? kBins / (static_cast<double>(max) - min) : 0;
  return std::min<size_t>(kBins - 1, static_cast<size_t>((static_cast<double>(value) - min) * perUnit));
}

double ValueStatistics::centre(size_t bin) const {
  return min + (static_cast<double>(max) - min) * (static_cast<double>(bin) + 0.5) / kBins;
}

/// From the lower edge of bin `low` to the lower edge of bin `high`.
CalibratedRange ValueStatistics::rangeOf(size_t low, size_t high) const {
  double width = (static_cast<double>(max) - min) / kBins;
  return {low == 0 ? min : static_cast<float>(min + width * static_cast<double>(low)),
          high == kBins ? max : static_cast<float>(min + width * static_cast<double>(high))};
}

void ValueStatistics::fill(ArrayRef<float> values, ArrayRef<ArrayRef<float>> results) {
  counts.resize(kBins);
  readers.resize(results.size());
  for (Reader &reader : readers)
    reader.sums.resize(kBins);
  for (size_t i = 0; i < values.size(); ++i) {
    size_t bin = binOf(values[i]);
    ++counts[bin];
    zeros += values[i] == 0;
    for (size_t r = 0; r < readers.size(); ++r) {
      readers[r].sums[bin] += results[r][i];
      readers[r].min = std::min(readers[r].min, results[r][i]);
      readers[r].max = std::max(readers[r].max, results[r][i]);
    }
  }
}

void ValueStatistics::cutPercentile(double percentile, size_t &low, size_t &high) const {
  uint64_t total = 0;
  for (uint64_t count : counts)
    total += count;
  double share = (100 - percentile) / 100 * static_cast<double>(total);
  for (auto below = static_cast<double>(counts[low]); below <= share && low + 1 < kBins;)
    below += static_cast<double>(counts[++low]);
  for (auto above = static_cast<double>(counts[high - 1]); above <= share && high > low + 1;)
    above += static_cast<double>(counts[--high - 1]);
}

/// Cuts both ends as long as no result changes by more than half a quantum when its value is clipped.
void ValueStatistics::cutFlat(const std::vector<std::vector<double>> &results, size_t &low, size_t &high) const {
  if (results.empty())
    return;
  // The ends of the results beyond the edge; clipped, they all become the edge's.
  struct Ends {
    double low = INFINITY, high = -INFINITY;
  };
  auto isFlat = [&](std::vector<Ends> &seen, size_t beyond, size_t edge) {
    for (size_t r = 0; r < results.size(); ++r) {
      double half = (std::max(0.0F, readers[r].max) - std::min(0.0F, readers[r].min)) / 255.0 / 2;
      if (counts[beyond]) {
        seen[r].low = std::min(seen[r].low, results[r][beyond]);
        seen[r].high = std::max(seen[r].high, results[r][beyond]);
      }
      if (seen[r].high - results[r][edge] > half || results[r][edge] - seen[r].low > half)
        return false;
    }
    return true;
  };
  std::vector<Ends> seen(results.size());
  size_t bottom = low, top = high;
  while (bottom + 1 < top && isFlat(seen, bottom, bottom + 1))
    ++bottom;
  seen.assign(results.size(), {});
  while (top - 1 > bottom && isFlat(seen, top - 1, top - 2))
    --top;
  low = bottom;
  high = top;
}

/// Tries all pairs of edges on a coarser grid. Inside, rounding adds quantum²/12, times the square of the function's
/// slope; outside, a value becomes the edge's. Sums over bins make each pair cost a few operations.
void ValueStatistics::cutLeastSquares(const std::vector<std::vector<double>> &results, size_t &low,
                                      size_t &high) const {
  constexpr size_t kStep = 16;
  struct Sums {
    std::vector<double> count, value, square, slope;
  };
  std::vector<Sums> sums;
  size_t zeroBin = min <= 0 && max >= 0 ? binOf(0) : kBins;
  for (const std::vector<double> &result : results) {
    Sums &sum = sums.emplace_back();
    for (auto *list : {&sum.count, &sum.value, &sum.square, &sum.slope})
      list->assign(kBins + 1, 0);
    for (size_t bin = 0; bin < kBins; ++bin) {
      auto count = static_cast<double>(counts[bin]);
      size_t before = bin == 0 ? 0 : bin - 1, after = std::min(bin + 1, kBins - 1);
      double slope = (result[after] - result[before]) / (centre(after) - centre(before));
      double rounded = bin == zeroBin ? count - static_cast<double>(zeros) : count;
      sum.count[bin + 1] = sum.count[bin] + count;
      sum.value[bin + 1] = sum.value[bin] + count * result[bin];
      sum.square[bin + 1] = sum.square[bin] + count * result[bin] * result[bin];
      sum.slope[bin + 1] = sum.slope[bin] + rounded * slope * slope;
    }
  }
  auto clipped = [](const Sums &sum, size_t from, size_t to, double edge) {
    double count = sum.count[to] - sum.count[from];
    return sum.square[to] - sum.square[from] - 2 * edge * (sum.value[to] - sum.value[from]) + edge * edge * count;
  };
  double least = INFINITY;
  size_t bestLow = low, bestHigh = high;
  for (size_t from = low; from < high; from += kStep)
    for (size_t to = high; to > from; to = to > from + kStep ? to - kStep : from) {
      CalibratedRange range = rangeOf(from, to);
      if ((range.min > 0 && from != low) || (range.max < 0 && to != high))
        continue; // zero is always in the range: nothing is gained
      double quantum = (std::max(0.0F, range.max) - std::min(0.0F, range.min)) / 255.0, error = 0;
      for (size_t r = 0; r < results.size(); ++r)
        error += (sums[r].slope[to] - sums[r].slope[from]) * quantum * quantum / 12 +
                 clipped(sums[r], 0, from, results[r][from]) + clipped(sums[r], to, kBins, results[r][to - 1]);
      if (error < least) {
        least = error;
        bestLow = from;
        bestHigh = to;
      }
    }
  low = bestLow;
  high = bestHigh;
}

CalibratedRange ValueStatistics::choose(const RangeMethod &method) const {
  if (counts.empty() || max <= min)
    return {min, max};
  // The readers' results by bin; where no value was, a line between the neighbours.
  std::vector<std::vector<double>> results;
  for (const Reader &reader : readers) {
    std::vector<double> &result = results.emplace_back(kBins);
    size_t last = kBins;
    for (size_t bin = 0; bin < kBins; ++bin) {
      if (!counts[bin])
        continue;
      result[bin] = reader.sums[bin] / static_cast<double>(counts[bin]);
      size_t gap = last == kBins ? 0 : bin - last;
      for (size_t i = 1; i < gap; ++i)
        result[last + i] =
            result[last] + (result[bin] - result[last]) * static_cast<double>(i) / static_cast<double>(gap);
      last = bin;
    }
  }
  size_t low = 0, high = kBins;
  cutFlat(results, low, high);
  if (method.kind == RangeMethod::Percentile) {
    size_t lowest = 0, highest = kBins;
    cutPercentile(method.percentile, lowest, highest);
    // Not when so many values lie in a flat part that nothing else would be left.
    if (std::max(low, lowest) < std::min(high, highest)) {
      low = std::max(low, lowest);
      high = std::min(high, highest);
    }
  }
  if (method.kind == RangeMethod::MeanSquare) {
    if (results.empty()) {
      results.emplace_back(kBins);
      for (size_t bin = 0; bin < kBins; ++bin)
        results.back()[bin] = centre(bin);
    }
    cutLeastSquares(results, low, high);
  }
  return rangeOf(low, high);
}
