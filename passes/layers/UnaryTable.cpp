//===- UnaryTable.cpp - unary functions of 8-bit values as tables ---------===//
//
// Whatever float operators stand between one dequantized activation and a QuantizeLinear, as long as each element of
// the result depends on the same element of the input alone: the 256 results are computed here, in float32, operator by
// operator as the model says.
//
//===----------------------------------------------------------------------===//

#include "passes/layers/LayerFormer.h"

#include "llvm/ADT/StringMap.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layers;

namespace {
using Column = std::array<float, 256>;

/// ONNX's float32 functions of one value; attributes are read from the node.
using Unary = float (*)(float, onnx::NodeOp);
const llvm::StringMap<Unary> &unaryFunctions() {
  static const llvm::StringMap<Unary> table{
      {"Identity", [](float x, onnx::NodeOp) { return x; }},
      {"Relu", [](float x, onnx::NodeOp) { return x < 0 ? 0.0f : x; }},
      {"LeakyRelu", [](float x, onnx::NodeOp n) { return x < 0 ? n.floatAttr("alpha", 0.01f) * x : x; }},
      {"Elu", [](float x, onnx::NodeOp n) { return x < 0 ? n.floatAttr("alpha", 1.0f) * std::expm1(x) : x; }},
      {"Selu",
       [](float x, onnx::NodeOp n) {
         float alpha = n.floatAttr("alpha", 1.67326319217681884765625f),
               gamma = n.floatAttr("gamma", 1.05070102214813232421875f);
         return gamma * (x <= 0 ? alpha * std::expm1(x) : x);
       }},
      {"Sigmoid", [](float x, onnx::NodeOp) { return static_cast<float>(1.0 / (1.0 + std::exp(-double(x)))); }},
      {"Tanh", [](float x, onnx::NodeOp) { return std::tanh(x); }},
      {"HardSigmoid",
       [](float x, onnx::NodeOp n) {
         return std::max(0.0f, std::min(1.0f, n.floatAttr("alpha", 0.2f) * x + n.floatAttr("beta", 0.5f)));
       }},
      {"HardSwish", [](float x, onnx::NodeOp) { return x * std::max(0.0f, std::min(1.0f, x / 6.0f + 0.5f)); }},
      {"Softplus", [](float x, onnx::NodeOp) { return x > 20 ? x : std::log1p(std::exp(x)); }},
      {"Softsign", [](float x, onnx::NodeOp) { return x / (1 + std::abs(x)); }},
      {"Mish", [](float x, onnx::NodeOp) { return x * std::tanh(x > 20 ? x : std::log1p(std::exp(x))); }},
      {"Gelu",
       [](float x, onnx::NodeOp n) {
         if (n.stringAttr("approximate", "none") == "tanh")
           return 0.5f * x * (1 + std::tanh(0.7978845608f * (x + 0.044715f * x * x * x)));
         return 0.5f * x * (1 + std::erf(x * 0.70710678118f));
       }},
      {"Erf", [](float x, onnx::NodeOp) { return std::erf(x); }},
      {"Exp", [](float x, onnx::NodeOp) { return std::exp(x); }},
      {"Log", [](float x, onnx::NodeOp) { return std::log(x); }},
      {"Sqrt", [](float x, onnx::NodeOp) { return std::sqrt(x); }},
      {"Abs", [](float x, onnx::NodeOp) { return std::abs(x); }},
      {"Neg", [](float x, onnx::NodeOp) { return -x; }},
      {"Reciprocal", [](float x, onnx::NodeOp) { return 1 / x; }},
      {"Floor", [](float x, onnx::NodeOp) { return std::floor(x); }},
      {"Ceil", [](float x, onnx::NodeOp) { return std::ceil(x); }},
      {"Round", [](float x, onnx::NodeOp) { return std::nearbyint(x); }},
      {"Sin", [](float x, onnx::NodeOp) { return std::sin(x); }},
      {"Cos", [](float x, onnx::NodeOp) { return std::cos(x); }},
  };
  return table;
}

using Binary = float (*)(float, float);
const llvm::StringMap<Binary> &binaryFunctions() {
  static const llvm::StringMap<Binary> table{
      {"Add", [](float a, float b) { return a + b; }},
      {"Sub", [](float a, float b) { return a - b; }},
      {"Mul", [](float a, float b) { return a * b; }},
      {"Div", [](float a, float b) { return a / b; }},
      {"Pow", [](float a, float b) { return std::pow(a, b); }},
      {"PRelu", [](float a, float b) { return a < 0 ? a * b : a; }},
      {"Min", [](float a, float b) { return std::min(a, b); }},
      {"Max", [](float a, float b) { return std::max(a, b); }},
  };
  return table;
}

bool isKnown(onnx::NodeOp node) {
  if (!node.getDomain().empty())
    return false;
  bool binary = binaryFunctions().contains(node.getOpType()) && node.getInputs().size() == 2;
  return binary || unaryFunctions().contains(node.getOpType()) || node.is("Clip");
}

bool isSingleConstant(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1 && realConstant(value, 1);
}

/// The values of `value` for the 256 inputs; false for an operator that is not known.
bool evaluate(Value value, Value source, const Column &input, llvm::DenseMap<Value, Column> &done) {
  if (done.contains(value))
    return true;
  Column result;
  if (value == source) {
    result = input;
  } else if (isSingleConstant(value)) {
    result.fill((*realConstant(value, 1))[0]);
  } else {
    auto node = value.getDefiningOp<onnx::NodeOp>();
    if (!node || !isKnown(node))
      return false;
    SmallVector<Column, 3> columns;
    for (unsigned i = 0; i < node.getInputs().size(); ++i) {
      if (!node.input(i)) {
        columns.emplace_back();
        continue;
      }
      if (!evaluate(node.input(i), source, input, done))
        return false;
      columns.push_back(done[node.input(i)]);
    }
    for (unsigned i = 0; i < 256; ++i) {
      if (node.is("Clip")) {
        float low = node.input(1) ? columns[1][i] : node.floatAttr("min", -std::numeric_limits<float>::infinity());
        float high = node.input(2) ? columns[2][i] : node.floatAttr("max", std::numeric_limits<float>::infinity());
        result[i] = std::min(std::max(columns[0][i], low), high);
      } else if (columns.size() == 2) {
        result[i] = binaryFunctions().lookup(node.getOpType())(columns[0][i], columns[1][i]);
      } else {
        result[i] = unaryFunctions().lookup(node.getOpType())(columns[0][i], node);
      }
    }
  }
  done[value] = result;
  return true;
}
} // namespace

bool layers::unarySource(Value value, Value &source) {
  SmallVector<Value> work{value};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second || isSingleConstant(next))
      continue;
    if (activation(next)) {
      if (source && source != next)
        return false;
      source = next;
      continue;
    }
    auto node = next.getDefiningOp<onnx::NodeOp>();
    if (!node || !isKnown(node))
      return false;
    for (unsigned i = 0; i < node.getInputs().size(); ++i)
      if (node.input(i))
        work.push_back(node.input(i));
  }
  return source != nullptr;
}

/// What the device's 256 values stand for.
static Column inputValues(const Activation &input) {
  Column values;
  for (int i = 0; i < 256; ++i) {
    int64_t q = tile::fromDevice(input.element(), i - 128);
    values[i] = static_cast<float>(q - input.quant.getZeroPoint()) * input.scale();
  }
  return values;
}

static ElementsAttr quantizedTable(LayerFormer &former, const Column &values, tile::QuantAttr quant, Type element) {
  SmallVector<int8_t> table;
  for (float value : values) {
    if (std::isnan(value)) // e.g. Sqrt of a negative value: left to the host, which gives what the model says
      return nullptr;
    table.push_back(static_cast<int8_t>(tile::toDevice(element, quantize(value, quant, element))));
  }
  return former.elements<int8_t>(former.builder.getIntegerType(8), table);
}

ElementsAttr layers::unaryTable(LayerFormer &former, const LayerPattern &pattern, Value source,
                                const Activation &input) {
  llvm::DenseMap<Value, Column> done;
  if (!evaluate(pattern.rootValue(), source, inputValues(input), done))
    return nullptr;
  return quantizedTable(former, done[pattern.rootValue()], pattern.quant, pattern.element());
}

ElementsAttr layers::unaryTable(LayerFormer &former, tile::QuantAttr to, const Activation &input, Type element) {
  return quantizedTable(former, inputValues(input), to, element);
}
