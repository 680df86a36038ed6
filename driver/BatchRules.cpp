//===- BatchRules.cpp - which operators treat samples alone ---------------===//
//
// A list of what is known to be safe, so that an operator which nobody thought of is run on whole batches only. The
// operators are those that the onnx pipeline leaves: newest versions, attributes spelled out or at their defaults.
//
//===----------------------------------------------------------------------===//

#include "driver/BatchRules.h"

#include "dialects/onnx/ConstantData.h"

#include "llvm/ADT/StringMap.h"

#include <functional>

using namespace mlir;

namespace tilewright {

namespace {

const char *const kAlongBatch = "works along the batch";
const char *const kPerSample = "takes an operand per sample that is the same for all samples elsewhere";

struct BatchedNode {
  onnx::NodeOp node;
  ArrayRef<bool> batched;

  static int64_t rank(Value value) {
    auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
    return type ? type.getRank() : -1;
  }
  int64_t rank(unsigned operand) const {
    onnx::NodeOp op = node;
    return rank(op.input(operand));
  }
  /// Attribute `axis` counted from the front of operand 0.
  int64_t axis(int64_t byDefault) const {
    onnx::NodeOp op = node;
    int64_t value = op.intAttr("axis", byDefault);
    return value < 0 ? value + rank(0u) : value;
  }
  /// The operand's first size meets the batch, and there are several of it that are not the samples'.
  bool isFixedBatch(unsigned operand, int64_t resultRank) const {
    onnx::NodeOp op = node;
    Value value = op.input(operand);
    auto type = value ? dyn_cast<RankedTensorType>(value.getType()) : RankedTensorType();
    return type && !batched[operand] && type.getRank() == resultRank && type.getRank() > 0 && type.getDimSize(0) != 1;
  }
  /// Only operands of `allowed` are batched.
  bool only(ArrayRef<unsigned> allowed) const {
    for (auto [i, is] : llvm::enumerate(batched))
      if (is && !llvm::is_contained(allowed, i))
        return false;
    return true;
  }
  bool all() const {
    return llvm::all_of(batched, [](bool is) { return is; });
  }
  /// The integers of a constant operand; nothing when it is absent or not constant.
  std::optional<SmallVector<int64_t>> constant(unsigned operand) const {
    onnx::NodeOp op = node;
    Value value = op.input(operand);
    return value ? onnx::integers(onnx::constantValue(value)) : std::nullopt;
  }
};

using Rule = std::function<std::string(const BatchedNode &)>;

std::string check(bool holds, const char *otherwise) { return holds ? "" : otherwise; }

/// Operands are aligned at their last axes: a batched one must reach the first.
std::string elementwise(const BatchedNode &n, std::initializer_list<unsigned> data) {
  onnx::NodeOp node = n.node;
  int64_t rank = BatchedNode::rank(node.getResult(0));
  for (auto [i, is] : llvm::enumerate(n.batched))
    if (n.isFixedBatch(static_cast<unsigned>(i), rank) || (is && n.rank(static_cast<unsigned>(i)) != rank))
      return kAlongBatch;
  return check(data.size() == 0 || n.only(data), kPerSample);
}

Rule data(std::initializer_list<unsigned> operands = {0}) {
  std::vector<unsigned> allowed(operands);
  return [allowed](const BatchedNode &n) { return check(n.only(allowed), kPerSample); };
}

/// The data is operand 0, and the operator works along attribute `axis`.
Rule alongAxis(int64_t byDefault) {
  return [byDefault](const BatchedNode &n) { return n.axis(byDefault) == 0 ? std::string(kAlongBatch) : data()(n); };
}

/// Products of matrices `a` and `b`: rows of a, or whole matrices, are samples.
Rule product(unsigned a, unsigned b) {
  return [=](const BatchedNode &n) -> std::string {
    onnx::NodeOp node = n.node;
    if (!n.only({a, b}))
      return kPerSample;
    for (const char *flag : {"transA", "transBatchA", "transBatchB"})
      if (node.intAttr(flag, 0) != 0)
        return kAlongBatch;
    int64_t rank = BatchedNode::rank(node.getResult(0));
    if (rank >= 3 && (n.isFixedBatch(a, rank) || n.isFixedBatch(b, rank)))
      return kAlongBatch;
    if (n.batched[a] && (n.rank(a) < 2 || n.rank(a) != rank))
      return kAlongBatch;
    return check(!n.batched[b] || (n.rank(b) >= 3 && n.rank(b) == rank), kAlongBatch);
  };
}

/// `c`: the operand that is added.
std::string gemm(const BatchedNode &n, unsigned c) {
  onnx::NodeOp node = n.node;
  if (node.intAttr("transA", 0) != 0)
    return kAlongBatch;
  if (!n.only({0, c}))
    return kPerSample;
  return check(n.batched.size() <= c || (n.batched[c] ? n.rank(c) == 2 : !n.isFixedBatch(c, 2)), kAlongBatch);
}

/// All operands are batched, and the operator works along attribute `axis`.
Rule elements(int64_t byDefault) {
  return [byDefault](const BatchedNode &n) {
    return n.axis(byDefault) == 0 ? std::string(kAlongBatch) : check(n.all(), kPerSample);
  };
}

std::string gather(const BatchedNode &n) {
  if (n.batched[0])
    return n.batched[1] ? std::string(kPerSample) : check(n.axis(0) != 0, kAlongBatch);
  return check(n.axis(0) == 0, kAlongBatch); // Rows of one table for all.
}

std::string gatherNd(const BatchedNode &n) {
  onnx::NodeOp node = n.node;
  bool perSample = node.intAttr("batch_dims", 0) > 0;
  return check(n.batched[1] && n.batched[0] == perSample, kAlongBatch);
}

/// com.microsoft: y_scale, y_zero_point, then (tensor, scale, zero_point) for each part.
std::string qLinearConcat(const BatchedNode &n) {
  onnx::NodeOp node = n.node;
  int64_t axis = node.intAttr("axis", 1);
  if (axis == 0 || axis == -BatchedNode::rank(node.getResult(0)))
    return kAlongBatch;
  for (auto [i, is] : llvm::enumerate(n.batched))
    if (is != (i >= 2 && i % 3 == 2))
      return kPerSample;
  return "";
}

std::string slice(const BatchedNode &n) {
  std::optional<SmallVector<int64_t>> axes = n.constant(3);
  if (!axes || llvm::any_of(*axes, [&](int64_t axis) { return axis == 0 || axis == -n.rank(0u); }))
    return kAlongBatch;
  return data()(n);
}

std::string pad(const BatchedNode &n) {
  std::optional<SmallVector<int64_t>> pads = n.constant(1);
  if (!pads)
    return kAlongBatch;
  SmallVector<int64_t> axes = llvm::to_vector(llvm::seq<int64_t>(0, n.rank(0u)));
  onnx::NodeOp node = n.node;
  if (node.input(3)) {
    std::optional<SmallVector<int64_t>> given = n.constant(3);
    if (!given)
      return kAlongBatch;
    axes = *given;
  }
  if (pads->size() != 2 * axes.size())
    return kAlongBatch;
  for (auto [i, axis] : llvm::enumerate(axes))
    if ((axis == 0 || axis == -n.rank(0u)) && ((*pads)[i] != 0 || (*pads)[i + axes.size()] != 0))
      return kAlongBatch;
  return data()(n);
}

std::string cumSum(const BatchedNode &n) {
  std::optional<SmallVector<int64_t>> axis = n.constant(1);
  if (!axis || axis->size() != 1 || (*axis)[0] == 0 || (*axis)[0] == -n.rank(0u))
    return kAlongBatch;
  return data()(n);
}

std::string quantize(const BatchedNode &n) {
  onnx::NodeOp node = n.node;
  Value scale = node.input(1);
  auto type = scale ? dyn_cast<RankedTensorType>(scale.getType()) : RankedTensorType();
  bool onePerTensor = type && type.hasStaticShape() && type.getNumElements() == 1;
  return onePerTensor ? data()(n) : alongAxis(1)(n);
}

std::string meanVariance(const BatchedNode &n) {
  onnx::NodeOp node = n.node;
  SmallVector<int64_t> axes = node.intsAttr("axes");
  bool along = !node.attr("axes") || llvm::any_of(axes, [&](int64_t axis) { return axis == 0 || axis == -n.rank(0u); });
  return check(!along, kAlongBatch);
}

llvm::StringMap<Rule> makeRules() {
  llvm::StringMap<Rule> rules;
  auto add = [&](std::initializer_list<const char *> names, const Rule &rule) {
    for (const char *name : names)
      rules[name] = rule;
  };
  add({"Abs",
       "Acos",
       "Acosh",
       "Asin",
       "Asinh",
       "Atan",
       "Atanh",
       "BitwiseNot",
       "Cast",
       "Ceil",
       "Celu",
       "Clip",
       "Cos",
       "Cosh",
       "Dropout",
       "Elu",
       "Erf",
       "Exp",
       "Floor",
       "Gelu",
       "HardSigmoid",
       "HardSwish",
       "Identity",
       "IsInf",
       "IsNaN",
       "LeakyRelu",
       "Log",
       "Mish",
       "Neg",
       "Not",
       "Reciprocal",
       "Relu",
       "Round",
       "Selu",
       "Shrink",
       "Sigmoid",
       "Sign",
       "Sin",
       "Sinh",
       "Softplus",
       "Softsign",
       "Sqrt",
       "Swish",
       "Tan",
       "Tanh",
       "ThresholdedRelu",
       "com.microsoft::QLinearLeakyRelu",
       "com.microsoft::QLinearSigmoid",
       "com.microsoft::QuickGelu"},
      data());
  add({"Add",
       "And",
       "BitShift",
       "BitwiseAnd",
       "BitwiseOr",
       "BitwiseXor",
       "CastLike",
       "Div",
       "Equal",
       "Greater",
       "GreaterOrEqual",
       "Less",
       "LessOrEqual",
       "Max",
       "Mean",
       "Min",
       "Mod",
       "Mul",
       "Or",
       "PRelu",
       "Pow",
       "Sub",
       "Sum",
       "Where",
       "Xor",
       "com.microsoft::BiasGelu",
       "com.microsoft::FastGelu"},
      [](const BatchedNode &n) { return elementwise(n, {}); });
  add({"com.microsoft::QLinearAdd", "com.microsoft::QLinearMul"},
      [](const BatchedNode &n) { return elementwise(n, {0, 3}); });
  add({"com.microsoft::QLinearWhere"}, [](const BatchedNode &n) { return elementwise(n, {0, 1, 4}); });
  add({"QuantizeLinear", "DequantizeLinear"}, quantize);

  add({"AveragePool", "Conv", "ConvInteger", "ConvTranspose", "GlobalAveragePool", "GlobalLpPool", "GlobalMaxPool",
       "InstanceNormalization", "GroupNormalization", "LRN", "LpPool", "QLinearConv", "DepthToSpace", "SpaceToDepth",
       "com.microsoft::QLinearAveragePool", "com.microsoft::QLinearGlobalAveragePool"},
      data());
  add({"MaxPool"}, [](const BatchedNode &n) {
    // Its indices count through the whole batch.
    onnx::NodeOp node = n.node;
    return check(node->getNumResults() < 2 || node->getResult(1).use_empty(), "counts through the batch");
  });
  add({"BatchNormalization"}, [](const BatchedNode &n) {
    onnx::NodeOp node = n.node;
    return node.intAttr("training_mode", 0) != 0 ? std::string(kAlongBatch) : data()(n);
  });
  add({"GridSample"}, [](const BatchedNode &n) { return check(n.all(), kPerSample); });
  add({"Resize"}, [](const BatchedNode &n) {
    onnx::NodeOp node = n.node;
    bool crops = node.stringAttr("coordinate_transformation_mode", "half_pixel") == "tf_crop_and_resize";
    return crops ? std::string(kAlongBatch) : data()(n);
  });
  add({"Pad"}, pad);

  add({"MatMul", "MatMulInteger", "com.microsoft::FusedMatMul", "com.microsoft::MatMulIntegerToFloat"}, product(0, 1));
  add({"QLinearMatMul"}, product(0, 3));
  add({"Gemm"}, [](const BatchedNode &n) { return gemm(n, 2); });
  add({"com.microsoft::QGemm"}, [](const BatchedNode &n) { return gemm(n, 6); });

  // That the batch stays the first axis is seen from their results.
  add({"ArgMax",
       "ArgMin",
       "ReduceL1",
       "ReduceL2",
       "ReduceLogSum",
       "ReduceLogSumExp",
       "ReduceMax",
       "ReduceMean",
       "ReduceMin",
       "ReduceProd",
       "ReduceSum",
       "ReduceSumSquare",
       "com.microsoft::QLinearReduceMean",
       "Flatten",
       "OneHot",
       "Reshape",
       "Squeeze",
       "Tile",
       "Transpose",
       "Unsqueeze"},
      data());
  add({"Expand"}, [](const BatchedNode &n) { return elementwise(n, {0}); });
  add({"ConstantOfShape"}, data({}));

  add({"Hardmax", "LayerNormalization", "LogSoftmax", "LpNormalization", "RMSNormalization", "Softmax", "TopK",
       "com.microsoft::QLinearSoftmax"},
      alongAxis(-1));
  add({"com.microsoft::SkipLayerNormalization"},
      [](const BatchedNode &n) { return n.rank(0u) < 2 ? std::string(kAlongBatch) : elementwise(n, {0, 1}); });
  add({"MeanVarianceNormalization"}, meanVariance);
  add({"Split"}, alongAxis(0));
  add({"Concat"}, elements(1));
  add({"com.microsoft::QLinearConcat"}, qLinearConcat);
  add({"GatherElements", "ScatterElements"}, elements(0));
  add({"Gather"}, gather);
  add({"GatherND"}, gatherNd);
  add({"Slice"}, slice);
  add({"CumSum"}, cumSum);
  add({"Compress"}, [](const BatchedNode &n) {
    onnx::NodeOp node = n.node;
    return node.attr("axis") ? alongAxis(0)(n) : std::string(kAlongBatch);
  });
  add({"Trilu"}, [](const BatchedNode &n) { return n.rank(0u) < 3 ? std::string(kAlongBatch) : data()(n); });
  add({"ReverseSequence"}, [](const BatchedNode &n) {
    onnx::NodeOp node = n.node;
    return check(node.intAttr("batch_axis", 1) == 0 && n.all(), kAlongBatch);
  });
  return rules;
}

} // namespace

std::string mixesSamples(onnx::NodeOp node, ArrayRef<bool> batched) {
  static const llvm::StringMap<Rule> rules = makeRules();
  auto rule = rules.find(node.getQualifiedName());
  if (rule == rules.end())
    return "is not known to treat each sample alone";
  return rule->second({node, batched});
}

bool takesSampleCount(onnx::NodeOp node, unsigned index) {
  return (index == 1 && (node.is("Reshape") || node.is("Expand"))) || (index == 0 && node.is("ConstantOfShape")) ||
         (index == 3 && node.is("Resize"));
}

} // namespace tilewright
