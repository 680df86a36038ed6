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
#include "passes/quantization/LayerParameters.h"
#include "passes/quantization/Operators.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
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
    if (!table && ranges.empty()) {
      emitError(function.getLoc())
          << "insert-qdq needs its option ranges=FILE.json, a file of {\"tensor\": [min, max], ...}";
      return signalPassFailure();
    }
    try {
      if (!table)
        table = std::make_shared<RangeTable>(readRangeTable(ranges));
    } catch (const Error &error) {
      emitError(function.getLoc()) << error.what();
      return signalPassFailure();
    }
    keys = calibrationKeys(function);
    std::vector<QuantizedLayer> layers = findLayers(function);
    FailureOr<ParameterTable> chosen = chooseParameters(layers, keys, *table, !isUnsigned);
    if (failed(chosen))
      return signalPassFailure();
    parameters = std::move(*chosen);
    for (QuantizedLayer &layer : layers)
      if (layer.kind == QuantizedLayer::Contraction)
        quantizeConstants(layer);
    insertPairs(layers);
  }

private:
  void quantizeConstants(QuantizedLayer &layer) {
    OpBuilder builder(layer.root);
    auto type = cast<RankedTensorType>(layer.weights->get().getType());
    float inputScale = parameters.lookup(layer.inputs.front()->get()).scale;
    LayerConstants constants = tilewright::quantizeConstants(layer, inputScale);

    Location loc = NameLoc::get(builder.getStringAttr(layer.root.nodeName() + "/weights"));
    auto byteType = RankedTensorType::get(type.getShape(), builder.getI8Type());
    auto byte = onnx::createConstant<int8_t>(builder, loc, byteType, constants.weights.values);
    layer.weights->set(dequantize<int8_t>(builder, loc, byte, constants.weights.scales, layer.channelAxis));
    if (constants.bias.empty())
      return;
    loc = NameLoc::get(builder.getStringAttr(layer.root.nodeName() + "/bias"));
    auto wordType = RankedTensorType::get({static_cast<int64_t>(constants.bias.size())}, builder.getI32Type());
    auto word = onnx::createConstant<int32_t>(builder, loc, wordType, constants.bias);
    OpBuilder atBias(layer.bias->getOwner());
    layer.bias->set(dequantize<int32_t>(atBias, loc, word, constants.biasScales, 0));
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

  /// A tensor that a layer makes exists in 8 bits only; one that float nodes make is rounded for the layers alone.
  void insertPairs(ArrayRef<QuantizedLayer> layers) {
    llvm::MapVector<Value, SmallVector<OpOperand *>> uses;
    llvm::DenseSet<Value> made, sums;
    for (const QuantizedLayer &layer : layers) {
      for (OpOperand *use : layer.inputs)
        uses[use->get()].push_back(use);
      for (Value output : layer.outputs) {
        uses[output];
        made.insert(output);
        if (layer.kind == QuantizedLayer::Addition)
          sums.insert(output);
      }
    }
    for (auto &[tensor, operands] : uses) {
      auto [quantized, dequantized] = insertPair(tensor, sums.contains(tensor));
      if (made.contains(tensor))
        tensor.replaceAllUsesExcept(dequantized, quantized.getDefiningOp());
      else
        for (OpOperand *operand : operands)
          operand->set(dequantized);
    }
  }

  /// `isSum`: of an addition, which is computed as QLinearAdd is.
  std::pair<Value, Value> insertPair(Value tensor, bool isSum) {
    OpBuilder builder(tensor.getContext());
    builder.setInsertionPointAfterValue(tensor);
    const ActivationParameters chosen = parameters.lookup(tensor);
    auto type = cast<RankedTensorType>(tensor.getType());
    Type element = isUnsigned ? builder.getIntegerType(8, /*isSigned=*/false) : builder.getI8Type();
    std::string name = keys.lookup(tensor);
    if (unsigned before = named[name]++) // tensors without names of their own may share a key
      name += "_" + std::to_string(before + 1);
    std::string quantizedName = name + "_quantized", realName = name + "_dequantized";
    auto locate = [&](StringRef what) { return NameLoc::get(builder.getStringAttr(name + "/" + what.str())); };

    Location loc = locate("QuantizeLinear");
    Value scale = onnx::createConstant<float>(builder, loc, RankedTensorType::get({}, builder.getF32Type()),
                                              ArrayRef<float>(chosen.scale));
    char byte = static_cast<char>(chosen.zeroPoint);
    Value zero = onnx::createConstant<char>(builder, loc, RankedTensorType::get({}, element), ArrayRef<char>(byte));
    auto quantize = onnx::createNode(builder, loc, "QuantizeLinear", newestVersion("QuantizeLinear"),
                                     {tensor, scale, zero}, type.clone(element), {}, StringRef(quantizedName));
    if (isSum)
      quantize->setAttr(onnx::kRoundsWithZeroPointAttr, builder.getUnitAttr());
    auto dequantize =
        onnx::createNode(builder, locate("DequantizeLinear"), "DequantizeLinear", newestVersion("DequantizeLinear"),
                         {quantize.getOutputs()[0], scale, zero}, type, {}, StringRef(realName));
    return {quantize.getOutputs()[0], dequantize.getOutputs()[0]};
  }

  std::shared_ptr<const RangeTable> table;
  llvm::DenseMap<Value, std::string> keys;
  llvm::StringMap<unsigned> named;
  ParameterTable parameters;
};

} // namespace

std::unique_ptr<Pass> tilewright::createInsertQdqPass(std::shared_ptr<const RangeTable> table, bool isUnsigned) {
  return std::make_unique<InsertQdqPass>(std::move(table), isUnsigned);
}
