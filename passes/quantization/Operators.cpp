//===- Operators.cpp - operators as quantization sees them ----------------===//

#include "passes/quantization/Operators.h"

#include "dialects/onnx/ConstantData.h"
#include "frontend/OnnxSchema.h"
#include "passes/layers/ElementwiseFunctions.h"

#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace tilewright;

namespace tilewright {

int64_t newestVersion(StringRef opType) { return onnxSchemaVersions("", opType.str()).back(); }

bool isFloatTensor(Value value) {
  auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
  return type && type.getElementType().isF32();
}

bool isFloatConstant(Value value, int64_t elements) {
  if (!isFloatTensor(value) || !onnx::constantValue(value))
    return false;
  return elements < 0 || cast<RankedTensorType>(value.getType()).getNumElements() == elements;
}

static int64_t rank(Value value) { return cast<RankedTensorType>(value.getType()).getRank(); }

/// The constant integers that an attribute or, in later versions, an operand gives.
static std::optional<SmallVector<int64_t>> integersOf(onnx::NodeOp node, StringRef attribute, unsigned operand) {
  if (node.attr(attribute))
    return node.intsAttr(attribute);
  return onnx::integers(onnx::constantValue(node.input(operand)));
}

static bool isConvolution(onnx::NodeOp node) {
  Value x = node.input(0), weights = node.input(1), bias = node.input(2);
  return isFloatTensor(x) && !onnx::constantValue(x) && (rank(x) == 3 || rank(x) == 4) && isFloatConstant(weights) &&
         (!bias || isFloatConstant(bias));
}

static bool isDense(onnx::NodeOp node) {
  Value x = node.input(0), weights = node.input(1), bias = node.input(2);
  if (!isFloatTensor(x) || onnx::constantValue(x) || !isFloatConstant(weights) || rank(weights) != 2)
    return false;
  if (node.is("MatMul"))
    return rank(x) >= 2;
  if (node.floatAttr("alpha", 1) != 1 || node.floatAttr("beta", 1) != 1 || node.intAttr("transA", 0) != 0)
    return false;
  int64_t features = cast<RankedTensorType>(weights.getType()).getDimSize(node.intAttr("transB", 0) ? 0 : 1);
  // One bias per feature; a bias per row would be no bias for the hardware.
  return !bias || (isFloatConstant(bias, features) &&
                   (features == 1 || cast<RankedTensorType>(bias.getType()).getShape().back() == features));
}

bool isContraction(onnx::NodeOp node) {
  if (node.is("Conv"))
    return isConvolution(node);
  return (node.is("Gemm") || node.is("MatMul")) && isDense(node);
}

bool isTensorAddition(onnx::NodeOp node) {
  if (!node.is("Add"))
    return false;
  Value a = node.input(0), b = node.input(1);
  return isFloatTensor(a) && isFloatTensor(b) && a.getType() == b.getType() && !onnx::constantValue(a) &&
         !onnx::constantValue(b);
}

bool isAveragePool(onnx::NodeOp node) {
  Value x = node.input(0);
  if (!isFloatTensor(x) || rank(x) != 4)
    return false;
  if (node.is("AveragePool") || node.is("GlobalAveragePool"))
    return true;
  if (!node.is("ReduceMean"))
    return false;
  auto axes = integersOf(node, "axes", 1);
  if (!axes || axes->size() != 2)
    return false;
  SmallVector<int64_t> dims = llvm::map_to_vector(*axes, [](int64_t axis) { return axis < 0 ? axis + 4 : axis; });
  llvm::sort(dims);
  return dims == SmallVector<int64_t>{2, 3};
}

static bool padsWithZero(onnx::NodeOp node) {
  if (node.stringAttr("mode", "constant") != "constant")
    return false;
  Value value = node.input(2);
  if (!value)
    return node.floatAttr("value", 0) == 0;
  auto constant = onnx::floats(onnx::constantValue(value));
  return constant && constant->size() == 1 && constant->front() == 0;
}

bool keepsScale(onnx::NodeOp node) {
  static const llvm::StringSet<> moves = {"Reshape",   "Flatten",      "Squeeze", "Unsqueeze",
                                          "Transpose", "Slice",        "Split",   "DepthToSpace",
                                          "Identity",  "SpaceToDepth", "MaxPool", "GlobalMaxPool"};
  if (!node.getDomain().empty() || !isFloatTensor(node.input(0)))
    return false;
  for (Value result : node.getOutputs())
    if (!isFloatTensor(result))
      return false; // the indices of a max pool
  if (node.is("MaxPool") && node.getOutputs().size() != 1)
    return false;
  if (node.is("Pad"))
    return padsWithZero(node);
  if (node.is("Resize"))
    return node.stringAttr("mode", "nearest") == "nearest";
  if (node.is("Concat"))
    return llvm::all_of(node.getInputs(), isFloatTensor);
  return moves.contains(node.getOpType());
}

bool isFusedActivation(onnx::NodeOp node) {
  if (node.is("Relu") || node.is("LeakyRelu"))
    return true;
  if (node.is("Clip"))
    return (!node.input(1) || isFloatConstant(node.input(1), 1)) &&
           (!node.input(2) || isFloatConstant(node.input(2), 1));
  if (!node.is("PRelu") || !isFloatConstant(node.input(1)))
    return false;
  // One slope, or one per channel of [N, C, ...]; slopes align with the last dimensions.
  auto x = cast<RankedTensorType>(node.input(0).getType());
  auto slope = cast<RankedTensorType>(node.input(1).getType());
  if (slope.getNumElements() == 1)
    return true;
  int64_t channels = x.getRank() == 2 ? x.getDimSize(1) : x.getRank() > 2 ? x.getDimSize(1) : -1;
  int64_t at = slope.getRank() - (x.getRank() - 1);
  return slope.getNumElements() == channels && at >= 0 && slope.getDimSize(at) == channels;
}

bool isElementwise(onnx::NodeOp node) {
  if (!layers::isElementwiseFunction(node) || !isFloatTensor(node.getOutputs()[0]))
    return false;
  if (layers::unaryFunction(node.getOpType()))
    return isFloatTensor(node.input(0));
  Type result = node.getOutputs()[0].getType();
  return llvm::all_of(node.getInputs(), [&](Value value) {
    return onnx::isAbsent(value) || isFloatConstant(value, 1) ||
           (!onnx::constantValue(value) && value.getType() == result);
  });
}

bool hasQuantizedForm(onnx::NodeOp node) {
  return isContraction(node) || isTensorAddition(node) || isAveragePool(node) || keepsScale(node) ||
         isFusedActivation(node) || isElementwise(node);
}

} // namespace tilewright
