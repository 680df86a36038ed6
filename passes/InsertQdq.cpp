//===- InsertQdq.cpp - post-training quantization to 8 bits ---------------===//
//
// Puts QuantizeLinear and DequantizeLinear around every layer that findLayers gives, with parameters from the ranges of
// a calibration run. Nothing is computed in integers here: whoever lowers the network matches DequantizeLinear → nodes
// → QuantizeLinear, exactly as for models that come quantized.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "common/Error.h"
#include "dialects/onnx/ConstantData.h"
#include "dialects/onnx/NodeBuilder.h"
#include "passes/quantization/Layers.h"
#include "passes/quantization/Operators.h"
#include "passes/quantization/Parameters.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright {
#define GEN_PASS_DEF_INSERTQDQPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {

struct InsertQdqPass final : tilewright::impl::InsertQdqPassBase<InsertQdqPass> {
  using InsertQdqPassBase::InsertQdqPassBase;
  InsertQdqPass(std::shared_ptr<const RangeTable> given, bool isUnsigned) : table(std::move(given)) {
    this->isUnsigned = isUnsigned;
  }

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    bool isQuantized = false;
    function.walk([&](onnx::NodeOp node) { isQuantized |= node.is("QuantizeLinear") || node.is("DequantizeLinear"); });
    if (isQuantized)
      return; // taken as it is
    try {
      if (!table)
        table = std::make_shared<RangeTable>(readRangeTable(ranges));
    } catch (const Error &error) {
      emitError(function.getLoc()) << error.what();
      return signalPassFailure();
    }
    keys = calibrationKeys(function);
    std::vector<QuantizedLayer> layers = findLayers(function);
    if (failed(chooseParameters(layers)))
      return signalPassFailure();
    for (QuantizedLayer &layer : layers)
      if (layer.kind == QuantizedLayer::Contraction)
        quantizeConstants(layer);
    insertPairs(layers);
  }

private:
  /// One range for all tensors that must share their scale, then one set of parameters per tensor.
  LogicalResult chooseParameters(ArrayRef<QuantizedLayer> layers) {
    llvm::EquivalenceClasses<Value> shared;
    llvm::MapVector<Value, CalibratedRange> merged;
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
      auto found = table->find(keys.lookup(tensor));
      if (found == table->end())
        return emitError(tensor.getLoc()) << "no calibration range for tensor '" << keys.lookup(tensor) << "'";
      auto [slot, isNew] = merged.try_emplace(shared.getLeaderValue(tensor), found->second);
      slot->second.include(found->second);
    }
    for (Value tensor : tensors)
      parameters[tensor] = activationParameters(merged.lookup(shared.getLeaderValue(tensor)), !isUnsigned);
    return success();
  }

  void quantizeConstants(QuantizedLayer &layer) {
    OpBuilder builder(layer.root);
    onnx::ConstantBytes weights(onnx::constantValue(layer.weights->get()));
    auto type = cast<RankedTensorType>(layer.weights->get().getType());
    size_t channels = type.getDimSize(layer.channelAxis), inner = 1;
    for (int64_t size : type.getShape().drop_front(layer.channelAxis + 1))
      inner *= size;
    std::vector<float> bias = floatsOf(layer.bias, channels);
    float inputScale = parameters.lookup(layer.inputs.front()->get()).scale;
    QuantizedWeights quantized = quantizeWeights(floats(weights), channels, inner, bias, inputScale);

    Location loc = NameLoc::get(builder.getStringAttr(layer.root.nodeName() + "/weights"));
    auto byteType = RankedTensorType::get(type.getShape(), builder.getI8Type());
    auto byte = onnx::createConstant<int8_t>(builder, loc, byteType, quantized.values);
    layer.weights->set(dequantize<int8_t>(builder, loc, byte, quantized.scales, layer.channelAxis));
    if (bias.empty())
      return;
    loc = NameLoc::get(builder.getStringAttr(layer.root.nodeName() + "/bias"));
    std::vector<float> scales;
    for (float scale : quantized.scales)
      scales.push_back(inputScale * scale);
    auto wordType = RankedTensorType::get({static_cast<int64_t>(channels)}, builder.getI32Type());
    auto word =
        onnx::createConstant<int32_t>(builder, loc, wordType, quantizeBiases(bias, inputScale, quantized.scales));
    OpBuilder atBias(layer.bias->getOwner());
    layer.bias->set(dequantize<int32_t>(atBias, loc, word, scales, 0));
  }

  /// Without a zero point operand: the type's zero.
  template <typename T>
  Value dequantize(OpBuilder &builder, Location loc, Value value, ArrayRef<float> scales, int64_t axis) {
    auto type = cast<RankedTensorType>(value.getType());
    int64_t channels = scales.size();
    auto scaleType = RankedTensorType::get({channels}, builder.getF32Type());
    auto zeroType = RankedTensorType::get({channels}, type.getElementType());
    std::vector<T> zeros(channels, 0);
    Value scale = onnx::createConstant<float>(builder, loc, scaleType, scales);
    Value zero = onnx::createConstant<T>(builder, loc, zeroType, zeros);
    auto node = onnx::createNode(builder, loc, "DequantizeLinear", newestVersion("DequantizeLinear"),
                                 {value, scale, zero}, type.clone(builder.getF32Type()),
                                 builder.getNamedAttr("axis", builder.getI64IntegerAttr(axis)));
    return node.getOutputs()[0];
  }

  /// ONNX broadcasts a bias of one element; the quantized one always has one per channel.
  static std::vector<float> floatsOf(OpOperand *use, size_t channels) {
    if (!use)
      return {};
    onnx::ConstantBytes bytes(onnx::constantValue(use->get()));
    std::vector<float> values = floats(bytes);
    if (values.size() == 1)
      values.resize(channels, values.front());
    return values;
  }

  static std::vector<float> floats(const onnx::ConstantBytes &bytes) {
    std::vector<float> values(bytes.bytes().size() / sizeof(float));
    std::memcpy(values.data(), bytes.bytes().data(), values.size() * sizeof(float));
    return values;
  }

  /// A tensor that a layer makes exists in 8 bits only; one that float nodes make is rounded for the layers alone.
  void insertPairs(ArrayRef<QuantizedLayer> layers) {
    llvm::MapVector<Value, SmallVector<OpOperand *>> uses;
    llvm::DenseSet<Value> made;
    for (const QuantizedLayer &layer : layers) {
      for (OpOperand *use : layer.inputs)
        uses[use->get()].push_back(use);
      for (Value output : layer.outputs) {
        uses[output];
        made.insert(output);
      }
    }
    for (auto &[tensor, operands] : uses) {
      auto [quantized, dequantized] = insertPair(tensor);
      if (made.contains(tensor))
        tensor.replaceAllUsesExcept(dequantized, quantized.getDefiningOp());
      else
        for (OpOperand *operand : operands)
          operand->set(dequantized);
    }
  }

  std::pair<Value, Value> insertPair(Value tensor) {
    OpBuilder builder(tensor.getContext());
    builder.setInsertionPointAfterValue(tensor);
    const ActivationParameters chosen = parameters.lookup(tensor);
    auto type = cast<RankedTensorType>(tensor.getType());
    Type element = isUnsigned ? builder.getIntegerType(8, /*isSigned=*/false) : builder.getI8Type();
    std::string name = keys.lookup(tensor), quantizedName = name + "_quantized", realName = name + "_dequantized";
    auto locate = [&](StringRef what) { return NameLoc::get(builder.getStringAttr(name + "/" + what.str())); };

    Location loc = locate("QuantizeLinear");
    Value scale = onnx::createConstant<float>(builder, loc, RankedTensorType::get({}, builder.getF32Type()),
                                              ArrayRef<float>(chosen.scale));
    char byte = static_cast<char>(chosen.zeroPoint);
    Value zero = onnx::createConstant<char>(builder, loc, RankedTensorType::get({}, element), ArrayRef<char>(byte));
    auto quantize = onnx::createNode(builder, loc, "QuantizeLinear", newestVersion("QuantizeLinear"),
                                     {tensor, scale, zero}, type.clone(element), {}, StringRef(quantizedName));
    quantize->setAttr(onnx::kRoundsWithZeroPointAttr, builder.getUnitAttr());
    auto dequantize =
        onnx::createNode(builder, locate("DequantizeLinear"), "DequantizeLinear", newestVersion("DequantizeLinear"),
                         {quantize.getOutputs()[0], scale, zero}, type, {}, StringRef(realName));
    return {quantize.getOutputs()[0], dequantize.getOutputs()[0]};
  }

  std::shared_ptr<const RangeTable> table;
  llvm::DenseMap<Value, std::string> keys;
  llvm::DenseMap<Value, ActivationParameters> parameters;
};

} // namespace

std::unique_ptr<Pass> tilewright::createInsertQdqPass(std::shared_ptr<const RangeTable> table, bool isUnsigned) {
  return std::make_unique<InsertQdqPass>(std::move(table), isUnsigned);
}
