//===- RecognizeActivations.cpp - activations spelled as arithmetic -------===//
//
// Exporters write hard-swish, hard-sigmoid and GELU as chains of Add, Clip, Mul, Div and Erf. One node instead is one
// table or one fused loop for whoever lowers it, and one layer to quantize.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/normalize/NodeEditor.h"

namespace tilewright {
#define GEN_PASS_DEF_RECOGNIZEACTIVATIONSPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {

/// The number that all elements of a float constant are, if adding or multiplying it leaves a shape as it is.
std::optional<double> scalar(Value value) {
  ElementsAttr constant = onnx::constantValue(value);
  if (!constant || !isa<FloatType>(constant.getElementType()))
    return std::nullopt;
  auto values = onnx::floats(constant, 64);
  if (!values || values->empty() || !llvm::all_equal(*values))
    return std::nullopt;
  return values->front();
}

bool near(std::optional<double> value, double wanted) {
  return value && std::abs(*value - wanted) <= 1e-4 * std::max(1.0, std::abs(wanted));
}

/// value = (sum of `rest`) + number, through one Add or Sub of a constant.
std::pair<Value, double> splitSum(Value value) {
  if (auto add = onnx::producer(value, "Add"))
    for (unsigned i : {0u, 1u})
      if (auto number = scalar(add.input(i)))
        return {add.input(1 - i), *number};
  if (auto sub = onnx::producer(value, "Sub"))
    if (auto number = scalar(sub.input(1)))
      return {sub.input(0), -*number};
  return {value, 0};
}

/// value = number · product of `factors`, through Mul, and Div by constants.
struct Product {
  double number = 1;
  SmallVector<Value> factors;

  void add(Value value, int depth = 0) {
    if (auto number = scalar(value)) {
      this->number *= *number;
    } else if (auto mul = onnx::producer(value, "Mul"); mul && depth < 4) {
      add(mul.input(0), depth + 1);
      add(mul.input(1), depth + 1);
    } else if (auto div = onnx::producer(value, "Div");
               div && depth < 4 && scalar(div.input(1)) && *scalar(div.input(1)) != 0) {
      this->number /= *scalar(div.input(1));
      add(div.input(0), depth + 1);
    } else {
      factors.push_back(value);
    }
  }
};

/// clip(slope · x + offset, 0, top) for the one value x.
struct Ramp {
  Value x;
  double slope = 1, offset = 0, top = 0;
};
std::optional<Ramp> ramp(Value value) {
  if (auto sigmoid = onnx::producer(value, "HardSigmoid"))
    return Ramp{sigmoid.input(0), sigmoid.floatAttr("alpha", 0.2f), sigmoid.floatAttr("beta", 0.5f), 1};
  auto clip = onnx::producer(value, "Clip");
  if (!clip || !clip.input(1) || !clip.input(2) || !near(scalar(clip.input(1)), 0) || !scalar(clip.input(2)))
    return std::nullopt;
  auto [rest, offset] = splitSum(clip.input(0));
  Product product;
  product.add(rest);
  if (product.factors.size() != 1 || *scalar(clip.input(2)) <= 0)
    return std::nullopt;
  return Ramp{product.factors[0], product.number, offset, *scalar(clip.input(2))};
}

struct RecognizeActivationsPass final : tilewright::impl::RecognizeActivationsPassBase<RecognizeActivationsPass> {
  void runOnOperation() override {
    SmallVector<onnx::NodeOp> nodes;
    getOperation()->walk([&](onnx::NodeOp node) {
      if (node.is("Mul") || node.is("Div") || node.is("Clip"))
        nodes.push_back(node);
    });
    for (onnx::NodeOp node : nodes)
      recognize(node);
  }

  void recognize(onnx::NodeOp node) {
    Product product;
    product.add(node.getResult(0));
    auto &factors = product.factors;
    if (factors.size() == 1 && factors[0] == node.getResult(0) && !node.is("Clip"))
      return;
    if (factors.size() == 1) {
      if (auto found = ramp(factors[0]); found && !onnx::producer(factors[0], "HardSigmoid"))
        hardSigmoid(node, *found, product.number);
      return;
    }
    if (factors.size() != 2)
      return;
    for (unsigned i : {0u, 1u}) {
      Value x = factors[i], other = factors[1 - i];
      if (auto found = ramp(other); found && found->x == x) {
        // x · ramp ÷ top, with slope 1 and offset 3 for a top of 6.
        bool swish = near(found->slope / found->top, 1.0 / 6) && near(found->offset / found->top, 0.5) &&
                     near(product.number * found->top, 1);
        if (swish)
          return replace(node, "HardSwish", x, {});
      }
      if (isOnePlusErf(other, x) && near(product.number, 0.5))
        return replace(node, "Gelu", x, {});
    }
  }

  /// 1 + erf(x ÷ √2)
  static bool isOnePlusErf(Value value, Value x) {
    auto [rest, one] = splitSum(value);
    auto erf = onnx::producer(rest, "Erf");
    if (!erf || !near(one, 1))
      return false;
    Product argument;
    argument.add(erf.input(0));
    return argument.factors.size() == 1 && argument.factors[0] == x && near(argument.number, std::sqrt(0.5));
  }

  /// clip(slope · x + offset, 0, top) · number, which must end at 1.
  void hardSigmoid(onnx::NodeOp node, const Ramp &found, double number) {
    if (!near(number * found.top, 1) || found.offset == 0) // without an offset it is a plain Clip
      return;
    OpBuilder b(node);
    replace(node, "HardSigmoid", found.x,
            {b.getNamedAttr("alpha", b.getF32FloatAttr(static_cast<float>(found.slope / found.top))),
             b.getNamedAttr("beta", b.getF32FloatAttr(static_cast<float>(found.offset / found.top)))});
  }

  static void replace(onnx::NodeOp node, StringRef op, Value x, ArrayRef<NamedAttribute> attributes) {
    // A constant with more dimensions than x would have changed the shape.
    if (node.getResult(0).getType() != x.getType())
      return;
    NodeEditor edit(node);
    edit.replaceWith(edit.create(op, {x}, x.getType(), attributes));
  }
};

} // namespace
