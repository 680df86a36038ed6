//===- ElementwiseFunctions.cpp - float32 functions of single elements ----===//

#include "passes/layers/ElementwiseFunctions.h"

#include "llvm/ADT/StringMap.h"

#include <cmath>

using namespace tilewright;
using namespace tilewright::layers;

UnaryFunction layers::unaryFunction(llvm::StringRef opType) {
  static const llvm::StringMap<UnaryFunction> table{
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
      {"Sign", [](float x, onnx::NodeOp) { return x < 0   ? -1.0f
                                                  : x > 0 ? 1.0f
                                                          : x; }},
      {"Celu",
       [](float x, onnx::NodeOp n) {
         float alpha = n.floatAttr("alpha", 1.0f);
         return x < 0 ? alpha * std::expm1(x / alpha) : x;
       }},
      {"ThresholdedRelu", [](float x, onnx::NodeOp n) { return x > n.floatAttr("alpha", 1.0f) ? x : 0.0f; }},
      {"Shrink",
       [](float x, onnx::NodeOp n) {
         float edge = n.floatAttr("lambd", 0.5f), bias = n.floatAttr("bias", 0.0f);
         return x < -edge ? x + bias : x > edge ? x - bias : 0.0f;
       }},
      {"Swish",
       [](float x, onnx::NodeOp n) {
         return static_cast<float>(x / (1.0 + std::exp(-double(n.floatAttr("alpha", 1.0f)) * x)));
       }},
      {"Sin", [](float x, onnx::NodeOp) { return std::sin(x); }},
      {"Cos", [](float x, onnx::NodeOp) { return std::cos(x); }},
  };
  return table.lookup(opType);
}

BinaryFunction layers::binaryFunction(llvm::StringRef opType) {
  static const llvm::StringMap<BinaryFunction> table{
      {"Add", [](float a, float b) { return a + b; }},
      {"Sub", [](float a, float b) { return a - b; }},
      {"Mul", [](float a, float b) { return a * b; }},
      {"Div", [](float a, float b) { return a / b; }},
      {"Pow", [](float a, float b) { return std::pow(a, b); }},
      {"PRelu", [](float a, float b) { return a < 0 ? a * b : a; }},
      {"Min", [](float a, float b) { return std::min(a, b); }},
      {"Max", [](float a, float b) { return std::max(a, b); }},
  };
  return table.lookup(opType);
}

bool layers::isElementwiseFunction(onnx::NodeOp node) {
  if (!node.getDomain().empty() || node.getOutputs().size() != 1)
    return false;
  bool binary = binaryFunction(node.getOpType()) && node.getInputs().size() == 2;
  return binary || unaryFunction(node.getOpType()) || node.is("Clip");
}
