//===- LayerRoots.cpp - convolutions, pools and moves in ONNX operators ---===//
//
// A convolution whose epilogue is what QLinearConv does is one; any other is ConvInteger and the steps in float32.
// Weights have the signedness of the activations: runtimes that multiply unsigned by signed bytes saturate. Those
// beyond int8 have zero points: one per channel in QLinearConv; ConvInteger, which takes only one for all, is written
// twice where one is not enough.
//
//===----------------------------------------------------------------------===//

#include "backends/onnx/LayerWriter.h"

#include "backends/onnx/ByteWeights.h"
#include "common/Error.h"
#include "dialects/onnx/ConstantData.h"

using namespace mlir;
using namespace tilewright;
using onnxfile::DataType;
using Attributes = GraphWriter::Attributes;

template <typename T> static std::vector<T> values(ElementsAttr attribute) {
  onnx::ConstantBytes data(attribute);
  std::vector<T> result(data.bytes().size() / sizeof(T));
  std::memcpy(result.data(), data.bytes().data(), data.bytes().size());
  return result;
}

/// One value per channel from an attribute that may have a single one.
template <typename T> static std::vector<T> perChannel(ElementsAttr attribute, size_t channels) {
  std::vector<T> result = values<T>(attribute);
  if (result.size() == 1)
    result.resize(channels, result.front());
  return result;
}

/// Weights with their zero points taken off: int8, or int16 where that widens them.
static std::vector<int16_t> weightIntegers(ElementsAttr attribute) {
  if (attribute.getElementType().isInteger(16))
    return values<int16_t>(attribute);
  std::vector<int8_t> narrow = values<int8_t>(attribute);
  return {narrow.begin(), narrow.end()};
}

template <typename OpTy> static Attributes windowAttributes(OpTy op) {
  return {{"strides", std::vector<int64_t>(op.getStrides())},
          {"dilations", std::vector<int64_t>(op.getDilations())},
          {"pads", std::vector<int64_t>(op.getPads())}};
}

static tile::RequantizeOp firstRequantize(tile::TileRootInterface layer) {
  Block &block = layer.getEpilogueBlock();
  return block.empty() ? tile::RequantizeOp() : dyn_cast<tile::RequantizeOp>(block.front());
}

LayerWriter::State LayerWriter::contraction(Operation *op, int64_t group) {
  auto layer = cast<Layer>(op);
  Value input = op->getOperand(0);
  ElementsAttr weightData = onnx::constantValue(op->getOperand(*layer.getWeightsOperand()));
  tile::RequantizeOp requantize = firstRequantize(layer);
  auto quants = op->getAttrOfType<ArrayAttr>("input_quants");
  auto weightScales = op->getAttrOfType<ElementsAttr>("weight_scales");
  if (!weightData || !requantize || !quants || !requantize.getQuant())
    throw Error("layer '" + layerName + "': only int8 layers with constant weights have an exact spelling in ONNX");
  auto weightType = cast<RankedTensorType>(weightData.getType());
  auto inputQuant = cast<tile::QuantAttr>(quants[0]);
  Type element = layer.getOperandType(0).getElementType(), resultElement = requantize.getResult().getType();
  const int64_t zero = tile::toDevice(element, inputQuant.getZeroPoint());
  const size_t channels = weightType.getDimSize(0);

  Attributes window = isa<tile::ContractionOp>(op) ? windowAttributes(cast<tile::ContractionOp>(op))
                                                   : windowAttributes(cast<tile::DepthwiseOp>(op));
  window.emplace_back("group", group);
  window.emplace_back("kernel_shape", weightType.getShape().take_back(2).vec());

  // The layer's bias has -zero · Σ weights in it; ONNX's operators take the zero point off themselves.
  std::vector<int16_t> weights = weightIntegers(weightData);
  std::vector<int32_t> bias = perChannel<int32_t>(requantize.getBias(), channels);
  size_t each = weights.size() / channels;
  for (size_t channel = 0; channel < channels; ++channel) {
    int64_t sum = 0;
    for (size_t i = 0; i < each; ++i)
      sum += weights[channel * each + i];
    bias[channel] = static_cast<int32_t>(bias[channel] + zero * sum);
  }
  std::vector<float> scale = perChannel<float>(requantize.getScale(), channels);
  std::string inputName = graph.name(input), inputZero = zeroPoint(element, zero);
  std::vector<int64_t> shape = weightType.getShape().vec();

  bool isQLinear = weightScales && !requantize.getNegativeScale() && element == resultElement;
  std::vector<float> weightScale;
  if (isQLinear) {
    weightScale = perChannel<float>(weightScales, channels);
    for (size_t channel = 0; channel < channels; ++channel)
      isQLinear &=
          (inputQuant.scaleValue() * weightScale[channel]) / requantize.getQuant()->scaleValue() == scale[channel];
  }
  if (!isQLinear) {
    std::string sums;
    for (const ByteWeights &term : weightTerms(weights)) {
      std::string part = emit("ConvInteger",
                              {inputName, bytes(element, shape, term.values, "weights"), inputZero,
                               zeroPoint(element, term.zeroPoints.front())},
                              window);
      sums = sums.empty() ? part : emit("Add", {sums, part});
    }
    return requantizeSums(sums, requantize, bias, channelFloats(scale, "scale"));
  }
  ByteWeights spelled = weightsWithZeroPoints(weights, channels);
  int64_t count = static_cast<int64_t>(channels);
  std::string result =
      emit("QLinearConv",
           {inputName, scalar(inputQuant.scaleValue()), inputZero, bytes(element, shape, spelled.values, "weights"),
            graph.constant<float>(DataType::Float, {count}, weightScale, layerName + "/weight_scale"),
            bytes(element, {count}, spelled.zeroPoints, "weight_zero_point"),
            scalar(requantize.getQuant()->scaleValue()), zeroPoint(element, requantize.getZeroPoint()),
            graph.constant<int32_t>(DataType::Int32, {count}, bias, layerName + "/bias")},
           window);
  return clamp({result, element, *requantize.getQuant()}, requantize.getClampMin(), requantize.getClampMax());
}

static tile::QuantAttr inputQuantOf(tile::TileRootInterface layer) {
  auto quants = layer->getAttrOfType<ArrayAttr>("input_quants");
  return quants && !quants.empty() ? cast<tile::QuantAttr>(quants[0]) : tile::QuantAttr();
}

LayerWriter::State LayerWriter::maxWindow(Layer layer, ArrayRef<int64_t> kernel, const Attributes &window) {
  Attributes attributes = window;
  attributes.emplace_back("kernel_shape", kernel.vec());
  return {emit("MaxPool", {graph.name(layer->getOperand(0))}, attributes), layer.getOperandType(0).getElementType(),
          inputQuantOf(layer)};
}

/// The sum of a window is a depthwise convolution with ones.
LayerWriter::State LayerWriter::sumWindow(Layer layer, ArrayRef<int64_t> kernel, const Attributes &window) {
  tile::RequantizeOp requantize = firstRequantize(layer);
  tile::QuantAttr quant = inputQuantOf(layer);
  if (!requantize || !quant)
    throw Error("layer '" + layerName + "': only sums that are requantized have an exact spelling in ONNX");
  Type element = layer.getOperandType(0).getElementType();
  const int64_t channels = layer.getOperandType(0).getDimSize(1), zero = tile::toDevice(element, quant.getZeroPoint());
  const int64_t taps = kernel[0] * kernel[1];
  Attributes attributes = window;
  attributes.emplace_back("kernel_shape", kernel.vec());
  attributes.emplace_back("group", channels);
  std::string ones =
      bytes(element, {channels, 1, kernel[0], kernel[1]}, std::vector<int8_t>(channels * taps, 1), "ones");
  std::string sums =
      emit("ConvInteger", {graph.name(layer->getOperand(0)), ones, zeroPoint(element, zero), zeroPoint(element, 0)},
           attributes);
  // With the zero point taken off each tap, and as much put back into the bias.
  std::vector<int32_t> bias = values<int32_t>(requantize.getBias());
  for (int32_t &value : bias)
    value = static_cast<int32_t>(value + zero * taps);

  std::string scale = channelFloats(values<float>(requantize.getScale()), "scale");
  auto pool = dyn_cast<tile::PoolingOp>(layer.getOperation());
  if (pool && pool.getExcludePad()) {
    // Windows that reach outside the map divide by fewer: one factor per position.
    RankedTensorType result = layer.getResultType();
    std::vector<float> factors(result.getDimSize(2) * result.getDimSize(3));
    for (const auto &region : pool.getRegions())
      for (int64_t y = region.rowStart; y < region.rowStart + region.rowCount; ++y)
        for (int64_t x = region.columnStart; x < region.columnStart + region.columnCount; ++x)
          factors[y * result.getDimSize(3) + x] = pool.scaleForCount(region.count);
    scale = graph.constant<float>(DataType::Float, {1, 1, result.getDimSize(2), result.getDimSize(3)}, factors,
                                  layerName + "/scales");
  }
  return requantizeSums(sums, requantize, bias, scale);
}

LayerWriter::State LayerWriter::pooling(tile::PoolingOp op) {
  auto layer = cast<Layer>(op.getOperation());
  return op.getKind() == tile::PoolKind::Max ? maxWindow(layer, op.getKernel(), windowAttributes(op))
                                             : sumWindow(layer, op.getKernel(), windowAttributes(op));
}

LayerWriter::State LayerWriter::reduction(tile::ReductionOp op) {
  auto layer = cast<Layer>(op.getOperation());
  auto type = layer.getOperandType(0);
  int64_t kernel[2] = {1, 1};
  for (int64_t dim : op.getDims()) {
    if (dim < 2)
      throw Error("layer '" + layerName + "': a reduction over channels has no exact spelling in ONNX");
    kernel[dim - 2] = type.getDimSize(dim);
  }
  return op.getKind() == tile::PoolKind::Max ? maxWindow(layer, kernel, {}) : sumWindow(layer, kernel, {});
}

LayerWriter::State LayerWriter::move(tile::MoveOp op) {
  auto layer = cast<Layer>(op.getOperation());
  State state{graph.name(op.getInputs()[0]), layer.getOperandType(0).getElementType(), inputQuantOf(layer)};
  RankedTensorType from = layer.getOperandType(0), to = layer.getResultType();
  ArrayRef<int64_t> offsets = op.getOffsets().value_or(ArrayRef<int64_t>());
  switch (op.getKind()) {
  case tile::MoveKind::Concat: {
    std::vector<std::string> inputs;
    for (Value input : op.getInputs())
      inputs.push_back(graph.name(input));
    state.tensor = emit("Concat", inputs, {{"axis", int64_t(1)}});
    return state;
  }
  case tile::MoveKind::Slice: {
    SmallVector<int64_t> ends;
    for (auto [offset, size] : llvm::zip_equal(offsets, to.getShape()))
      ends.push_back(offset + size);
    state.tensor = emit("Slice", {state.tensor, integers(offsets), integers(ends)});
    return state;
  }
  case tile::MoveKind::Transpose:
    state.tensor = emit("Transpose", {state.tensor}, {{"perm", op.getPermutation()->vec()}});
    return state;
  case tile::MoveKind::Pad: {
    SmallVector<int64_t> pads(offsets);
    for (auto [offset, inner, outer] : llvm::zip_equal(offsets, from.getShape(), to.getShape()))
      pads.push_back(outer - offset - inner);
    state.tensor = emit("Pad", {state.tensor, integers(pads), zeroPoint(state.element, op.getPadValue())});
    return state;
  }
  case tile::MoveKind::Gather:
    state.tensor = emit("Gather", {state.tensor, integers(*op.getIndices())}, {{"axis", int64_t(1)}});
    return state;
  case tile::MoveKind::Resize:
    return resize(op, state);
  }
  throw Error("layer '" + layerName + "': this move has no exact spelling in ONNX");
}

/// Nearest neighbour by whole factors repeats rows and columns.
LayerWriter::State LayerWriter::resize(tile::MoveOp op, State state) {
  RankedTensorType to = cast<RankedTensorType>(op.getResult().getType());
  for (int64_t axis : {2, 3}) {
    int64_t factor = (*op.getStrides())[axis - 2];
    if (factor == 1)
      continue;
    SmallVector<int64_t> indices;
    for (int64_t i = 0; i < to.getDimSize(axis); ++i)
      indices.push_back(i / factor);
    state.tensor = emit("Gather", {state.tensor, integers(indices)}, {{"axis", axis}});
  }
  return state;
}
