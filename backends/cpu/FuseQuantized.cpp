//===- FuseQuantized.cpp - DequantizeLinear, op, QuantizeLinear to integers -===//
//
// Between a dequantized input and a quantized output a convolution's float sums depend on their order, and a value near
// a tie with them. As one integer operator the result is exact, and the same as onnxruntime's and the array's. Sums and
// products that stand for onnxruntime's QLinearAdd and QLinearMul become these again, which round differently.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/AverageWindow.h"
#include "backends/cpu/Constants.h"
#include "backends/cpu/KernelBuilder.h"
#include "backends/cpu/Passes.h"
#include "common/QuantizeLinear.h"
#include "passes/SumBounds.h"

#include <cmath>

namespace tilewright {
#define GEN_PASS_DEF_FUSEQUANTIZEDPASS
#include "backends/cpu/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;
using onnx::NodeOp;

namespace {

/// A DequantizeLinear.
struct Dequantized {
  Value quantized, scale, zeroPoint; // zeroPoint may be null
  int64_t axis = 1;
  bool perTensor() const { return product(shapeOf(scale)) == 1; }
};

std::optional<Dequantized> dequantized(Value value) {
  auto node = value ? value.getDefiningOp<NodeOp>() : NodeOp();
  if (!node || !node.is("DequantizeLinear") || node.intAttr("block_size", 0) != 0)
    return std::nullopt;
  return Dequantized{node.input(0), node.input(1), node.input(2), node.intAttr("axis", 1)};
}

bool isByte(Value value) { return elementOf(value).getIntOrFloatBitWidth() == 8 && !elementOf(value).isInteger(1); }

/// The node behind `value` if nothing else reads it.
NodeOp onlyUse(Value value) {
  auto node = value.getDefiningOp<NodeOp>();
  return node && value.hasOneUse() ? node : NodeOp();
}

/// True when `bias` is an int32 constant's DequantizeLinear with scale a · b, element by element.
bool scalesMatch(const Dequantized &bias, const Dequantized &a, const Dequantized &b) {
  auto scale = constantFloats(bias.scale), left = constantFloats(a.scale), right = constantFloats(b.scale);
  if (!elementOf(bias.quantized).isInteger(32) || !scale || !left || !right || left->size() != 1)
    return false;
  if (bias.zeroPoint) {
    auto zero = constantInts(bias.zeroPoint);
    if (!zero || llvm::any_of(*zero, [](int64_t z) { return z != 0; }))
      return false;
  }
  size_t count = std::max(scale->size(), right->size());
  for (size_t i = 0; i < count; ++i) {
    float product = static_cast<float>((*left)[0]) * static_cast<float>((*right)[right->size() == 1 ? 0 : i]);
    if (static_cast<float>((*scale)[scale->size() == 1 ? 0 : i]) != product)
      return false;
  }
  return true;
}

struct Fusion {
  NodeOp quantize;
  /// Bounds of a Relu or Clip between the operator and the QuantizeLinear.
  double low = -INFINITY, high = INFINITY;
  NodeOp op;

  explicit Fusion(NodeOp quantize) : quantize(quantize) {
    if (!isByte(quantize->getResult(0)) || product(shapeOf(quantize.input(1))) != 1 ||
        quantize.intAttr("block_size", 0))
      return;
    op = onlyUse(quantize.input(0));
    if (!op || !(op.is("Relu") || op.is("Clip")))
      return;
    if (op.is("Relu")) {
      low = 0;
    } else {
      auto bound = [&](unsigned i, double absent) -> std::optional<double> {
        if (!op.input(i))
          return absent;
        auto values = constantFloats(op.input(i));
        return values && values->size() == 1 ? std::optional((*values)[0]) : std::nullopt;
      };
      auto first = bound(1, -INFINITY), second = bound(2, INFINITY);
      if (!first || !second || !(*first <= *second)) {
        op = nullptr;
        return;
      }
      low = *first;
      high = *second;
    }
    op = onlyUse(op.input(0));
  }

  void run(bool additionsOnly);

private:
  /// Puts `fused`, and a Clip to `bounds` where they are narrower than the type, in the QuantizeLinear's place.
  void replace(OpBuilder &builder, NodeOp fused, std::pair<int64_t, int64_t> bounds);
  void fuseBinary();
  void fuseContraction();
  void fuseAverage();

  Value none(OpBuilder &b) { return onnx::NoneOp::create(b, op.getLoc(), b.getNoneType()); }
  /// A node of the result's shape, and its element type unless `element` is given.
  NodeOp create(OpBuilder &b, StringRef domain, StringRef name, int64_t version, ArrayRef<Value> operands,
                DictionaryAttr attributes, Type element = nullptr) {
    SmallVector<Value> inputs;
    Type result = quantize->getResult(0).getType();
    if (element)
      result = cast<RankedTensorType>(result).clone(element);
    for (Value operand : operands)
      inputs.push_back(operand ? operand : none(b));
    NodeOp created = NodeOp::create(b, op.getLoc(), TypeRange(result), inputs, b.getStringAttr(name),
                                    b.getStringAttr(domain), b.getI64IntegerAttr(version), attributes, ArrayAttr(), 0);
    // What passes noted on the operator (why it is on the host) holds for the fused one.
    for (NamedAttribute note : op->getDiscardableAttrs())
      if (note.getName() != onnx::kOutputNamesAttr)
        created->setDiscardableAttr(note.getName(), note.getValue());
    return created;
  }
  /// No activations make a sum of products leave int32.
  bool sumsFitInt32(const Dequantized &a, const Dequantized &b, const std::optional<Dequantized> &bias, int64_t axis);
  /// Bounds in the result's integers; nothing when the scale is not known.
  std::optional<std::pair<int64_t, int64_t>> integerBounds();
};

std::optional<std::pair<int64_t, int64_t>> Fusion::integerBounds() {
  Type type = elementOf(quantize->getResult(0));
  int64_t lowest = isUnsignedType(type) ? 0 : -128, highest = isUnsignedType(type) ? 255 : 127;
  if (low == -INFINITY && high == INFINITY)
    return std::pair(lowest, highest);
  auto scale = constantFloats(quantize.input(1));
  auto zero = quantize.input(2) ? constantInts(quantize.input(2)) : SmallVector<int64_t>{0};
  if (!scale || !zero || zero->size() != 1 || !((*scale)[0] > 0)) // a negative scale exchanges the bounds
    return std::nullopt;
  auto rounding = quantize->hasAttr(onnx::kRoundsWithZeroPointAttr) ? QuantizeRounding::WithZeroPoint
                                                                    : QuantizeRounding::BeforeZeroPoint;
  auto quantized = [&](double bound) {
    return quantizeLinear(static_cast<float>(bound), static_cast<float>((*scale)[0]), (*zero)[0], lowest, highest,
                          rounding);
  };
  return std::pair(quantized(low), quantized(high));
}

/// The lowest and the highest byte of `x` without its zero point.
static std::pair<int64_t, int64_t> byteRange(const Dequantized &x) {
  bool isUnsigned = isUnsignedType(elementOf(x.quantized));
  auto zeros = x.zeroPoint ? constantInts(x.zeroPoint) : SmallVector<int64_t>{0};
  if (!zeros)
    return {-255, 255};
  return {(isUnsigned ? 0 : -128) - *llvm::max_element(*zeros), (isUnsigned ? 255 : 127) - *llvm::min_element(*zeros)};
}

bool Fusion::sumsFitInt32(const Dequantized &a, const Dequantized &b, const std::optional<Dequantized> &bias,
                          int64_t axis) {
  Shape shape = shapeOf(b.quantized);
  auto [low, high] = byteRange(a);
  std::optional<SmallVector<int64_t>> biases = SmallVector<int64_t>{0};
  if (bias)
    biases = constantInts(bias->quantized);
  auto weights = constantInts(b.quantized), zeros = b.zeroPoint ? constantInts(b.zeroPoint) : SmallVector<int64_t>{0};
  if (!biases || biases->empty())
    return false;
  bool isMatrix = shape.size() == 2 || op.is("Conv");
  if (!weights || !zeros || zeros->empty() || !isMatrix || shape[axis] == 0) {
    // Any bytes: the widest sums. The reduction of a batch of matrices is the last axis but one.
    int64_t terms = isMatrix ? product(shape) / std::max<int64_t>(shape[axis], 1) : shape[shape.size() - 2];
    auto [least, most] = byteRange(b);
    int64_t weight = std::max(-least, most), activation = std::max(-low, high);
    SumBounds bounds(*llvm::max_element(*biases, [](int64_t x, int64_t y) { return std::abs(x) < std::abs(y); }),
                     -activation, activation);
    bounds.add(weight, terms);
    return bounds.fitInt32();
  }
  int64_t channels = shape[axis], inner = product(ArrayRef(shape).drop_front(axis + 1));
  SmallVector<SumBounds> sums;
  for (int64_t c = 0; c < channels; ++c)
    sums.emplace_back((*biases)[biases->size() == 1 ? 0 : c], low, high);
  for (auto [i, weight] : llvm::enumerate(*weights)) {
    int64_t c = static_cast<int64_t>(i) / inner % channels;
    sums[c].add(weight - (*zeros)[zeros->size() == 1 ? 0 : c]);
  }
  return llvm::all_of(sums, [](const SumBounds &sum) { return sum.fitInt32(); });
}

void Fusion::run(bool additionsOnly) {
  if (!op)
    return;
  if (op.is("Add") || op.is("Mul"))
    return fuseBinary();
  if (!additionsOnly && (op.is("AveragePool") || op.is("GlobalAveragePool") || op.is("ReduceMean")))
    return fuseAverage();
  if (!additionsOnly && (op.is("Conv") || op.is("MatMul") || op.is("Gemm")))
    fuseContraction();
}

/// onnxruntime's QLinearAdd and QLinearMul have their own roundings; those of ONNX's float operators are left as they
/// are.
void Fusion::fuseBinary() {
  auto a = dequantized(op.input(0)), b = dequantized(op.input(1));
  auto bounds = integerBounds();
  Type type = elementOf(quantize->getResult(0));
  if (!quantize->hasAttr(onnx::kRoundsWithZeroPointAttr) || !a || !b || !bounds || !a->perTensor() || !b->perTensor() ||
      elementOf(a->quantized) != type || elementOf(b->quantized) != type || !elementOf(a->scale).isF32() ||
      !elementOf(b->scale).isF32() || !elementOf(quantize.input(1)).isF32())
    return;
  OpBuilder builder(quantize);
  NodeOp fused = create(builder, "com.microsoft", ("QLinear" + op.getOpType()).str(), 1,
                        {a->quantized, a->scale, a->zeroPoint, b->quantized, b->scale, b->zeroPoint, quantize.input(1),
                         quantize.input(2)},
                        builder.getDictionaryAttr({}));
  replace(builder, fused, *bounds);
}

/// As the array does it: the integers are added, exactly, and multiplied once by scale_x / (scale_y · count).
void Fusion::fuseAverage() {
  auto x = dequantized(op.input(0));
  auto bounds = integerBounds();
  auto scaleX = x ? constantFloats(x->scale) : std::nullopt, scaleY = constantFloats(quantize.input(1));
  auto isScale = [](double scale) { return std::isfinite(scale) && scale > 0; };
  if (quantize->hasAttr(onnx::kRoundsWithZeroPointAttr) || !bounds || !scaleX || !scaleY || scaleX->size() != 1 ||
      !isByte(x->quantized) || !isScale((*scaleX)[0]) || !isScale((*scaleY)[0]) || !elementOf(x->scale).isF32() ||
      !elementOf(quantize.input(1)).isF32())
    return;
  std::optional<AverageWindow> window = AverageWindow::of(op);
  if (!window)
    return;
  SmallVector<float> factors = llvm::map_to_vector(window->counts, [&](int64_t count) {
    return static_cast<float>((*scaleX)[0] / ((*scaleY)[0] * static_cast<double>(count)));
  });
  if (!llvm::all_of(factors, isScale))
    return;

  OpBuilder builder(quantize);
  auto constant = [&](ArrayRef<int64_t> shape, Type element, auto values) -> Value {
    auto elements = DenseElementsAttr::get(RankedTensorType::get(shape, element), values);
    return onnx::ConstantOp::create(builder, op.getLoc(), elements.getType(), elements);
  };
  Shape result = shapeOf(op->getResult(0));
  int64_t channels = result[1];
  SmallVector<int64_t> onesShape{channels, 1}, factorShape(result);
  onesShape.append(window->kernel);
  factorShape[0] = factorShape[1] = 1;
  if (llvm::all_equal(factors)) {
    factors.resize(1);
    factorShape.clear();
  }
  auto ints = [&](StringRef name, ArrayRef<int64_t> values) {
    return builder.getNamedAttr(name, builder.getI64ArrayAttr(values));
  };
  Value sums = create(builder, "", "ConvInteger", 10,
                      {x->quantized, constant(onesShape, builder.getI8Type(), ArrayRef<int8_t>(1)), x->zeroPoint},
                      builder.getDictionaryAttr({ints("kernel_shape", window->kernel), ints("strides", window->strides),
                                                 ints("dilations", window->dilations), ints("pads", window->pads),
                                                 builder.getNamedAttr("group", builder.getI64IntegerAttr(channels))}),
                      builder.getI32Type())
                   ->getResult(0);
  Value real =
      create(builder, "", "Cast", 13, {sums},
             builder.getDictionaryAttr(builder.getNamedAttr("to", builder.getI64IntegerAttr(1))), builder.getF32Type())
          ->getResult(0);
  Value scaled = create(builder, "", "Mul", 14, {real, constant(factorShape, builder.getF32Type(), ArrayRef(factors))},
                        builder.getDictionaryAttr({}), builder.getF32Type())
                     ->getResult(0);
  NodeOp fused = create(builder, "", "QuantizeLinear", quantize.getSinceVersion(),
                        {scaled, constant({}, builder.getF32Type(), ArrayRef<float>(1.0f)), quantize.input(2)},
                        quantize.getNodeAttributes());
  replace(builder, fused, *bounds);
}

void Fusion::fuseContraction() {
  auto a = dequantized(op.input(0)), b = dequantized(op.input(1));
  auto bounds = integerBounds();
  if (!a || !b || !bounds || !isByte(a->quantized) || !isByte(b->quantized) || !a->perTensor())
    return;
  std::optional<Dequantized> bias;
  if (Value operand = op.input(2)) {
    bias = dequantized(operand);
    if (!bias || !scalesMatch(*bias, *a, *b))
      return;
  }
  // The axis along which the integer operators take scales of b.
  int64_t rank = shapeOf(op.input(1)).size(), axis = b->axis < 0 ? b->axis + rank : b->axis;
  bool transposed = op.is("Gemm") && op.intAttr("transB", 0);
  int64_t wanted = op.is("Conv") || transposed ? 0 : rank - 1;
  if (!b->perTensor() && (axis != wanted || (op.is("MatMul") && rank != 2)))
    return;
  if (op.is("Gemm") && (op.floatAttr("alpha", 1.0f) != 1.0f || (bias && op.floatAttr("beta", 1.0f) != 1.0f)))
    return;
  if (op.is("Gemm") && bias && product(shapeOf(bias->quantized)) != shapeOf(op->getResult(0)).back())
    return;

  if (!sumsFitInt32(*a, *b, bias, wanted))
    return;

  OpBuilder builder(quantize);
  Value scale = quantize.input(1), zero = quantize.input(2);
  NodeOp fused;
  if (op.is("Conv")) {
    fused = create(builder, "", "QLinearConv", 10,
                   {a->quantized, a->scale, a->zeroPoint, b->quantized, b->scale, b->zeroPoint, scale, zero,
                    bias ? bias->quantized : Value()},
                   op.getNodeAttributes());
  } else if (op.is("MatMul")) {
    fused = create(builder, "", "QLinearMatMul", 10,
                   {a->quantized, a->scale, a->zeroPoint, b->quantized, b->scale, b->zeroPoint, scale, zero},
                   builder.getDictionaryAttr({}));
  } else {
    SmallVector<NamedAttribute> kept;
    for (StringRef name : {"transA", "transB"})
      if (Attribute value = op.attr(name))
        kept.push_back(builder.getNamedAttr(name, value));
    fused = create(builder, "com.microsoft", "QGemm", 1,
                   {a->quantized, a->scale, a->zeroPoint, b->quantized, b->scale, b->zeroPoint,
                    bias ? bias->quantized : Value(), scale, zero},
                   builder.getDictionaryAttr(kept));
  }
  replace(builder, fused, *bounds);
}

void Fusion::replace(OpBuilder &builder, NodeOp fused, std::pair<int64_t, int64_t> bounds) {
  Type type = elementOf(quantize->getResult(0));
  int64_t lowest = isUnsignedType(type) ? 0 : -128, highest = isUnsignedType(type) ? 255 : 127;
  if (bounds.first > lowest || bounds.second < highest) {
    auto constant = [&](int64_t value) -> Value {
      auto scalar = DenseElementsAttr::get(RankedTensorType::get({}, type), APInt(8, value & 0xFF, /*isSigned=*/false));
      return onnx::ConstantOp::create(builder, op.getLoc(), scalar.getType(), scalar);
    };
    fused = create(builder, "", "Clip", 13, {fused->getResult(0), constant(bounds.first), constant(bounds.second)},
                   builder.getDictionaryAttr({}));
  }
  if (Attribute names = quantize->getAttr(onnx::kOutputNamesAttr))
    fused->setAttr(onnx::kOutputNamesAttr, names);
  quantize->getResult(0).replaceAllUsesWith(fused->getResult(0));
}

struct FuseQuantizedPass final : tilewright::impl::FuseQuantizedPassBase<FuseQuantizedPass> {
  using FuseQuantizedPassBase::FuseQuantizedPassBase;
  void runOnOperation() override {
    SmallVector<NodeOp> nodes;
    getOperation().walk([&](NodeOp node) { nodes.push_back(node); });
    for (NodeOp node : nodes)
      if (node.is("QuantizeLinear") && node.input(0))
        Fusion(node).run(additionsOnly);
    // What only fused nodes read is gone; nodes have no effects.
    for (NodeOp node : llvm::reverse(nodes))
      if (node->use_empty())
        node->erase();
  }
};

} // namespace
