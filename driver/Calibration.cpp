//===- Calibration.cpp - the ranges of activations ------------------------===//
//
// The network is compiled for the host with every tensor of interest kept, and run sample by sample. Percentiles take a
// second run: the first gives the ends of the histogram.
//
//===----------------------------------------------------------------------===//

#include "driver/Calibration.h"

#include "backends/cpu/HostRunner.h"
#include "common/Error.h"
#include "dialects/onnx/NodeBuilder.h"
#include "passes/quantization/Layers.h"

#include <charconv>
#include <cmath>

using namespace mlir;
using namespace tilewright;

RangeMethod RangeMethod::parse(const std::string &text) {
  static constexpr std::string_view kPercentile = "percentile:";
  if (text == "min-max")
    return {};
  RangeMethod method;
  const char *last = text.data() + text.size();
  if (text.starts_with(kPercentile)) {
    auto [end, error] = std::from_chars(text.data() + kPercentile.size(), last, method.percentile);
    if (error == std::errc() && end == last && method.percentile > 50 && method.percentile <= 100)
      return method;
  }
  throw Error("--calibration-range=" + text + ": expected min-max, or percentile:P with 50 < P <= 100");
}

namespace {

constexpr size_t kBins = 4096;

struct Statistics {
  float min = INFINITY, max = -INFINITY;
  std::vector<uint64_t> bins;

  void extend(ArrayRef<float> values) {
    for (float value : values) {
      min = std::min(min, value);
      max = std::max(max, value);
    }
  }

  void fill(ArrayRef<float> values) {
    bins.resize(kBins);
    double perUnit = max > min ? kBins / (static_cast<double>(max) - min) : 0;
    for (float value : values)
      ++bins[std::min<size_t>(kBins - 1, static_cast<size_t>((static_cast<double>(value) - min) * perUnit))];
  }

  /// The ends of the bins in which the percentiles lie.
  CalibratedRange cut(double percentile) const {
    uint64_t total = 0;
    for (uint64_t bin : bins)
      total += bin;
    double share = (100 - percentile) / 100 * static_cast<double>(total);
    size_t low = 0, high = kBins;
    for (double below = static_cast<double>(bins[low]); below <= share && low + 1 < kBins;)
      below += static_cast<double>(bins[++low]);
    for (double above = static_cast<double>(bins[high - 1]); above <= share && high > low + 1;)
      above += static_cast<double>(bins[--high - 1]);
    double width = (static_cast<double>(max) - min) / kBins;
    return {static_cast<float>(min + width * static_cast<double>(low)),
            static_cast<float>(min + width * static_cast<double>(high))};
  }
};

ArrayRef<float> floats(ArrayRef<char> bytes) {
  return {reinterpret_cast<const float *>(bytes.data()), bytes.size() / sizeof(float)};
}

/// Runs `main` on a sample; afterwards any kept value or argument can be read.
class SampleRunner {
public:
  SampleRunner(func::FuncOp main, const llvm::DenseSet<Value> &keep, const CalibrationData &data)
      : main(main), data(data), runner(main, keep) {}

  void run(size_t sample) {
    arguments = data.sample(main, sample);
    runner.run(llvm::map_to_vector(arguments, [](const std::vector<char> &bytes) { return ArrayRef<char>(bytes); }));
  }

  ArrayRef<float> values(Value value) const {
    if (auto argument = dyn_cast<BlockArgument>(value))
      return floats(arguments[argument.getArgNumber()]);
    return floats(runner.bytes(value));
  }

private:
  func::FuncOp main;
  const CalibrationData &data;
  cpu::HostRunner runner;
  std::vector<std::vector<char>> arguments;
};

void requireFinite(const Statistics &statistics, ArrayRef<float> values, const std::string &tensor, size_t sample) {
  bool finite = std::isfinite(statistics.min) && std::isfinite(statistics.max) &&
                llvm::none_of(values, [](float value) { return std::isnan(value); });
  if (!finite && !values.empty())
    throw Error("calibration: tensor '" + tensor + "' is not finite on sample " + std::to_string(sample) +
                ": no scale can be found for it");
}

} // namespace

RangeTable tilewright::calibrate(func::FuncOp main, const CalibrationData &data, const RangeMethod &method) {
  llvm::DenseMap<Value, std::string> keys = calibrationKeys(main);
  llvm::MapVector<Value, Statistics> tensors;
  llvm::DenseSet<Value> keep;
  for (const QuantizedLayer &layer : findLayers(main)) {
    for (OpOperand *use : layer.inputs)
      tensors[use->get()];
    for (Value output : layer.outputs)
      tensors[output];
  }
  for (auto &[value, statistics] : tensors)
    keep.insert(value);

  RangeTable table;
  if (tensors.empty())
    return table;
  SampleRunner runner(main, keep, data);
  const size_t samples = data.count(main);
  for (size_t sample = 0; sample < samples; ++sample) {
    runner.run(sample);
    for (auto &[value, statistics] : tensors) {
      statistics.extend(runner.values(value));
      requireFinite(statistics, runner.values(value), keys[value], sample);
    }
  }
  if (method.percentile < 100)
    for (size_t sample = 0; sample < samples; ++sample) {
      runner.run(sample);
      for (auto &[value, statistics] : tensors)
        statistics.fill(runner.values(value));
    }
  for (auto &[value, statistics] : tensors)
    table[keys[value]] =
        method.percentile < 100 ? statistics.cut(method.percentile) : CalibratedRange{statistics.min, statistics.max};
  return table;
}

std::vector<LayerAccuracy> tilewright::compareQuantized(func::FuncOp main, func::FuncOp quantized,
                                                        const CalibrationData &data, size_t samples) {
  // insert-qdq names the tensor behind each pair after the one before it.
  llvm::StringMap<Value> byName;
  for (auto &[value, key] : calibrationKeys(main))
    byName[key + "_dequantized"] = value;
  struct Pair {
    Value exact, rounded;
    double signal = 0, noise = 0;
  };
  std::vector<Pair> pairs;
  llvm::DenseSet<Value> keepExact, keepRounded;
  for (auto node : quantized.getBody().getOps<onnx::NodeOp>()) {
    if (!node.is("DequantizeLinear"))
      continue;
    Value exact = byName.lookup(onnx::tensorName(node.getOutputs()[0]));
    if (!exact)
      continue;
    pairs.push_back({exact, node.getOutputs()[0]});
    keepExact.insert(exact);
    keepRounded.insert(node.getOutputs()[0]);
  }
  if (pairs.empty())
    return {};
  SampleRunner exactRunner(main, keepExact, data), roundedRunner(quantized, keepRounded, data);
  for (size_t sample = 0, count = std::min(samples, data.count(main)); sample < count; ++sample) {
    exactRunner.run(sample);
    roundedRunner.run(sample);
    for (Pair &pair : pairs)
      for (auto [exact, rounded] :
           llvm::zip_equal(exactRunner.values(pair.exact), roundedRunner.values(pair.rounded))) {
        double difference = static_cast<double>(exact) - rounded;
        pair.signal += static_cast<double>(exact) * exact;
        pair.noise += difference * difference;
      }
  }
  llvm::DenseMap<Value, std::string> keys = calibrationKeys(main);
  std::vector<LayerAccuracy> result;
  for (const Pair &pair : pairs)
    result.push_back({keys.lookup(pair.exact), pair.noise > 0 ? 10 * std::log10(pair.signal / pair.noise) : INFINITY});
  return result;
}
