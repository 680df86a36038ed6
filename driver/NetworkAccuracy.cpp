//===- NetworkAccuracy.cpp - what 8 bits cost, tensor by tensor -----------===//
//
// Three networks run abreast on one set of kernels, kernel by kernel: the float one; one in which every tensor is
// rounded and the weights are; and each layer alone, reading the first one's tensors with the second one's weights.
//
//===----------------------------------------------------------------------===//

#include "driver/Calibration.h"

#include "backends/cpu/CpuBackend.h"
#include "dialects/onnx/ConstantData.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using cpu::AlignedBytes;
using cpu::HostRunner;

namespace {

struct Noise {
  double signal = 0, noise = 0;
  void add(ArrayRef<float> exact, ArrayRef<float> rounded) {
    for (auto [a, b] : llvm::zip_equal(exact, rounded)) {
      double difference = static_cast<double>(a) - b;
      signal += static_cast<double>(a) * a;
      noise += difference * difference;
    }
  }
  double decibels() const { return noise > 0 ? 10 * std::log10(signal / noise) : INFINITY; }
};

MutableArrayRef<float> floats(const AlignedBytes &bytes) {
  return {reinterpret_cast<float *>(bytes.data.get()), bytes.size / sizeof(float)};
}

AlignedBytes copyOf(ArrayRef<float> values) {
  AlignedBytes bytes = AlignedBytes::allocate(values.size() * sizeof(float));
  llvm::copy(values, floats(bytes).begin());
  return bytes;
}

/// To 8 bits and back.
void roundTo(const ActivationParameters &parameters, bool isSigned, MutableArrayRef<float> values) {
  const float zero = static_cast<float>(parameters.zeroPoint), lowest = isSigned ? -128 : 0;
  const float low = lowest - zero, high = lowest + 255 - zero;
  for (float &value : values) {
    float scaled = std::min(std::max(value / parameters.scale, low), high);
    // Rounds to an integer, ties to even: a loop of additions, not of calls.
    value = ((scaled + 0x1.8p23F) - 0x1.8p23F) * parameters.scale;
  }
}

/// The layers' weights and biases after rounding, as floats in the shapes in which kernels read them.
HostRunner::Overlay roundedConstants(ArrayRef<QuantizedLayer> layers, const ParameterTable &parameters) {
  HostRunner::Overlay overlay;
  for (const QuantizedLayer &layer : layers) {
    if (layer.kind != QuantizedLayer::Contraction)
      continue;
    LayerConstants constants = quantizeConstants(layer, parameters.lookup(layer.inputs.front()->get()).scale);
    auto type = cast<RankedTensorType>(layer.weights->get().getType());
    size_t channels = constants.weights.scales.size(), inner = 1;
    for (int64_t size : type.getShape().drop_front(layer.channelAxis + 1))
      inner *= size;
    std::vector<float> weights;
    for (auto [i, value] : llvm::enumerate(constants.weights.values))
      weights.push_back(static_cast<float>(value) * constants.weights.scales[(i / inner) % channels]);
    overlay[layer.weights->get()] = copyOf(weights);
    // One number for all channels has no place for the roundings, which are small in a bias.
    if (!layer.bias || cast<RankedTensorType>(layer.bias->get().getType()).getNumElements() != int64_t(channels))
      continue;
    std::vector<float> bias;
    for (auto [value, scale] : llvm::zip_equal(constants.bias, constants.biasScales))
      bias.push_back(static_cast<float>(value) * scale);
    overlay[layer.bias->get()] = copyOf(bias);
  }
  return overlay;
}

} // namespace

NetworkAccuracy Calibration::accuracy(const RangeTable &table, bool isSigned, size_t samples) {
  NetworkAccuracy result;
  FailureOr<ParameterTable> parameters = chooseParameters(layers, keys, table, isSigned);
  if (!runner || failed(parameters))
    return result;
  llvm::DenseSet<Value> passedOn;
  llvm::DenseMap<Value, std::string> makers;
  for (const QuantizedLayer &layer : layers)
    for (Value output : layer.outputs) {
      onnx::NodeOp root = layer.root;
      makers[output] = (root.nodeName() + ": " + root.getQualifiedName()).str();
      if (layer.kind == QuantizedLayer::SharedScale)
        passedOn.insert(output);
    }
  llvm::DenseMap<Value, SmallVector<Value>> beforeTables = readOnlyByTables();
  HostRunner::Overlay alone = roundedConstants(layers, *parameters), rounded = alone;
  llvm::MapVector<Value, std::pair<Noise, Noise>> noise; // as the network runs; alone
  for (auto &[value, chosen] : *parameters)
    noise[value];
  auto operands = llvm::to_vector(main.getBody().front().getTerminator()->getOperands());
  std::vector<Noise> outputs(operands.size());

  // Rounds both in place, and compares.
  auto measure = [&](Value value, const AlignedBytes &inNetwork, const AlignedBytes &byItself) {
    roundTo(parameters->lookup(value), isSigned, floats(inNetwork));
    roundTo(parameters->lookup(value), isSigned, floats(byItself));
    noise[value].first.add(values(value), floats(inNetwork));
    noise[value].second.add(values(value), floats(byItself));
  };
  const auto &kernels = runner->code().kernels;
  for (size_t sample = 0, count = std::min(samples, data.count(main)); sample < count; ++sample) {
    std::vector<std::vector<char>> arguments = data.sample(main, sample);
    runner->setArguments(
        llvm::map_to_vector(arguments, [](const std::vector<char> &bytes) { return ArrayRef<char>(bytes); }));
    for (Value argument : main.getArguments())
      if (parameters->contains(argument)) {
        rounded[argument] = copyOf(values(argument));
        measure(argument, rounded[argument], copyOf(values(argument)));
      }
    for (size_t index = 0; index < kernels.size(); ++index) {
      for (Value output : kernels[index].outputs)
        for (auto *overlay : {&alone, &rounded})
          if (AlignedBytes &bytes = (*overlay)[output]; !bytes.data)
            bytes = AlignedBytes::allocate(cpu::bytesOf(output));
      runner->runKernel(index);
      runner->runKernel(index, alone);
      runner->runKernel(index, rounded);
      for (Value output : kernels[index].outputs)
        if (parameters->contains(output)) {
          measure(output, rounded[output], alone[output]);
          // The next layer reads the exact one. A table has its operand's error too.
          if (!beforeTables.contains(output))
            alone.erase(output);
        }
    }
    for (auto [value, output] : llvm::zip_equal(operands, outputs))
      if (auto found = rounded.find(value);
          found != rounded.end() && isa<FloatType>(getElementTypeOrSelf(value)) && getElementTypeOrSelf(value).isF32())
        output.add(values(value), floats(found->second));
  }
  auto report = [&](Value value) {
    auto *found = noise.find(value);
    if (found == noise.end())
      return;
    TensorAccuracy &tensor = result.tensors.emplace_back();
    tensor.tensor = keys.lookup(value);
    tensor.layer = makers.lookup(value);
    tensor.signalToNoiseDb = found->second.first.decibels();
    if (!passedOn.contains(value) && !beforeTables.contains(value))
      tensor.aloneDb = found->second.second.decibels();
  };
  llvm::for_each(main.getArguments(), report);
  main.walk([&](onnx::NodeOp node) { llvm::for_each(node.getOutputs(), report); });
  for (const Noise &output : outputs)
    result.outputsDb.push_back(output.signal > 0 ? std::optional(output.decibels()) : std::nullopt);
  return result;
}
