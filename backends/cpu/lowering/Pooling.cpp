//===- Pooling.cpp - MaxPool, AveragePool, LpPool and the global ones -------===//
//
// A pool is a reduction over a padded image. What pads hold never wins: the lowest value for a maximum, zero for a sum;
// an average divides by a count of its own.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/lowering/Windows.h"

#include <cmath>

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

/// The image as [N·C, output..., kernel...] and the result as [N·C, output...] broadcast over the kernel.
struct PoolLoops {
  Shape shape;
  Access image, result;
};

static PoolLoops loopsOf(const Window &window, Buffer image, Buffer result) {
  int64_t planes = image.shape[0] * image.shape[1];
  Shape spatial(ArrayRef(image.shape).drop_front(2)), strides = stridesOf(spatial);
  PoolLoops loops{{planes}, {image, {product(spatial)}, 0}, {result, {product(window.output)}, 0}};
  loops.shape.append(window.output.begin(), window.output.end());
  loops.shape.append(window.kernel.begin(), window.kernel.end());
  Shape resultStrides = stridesOf(window.output);
  for (size_t d = 0; d < window.rank(); ++d) {
    loops.image.strides.push_back(window.strides[d] * strides[d]);
    loops.result.strides.push_back(resultStrides[d]);
  }
  for (size_t d = 0; d < window.rank(); ++d) {
    loops.image.strides.push_back(window.dilations[d] * strides[d]);
    loops.result.strides.push_back(0);
  }
  return loops;
}

/// Sums or maxima of a window, one row of results at a time: the row is vectorized, the kernel stays inside.
static void pool(KernelBuilder &k, const Window &window, Buffer image, Buffer result, Num initial,
                 llvm::function_ref<Num(Num accumulated, Num pixel)> step,
                 llvm::function_ref<Num(Num, ArrayRef<Value> at)> finish) {
  PoolLoops loops = loopsOf(window, image, result);
  size_t rank = window.rank();
  int64_t taps = product(window.kernel);
  k.parallelLoop(loops.shape[0], product(loops.shape), [&](Value plane) {
    k.nest(window.output, [&](ArrayRef<Value> at) {
      Value corner =
          k.add(k.mul(plane, loops.image.strides[0]), k.linear(at, ArrayRef(loops.image.strides).slice(1, rank)));
      Num sum = initial;
      if (taps <= 9) {
        for (int64_t t = 0; t < taps; ++t) {
          int64_t offset = 0, rest = t;
          for (int64_t d = rank - 1; d >= 0; --d) {
            offset += rest % window.kernel[d] * loops.image.strides[1 + rank + d];
            rest /= window.kernel[d];
          }
          sum = step(sum, k.loadFlat(image, k.add(corner, offset)));
        }
      } else {
        Value total = k.loop(k.index(0), k.index(taps), k.index(1), initial.v, [&](Value t, ValueRange carried) {
          Value offset = k.linear(k.delinearize(t, window.kernel), ArrayRef(loops.image.strides).drop_front(1 + rank));
          return SmallVector<Value>{step(sum.with(carried[0]), k.loadFlat(image, k.add(corner, offset))).v};
        })[0];
        sum = sum.with(total);
      }
      Value where =
          k.add(k.mul(plane, loops.result.strides[0]), k.linear(at, ArrayRef(loops.result.strides).slice(1, rank)));
      k.storeFlat(finish(sum, at), result, where);
    });
  });
}

static Num lowest(KernelBuilder &k, Type type) { return lowestOf(k.constant(type, 0.0)); }

static Shape kernelOf(NodeOp node) {
  Shape kernel(node.intsAttr("kernel_shape"));
  if (kernel.empty())
    throw Unsupported("kernel_shape is missing");
  return kernel;
}

/// Padding must not win even against -inf, and its index must not come out: windows are cut at the image's borders.
static void maxPoolWithIndices(KernelBuilder &k, NodeOp root, const Window &window) {
  Buffer image = k.input(root.input(0)), result = k.output(root->getResult(0)), indices = k.output(root->getResult(1));
  size_t rank = window.rank();
  Shape spatial(ArrayRef(image.shape).drop_front(2));
  Shape order(rank);
  // Column-major storage order numbers the first spatial dimension fastest.
  Shape numbering = stridesOf(spatial);
  if (root.intAttr("storage_order", 0)) {
    int64_t stride = 1;
    for (size_t d = 0; d < rank; ++d) {
      numbering[d] = stride;
      stride *= spatial[d];
    }
  }
  int64_t planes = image.shape[0] * image.shape[1];
  Type i64 = k.b.getI64Type();
  k.parallelLoop(planes, planes * product(window.output) * product(window.kernel), [&](Value plane) {
    k.nest(window.output, [&](ArrayRef<Value> at) {
      Num best = lowest(k, image.type), none = k.constant(i64, -1);
      SmallVector<Value> carried =
          k.loop(k.index(0), k.index(product(window.kernel)), k.index(1), ValueRange{best.v, none.v},
                 [&](Value tap, ValueRange carried) {
                   SmallVector<Value> inKernel = k.delinearize(tap, window.kernel), position;
                   Num inside = k.constant(k.b.getI1Type(), 1);
                   inside = inside.integer(1);
                   for (size_t d = 0; d < rank; ++d) {
                     Value p = k.add(k.add(k.mul(at[d], window.strides[d]), k.mul(inKernel[d], window.dilations[d])),
                                     -window.padsBegin[d]);
                     Num x = k.number(p);
                     Num low = k.number(k.index(0)), high = k.number(k.index(spatial[d]));
                     auto cmp = [&](arith::CmpIPredicate predicate, Num y) {
                       return k.number(arith::CmpIOp::create(k.b, k.loc, predicate, x.v, y.v));
                     };
                     inside = inside & cmp(arith::CmpIPredicate::sge, low) & cmp(arith::CmpIPredicate::slt, high);
                     Value clamped = arith::MaxSIOp::create(k.b, k.loc, p, low.v);
                     position.push_back(k.min(clamped, k.index(spatial[d] - 1)));
                   }
                   Value offset = k.add(k.mul(plane, product(spatial)), k.linear(position, stridesOf(spatial)));
                   Value number = k.add(k.mul(plane, product(spatial)), k.linear(position, numbering));
                   Num pixel = k.loadFlat(image, offset), sofar = pixel.with(carried[0]);
                   Num at64 = k.number(number, i64), sofarAt = k.number(carried[1]);
                   // The first of equal pixels wins; a NaN wins over numbers.
                   Num first = sofarAt < sofarAt.integer(0);
                   Num better = inside & (first | (pixel > sofar) | (isNan(pixel) & ~isNan(sofar)));
                   return SmallVector<Value>{select(better, pixel, sofar).v, select(better, at64, sofarAt).v};
                 });
      Value where = k.add(k.mul(plane, product(window.output)), k.linear(at, stridesOf(window.output)));
      k.storeFlat(best.with(carried[0]), result, where);
      k.storeFlat(k.number(carried[1]), indices, where);
    });
  });
}

static void lowerMaxPool(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Window window = windowOf(root, kernelOf(root));
  if (root->getNumResults() > 1 && !root->getResult(1).use_empty())
    return maxPoolWithIndices(k, root, window);
  Buffer image = k.input(root.input(0)), result = k.output(root->getResult(0));
  Num low = lowest(k, image.type);
  image = padImage(k, image, window, low);
  pool(
      k, window, image, result, low, [](Num best, Num x) { return maximum(best, x); },
      [](Num best, ArrayRef<Value>) { return best; });
}

/// Pixels of a window that lie in the image (or, with `includePads`, in the padded image): the product of one number
/// per dimension.
static Num countOf(KernelBuilder &k, const Window &window, ArrayRef<int64_t> spatial, bool includePads,
                   ArrayRef<Value> at, Type element) {
  Num count = k.constant(element, 1.0);
  for (size_t d = 0; d < window.rank(); ++d) {
    int64_t lowest = includePads ? 0 : window.padsBegin[d];
    int64_t highest = spatial[d] + window.padsBegin[d] + (includePads ? window.padsEnd[d] : 0);
    SmallVector<float> counts;
    bool varies = false;
    for (int64_t o = 0; o < window.output[d]; ++o) {
      int64_t inside = 0;
      for (int64_t t = 0; t < window.kernel[d]; ++t) {
        int64_t p = o * window.strides[d] + t * window.dilations[d];
        inside += p >= lowest && p < highest;
      }
      counts.push_back(inside);
      varies |= counts.front() != counts.back();
    }
    if (!varies) {
      count = count * counts.front();
      continue;
    }
    count = count * convert(k.loadFlat(k.table(counts), at[d]), count.element());
  }
  return count;
}

static void lowerAveragePool(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Window window = windowOf(root, kernelOf(root)), original = window;
  bool includePads = root.intAttr("count_include_pad", 0);
  Buffer image = k.input(root.input(0)), result = k.output(root->getResult(0));
  Shape spatial(ArrayRef(image.shape).drop_front(2));
  Num zero = k.constant(image.type, 0.0);
  image = padImage(k, image, window, zero);
  pool(
      k, window, image, result, zero, [](Num sum, Num x) { return sum + x; },
      [&](Num sum, ArrayRef<Value> at) { return sum / countOf(k, original, spatial, includePads, at, sum.element()); });
}

static void lowerLpPool(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Window window = windowOf(root, kernelOf(root));
  int64_t p = root.intAttr("p", 2);
  Buffer image = k.input(root.input(0)), result = k.output(root->getResult(0));
  Num zero = k.constant(image.type, 0.0);
  image = padImage(k, image, window, zero);
  auto power = [&](Num x) { return p == 1 ? abs(x) : p == 2 ? x * x : libm("pow", {abs(x), x(double(p))}); };
  pool(
      k, window, image, result, zero, [&](Num sum, Num x) { return sum + power(x); },
      [&](Num sum, ArrayRef<Value>) { return p == 1   ? sum
                                             : p == 2 ? sqrt(sum)
                                                      : libm("pow", {sum, sum(1.0 / p)}); });
}

static void lowerGlobalPool(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  requireRank(root.input(0), 2);
  Buffer image = k.input(root.input(0)), result = k.output(root->getResult(0));
  int64_t planes = image.shape[0] * image.shape[1], pixels = image.size() / std::max<int64_t>(planes, 1);
  bool isMax = root.is("GlobalMaxPool");
  Num initial = isMax ? lowest(k, image.type) : k.constant(image.type, 0.0);
  k.parallelLoop(planes, image.size(), [&](Value plane) {
    Value sum = k.loop(k.index(0), k.index(pixels), k.index(1), initial.v, [&](Value p, ValueRange carried) {
      Num x = k.loadFlat(image, k.add(k.mul(plane, pixels), p)), sofar = x.with(carried[0]);
      Num next = isMax ? maximum(sofar, x) : addInAnyOrder(sofar, x);
      return SmallVector<Value>{next.v};
    })[0];
    Num total = initial.with(sum);
    k.storeFlat(isMax ? total : total / static_cast<double>(pixels), result, plane);
  });
}

void addPooling(Table &table) {
  table.push_back({.name = "MaxPool", .sinceVersion = 1, .lower = lowerMaxPool});
  table.push_back({.name = "AveragePool", .sinceVersion = 7, .lower = lowerAveragePool});
  table.push_back({.name = "LpPool", .sinceVersion = 2, .lower = lowerLpPool});
  table.push_back({.name = "GlobalAveragePool", .sinceVersion = 1, .lower = lowerGlobalPool});
  table.push_back({.name = "GlobalMaxPool", .sinceVersion = 1, .lower = lowerGlobalPool});
}

} // namespace tilewright::cpu
