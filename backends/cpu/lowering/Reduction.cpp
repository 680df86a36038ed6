//===- Reduction.cpp - Reduce*, ArgMax, ArgMin, CumSum --------------------===//
//
// A reduction is three passes: the neutral element, the fold, a last formula. Half-width floats are summed in float32;
// whole numbers exactly.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Constants.h"
#include "backends/cpu/Operators.h"

#include <cmath>

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

namespace {
struct Reduction {
  const char *name;
  Num (*initial)(Num like);
  /// Folds one element in.
  Num (*step)(Num sofar, Num x);
  /// From the folded value and the number of elements; null: as it is.
  Num (*finish)(Num folded, double count) = nullptr;
};

Num zero(Num x) { return x.integer(0); }
Num one(Num x) { return x.integer(1); }
Num ratio(Num sum, double count) { return sum / count; }
/// `function` of a float, or of an integer in float64, truncated.
template <typename Function> Num asFloat(Num x, Function function) {
  if (x.isFloat())
    return function(x);
  return convert(function(convert(x, x.b->getF64Type())), x.element(), x.isUnsigned);
}
Num logOf(Num x, double) {
  return asFloat(x, [](Num v) { return libm("log", {v}); });
}
Num rootOf(Num x, double) {
  return asFloat(x, [](Num v) { return sqrt(v); });
}

const Reduction kReductions[] = {
    {"ReduceSum", zero, addInAnyOrder},
    {"ReduceMean", zero, addInAnyOrder, ratio},
    {"ReduceProd", one, [](Num y, Num x) { return y * x; }},
    {"ReduceMax", lowestOf, maximum},
    {"ReduceMin", highestOf, minimum},
    {"ReduceL1", zero, [](Num y, Num x) { return addInAnyOrder(y, abs(x)); }},
    {"ReduceL2", zero, [](Num y, Num x) { return addInAnyOrder(y, x * x); }, rootOf},
    {"ReduceSumSquare", zero, [](Num y, Num x) { return addInAnyOrder(y, x * x); }},
    {"ReduceLogSum", zero, addInAnyOrder, logOf},
};

/// Strides of the kept dimensions over the input's, 0 where a dimension is reduced.
struct ReducedAxes {
  llvm::SmallVector<bool> reduced;
  Shape strides;
  int64_t count = 1;
};
} // namespace

/// `axes` from operand 1 (13 or 18 on) or the attribute.
static ReducedAxes axesOf(NodeOp node) {
  Shape shape = shapeOf(node.input(0));
  SmallVector<int64_t> axes = node.input(1) ? requireInts(node, 1, "axes") : node.intsAttr("axes");
  ReducedAxes result;
  result.reduced.assign(shape.size(), false);
  if (axes.empty() && !node.intAttr("noop_with_empty_axes", 0))
    result.reduced.assign(shape.size(), true);
  for (int64_t axis : axes)
    result.reduced[normalAxis(axis, shape.size())] = true;
  Shape kept = shape;
  for (size_t d = 0; d < shape.size(); ++d)
    if (result.reduced[d]) {
      kept[d] = 1;
      result.count *= shape[d];
    }
  result.strides = stridesOf(kept);
  for (size_t d = 0; d < shape.size(); ++d)
    if (result.reduced[d])
      result.strides[d] = 0;
  return result;
}

static void foldInto(KernelBuilder &k, Buffer in, const ReducedAxes &axes, Buffer folded, const Reduction &reduction) {
  k.fill(folded, reduction.initial(k.constant(folded.type, 0.0)));
  k.reduce(in.shape, {k.whole(in)}, {{folded, axes.strides, 0}},
           [&](ArrayRef<Num> x) -> SmallVector<Num> { return {reduction.step(x[1], x[0])}; });
}

static void lowerReduction(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  const Reduction &reduction =
      *llvm::find_if(kReductions, [&](const Reduction &r) { return root.getOpType() == r.name; });
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  ReducedAxes axes = axesOf(root);
  bool isHalf = isa<FloatType>(in.type) && computeType(in.type) != in.type;
  Buffer folded = isHalf ? k.scratch(out.shape, computeType(in.type)) : out;
  foldInto(k, in, axes, folded, reduction);
  if (isHalf || reduction.finish)
    k.map(out.shape, {k.whole(folded)}, {k.whole(out)}, [&](ArrayRef<Num> x) -> SmallVector<Num> {
      return {reduction.finish ? reduction.finish(x[0], axes.count) : x[0]};
    });
}

/// log(sum(exp(x - max))) + max: no overflow on the way.
static void lowerLogSumExp(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  ReducedAxes axes = axesOf(root);
  Type type = isa<FloatType>(in.type) ? computeType(in.type) : k.b.getF64Type();
  Buffer highest = k.scratch(out.shape, type), sum = k.scratch(out.shape, type);
  foldInto(k, in, axes, highest, {"", lowestOf, [](Num y, Num x) { return maximum(y, convert(x, y.element())); }});
  // Where all is -inf (or +inf) the difference would be NaN.
  k.map(out.shape, {k.whole(highest)}, {k.whole(highest)},
        [&](ArrayRef<Num> x) -> SmallVector<Num> { return {select(abs(x[0]) == x[0](INFINITY), x[0](0.0), x[0])}; });
  k.fill(sum, k.constant(type, 0.0));
  k.reduce(in.shape, {k.whole(in), {highest, axes.strides, 0}}, {{sum, axes.strides, 0}},
           [&](ArrayRef<Num> x) -> SmallVector<Num> { return {addInAnyOrder(x[2], exp(convert(x[0], type) - x[1]))}; });
  k.map(out.shape, {k.whole(sum), k.whole(highest)}, {k.whole(out)}, [&](ArrayRef<Num> x) -> SmallVector<Num> {
    Num result = libm("log", {x[0]}) + x[1];
    bool isWhole = !isa<FloatType>(in.type);
    return {isWhole ? convert(result, storageType(in.type), isUnsignedType(in.type)) : result};
  });
}

static void lowerArg(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  int64_t axis = normalAxis(root.intAttr("axis", 0), in.shape.size());
  int64_t outer = product(ArrayRef(in.shape).take_front(axis)), count = in.shape[axis];
  int64_t inner = product(ArrayRef(in.shape).drop_front(axis + 1));
  if (count == 0)
    throw Unsupported("an empty axis has no extreme");
  bool isMax = root.is("ArgMax"), last = root.intAttr("select_last_index", 0);
  Type i64 = k.b.getI64Type();
  k.parallelLoop(outer * inner, in.size(), [&](Value row) {
    SmallVector<Value> at = k.delinearize(row, {outer, inner});
    Value base = k.add(k.mul(at[0], count * inner), at[1]);
    Num first = k.loadFlat(in, base);
    SmallVector<Value> best =
        k.loop(k.index(1), k.index(count), k.index(1), ValueRange{first.v, k.constant(i64, 0).v},
               [&](Value i, ValueRange carried) {
                 Num x = k.loadFlat(in, k.add(base, k.mul(i, inner))), sofar = x.with(carried[0]),
                     at = k.number(carried[1]);
                 // A NaN beats every number; of equals the first (or last) wins.
                 Num beats = last ? (isMax ? x >= sofar : x <= sofar) : (isMax ? x > sofar : x < sofar);
                 if (x.isFloat()) {
                   Num nan = last ? isNan(x) : isNan(x) & ~isNan(sofar);
                   beats = nan | (beats & ~isNan(sofar));
                 }
                 return SmallVector<Value>{select(beats, x, sofar).v, select(beats, k.number(i, i64), at).v};
               });
    k.storeFlat(k.number(best[1]), out, row);
  });
}

static void lowerCumSum(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  SmallVector<int64_t> axes = requireInts(root, 1, "axis");
  int64_t axis = normalAxis(axes.empty() ? 0 : axes[0], in.shape.size());
  int64_t outer = product(ArrayRef(in.shape).take_front(axis)), count = in.shape[axis];
  int64_t inner = product(ArrayRef(in.shape).drop_front(axis + 1));
  bool exclusive = root.intAttr("exclusive", 0), reverse = root.intAttr("reverse", 0);
  k.parallelLoop(outer * inner, in.size(), [&](Value row) {
    SmallVector<Value> at = k.delinearize(row, {outer, inner});
    Value base = k.add(k.mul(at[0], count * inner), at[1]);
    k.loop(k.index(0), k.index(count), k.index(1), k.constant(in.type, 0.0).v, [&](Value i, ValueRange carried) {
      Value step = reverse ? arith::SubIOp::create(k.b, k.loc, k.index(count - 1), i).getResult() : i;
      Value where = k.add(base, k.mul(step, inner));
      Num x = k.loadFlat(in, where), before = x.with(carried[0]), after = before + x;
      k.storeFlat(exclusive ? before : after, out, where);
      return SmallVector<Value>{after.v};
    });
  });
}

void addReductions(Table &table) {
  for (const Reduction &reduction : kReductions)
    table.push_back({.name = reduction.name, .sinceVersion = 1, .lower = lowerReduction});
  table.push_back({.name = "ReduceLogSumExp", .sinceVersion = 1, .lower = lowerLogSumExp});
  table.push_back({.name = "ArgMax", .sinceVersion = 1, .lower = lowerArg});
  table.push_back({.name = "ArgMin", .sinceVersion = 1, .lower = lowerArg});
  table.push_back({.name = "CumSum", .sinceVersion = 11, .lower = lowerCumSum});
}

} // namespace tilewright::cpu
