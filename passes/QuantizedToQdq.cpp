//===- QuantizedToQdq.cpp - QLinear operators into one form ---------------===//
//
// A quantized model comes in one of two spellings: operators on integers (QLinearConv ...), or float operators between
// DequantizeLinear and QuantizeLinear. Everything that forms layers reads the second one; this turns the first into it.
// The int32 bias of a convolution has no scale of its own: it is the product of the input's and the weights'.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/normalize/NodeEditor.h"

#include <functional>

namespace tilewright {
#define GEN_PASS_DEF_QUANTIZEDTOQDQPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {

/// Builds the three stages of one node.
struct Rewriter {
  explicit Rewriter(onnx::NodeOp node) : edit(node) {}
  NodeEditor edit;

  Value in(unsigned i) { return edit.node.input(i); }
  FloatType f32() { return edit.builder.getF32Type(); }
  Type real(Type type) { return cast<TensorType>(type).clone(f32()); }

  /// DequantizeLinear of `value`; `axis` matters when the scale is a vector.
  Value dequantize(Value value, Value scale, Value zeroPoint, int64_t axis = 1) {
    SmallVector<NamedAttribute> attributes;
    if (isVector(scale))
      attributes.push_back(edit.attr("axis", axis));
    SmallVector<Value> inputs{value, scale};
    if (zeroPoint)
      inputs.push_back(zeroPoint);
    return edit.create("DequantizeLinear", inputs, real(value.getType()), attributes);
  }
  /// DequantizeLinear of inputs i, i + 1 (scale) and i + 2 (zero point).
  Value dequantizeInput(unsigned i, int64_t axis = 1) { return dequantize(in(i), in(i + 1), in(i + 2), axis); }

  /// When onnxruntime's kernel rounds: before the zero point is added, as QuantizeLinear does, or after: QLinearAdd,
  /// QLinearMul (whose whole arithmetic is its own, docs/numerics.md) and QLinearAveragePool.
  enum Rounding { BeforeZeroPoint, WithZeroPoint };

  /// QuantizeLinear to the node's result type in the node's place.
  void quantizeResult(Value value, Value scale, Value zeroPoint, Rounding rounding = BeforeZeroPoint) {
    Type type = edit.node.getResult(0).getType();
    if (!zeroPoint) // without one the result would be uint8
      zeroPoint = edit.constantScalar(cast<TensorType>(type).getElementType(), 0);
    Value result = edit.create("QuantizeLinear", {value, scale, zeroPoint}, type);
    if (rounding == WithZeroPoint)
      result.getDefiningOp()->setAttr(onnx::kRoundsWithZeroPointAttr, edit.builder.getUnitAttr());
    edit.replaceWith(result);
  }

  bool isVector(Value scale) {
    auto type = dyn_cast<RankedTensorType>(scale.getType());
    return type && type.getRank() == 1 && type.getDimSize(0) != 1;
  }

  /// factor · a · b in float32: a scalar, or a vector when one of them is.
  Value product(Value a, Value b, float factor = 1) {
    auto x = onnx::floats(onnx::constantValue(a)), y = onnx::floats(onnx::constantValue(b));
    if (x && y && !x->empty() && !y->empty() && (x->size() == 1 || y->size() == 1)) {
      SmallVector<float> values;
      for (size_t i = 0, n = std::max(x->size(), y->size()); i < n; ++i)
        values.push_back(factor * static_cast<float>((*x)[x->size() == 1 ? 0 : i]) *
                         static_cast<float>((*y)[y->size() == 1 ? 0 : i]));
      return values.size() == 1 ? edit.constantScalar(f32(), values[0]) : edit.constantFloats(values);
    }
    Type type = isVector(a) ? a.getType() : b.getType();
    Value scale = edit.create("Mul", {a, b}, type);
    return factor == 1 ? scale : edit.create("Mul", {scale, edit.constantScalar(f32(), factor)}, type);
  }

  Value realResult(StringRef op, ValueRange inputs, ArrayRef<NamedAttribute> attributes = {}) {
    return edit.create(op, inputs, real(edit.node.getResult(0).getType()), attributes);
  }
  SmallVector<NamedAttribute> attributesExcept(std::initializer_list<StringRef> names) {
    SmallVector<NamedAttribute> kept;
    for (NamedAttribute attribute : edit.node.getNodeAttributes())
      if (!llvm::is_contained(names, attribute.getName().getValue()))
        kept.push_back(attribute);
    return kept;
  }
  Value transpose(Value value, ArrayRef<int64_t> order) {
    auto type = cast<RankedTensorType>(value.getType());
    SmallVector<int64_t> shape;
    for (int64_t d : order)
      shape.push_back(type.getDimSize(d));
    return edit.create("Transpose", {value}, RankedTensorType::get(shape, type.getElementType()),
                       {edit.attr("perm", edit.builder.getI64ArrayAttr(order))});
  }
};

void qlinearConv(Rewriter &r) { // x, w, y with scale and zero point each (y: only these two), bias
  SmallVector<Value> inputs{r.dequantizeInput(0), r.dequantizeInput(3, /*axis=*/0)};
  if (Value bias = r.in(8))
    inputs.push_back(r.dequantize(bias, r.product(r.in(1), r.in(4)), nullptr, /*axis=*/0));
  Value conv = r.realResult("Conv", inputs, r.attributesExcept({}));
  r.quantizeResult(conv, r.in(6), r.in(7));
}

/// A vector of scales is per row of the first matrix and per column of the second.
void qlinearMatMul(Rewriter &r) {
  auto axisOf = [&](unsigned i, int64_t fromEnd) {
    auto type = dyn_cast<RankedTensorType>(r.in(i).getType());
    return type ? std::max<int64_t>(0, type.getRank() - fromEnd) : 0;
  };
  Value product = r.realResult("MatMul", {r.dequantizeInput(0, axisOf(0, 2)), r.dequantizeInput(3, axisOf(3, 1))});
  r.quantizeResult(product, r.in(6), r.in(7));
}

/// A, B, C (int32, in units of alpha · a scale · b scale), and y, which stays float without a scale.
void qgemm(Rewriter &r) {
  float alpha = r.edit.node.floatAttr("alpha", 1);
  SmallVector<Value> inputs{r.dequantizeInput(0), r.dequantizeInput(3, r.edit.node.intAttr("transB", 0) ? 0 : 1)};
  if (Value c = r.in(6)) {
    auto type = dyn_cast<RankedTensorType>(c.getType());
    inputs.push_back(r.dequantize(c, r.product(r.in(1), r.in(4), alpha), nullptr,
                                  type ? std::max<int64_t>(0, type.getRank() - 1) : 0));
  }
  Value gemm = r.realResult("Gemm", inputs, r.attributesExcept({}));
  if (r.in(7))
    r.quantizeResult(gemm, r.in(7), r.in(8));
  else
    r.edit.replaceWith(gemm);
}

/// Two quantized operands with broadcasting.
std::function<void(Rewriter &)> binary(StringRef op) {
  return [op](Rewriter &r) {
    Value result = r.realResult(op, {r.dequantizeInput(0), r.dequantizeInput(3)});
    r.quantizeResult(result, r.in(6), r.in(7), Rewriter::WithZeroPoint);
  };
}

/// One quantized operand; scale and zero point of the result are inputs 3 and 4.
std::function<void(Rewriter &)> unary(StringRef op) {
  return [op](Rewriter &r) {
    Value result = r.realResult(op, {r.dequantizeInput(0)}, r.attributesExcept({}));
    r.quantizeResult(result, r.in(3), r.in(4));
  };
}

/// The attribute `opset` says which Softmax is meant: before 13 everything from the axis on is one row.
void softmax(Rewriter &r) {
  Value x = r.dequantizeInput(0);
  Value result = r.realResult("Softmax", {x}, r.attributesExcept({"opset"}));
  if (r.edit.node.intAttr("opset", 13) < 13)
    cast<onnx::NodeOp>(result.getDefiningOp()).setSinceVersion(11);
  r.quantizeResult(result, r.in(3), r.in(4));
}

/// Pools may have their channels last; the float operators have them second.
std::function<void(Rewriter &)> pool(StringRef op, Rewriter::Rounding rounding) {
  return [op, rounding](Rewriter &r) {
    Value x = r.dequantizeInput(0);
    auto attributes = r.attributesExcept({"channels_last"});
    auto type = dyn_cast<RankedTensorType>(x.getType());
    auto result = dyn_cast<RankedTensorType>(r.edit.node.getResult(0).getType());
    if (!r.edit.node.intAttr("channels_last", 0))
      return r.quantizeResult(r.realResult(op, {x}, attributes), r.in(3), r.in(4), rounding);
    if (!type || !result)
      return;
    SmallVector<int64_t> first{0, type.getRank() - 1}, last{0};
    for (int64_t d = 1; d + 1 < type.getRank(); ++d) {
      first.push_back(d);
      last.push_back(d + 1);
    }
    last.push_back(1);
    SmallVector<int64_t> shape;
    for (int64_t d : first)
      shape.push_back(result.getDimSize(d));
    Value pooled = r.edit.create(op, {r.transpose(x, first)}, RankedTensorType::get(shape, r.f32()), attributes);
    r.quantizeResult(r.transpose(pooled, last), r.in(3), r.in(4), rounding);
  };
}

/// y scale, y zero point, then x, scale and zero point of each part.
void concat(Rewriter &r) {
  SmallVector<Value> parts;
  for (unsigned i = 2; i + 2 < r.edit.node.getInputs().size(); i += 3)
    parts.push_back(r.dequantizeInput(i));
  r.quantizeResult(r.realResult("Concat", parts, r.attributesExcept({})), r.in(0), r.in(1));
}

void reduceMean(Rewriter &r) {
  SmallVector<Value> inputs{r.dequantizeInput(0)};
  if (r.edit.node.attr("axes"))
    inputs.push_back(r.edit.constantInts(r.edit.node.intsAttr("axes")));
  r.quantizeResult(r.realResult("ReduceMean", inputs, r.attributesExcept({"axes"})), r.in(3), r.in(4));
}

/// condition, x, y, and the result's scale and zero point.
void where(Rewriter &r) {
  Value picked = r.realResult("Where", {r.in(0), r.dequantizeInput(1), r.dequantizeInput(4)});
  r.quantizeResult(picked, r.in(7), r.in(8));
}

/// A, B, their scales, their zero points, a float bias; the result is float.
void matMulIntegerToFloat(Rewriter &r) {
  Value product =
      r.realResult("MatMul", {r.dequantize(r.in(0), r.in(2), r.in(4)), r.dequantize(r.in(1), r.in(3), r.in(5))});
  r.edit.replaceWith(r.in(6) ? r.realResult("Add", {product, r.in(6)}) : product);
}

const std::map<std::string, std::function<void(Rewriter &)>, std::less<>> &rules() {
  static const std::map<std::string, std::function<void(Rewriter &)>, std::less<>> table{
      {"QLinearConv", qlinearConv},
      {"QLinearMatMul", qlinearMatMul},
      {"com.microsoft::QGemm", qgemm},
      {"com.microsoft::QLinearAdd", binary("Add")},
      {"com.microsoft::QLinearMul", binary("Mul")},
      {"com.microsoft::QLinearSigmoid", unary("Sigmoid")},
      {"com.microsoft::QLinearLeakyRelu", unary("LeakyRelu")},
      {"com.microsoft::QLinearSoftmax", softmax},
      {"com.microsoft::QLinearAveragePool", pool("AveragePool", Rewriter::WithZeroPoint)},
      {"com.microsoft::QLinearGlobalAveragePool", pool("GlobalAveragePool", Rewriter::BeforeZeroPoint)},
      {"com.microsoft::QLinearConcat", concat},
      {"com.microsoft::QLinearReduceMean", reduceMean},
      {"com.microsoft::QLinearWhere", where},
      {"com.microsoft::MatMulIntegerToFloat", matMulIntegerToFloat},
  };
  return table;
}

struct QuantizedToQdqPass final : tilewright::impl::QuantizedToQdqPassBase<QuantizedToQdqPass> {
  void runOnOperation() override {
    SmallVector<onnx::NodeOp> nodes;
    getOperation()->walk([&](onnx::NodeOp node) { nodes.push_back(node); });
    for (onnx::NodeOp node : nodes) {
      std::string name = node.getQualifiedName();
      if (name == "com.microsoft::QuantizeLinear" || name == "com.microsoft::DequantizeLinear") {
        node.setDomain("");
        node.setSinceVersion(canonicalVersion(node.getOpType()));
        continue;
      }
      auto rule = rules().find(name);
      if (rule == rules().end() || !llvm::all_of(node->getOperands(), isTyped) ||
          !isa<TensorType>(node.getResult(0).getType()))
        continue;
      Rewriter rewriter(node);
      rule->second(rewriter);
    }
  }

  static bool isTyped(Value value) {
    auto type = dyn_cast<TensorType>(value.getType());
    return isa<NoneType>(value.getType()) || (type && !isa<onnx::UnknownType>(type.getElementType()));
  }
};

} // namespace
