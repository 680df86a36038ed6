//===- FoldAffine.cpp - per-channel factors and offsets into weights ------===//
//
// Inference-time batch normalization, and additions and multiplications of one constant per channel, are part of the
// convolution or matrix product before them. A quantizer needs them there: rounding between the two would be a loss
// that no hardware asks for. Where nothing stands before, they become a depthwise 1x1 convolution.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialects/onnx/NodeBuilder.h"
#include "passes/quantization/Operators.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <cmath>

namespace tilewright {
#define GEN_PASS_DEF_FOLDAFFINEPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {

/// y = factor · x + offset, one pair per channel, in double: rounding to float32 happens once, in the weights.
struct Affine {
  std::vector<double> factor, offset;
};

std::vector<double> broadcast(Value constant, int64_t channels) {
  auto values = onnx::floats(onnx::constantValue(constant));
  if (!values)
    return {};
  std::vector<double> result(values->begin(), values->end());
  if (result.size() == 1)
    result.resize(channels, result.front());
  return result;
}

/// True when `constant` has one element, or one per channel that meets dimension 1 of a tensor of `rank` dimensions.
bool isPerChannel(Value constant, int64_t rank, int64_t channels) {
  if (isFloatConstant(constant, 1))
    return cast<RankedTensorType>(constant.getType()).getRank() <= rank;
  if (!isFloatConstant(constant, channels))
    return false;
  auto shape = cast<RankedTensorType>(constant.getType()).getShape();
  int64_t at = static_cast<int64_t>(shape.size()) - (rank - 1);
  return at >= 0 && at <= 1 && shape[at] == channels;
}

/// What `node` does to its first non-constant operand, `x`, if it is affine per channel (dimension 1).
std::optional<Affine> affineOf(onnx::NodeOp node, Value &x) {
  if (!node.getDomain().empty() || node.getOutputs().empty() || !isFloatTensor(node.getOutputs()[0]))
    return std::nullopt;
  auto type = cast<RankedTensorType>(node.getOutputs()[0].getType());
  if (type.getRank() < 2 || type.isDynamicDim(1))
    return std::nullopt;
  const int64_t channels = type.getDimSize(1);
  Affine affine{std::vector<double>(channels, 1), std::vector<double>(channels, 0)};

  if (node.is("BatchNormalization")) {
    x = node.input(0);
    // Versions 7 and 9 decide by the outputs whether they train, later ones by an attribute.
    bool trains = node.intAttr("training_mode", 0) != 0 || node.getOutputs().size() > 1;
    if (trains || node.intAttr("spatial", 1) == 0 || !x || x.getType() != type)
      return std::nullopt;
    std::vector<double> parameters[4];
    for (int i = 0; i < 4; ++i)
      if (!isFloatConstant(node.input(i + 1), channels))
        return std::nullopt;
      else
        parameters[i] = broadcast(node.input(i + 1), channels);
    const auto &[scale, bias, mean, variance] = parameters;
    double epsilon = node.floatAttr("epsilon", 1e-5f);
    for (int64_t c = 0; c < channels; ++c) {
      affine.factor[c] = scale[c] / std::sqrt(variance[c] + epsilon);
      affine.offset[c] = bias[c] - mean[c] * affine.factor[c];
    }
    return affine;
  }

  if (node->getNumOperands() != 2 || !(node.is("Add") || node.is("Sub") || node.is("Mul") || node.is("Div")))
    return std::nullopt;
  unsigned at = onnx::constantValue(node.input(0)) ? 0 : 1;
  Value constant = node.input(at);
  x = node.input(1 - at);
  if (!x || x.getType() != type || onnx::constantValue(x) || !isPerChannel(constant, type.getRank(), channels))
    return std::nullopt;
  std::vector<double> values = broadcast(constant, channels);
  if (values.empty() || (node.is("Div") && at == 0))
    return std::nullopt;
  for (int64_t c = 0; c < channels; ++c) {
    if (node.is("Mul"))
      affine.factor[c] = values[c];
    else if (node.is("Div"))
      affine.factor[c] = 1 / values[c];
    else if (node.is("Add"))
      affine.offset[c] = values[c];
    else
      affine.factor[c] = at == 0 ? -1 : 1, affine.offset[c] = at == 0 ? values[c] : -values[c];
  }
  return affine;
}

bool isFinite(const Affine &affine) {
  auto finite = [](double v) { return std::isfinite(static_cast<float>(v)); };
  return llvm::all_of(affine.factor, finite) && llvm::all_of(affine.offset, finite);
}

struct FoldAffinePass final : tilewright::impl::FoldAffinePassBase<FoldAffinePass> {
  void runOnOperation() override {
    SmallVector<onnx::NodeOp> nodes(getOperation().getBody().getOps<onnx::NodeOp>());
    for (onnx::NodeOp node : nodes) {
      if (node.is("Sum") && node->getNumOperands() == 2) {
        node.setOpType("Add");
        node.setSinceVersion(newestVersion("Add"));
      }
      Value x;
      std::optional<Affine> affine = affineOf(node, x);
      if (!affine || !isFinite(*affine))
        continue;
      auto producer = x.getDefiningOp<onnx::NodeOp>();
      if (producer && x.hasOneUse() && takesAffine(producer, *affine))
        foldInto(producer, node, *affine);
      else if (cast<RankedTensorType>(x.getType()).getRank() == 4 && !isScalar(node))
        replaceByDepthwise(node, x, *affine);
    }
  }

private:
  /// A convolution, or a matrix product whose columns are the channels. Additions behind a MatMul stay: they are its
  /// bias.
  static bool takesAffine(onnx::NodeOp producer, const Affine &affine) {
    if (!isContraction(producer))
      return false;
    auto type = cast<RankedTensorType>(producer.getOutputs()[0].getType());
    if (producer.is("MatMul"))
      return type.getRank() == 2 && llvm::all_of(affine.offset, [](double v) { return v == 0; });
    return true;
  }

  /// Functions of one number for all channels belong to the elementwise nodes around them.
  static bool isScalar(onnx::NodeOp node) {
    return !node.is("BatchNormalization") &&
           llvm::any_of(node.getInputs(), [](Value value) { return isFloatConstant(value, 1); });
  }

  static void foldInto(onnx::NodeOp producer, onnx::NodeOp node, const Affine &affine) {
    OpBuilder builder(producer);
    Value weights = producer.input(1);
    auto type = cast<RankedTensorType>(weights.getType());
    bool last = producer.is("MatMul") || (producer.is("Gemm") && producer.intAttr("transB", 0) == 0);
    const size_t channels = affine.factor.size();
    size_t inner = last ? 1 : type.getNumElements() / channels;
    onnx::ConstantBytes old(onnx::constantValue(weights));
    std::vector<float> scaled(type.getNumElements());
    for (size_t i = 0; i < scaled.size(); ++i)
      scaled[i] = static_cast<float>(old.get<float>(i) * affine.factor[(i / inner) % channels]);

    SmallVector<Value> operands(producer.getInputs());
    if (llvm::any_of(affine.factor, [](double v) { return v != 1; }))
      operands[1] = onnx::createConstant<float>(builder, weights.getLoc(), type, scaled);
    if (!producer.is("MatMul")) {
      std::vector<double> bias(channels, 0);
      if (Value value = producer.input(2))
        bias = broadcast(value, channels);
      std::vector<float> shifted(channels);
      for (size_t c = 0; c < channels; ++c)
        shifted[c] = static_cast<float>(bias[c] * affine.factor[c] + affine.offset[c]);
      auto biasType = RankedTensorType::get({static_cast<int64_t>(channels)}, builder.getF32Type());
      operands.resize(2);
      operands.push_back(onnx::createConstant<float>(builder, node.getLoc(), biasType, shifted));
    }
    producer.getInputsMutable().assign(operands);
    // The tensor that others know is the one behind the folded node.
    if (Attribute names = node->getAttr(onnx::kOutputNamesAttr))
      producer->setAttr(onnx::kOutputNamesAttr, names);
    else
      producer->removeAttr(onnx::kOutputNamesAttr);
    node.getOutputs()[0].replaceAllUsesWith(producer.getOutputs()[0]);
    node.erase();
  }

  static void replaceByDepthwise(onnx::NodeOp node, Value x, const Affine &affine) {
    OpBuilder builder(node);
    const int64_t channels = affine.factor.size();
    std::vector<float> factor(affine.factor.begin(), affine.factor.end());
    std::vector<float> offset(affine.offset.begin(), affine.offset.end());
    auto floatType = builder.getF32Type();
    Value weights = onnx::createConstant<float>(builder, node.getLoc(),
                                                RankedTensorType::get({channels, 1, 1, 1}, floatType), factor);
    Value bias =
        onnx::createConstant<float>(builder, node.getLoc(), RankedTensorType::get({channels}, floatType), offset);
    NamedAttribute attributes[] = {builder.getNamedAttr("kernel_shape", builder.getI64ArrayAttr({1, 1})),
                                   builder.getNamedAttr("group", builder.getI64IntegerAttr(channels))};
    auto conv = onnx::createNode(builder, node.getLoc(), "Conv", newestVersion("Conv"), {x, weights, bias}, x.getType(),
                                 attributes);
    if (Attribute names = node->getAttr(onnx::kOutputNamesAttr))
      conv->setAttr(onnx::kOutputNamesAttr, names);
    node.getOutputs()[0].replaceAllUsesWith(conv.getOutputs()[0]);
    node.erase();
  }
};

} // namespace
