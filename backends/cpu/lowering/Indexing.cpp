//===- Indexing.cpp - Gather, Scatter, OneHot, TopK -----------------------===//
//
// Indices are data: they are brought into range (negative ones count from the end, others are clamped) before they
// touch memory, so that a bad index gives a wrong element and never a wild read.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Constants.h"
#include "backends/cpu/Operators.h"

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

static Value safeIndex(KernelBuilder &k, Num index, int64_t dim) {
  Num i = convert(index, k.b.getI64Type());
  i.isUnsigned = false;
  Num zero = i.integer(0), last = i.integer(std::max<int64_t>(dim - 1, 0));
  i = select(i < zero, i + i.integer(dim), i);
  return k.toIndex(select(i < zero, zero, select(i > last, last, i)));
}

static void lowerGather(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer data = k.input(root.input(0)), indices = k.input(root.input(1)), out = k.output(root->getResult(0));
  int64_t axis = normalAxis(root.intAttr("axis", 0), data.shape.size());
  int64_t outer = product(ArrayRef(data.shape).take_front(axis)), dim = data.shape[axis];
  int64_t inner = product(ArrayRef(data.shape).drop_front(axis + 1));
  if (out.size() == 0)
    return;
  k.forEach({outer, indices.size(), inner}, [&](ArrayRef<Value> at) {
    Value from = safeIndex(k, k.loadFlat(indices, at[1]), dim);
    Value source = k.add(k.mul(k.add(k.mul(at[0], dim), from), inner), at[2]);
    k.storeFlat(k.loadFlat(data, source), out, k.linear(at, stridesOf({outer, indices.size(), inner})));
  });
}

static void lowerGatherElements(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer data = k.input(root.input(0)), indices = k.input(root.input(1)), out = k.output(root->getResult(0));
  int64_t axis = normalAxis(root.intAttr("axis", 0), data.shape.size());
  if (indices.shape.size() != data.shape.size())
    throw Unsupported("data and indices differ in rank");
  if (out.size() == 0)
    return;
  k.forEach(out.shape, [&](ArrayRef<Value> at) {
    Value where = k.linear(at, stridesOf(out.shape));
    SmallVector<Value> from(at);
    from[axis] = safeIndex(k, k.loadFlat(indices, where), data.shape[axis]);
    k.storeFlat(k.loadFlat(data, k.linear(from, stridesOf(data.shape))), out, where);
  });
}

/// The linear index of the slice that index tuple `tuple` of `indices` [..., depth] names in `shape`.
static Value sliceAt(KernelBuilder &k, Buffer indices, Value tuple, int64_t depth, ArrayRef<int64_t> shape,
                     ArrayRef<int64_t> strides) {
  Value at = k.index(0);
  for (int64_t d = 0; d < depth; ++d) {
    Num index = k.loadFlat(indices, k.add(k.mul(tuple, depth), d));
    at = k.add(at, k.mul(safeIndex(k, index, shape[d]), strides[d]));
  }
  return at;
}

static void lowerGatherND(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer data = k.input(root.input(0)), indices = k.input(root.input(1)), out = k.output(root->getResult(0));
  int64_t batchDims = root.intAttr("batch_dims", 0), depth = indices.shape.back();
  int64_t batch = product(ArrayRef(data.shape).take_front(batchDims));
  ArrayRef<int64_t> shape = ArrayRef(data.shape).drop_front(batchDims);
  Shape strides = stridesOf(shape);
  int64_t slice = product(shape.drop_front(depth));
  if (out.size() == 0)
    return;
  int64_t tuples = indices.size() / std::max<int64_t>(depth, 1) / batch;
  if (depth == 0)
    tuples = product(ArrayRef(indices.shape).drop_back()) / batch;
  Shape loops{batch, tuples, slice};
  k.forEach(loops, [&](ArrayRef<Value> at) {
    Value from = sliceAt(k, indices, k.add(k.mul(at[0], tuples), at[1]), depth, shape, strides);
    Value source = k.add(k.add(k.mul(at[0], product(shape)), from), at[2]);
    k.storeFlat(k.loadFlat(data, source), out, k.linear(at, stridesOf(loops)));
  });
}

static Num combine(StringRef reduction, Num old, Num update) {
  if (reduction == "add")
    return old + update;
  if (reduction == "mul")
    return old * update;
  if (reduction == "max")
    return maximum(old, update);
  if (reduction == "min")
    return minimum(old, update);
  if (reduction == "none")
    return update;
  throw Unsupported("reduction \"" + reduction.str() + "\"");
}

/// Updates run in order on one thread: equal indices have a defined result.
static void lowerScatterElements(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer data = k.input(root.input(0)), indices = k.input(root.input(1)), updates = k.input(root.input(2));
  Buffer out = k.output(root->getResult(0));
  int64_t axis = normalAxis(root.intAttr("axis", 0), data.shape.size());
  if (indices.shape.size() != data.shape.size() || updates.shape != indices.shape)
    throw Unsupported("data, indices and updates differ in rank or shape");
  StringRef reduction = root.stringAttr("reduction", "none");
  k.copy({data.size()}, {data, {1}, 0}, {out, {1}, 0});
  if (indices.size() == 0 || data.size() == 0)
    return;
  k.nest(indices.shape, [&](ArrayRef<Value> at) {
    Value where = k.linear(at, stridesOf(indices.shape));
    SmallVector<Value> to(at);
    to[axis] = safeIndex(k, k.loadFlat(indices, where), data.shape[axis]);
    Value target = k.linear(to, stridesOf(data.shape));
    k.storeFlat(combine(reduction, k.loadFlat(out, target), k.loadFlat(updates, where)), out, target);
  });
}

static void lowerScatterND(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer data = k.input(root.input(0)), indices = k.input(root.input(1)), updates = k.input(root.input(2));
  Buffer out = k.output(root->getResult(0));
  int64_t depth = indices.shape.back(), slice = product(ArrayRef(data.shape).drop_front(depth));
  int64_t tuples = product(ArrayRef(indices.shape).drop_back());
  StringRef reduction = root.stringAttr("reduction", "none");
  k.copy({data.size()}, {data, {1}, 0}, {out, {1}, 0});
  if (tuples * slice == 0 || data.size() == 0)
    return;
  k.nest({tuples, slice}, [&](ArrayRef<Value> at) {
    Value to = k.add(sliceAt(k, indices, at[0], depth, data.shape, stridesOf(data.shape)), at[1]);
    Num update = k.loadFlat(updates, k.add(k.mul(at[0], slice), at[1]));
    k.storeFlat(combine(reduction, k.loadFlat(out, to), update), out, to);
  });
}

static void lowerOneHot(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer indices = k.input(root.input(0)), values = k.input(root.input(2)), out = k.output(root->getResult(0));
  int64_t axis = normalAxis(root.intAttr("axis", -1), out.shape.size()), depth = out.shape[axis];
  int64_t outer = product(ArrayRef(out.shape).take_front(axis)),
          inner = product(ArrayRef(out.shape).drop_front(axis + 1));
  k.forEach({outer, depth, inner}, [&](ArrayRef<Value> at) {
    Num index = convert(k.loadFlat(indices, k.add(k.mul(at[0], inner), at[2])), k.b.getI64Type());
    index.isUnsigned = false;
    index = select(index < index.integer(0), index + index.integer(depth), index);
    Num off = k.loadFlat(values, k.index(0)), on = k.loadFlat(values, k.index(1));
    Num hot = index == k.number(at[1], k.b.getI64Type());
    k.storeFlat(select(hot, on, off), out, k.linear(at, stridesOf({outer, depth, inner})));
  });
}

/// The k best of a row in order, each found by a pass over the row: the next in the order (value, index) after the one
/// before. A NaN ranks above every number; of equals the lower index comes first.
static void lowerTopK(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0));
  Shape shape = shapeOf(root->getResult(0));
  int64_t axis = normalAxis(root.intAttr("axis", -1), in.shape.size()), count = in.shape[axis], best = shape[axis];
  int64_t outer = product(ArrayRef(in.shape).take_front(axis)),
          inner = product(ArrayRef(in.shape).drop_front(axis + 1));
  bool largest = root.intAttr("largest", 1);
  auto result = [&](unsigned i) -> std::optional<Buffer> {
    if (i > 0 && root->getResult(i).use_empty())
      return std::nullopt;
    return k.output(root->getResult(i));
  };
  std::optional<Buffer> values = result(0), indices = result(1);
  if (best == 0 || in.size() == 0)
    return;
  if (best > count)
    throw Unsupported("k is larger than the axis");
  Type i64 = k.b.getI64Type();
  auto ranksBefore = [&](Num x, Num y) {
    Num numbers = largest ? x > y : x < y;
    if (!x.isFloat())
      return numbers;
    return largest ? (isNan(x) & ~isNan(y)) | (numbers & ~isNan(y)) : (~isNan(x) & isNan(y)) | (numbers & ~isNan(x));
  };
  k.parallelLoop(outer * inner, in.size() * best, [&](Value row) {
    SmallVector<Value> at = k.delinearize(row, {outer, inner});
    Value base = k.add(k.mul(at[0], count * inner), at[1]), target = k.add(k.mul(at[0], best * inner), at[1]);
    auto x = [&](Value i) { return k.loadFlat(in, k.add(base, k.mul(i, inner))); };
    Num zero = k.constant(i64, 0), none = zero.integer(-1);
    k.loop(k.index(0), k.index(best), k.index(1), ValueRange{x(k.index(0)).v, none.v}, [&](Value n, ValueRange before) {
      Num lastValue = k.loadFlat(in, base).with(before[0]), lastIndex = k.number(before[1]);
      SmallVector<Value> found = k.loop(
          k.index(0), k.index(count), k.index(1), ValueRange{lastValue.v, none.v}, [&](Value i, ValueRange carried) {
            Num value = x(i), index = k.number(i, i64), bestValue = value.with(carried[0]),
                bestIndex = k.number(carried[1]);
            Num tied = ~ranksBefore(lastValue, value) & ~ranksBefore(value, lastValue);
            Num left = (lastIndex < zero) | ranksBefore(lastValue, value) | (tied & (index > lastIndex));
            Num better = left & ((bestIndex < zero) | ranksBefore(value, bestValue));
            return SmallVector<Value>{select(better, value, bestValue).v, select(better, index, bestIndex).v};
          });
      Value where = k.add(target, k.mul(n, inner));
      k.storeFlat(lastValue.with(found[0]), *values, where);
      if (indices)
        k.storeFlat(k.number(found[1]), *indices, where);
      return found;
    });
  });
}

/// The first sequence_lens[b] steps of each sequence turned around.
static void lowerReverseSequence(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  requireRank(root.input(0), 2);
  Buffer in = k.input(root.input(0)), lengths = k.input(root.input(1)), out = k.output(root->getResult(0));
  int64_t time = root.intAttr("time_axis", 0), batch = root.intAttr("batch_axis", 1);
  if ((time != 0 || batch != 1) && (time != 1 || batch != 0))
    throw Unsupported("axes other than 0 and 1");
  if (lengths.size() != in.shape[batch])
    throw Unsupported("sequence_lens needs one length per sequence");
  Type i64 = k.b.getI64Type();
  k.forEach(in.shape, [&](ArrayRef<Value> at) {
    Num t = k.number(at[time], i64), length = k.loadFlat(lengths, at[batch]);
    Num back = length - 1.0 - t;
    SmallVector<Value> from(at);
    from[time] = safeIndex(k, select(t < length, back, t), in.shape[time]);
    k.storeFlat(k.loadFlat(in, k.linear(from, stridesOf(in.shape))), out, k.linear(at, stridesOf(in.shape)));
  });
}

void addIndexing(Table &table) {
  auto add = [&](StringRef name, int64_t since, LowerFn lower) {
    table.push_back({.name = name.str(), .sinceVersion = since, .lower = lower});
  };
  add("Gather", 1, lowerGather);
  add("GatherElements", 11, lowerGatherElements);
  add("GatherND", 11, lowerGatherND);
  add("ScatterElements", 11, lowerScatterElements);
  add("ScatterND", 11, lowerScatterND);
  add("OneHot", 9, lowerOneHot);
  add("TopK", 10, lowerTopK);
  add("ReverseSequence", 10, lowerReverseSequence);
}

} // namespace tilewright::cpu
