//===- Evaluator.cpp - nodes computed at compile time ---------------------===//

#include "passes/fold/Evaluator.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fold;

Operand::Operand(ElementsAttr elements)
    : attr(elements), type(cast<RankedTensorType>(elements.getShapedType())), data(elements) {}

std::optional<SmallVector<int64_t>> Context::integers(size_t i) const {
  const Operand *operand = input(i);
  return operand ? onnx::integers(operand->attr) : std::nullopt;
}

static constexpr int64_t kGrowth = 1 << 24;

static const Rules &allRules() {
  static const Rules rules = [] {
    Rules result;
    addMoveRules(result);
    addArithmeticRules(result);
    addConversionRules(result);
    addReductionRules(result);
    return result;
  }();
  return rules;
}

Results fold::evaluate(onnx::NodeOp node, int64_t byteLimit) {
  if (!node.getDomain().empty() || !node.getBodies().empty())
    return {};
  auto rule = allRules().find(node.getOpType());
  if (rule == allRules().end())
    return {};
  int64_t bytes = 0;
  const int64_t largest = byteLimit;
  // A splat is expanded to be read, but lets its results grow no more than one number does.
  auto count = [&](RankedTensorType type, bool isSplat) {
    int64_t size = static_cast<int64_t>(onnx::elementBytes(type.getElementType()));
    int64_t elements = 1, total;
    for (int64_t dim : type.getShape())
      if (__builtin_mul_overflow(elements, dim, &elements))
        return false;
    if (size == 0 || __builtin_mul_overflow(elements, size, &total))
      return false;
    bytes += isSplat ? size : total;
    return bytes <= byteLimit && total <= largest;
  };
  bool oneValue = true;
  for (Value input : node.getInputs()) {
    if (onnx::isAbsent(input))
      continue;
    ElementsAttr value = onnx::constantValue(input);
    auto type = value ? dyn_cast<RankedTensorType>(value.getShapedType()) : RankedTensorType();
    if (!type || !count(type, value.isSplat()))
      return {};
    oneValue &= value.isSplat() || type.getNumElements() <= 64;
  }
  // A few bytes can ask for any amount; what grows beyond its inputs is better computed at run time.
  byteLimit = std::min(byteLimit, std::max<int64_t>(kGrowth, 4 * bytes));
  for (Value result : node.getResults()) {
    auto type = dyn_cast<RankedTensorType>(result.getType());
    if (!type || !type.hasStaticShape() || !count(type, oneValue && node.is("ConstantOfShape")))
      return {};
  }
  Context context{node, {}};
  for (Value input : node.getInputs())
    if (onnx::isAbsent(input))
      context.inputs.emplace_back();
    else
      context.inputs.emplace_back(Operand(onnx::constantValue(input)));
  Results results = rule->second(context);
  assert((results.empty() || results.size() == node.getNumResults()) && "one constant per result");
  return results;
}

SmallVector<int64_t> fold::stridesOf(ArrayRef<int64_t> shape) {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (size_t i = shape.size(); i-- > 1;)
    strides[i - 1] = strides[i] * shape[i];
  return strides;
}

SmallVector<int64_t> fold::broadcastStrides(ArrayRef<int64_t> shape, ArrayRef<int64_t> target) {
  SmallVector<int64_t> own = stridesOf(shape), strides(target.size(), 0);
  size_t lead = target.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    strides[lead + i] = shape[i] == 1 ? 0 : own[i];
  return strides;
}

void fold::copyStrided(const char *from, ArrayRef<int64_t> fromStrides, char *to, ArrayRef<int64_t> toStrides,
                       ArrayRef<int64_t> shape, size_t size) {
  if (llvm::is_contained(shape, 0))
    return;
  if (shape.empty()) {
    std::memcpy(to, from, size);
    return;
  }
  int64_t fromStep = fromStrides.front() * static_cast<int64_t>(size),
          toStep = toStrides.front() * static_cast<int64_t>(size);
  if (shape.size() == 1) {
    if (fromStrides[0] == 1 && toStrides[0] == 1) {
      std::memcpy(to, from, size * shape[0]);
      return;
    }
    for (int64_t i = 0; i < shape[0]; ++i, from += fromStep, to += toStep)
      std::memcpy(to, from, size);
    return;
  }
  for (int64_t i = 0; i < shape[0]; ++i, from += fromStep, to += toStep)
    copyStrided(from, fromStrides.drop_front(), to, toStrides.drop_front(), shape.drop_front(), size);
}
