//===- Normalization.cpp - softmax and the norms --------------------------===//
//
// One row is normalized by one thread in a few passes over it. Variances are means of squared differences, never
// differences of means. Half-width floats are computed in float32 throughout.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Operators.h"

#include <cmath>

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

namespace {
/// A row of `count` elements, `stride` apart, that begins at `base`.
struct Row {
  KernelBuilder &k;
  Value base;
  int64_t count, stride;

  Value at(Value i) const { return k.add(base, k.mul(i, stride)); }
  Num fold(Num initial, llvm::function_ref<Num(Num sofar, Value i)> step) const {
    return initial.with(k.loop(k.index(0), k.index(count), k.index(1), initial.v, [&](Value i, ValueRange carried) {
      return SmallVector<Value>{step(initial.with(carried[0]), i).v};
    })[0]);
  }
  void each(llvm::function_ref<void(Value i)> body) const { k.loop(count, body); }
  /// Mean and 1 / sqrt(variance + epsilon) of `in` along the row.
  std::pair<Num, Num> moments(Buffer in, double epsilon) const {
    Num zero = k.constant(computeType(in.type), 0.0);
    Num mean = fold(zero, [&](Num s, Value i) { return addInAnyOrder(s, k.loadFlat(in, at(i))); }) / double(count);
    Num variance = fold(zero, [&](Num s, Value i) {
      Num d = k.loadFlat(in, at(i)) - mean;
      return addInAnyOrder(s, d * d);
    });
    return {mean, 1.0 / sqrt(variance / double(count) + epsilon)};
  }
};

/// Rows along one axis.
struct Rows {
  int64_t outer, count, inner;
  Rows(ArrayRef<int64_t> shape, int64_t axis)
      : outer(product(shape.take_front(axis))), count(shape[axis]), inner(product(shape.drop_front(axis + 1))) {}
  void forEach(KernelBuilder &k, llvm::function_ref<void(const Row &row, Value number)> body) const {
    // exp and its like count for about eight steps.
    k.parallelLoop(outer * inner, outer * inner * count * 8, [&](Value number) {
      SmallVector<Value> at = k.delinearize(number, {outer, inner});
      body(Row{k, k.add(k.mul(at[0], count * inner), at[1]), count, inner}, number);
    });
  }
};
} // namespace

static void lowerSoftmax(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  bool isLog = root.is("LogSoftmax"), isHalf = computeType(in.type) != in.type;
  if (in.size() == 0)
    return;
  Rows rows(in.shape, normalAxis(root.intAttr("axis", -1), in.shape.size()));
  rows.forEach(k, [&](const Row &row, Value) {
    Num zero = k.constant(in.type, 0.0);
    auto x = [&](Value i) { return k.loadFlat(in, row.at(i)); };
    Num highest = row.fold(lowestOf(zero), [&](Num m, Value i) { return maximum(m, x(i)); });
    // The exponentials wait in the output unless that would round them.
    bool keep = !isLog && !isHalf;
    Num sum = row.fold(zero, [&](Num s, Value i) {
      Num e = exp(x(i) - highest);
      if (keep)
        k.storeFlat(e, out, row.at(i));
      return addInAnyOrder(s, e);
    });
    Num log = isLog ? libm("log", {sum}) : sum;
    row.each([&](Value i) {
      Num y = isLog ? x(i) - highest - log : (keep ? k.loadFlat(out, row.at(i)) : exp(x(i) - highest)) / sum;
      k.storeFlat(y, out, row.at(i));
    });
  });
}

static void lowerHardmax(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  if (in.size() == 0)
    return;
  Rows rows(in.shape, normalAxis(root.intAttr("axis", -1), in.shape.size()));
  Type i64 = k.b.getI64Type();
  rows.forEach(k, [&](const Row &row, Value) {
    Num first = k.loadFlat(in, row.base);
    SmallVector<Value> best = k.loop(
        k.index(1), k.index(row.count), k.index(1), ValueRange{first.v, k.constant(i64, 0).v},
        [&](Value i, ValueRange carried) {
          Num x = k.loadFlat(in, row.at(i)), sofar = x.with(carried[0]);
          Num beats = x > sofar;
          return SmallVector<Value>{select(beats, x, sofar).v, select(beats, k.number(i, i64), k.number(carried[1])).v};
        });
    row.each([&](Value i) {
      Num isBest = k.number(i, i64) == k.number(best[1]);
      k.storeFlat(select(isBest, first(1.0), first(0.0)), out, row.at(i));
    });
  });
}

/// A per-element parameter of the normalized dimensions, which may broadcast.
static Num parameter(KernelBuilder &k, Value value, ArrayRef<int64_t> shape, Value i) {
  Buffer buffer = k.input(value);
  if (buffer.size() == product(shape))
    return k.loadFlat(buffer, i);
  Access access = k.broadcast(buffer, shape);
  return k.loadFlat(buffer, k.linear(k.delinearize(i, shape), access.strides));
}

static void lowerLayerNorm(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  bool isRms = root.is("RMSNormalization");
  int64_t axis = normalAxis(root.intAttr("axis", -1), in.shape.size());
  Shape normalized(ArrayRef(in.shape).drop_front(axis));
  for (unsigned i = 1; i <= 2; ++i)
    if (root.input(i) && shapeOf(root.input(i)).size() > normalized.size())
      throw Unsupported("scale and bias with more dimensions than are normalized");
  double epsilon = root.floatAttr("epsilon", 1e-5f);
  auto extra = [&](unsigned i) -> std::optional<Buffer> {
    if (i >= root->getNumResults() || root->getResult(i).use_empty())
      return std::nullopt;
    return k.output(root->getResult(i));
  };
  std::optional<Buffer> means = extra(1), deviations = extra(2);
  Rows rows({product(ArrayRef(in.shape).take_front(axis)), product(normalized)}, 1);
  rows.forEach(k, [&](const Row &row, Value number) {
    Num zero = k.constant(computeType(in.type), 0.0), mean = zero, scale = zero;
    if (isRms) {
      Num squares = row.fold(zero, [&](Num s, Value i) {
        Num x = k.loadFlat(in, row.at(i));
        return addInAnyOrder(s, x * x);
      });
      scale = 1.0 / sqrt(squares / double(row.count) + epsilon);
    } else {
      std::tie(mean, scale) = row.moments(in, epsilon);
    }
    row.each([&](Value i) {
      Num y = (k.loadFlat(in, row.at(i)) - mean) * scale;
      if (root.input(1))
        y = y * parameter(k, root.input(1), normalized, i);
      if (root.input(2))
        y = y + parameter(k, root.input(2), normalized, i);
      k.storeFlat(y, out, row.at(i));
    });
    if (means)
      k.storeFlat(convert(mean, computeType(means->type)), *means, number);
    if (deviations)
      k.storeFlat(convert(scale, computeType(deviations->type)), *deviations, number);
  });
}

/// InstanceNormalization, and GroupNormalization with scale and bias per channel.
static void lowerInstanceNorm(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  requireRank(root.input(0), 2);
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  int64_t channels = in.shape[1], groups = root.is("GroupNormalization") ? root.intAttr("num_groups", 1) : channels;
  if (groups < 1 || channels % groups != 0)
    throw Unsupported("num_groups does not divide the channels");
  int64_t perGroup = channels / groups, pixels = product(ArrayRef(in.shape).drop_front(2));
  if (product(shapeOf(root.input(1))) != channels)
    throw Unsupported("scale must have one element per channel");
  double epsilon = root.floatAttr("epsilon", 1e-5f);
  Buffer scale = k.input(root.input(1)), bias = k.input(root.input(2));
  Rows rows({in.shape[0] * groups, perGroup * pixels}, 1);
  rows.forEach(k, [&](const Row &row, Value number) {
    auto [mean, deviation] = row.moments(in, epsilon);
    Value group = k.rem(number, groups);
    k.loop(perGroup, [&, mean = mean, deviation = deviation](Value c) {
      Value channel = k.add(k.mul(group, perGroup), c);
      Num factor = k.loadFlat(scale, channel), shift = k.loadFlat(bias, channel);
      k.loop(pixels, [&](Value p) {
        Value at = row.at(k.add(k.mul(c, pixels), p));
        k.storeFlat((k.loadFlat(in, at) - mean) * deviation * factor + shift, out, at);
      });
    });
  });
}

static void lowerLpNorm(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  int64_t p = root.intAttr("p", 2);
  if (p != 1 && p != 2)
    throw Unsupported("p = " + std::to_string(p) + "; supported are 1 and 2");
  Rows rows(in.shape, normalAxis(root.intAttr("axis", -1), in.shape.size()));
  rows.forEach(k, [&](const Row &row, Value) {
    Num norm = row.fold(k.constant(in.type, 0.0), [&](Num s, Value i) {
      Num x = k.loadFlat(in, row.at(i));
      return addInAnyOrder(s, p == 1 ? abs(x) : x * x);
    });
    if (p == 2)
      norm = sqrt(norm);
    // A row of zeros stays one.
    norm = select(norm == norm(0.0), norm(1.0), norm);
    row.each([&](Value i) { k.storeFlat(k.loadFlat(in, row.at(i)) / norm, out, row.at(i)); });
  });
}

/// x / (bias + alpha/size * sum of squares over neighbouring channels)^beta
static void lowerLrn(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  requireRank(root.input(0), 2);
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  int64_t size = root.intAttr("size", 1), channels = in.shape[1], pixels = product(ArrayRef(in.shape).drop_front(2));
  double alpha = root.floatAttr("alpha", 1e-4f), beta = root.floatAttr("beta", 0.75f),
         bias = root.floatAttr("bias", 1.0f);
  int64_t before = (size - 1) / 2, after = size - 1 - before;
  k.parallelLoop(in.shape[0] * channels, in.size() * size, [&](Value plane) {
    Value channel = k.rem(plane, channels), image = k.div(plane, channels);
    Value first = arith::MaxSIOp::create(k.b, k.loc, k.add(channel, -before), k.index(0));
    Value last = k.min(k.add(channel, after + 1), k.index(channels));
    k.loop(pixels, [&](Value p) {
      Value base = k.add(k.mul(image, channels * pixels), p);
      Num zero = k.constant(in.type, 0.0);
      Num squares = zero.with(k.loop(first, last, k.index(1), zero.v, [&](Value c, ValueRange carried) {
        Num x = k.loadFlat(in, k.add(base, k.mul(c, pixels)));
        return SmallVector<Value>{fma(x, x, zero.with(carried[0])).v};
      })[0]);
      Num x = k.loadFlat(in, k.add(base, k.mul(channel, pixels)));
      Num scale = squares * (alpha / size) + bias;
      k.storeFlat(x / libm("pow", {scale, scale(beta)}), out, k.add(base, k.mul(channel, pixels)));
    });
  });
}

void addNormalizations(Table &table) {
  auto add = [&](StringRef name, int64_t since, LowerFn lower) {
    table.push_back({.name = name.str(), .sinceVersion = since, .lower = lower});
  };
  add("Softmax", 13, lowerSoftmax);
  add("LogSoftmax", 13, lowerSoftmax);
  add("Hardmax", 13, lowerHardmax);
  add("LayerNormalization", 17, lowerLayerNorm);
  add("RMSNormalization", 23, lowerLayerNorm);
  add("InstanceNormalization", 6, lowerInstanceNorm);
  add("GroupNormalization", 21, lowerInstanceNorm);
  add("LpNormalization", 1, lowerLpNorm);
  add("LRN", 1, lowerLrn);
}

} // namespace tilewright::cpu
