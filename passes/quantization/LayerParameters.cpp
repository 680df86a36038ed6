//===- LayerParameters.cpp - the parameters of whole networks -------------===//

#include "passes/quantization/LayerParameters.h"

#include "dialects/onnx/ConstantData.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace tilewright;

FailureOr<ParameterTable> tilewright::chooseParameters(ArrayRef<QuantizedLayer> layers,
                                                       const llvm::DenseMap<Value, std::string> &keys,
                                                       const RangeTable &table, bool isSigned) {
  llvm::EquivalenceClasses<Value> shared;
  llvm::DenseMap<Value, CalibratedRange> merged;
  SmallVector<Value> tensors;
  for (const QuantizedLayer &layer : layers) {
    SmallVector<Value> values = llvm::map_to_vector(layer.inputs, [](OpOperand *use) { return use->get(); });
    llvm::append_range(values, layer.outputs);
    for (Value value : values) {
      if (shared.findLeader(value) == shared.member_end())
        tensors.push_back(value);
      shared.insert(value);
      if (layer.kind == QuantizedLayer::SharedScale)
        shared.unionSets(values.front(), value);
    }
  }
  for (Value tensor : tensors) {
    auto found = table.find(keys.lookup(tensor));
    if (found == table.end())
      return emitError(tensor.getLoc()) << "no calibration range for tensor '" << keys.lookup(tensor)
                                        << "': calibrate at the sizes for which is compiled";
    auto [slot, isNew] = merged.try_emplace(shared.getLeaderValue(tensor), found->second);
    slot->second.include(found->second);
  }
  ParameterTable parameters;
  for (Value tensor : tensors)
    parameters[tensor] = activationParameters(merged.lookup(shared.getLeaderValue(tensor)), isSigned);
  return parameters;
}

static std::vector<float> floatsOf(Value constant) {
  onnx::ConstantBytes bytes(onnx::constantValue(constant));
  std::vector<float> values(bytes.bytes().size() / sizeof(float));
  std::memcpy(values.data(), bytes.bytes().data(), values.size() * sizeof(float));
  return values;
}

LayerConstants tilewright::quantizeConstants(const QuantizedLayer &layer, float inputScale) {
  Value weights = layer.weights->get();
  auto type = cast<RankedTensorType>(weights.getType());
  size_t channels = type.getDimSize(layer.channelAxis), inner = 1;
  for (int64_t size : type.getShape().drop_front(layer.channelAxis + 1))
    inner *= size;
  std::vector<float> bias;
  if (layer.bias)
    bias = floatsOf(layer.bias->get());
  if (bias.size() == 1) // ONNX broadcasts it; the quantized one always has one per channel
    bias.resize(channels, bias.front());
  LayerConstants constants;
  constants.weights = quantizeWeights(floatsOf(weights), channels, inner, bias, inputScale);
  if (bias.empty())
    return constants;
  for (float scale : constants.weights.scales)
    constants.biasScales.push_back(inputScale * scale);
  constants.bias = quantizeBiases(bias, inputScale, constants.weights.scales);
  return constants;
}
