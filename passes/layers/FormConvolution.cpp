//===- FormConvolution.cpp - Conv and BatchNormalization to layers --------===//
//
// Also home of the arithmetic that every contraction shares (see docs/accelerator.md, "Epilogue"): zero points folded
// into weights and bias, the multiplier in float32 in onnxruntime's order, the proof that int32 does not overflow.
//
//===----------------------------------------------------------------------===//

#include "passes/SumBounds.h"
#include "passes/layers/Contraction.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layers;

std::string layers::biasIntegers(Value bias, int64_t channels, float inputScale, ArrayRef<float> weightScales,
                                 SmallVector<int64_t> &result) {
  auto accumulatorScale = [&](int64_t k) { return inputScale * weightScales[weightScales.size() == 1 ? 0 : k]; };
  result.resize(channels, 0);
  if (!bias)
    return {};
  if (std::optional<QuantizedConstant> constant = quantizedConstant(bias);
      constant && constant->type.getElementType().isInteger(32)) {
    int64_t count = constant->type.getNumElements();
    if (count != channels && count != 1)
      return "bias of another size than the output channels";
    bool same = true;
    for (int64_t k = 0; k < channels && same; ++k)
      same = constant->scale(k) == accumulatorScale(k) && constant->zeroPoint(k) == 0;
    if (same) {
      for (int64_t k = 0; k < channels; ++k)
        result[k] += constant->at(count == 1 ? 0 : k);
      return {};
    }
  }
  std::optional<SmallVector<float>> values = realConstant(bias);
  if (!values)
    return "bias is not constant";
  if (static_cast<int64_t>(values->size()) != channels && values->size() != 1)
    return "bias of another size than the output channels";
  for (int64_t k = 0; k < channels; ++k) {
    double exact = static_cast<double>((*values)[values->size() == 1 ? 0 : k]) / accumulatorScale(k);
    if (!(std::abs(exact) < 2147483647.0))
      return "bias exceeds int32 at the scale of the sums";
    result[k] += static_cast<int64_t>(std::nearbyint(exact));
  }
  return {};
}

Formed layers::buildContraction(LayerFormer &former, const LayerPattern &pattern, const ContractionParts &parts) {
  OpBuilder &builder = former.builder;
  Location loc = pattern.root->getLoc();
  auto mapShape = cast<RankedTensorType>(parts.input.getType()).getShape();
  int64_t channels = parts.weightShape[0], perChannel = 1;
  for (int64_t extent : ArrayRef(parts.weightShape).drop_front())
    perChannel *= extent;

  // Weights as int8 where they fit, else as 16-bit numbers, which the device adds in two or three int8 terms.
  int64_t low = 0, high = 0;
  for (int16_t value : parts.weights) {
    low = std::min<int64_t>(low, value);
    high = std::max<int64_t>(high, value);
  }
  bool narrow = low >= -128 && high <= 127;
  std::vector<char> bytes(parts.weights.size() * (narrow ? 1 : 2));
  for (size_t i = 0; i < parts.weights.size(); ++i) {
    std::memcpy(bytes.data() + i * (narrow ? 1 : 2), &parts.weights[i],
                narrow ? 1 : 2); // little-endian: the low byte first
  }
  Type weightElement = builder.getIntegerType(narrow ? 8 : 16);

  // The input's zero point goes into the bias; the sum must fit int32 for any activation.
  int64_t zero = parts.activation.deviceZeroPoint();
  SmallVector<int32_t> bias;
  SmallVector<float> scale, negative;
  Clamps clamps;
  if (std::string problem = former.readActivations(pattern, parts.channelAxis, channels, clamps); !problem.empty())
    return refuse(problem);
  float inputScale = parts.activation.scale(), outputScale = pattern.quant.scaleValue();
  for (int64_t k = 0; k < channels; ++k) {
    int64_t sum = 0;
    SumBounds bounds(parts.bias[k], -128 - zero, 127 - zero);
    for (int64_t i = 0; i < perChannel; ++i) {
      int64_t w = parts.weights[k * perChannel + i];
      sum += w;
      bounds.add(w);
    }
    if (!bounds.fitInt32())
      return refuse("sums of output channel " + Twine(k) + " may exceed int32");
    // Wrapping addition: only the final sum has to fit.
    bias.push_back(static_cast<int32_t>(static_cast<uint32_t>(parts.bias[k] - zero * sum)));
    float accumulator = inputScale * parts.weightScales[parts.weightScales.size() == 1 ? 0 : k];
    float m = accumulator / outputScale;
    if (!std::isfinite(m) || m <= 0)
      return refuse("scale of output channel " + Twine(k) + " is " + std::to_string(m) + ", not finite and positive");
    scale.push_back(m);
    if (clamps.slopes) {
      float slope = (*clamps.slopes)[clamps.slopes->size() == 1 ? 0 : k];
      negative.push_back(m * slope);
      if (!std::isfinite(negative.back()))
        return refuse("slope of output channel " + Twine(k) + " is not finite");
    }
  }

  Value weights = former.constant(RankedTensorType::get(parts.weightShape, weightElement), bytes, loc);
  RankedTensorType resultType =
      former.mapType({mapShape[0], channels, parts.outHeight, parts.outWidth}, pattern.element());
  StringRef name = parts.depthwise ? tile::DepthwiseOp::getOperationName() : tile::ContractionOp::getOperationName();
  OperationState state(loc, name);
  state.addOperands({parts.input, weights});
  state.addTypes(resultType);
  former.describe(state, pattern, {parts.activation.quant});
  state.addAttribute("strides", builder.getDenseI64ArrayAttr(parts.strides));
  state.addAttribute("dilations", builder.getDenseI64ArrayAttr(parts.dilations));
  state.addAttribute("pads", builder.getDenseI64ArrayAttr(parts.pads));
  state.addAttribute("pad_value", builder.getI64IntegerAttr(zero));
  state.addAttribute("weight_scales", former.elements<float>(builder.getF32Type(), parts.weightScales));
  if (!parts.depthwise && parts.group != 1)
    state.addAttribute("group", builder.getI64IntegerAttr(parts.group));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = former.beginEpilogue(state, {builder.getI32Type()});
  Value q = tile::RequantizeOp::create(
      builder, loc, pattern.element(), block->getArgument(0), former.elements<int32_t>(builder.getI32Type(), bias),
      former.elements<float>(builder.getF32Type(), scale),
      negative.empty() ? ElementsAttr() : former.elements<float>(builder.getF32Type(), negative),
      builder.getI64IntegerAttr(tile::toDevice(pattern.element(), pattern.quant.getZeroPoint())),
      builder.getI64IntegerAttr(clamps.low), builder.getI64IntegerAttr(clamps.high), pattern.quant);
  tile::YieldOp::create(builder, loc, q);
  builder.setInsertionPoint(pattern.quantize);
  return {builder.create(state)->getResult(0), parts.order, {}};
}

bool layers::readWindow(onnx::NodeOp node, ArrayRef<int64_t> inExtents, ArrayRef<int64_t> outExtents,
                        ArrayRef<int64_t> kernelExtents, WindowParts &window) {
  SmallVector<int64_t> strides = node.intsAttr("strides"), dilations = node.intsAttr("dilations"),
                       pads = node.intsAttr("pads");
  StringRef autoPad = node.stringAttr("auto_pad", "NOTSET");
  size_t spatial = inExtents.size(); // 1 or 2; one-dimensional windows lie along the width
  auto fits = [&](ArrayRef<int64_t> values, size_t size) { return values.empty() || values.size() == size; };
  if (outExtents.size() != spatial || kernelExtents.size() != spatial || !fits(strides, spatial) ||
      !fits(dilations, spatial) || !fits(pads, 2 * spatial))
    return false;
  for (size_t i = 0; i < spatial; ++i) {
    size_t axis = 2 - spatial + i;
    int64_t stride = strides.empty() ? 1 : strides[i], dilation = dilations.empty() ? 1 : dilations[i];
    int64_t span = dilation * (kernelExtents[i] - 1) + 1;
    int64_t total = (outExtents[i] - 1) * stride + span - inExtents[i];
    int64_t before = pads.empty() ? 0 : pads[i];
    window.declaredAfter[axis] = pads.empty() ? 0 : pads[spatial + i];
    if (autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER") {
      int64_t all = std::max<int64_t>(total, 0);
      before = autoPad == "SAME_UPPER" ? all / 2 : all - all / 2;
      window.declaredAfter[axis] = all - before;
    } else if (autoPad == "VALID") {
      before = 0;
    }
    if (stride < 1 || dilation < 1 || before < 0 || window.declaredAfter[axis] < 0)
      return false;
    window.strides[axis] = stride;
    window.dilations[axis] = dilation;
    window.kernel[axis] = kernelExtents[i];
    window.pads[axis] = before;
    // What the last window reaches: the rest of the model's padding is never read.
    window.pads[2 + axis] = std::max<int64_t>(total - before, 0);
  }
  return true;
}

Formed layers::formConvolution(LayerFormer &former, const LayerPattern &pattern) {
  onnx::NodeOp conv = pattern.root;
  std::optional<Activation> input = former.read(conv.input(0));
  if (!input)
    return refuse("its input is not quantized to 8 bits with one constant scale");
  std::optional<QuantizedConstant> weights = quantizedConstant(conv.input(1));
  if (!weights || !weights->type.getElementType().isInteger(8))
    return refuse("its weights are not constant 8-bit integers");
  if (weights->type.getRank() != 4 && weights->type.getRank() != 3)
    return refuse("a convolution over " + Twine(weights->type.getRank() - 2) + " dimensions; the array has 1 and 2");
  if ((weights->scales.size() > 1 || weights->zeroPoints.size() > 1) && weights->axis != 0)
    return refuse("weights quantized along axis " + Twine(weights->axis) + ", not per output channel");
  ContractionParts parts(*input);
  parts.input = former.toImage(*input);
  if (!parts.input)
    return refuse("its input's layout cannot be read with strides");
  auto inShape = cast<RankedTensorType>(conv.input(0).getType()).getShape();
  auto outShape = cast<RankedTensorType>(conv.getResult(0).getType()).getShape();
  ArrayRef<int64_t> stored = weights->type.getShape();
  WindowParts window;
  if (!readWindow(conv, inShape.drop_front(2), outShape.drop_front(2), stored.drop_front(2), window))
    return refuse("strides, dilations or padding that are negative or of another rank");
  parts.strides.assign(window.strides, window.strides + 2);
  parts.dilations.assign(window.dilations, window.dilations + 2);
  parts.pads.assign(window.pads, window.pads + 4);
  parts.weightShape = {stored[0], stored[1], window.kernel[0], window.kernel[1]};
  parts.outHeight = outShape.size() == 4 ? outShape[2] : 1;
  parts.outWidth = outShape.back();
  parts.group = conv.intAttr("group", 1);
  parts.depthwise = parts.group > 1 && stored[1] == 1 && stored[0] == parts.group;
  int64_t perChannel = weights->type.getNumElements() / stored[0];
  parts.weights.resize(weights->type.getNumElements());
  for (int64_t k = 0; k < stored[0]; ++k)
    for (int64_t i = k * perChannel; i < (k + 1) * perChannel; ++i)
      parts.weights[i] = static_cast<int16_t>(weights->at(i) - weights->zeroPoint(k));
  parts.weightScales = weights->scales;
  if (std::string problem = biasIntegers(conv.input(2), stored[0], input->scale(), parts.weightScales, parts.bias);
      !problem.empty())
    return refuse(problem);
  if (pattern.bias) {
    auto type = cast<RankedTensorType>(pattern.biasValue.getType());
    int64_t at = 1 - (static_cast<int64_t>(outShape.size()) - type.getRank());
    if (type.getNumElements() != 1 && !(at >= 0 && type.getDimSize(at) == type.getNumElements()))
      return refuse("adds a constant that is not one per channel");
    SmallVector<int64_t> added;
    if (std::string problem = biasIntegers(pattern.biasValue, stored[0], input->scale(), parts.weightScales, added);
        !problem.empty())
      return refuse(problem);
    for (auto [sum, value] : llvm::zip_equal(parts.bias, added))
      sum += value;
  }
  return buildContraction(former, pattern, parts);
}

Formed layers::formBatchNorm(LayerFormer &former, const LayerPattern &pattern) {
  onnx::NodeOp norm = pattern.root;
  std::optional<Activation> input = former.read(norm.input(0));
  if (!input)
    return refuse("its input is not quantized to 8 bits with one constant scale");
  if (norm.intAttr("training_mode", 0) != 0)
    return refuse("training_mode");
  std::optional<SmallVector<float>> values[4];
  for (unsigned i = 0; i < 4; ++i)
    if (!(values[i] = realConstant(norm.input(1 + i))))
      return refuse("its parameters are not constant");
  ContractionParts parts(*input);
  parts.input = former.toImage(*input);
  if (!parts.input)
    return refuse("its input's layout cannot be read with strides");
  auto shape = cast<RankedTensorType>(parts.input.getType()).getShape();
  int64_t channels = shape[1];
  for (auto &parameter : values)
    if (static_cast<int64_t>(parameter->size()) != channels)
      return refuse("parameters that are not one per channel");
  // Depthwise 1x1: the largest int8 weight, with the channel's factor as its scale, so that the bias is resolved
  // finely.
  SmallVector<double> offsets;
  float epsilon = norm.floatAttr("epsilon", 1e-5f);
  for (int64_t k = 0; k < channels; ++k) {
    double factor = (*values[0])[k] / std::sqrt(static_cast<double>((*values[3])[k]) + epsilon);
    offsets.push_back((*values[1])[k] - factor * (*values[2])[k]);
    parts.weights.push_back(factor == 0 ? 0 : factor < 0 ? -127 : 127);
    parts.weightScales.push_back(factor == 0 ? pattern.quant.scaleValue() / input->scale() / 127
                                             : static_cast<float>(std::abs(factor) / 127));
  }
  for (int64_t k = 0; k < channels; ++k) {
    double exact = offsets[k] / (input->scale() * parts.weightScales[k]);
    if (!(std::abs(exact) < 1073741824.0))
      return refuse("offset of channel " + Twine(k) + " exceeds int32 at the scale of the sums");
    parts.bias.push_back(static_cast<int64_t>(std::nearbyint(exact)));
  }
  parts.weightShape = {channels, 1, 1, 1};
  parts.depthwise = true;
  parts.group = channels;
  parts.outHeight = shape[2];
  parts.outWidth = shape[3];
  return buildContraction(former, pattern, parts);
}
