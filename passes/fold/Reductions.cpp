//===- Reductions.cpp - folding reductions of integers --------------------===//
//
// What shape arithmetic needs: sums, products and extremes of integers, whose results do not depend on the order.
//
//===----------------------------------------------------------------------===//

#include "passes/fold/Evaluator.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fold;

static Results reduce(const Context &context) {
  const Operand *x = context.input(0);
  auto values = context.integers(0);
  RankedTensorType type = context.resultType();
  if (!values || !x->element().isSignlessInteger() || x->element().isInteger(1))
    return {};
  int64_t rank = static_cast<int64_t>(x->shape().size());
  SmallVector<bool> reduced(rank, !context.input(1));
  if (auto axes = context.integers(1)) {
    if (axes->empty())
      reduced.assign(rank, context.node.intAttr("noop_with_empty_axes", 0) == 0);
    for (int64_t axis : *axes)
      reduced[axis < 0 ? axis + rank : axis] = true;
  } else if (context.input(1)) {
    return {};
  }
  // Strides of the result in the input's dimensions: 0 where it is reduced.
  SmallVector<int64_t> kept, strides(rank, 0);
  int64_t step = 1;
  for (int64_t d = rank; d-- > 0;)
    if (!reduced[d]) {
      strides[d] = step;
      step *= x->shape()[d];
    }
  StringRef op = context.node.getOpType();
  std::vector<std::optional<int64_t>> sums(type.getNumElements());
  SmallVector<int64_t> own = stridesOf(x->shape());
  for (size_t i = 0; i < values->size(); ++i) {
    int64_t at = 0;
    for (int64_t d = 0; d < rank; ++d)
      at += static_cast<int64_t>(i) / own[d] % x->shape()[d] * strides[d];
    auto &sum = sums[at];
    int64_t value = (*values)[i];
    uint64_t a = static_cast<uint64_t>(sum.value_or(0)), b = static_cast<uint64_t>(value);
    sum = !sum                 ? value
          : op == "ReduceSum"  ? static_cast<int64_t>(a + b)
          : op == "ReduceProd" ? static_cast<int64_t>(a * b)
          : op == "ReduceMax"  ? std::max(*sum, value)
                               : std::min(*sum, value);
  }
  Buffer result(type);
  for (size_t i = 0; i < sums.size(); ++i) {
    if (!sums[i])
      return {}; // of nothing
    std::memcpy(result.data() + i * result.elementSize(), &*sums[i], result.elementSize());
  }
  return {result.finish()};
}

void fold::addReductionRules(Rules &rules) {
  for (const char *op : {"ReduceSum", "ReduceProd", "ReduceMax", "ReduceMin"})
    rules[op] = reduce;
}
