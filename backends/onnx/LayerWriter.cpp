//===- LayerWriter.cpp - tile layers in exact ONNX operators --------------===//
//
// Epilogue and constants; the roots are in LayerRoots.cpp, the ways in and out of maps in MapWriter.cpp.
//
//===----------------------------------------------------------------------===//

#include "backends/onnx/LayerWriter.h"

#include "common/Error.h"
#include "dialects/onnx/ConstantData.h"
#include "dialects/tile/ExactAddition.h"

#include "llvm/ADT/TypeSwitch.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using onnxfile::DataType;

static int64_t toModel(Type element, int64_t deviceValue) {
  return element.isUnsignedInteger(8) ? deviceValue + 128 : deviceValue;
}

std::string LayerWriter::emit(StringRef opType, const std::vector<std::string> &inputs,
                              const GraphWriter::Attributes &attributes, StringRef domain) {
  std::string output = graph.unique(layerName + "/" + opType.str());
  graph.add(opType, inputs, output, attributes, layerName + "/" + opType.str(), domain);
  return output;
}

std::string LayerWriter::scalar(float value) {
  return graph.constant<float>(DataType::Float, {}, value, layerName + "/scale");
}

std::string LayerWriter::channelFloats(ArrayRef<float> values, StringRef hint) {
  return graph.constant<float>(DataType::Float, {1, static_cast<int64_t>(values.size()), 1, 1}, values,
                               layerName + "/" + hint.str());
}

std::string LayerWriter::zeroPoint(Type element, int64_t deviceValue) {
  return bytes(element, {}, static_cast<int8_t>(deviceValue), "zero_point");
}

std::string LayerWriter::bytes(Type element, std::vector<int64_t> dims, ArrayRef<int8_t> deviceValues, StringRef hint) {
  std::vector<int8_t> values(deviceValues);
  for (int8_t &value : values)
    value = static_cast<int8_t>(toModel(element, value));
  return graph.constant<int8_t>(onnxDataType(element), std::move(dims), values, layerName + "/" + hint.str());
}

std::string LayerWriter::integers(ArrayRef<int64_t> values) {
  return graph.constant<int64_t>(DataType::Int64, {static_cast<int64_t>(values.size())}, values,
                                 layerName + "/integers");
}

bool LayerWriter::write(Operation *op) {
  layerName.clear();
  if (auto layer = dyn_cast<Layer>(op)) {
    writeLayer(layer);
  } else if (auto toMap = dyn_cast<tile::ToMapOp>(op)) {
    writeToMap(toMap);
  } else if (auto fromMap = dyn_cast<tile::FromMapOp>(op)) {
    writeFromMap(fromMap);
  } else if (auto group = dyn_cast<tile::GroupOp>(op)) {
    Block &body = group.getBody().front();
    for (Operation &inner : body.without_terminator())
      if (!write(&inner))
        graph.write(&inner);
    for (auto [result, value] : llvm::zip_equal(group->getResults(), body.getTerminator()->getOperands()))
      graph.add("Identity", {graph.name(value)}, graph.name(result));
  } else {
    return false;
  }
  return true;
}

void LayerWriter::writeLayer(Layer layer) {
  layerName = layer.getLayerName().empty() ? "layer" : layer.getLayerName().str();
  State state = llvm::TypeSwitch<Operation *, State>(layer)
                    .Case([&](tile::ContractionOp op) { return contraction(op, op.getGroup()); })
                    .Case([&](tile::DepthwiseOp op) {
                      return contraction(op, cast<RankedTensorType>(op.getInput().getType()).getDimSize(1));
                    })
                    .Case([&](tile::PoolingOp op) { return pooling(op); })
                    .Case([&](tile::ReductionOp op) { return reduction(op); })
                    .Case([&](tile::MoveOp op) { return move(op); })
                    .Case([&](tile::ElementwiseOp op) {
                      // Copies that placement inserts state no quantization.
                      auto type = cast<RankedTensorType>(op.getInput().getType());
                      tile::QuantAttr quant;
                      if (auto quants = op->getAttrOfType<ArrayAttr>("input_quants"))
                        quant = cast<tile::QuantAttr>(quants[0]);
                      return State{graph.name(op.getInput()), type.getElementType(), quant};
                    })
                    .Default([&](Operation *op) -> State {
                      throw Error("layer '" + layerName + "': " + op->getName().getStringRef().str() +
                                  " has no exact spelling in ONNX");
                    });
  for (Operation &op : layer.getEpilogueBlock().without_terminator()) {
    if (auto requantize = dyn_cast<tile::RequantizeOp>(op)) {
      // Sums were requantized with their root.
      if (requantize.getValue().getType().isInteger(8))
        state = requantizeBytes(state, requantize);
    } else if (auto tableOp = dyn_cast<tile::TableOp>(op)) {
      state = table(state, tableOp);
    } else if (auto add = dyn_cast<tile::ResidualAddOp>(op)) {
      state = residualAdd(layer, state, add);
    } else {
      throw Error("layer '" + layerName + "': " + op.getName().getStringRef().str() + " has no exact spelling in ONNX");
    }
  }
  graph.add("Identity", {state.tensor}, graph.name(layer->getResult(0)));
}

/// Steps 1 and 2 on int32 sums whose zero points are taken off: `bias` is the model's.
LayerWriter::State LayerWriter::requantizeSums(const std::string &sums, tile::RequantizeOp op, ArrayRef<int32_t> bias,
                                               const std::string &scale) {
  std::string sum = sums;
  if (llvm::any_of(bias, [](int32_t value) { return value != 0; })) {
    std::string constant = graph.constant<int32_t>(DataType::Int32, {1, static_cast<int64_t>(bias.size()), 1, 1}, bias,
                                                   layerName + "/bias");
    sum = emit("Add", {sums, constant});
  }
  std::string factor = scale;
  if (op.getNegativeScale()) {
    onnx::ConstantBytes data(*op.getNegativeScale());
    std::vector<float> negative(data.bytes().size() / sizeof(float));
    std::memcpy(negative.data(), data.bytes().data(), data.bytes().size());
    std::string zero = graph.constant<int32_t>(DataType::Int32, {}, int32_t(0), layerName + "/zero");
    factor = emit("Where", {emit("Less", {sum, zero}), channelFloats(negative, "negative_scale"), scale});
  }
  std::string real = emit("Cast", {sum}, {{"to", int64_t(DataType::Float)}});
  Type element = op.getResult().getType();
  std::string rounded =
      emit("QuantizeLinear", {emit("Mul", {real, factor}), scalar(1), zeroPoint(element, op.getZeroPoint())});
  return clamp({rounded, element, op.getQuant().value_or(tile::QuantAttr())}, op.getClampMin(), op.getClampMax());
}

LayerWriter::State LayerWriter::requantizeBytes(State state, tile::RequantizeOp op) {
  // Bytes enter in the device's domain: a uint8 loses 128 first.
  std::string wide = emit("Cast", {state.tensor}, {{"to", int64_t(DataType::Int32)}});
  onnx::ConstantBytes biasData(op.getBias()), scaleData(op.getScale());
  std::vector<int32_t> bias(biasData.bytes().size() / sizeof(int32_t));
  std::memcpy(bias.data(), biasData.bytes().data(), biasData.bytes().size());
  for (int32_t &value : bias)
    value -= static_cast<int32_t>(toModel(state.element, 0));
  std::vector<float> scale(scaleData.bytes().size() / sizeof(float));
  std::memcpy(scale.data(), scaleData.bytes().data(), scaleData.bytes().size());
  return requantizeSums(wide, op, bias, channelFloats(scale, "scale"));
}

LayerWriter::State LayerWriter::table(State state, tile::TableOp op) {
  std::string index = emit("Cast", {state.tensor}, {{"to", int64_t(DataType::Int32)}});
  if (!state.element.isUnsignedInteger(8)) {
    std::string offset = graph.constant<int32_t>(DataType::Int32, {}, int32_t(128), layerName + "/offset");
    index = emit("Add", {index, offset});
  }
  onnx::ConstantBytes data(op.getTable());
  ArrayRef<int8_t> entries(reinterpret_cast<const int8_t *>(data.bytes().data()), data.bytes().size());
  std::string result = emit("Gather", {bytes(state.element, {256}, entries, "table"), index});
  return {result, state.element, op.getQuant().value_or(state.quant)};
}

LayerWriter::State LayerWriter::residualAdd(Layer layer, State state, tile::ResidualAddOp op) {
  auto argument = cast<BlockArgument>(op.getResidual());
  unsigned operand = layer.getFirstResidual() + argument.getArgNumber() - 1;
  Value map = layer->getOperand(operand);
  auto quants = layer->getAttrOfType<ArrayAttr>("input_quants");
  tile::QuantAttr other;
  for (auto [index, position] : llvm::enumerate(layer.getMapOperands()))
    if (position == operand && quants)
      other = cast<tile::QuantAttr>(quants[index]);
  tile::QuantAttr sum = op.getQuant().value_or(tile::QuantAttr());
  if (!other || !sum || !state.quant)
    throw Error("layer '" + layerName + "': the quantization of a residual addition's tensors is not known");

  State a = state, b{graph.name(map), layer.getOperandType(operand).getElementType(), other};
  if (op.getSwap())
    std::swap(a, b);
  Type element = op.getResult().getType();
  if (op.getZeroPoint())
    return clamp(floatAdd(a, b, sum, op), op.getClampMin(), op.getClampMax());
  float ra = a.quant.scaleValue() / sum.scaleValue(), rb = b.quant.scaleValue() / sum.scaleValue();
  float fix = static_cast<float>(sum.getZeroPoint()) -
              std::fma(ra, static_cast<float>(a.quant.getZeroPoint()), rb * static_cast<float>(b.quant.getZeroPoint()));
  auto differs = [](APFloat stated, float computed) { return stated.convertToFloat() != computed; };
  if (differs(op.getRa(), ra) || differs(op.getRb(), rb) || differs(op.getFix(), fix))
    throw Error("layer '" + layerName + "': its residual addition is not that of its tensors' scales");
  std::vector<std::string> inputs;
  for (const State &operandState : {a, b}) {
    inputs.push_back(operandState.tensor);
    inputs.push_back(scalar(operandState.quant.scaleValue()));
    inputs.push_back(zeroPoint(element, operandState.quant.getZeroPoint() - toModel(element, 0)));
  }
  inputs.push_back(scalar(sum.scaleValue()));
  inputs.push_back(zeroPoint(element, sum.getZeroPoint() - toModel(element, 0)));
  return clamp({emit("QLinearAdd", inputs, {}, "com.microsoft"), element, sum}, op.getClampMin(), op.getClampMax());
}

/// The three operators that an addition with its zero point after rounding stands for.
LayerWriter::State LayerWriter::floatAdd(const State &a, const State &b, tile::QuantAttr sum, tile::ResidualAddOp op) {
  Type element = op.getResult().getType();
  tile::QuantizedAddition addition{a.quant.scaleValue(),
                                   b.quant.scaleValue(),
                                   sum.scaleValue(),
                                   a.quant.getZeroPoint(),
                                   b.quant.getZeroPoint(),
                                   sum.getZeroPoint(),
                                   tile::isUnsignedStorage(element),
                                   op.getClampMin(),
                                   op.getClampMax()};
  tile::AdditionConstants constants{op.getRa().convertToFloat(), op.getRb().convertToFloat(),
                                    op.getFix().convertToFloat()};
  if (tile::toDevice(element, sum.getZeroPoint()) != op.getZeroPoint() || !tile::agrees(addition, constants))
    throw Error("layer '" + layerName + "': its residual addition is not that of its tensors' scales");
  std::vector<std::string> reals;
  for (const State &operand : {a, b})
    reals.push_back(
        emit("DequantizeLinear", {operand.tensor, scalar(operand.quant.scaleValue()),
                                  zeroPoint(element, tile::toDevice(element, operand.quant.getZeroPoint()))}));
  return {
      emit("QuantizeLinear", {emit("Add", reals), scalar(sum.scaleValue()), zeroPoint(element, *op.getZeroPoint())}),
      element, sum};
}

LayerWriter::State LayerWriter::clamp(State state, int64_t low, int64_t high) {
  if (low > -128 || high < 127)
    state.tensor = emit("Clip", {state.tensor, low > -128 ? zeroPoint(state.element, low) : "",
                                 high < 127 ? zeroPoint(state.element, high) : ""});
  return state;
}
