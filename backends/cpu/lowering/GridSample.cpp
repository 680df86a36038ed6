//===- GridSample.cpp - an image at given places --------------------------===//

#include "backends/cpu/Operators.h"

#include <cmath>

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

/// The position after clamping to the border, or reflection about the image's edges.
static Num fold(Num p, int64_t size, StringRef padding, bool alignCorners) {
  auto clamp = [&](Num x) {
    Num high = x(double(size - 1)), low = x(0.0);
    return select(x < low, low, select(x > high, high, x));
  };
  if (padding == "border")
    return clamp(p);
  if (padding != "reflection")
    return p;
  double low = alignCorners ? 0.0 : -0.5, span = alignCorners ? size - 1 : size;
  if (span == 0)
    return p(0.0);
  Num offset = p - low;
  offset = offset - floor(offset / (2 * span)) * (2 * span);
  Num back = 2 * span - offset;
  return clamp(select(offset < back, offset, back) + low);
}

static void lowerGridSample(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  requireRank(root.input(0), 3);
  Buffer image = k.input(root.input(0)), grid = k.input(root.input(1)), out = k.output(root->getResult(0));
  size_t rank = image.shape.size() - 2;
  StringRef mode = root.stringAttr("mode", "linear"), padding = root.stringAttr("padding_mode", "zeros");
  bool alignCorners = root.intAttr("align_corners", 0), isNearest = mode == "nearest";
  if (!isNearest && mode != "linear" && mode != "bilinear")
    throw Unsupported("mode \"" + mode.str() + "\"; supported are linear and nearest");
  if (grid.shape.size() != rank + 2 || grid.shape.back() != static_cast<int64_t>(rank))
    throw Unsupported("the grid does not fit the image");
  if (image.size() == 0)
    throw Unsupported("an empty image");
  Type i64 = k.b.getI64Type(), real = computeType(image.type);
  Shape spatial(ArrayRef(image.shape).drop_front(2)), strides = stridesOf(spatial);
  int64_t places = product(ArrayRef(out.shape).drop_front(2)), pixels = product(spatial);
  k.forEach({image.shape[0], image.shape[1], places}, [&](ArrayRef<Value> at) {
    // Per dimension one or two neighbours: offset, weight, whether it lies inside.
    struct Tap {
      Value offset;
      Num weight, inside;
    };
    SmallVector<SmallVector<Tap>> taps;
    for (size_t d = 0; d < rank; ++d) {
      Value where = k.add(k.mul(k.add(k.mul(at[0], places), at[2]), rank), rank - 1 - d);
      Num g = convert(k.loadFlat(grid, where), real);
      double size = spatial[d];
      Num p = alignCorners ? (g + 1.0) * 0.5 * (size - 1) : ((g + 1.0) * size - 1.0) * 0.5;
      p = fold(p, spatial[d], padding, alignCorners);
      Num base = isNearest ? roundEven(p) : floor(p), fraction = p - base;
      auto &list = taps.emplace_back();
      for (int64_t n = 0; n < (isNearest ? 1 : 2); ++n) {
        Num index = convert(base, i64) + double(n), last = index.integer(spatial[d] - 1), zero = index.integer(0);
        Num clamped = select(index < zero, zero, select(index > last, last, index));
        Num weight = isNearest ? fraction(1.0) : n == 0 ? 1.0 - fraction : fraction;
        list.push_back({k.mul(k.toIndex(clamped), strides[d]), weight, index == clamped});
      }
    }
    Num sum = k.constant(real, 0.0);
    for (size_t combination = 0; combination < (isNearest ? 1u : 1u << rank); ++combination) {
      Value offset = k.mul(k.add(k.mul(at[0], image.shape[1]), at[1]), pixels);
      std::optional<Num> weight, inside;
      for (size_t d = 0; d < rank; ++d) {
        const Tap &tap = taps[d][isNearest ? 0 : combination >> d & 1];
        offset = k.add(offset, tap.offset);
        weight = weight ? *weight * tap.weight : tap.weight;
        inside = inside ? *inside & tap.inside : tap.inside;
      }
      Num pixel = convert(k.loadFlat(image, offset), real);
      if (padding == "zeros")
        pixel = select(*inside, pixel, pixel(0.0));
      sum = isNearest ? pixel : fma(pixel, *weight, sum);
    }
    k.storeFlat(sum, out, k.linear(at, stridesOf({image.shape[0], image.shape[1], places})));
  });
}

void addGridSample(Table &table) {
  table.push_back({.name = "GridSample", .sinceVersion = 16, .lower = lowerGridSample});
}

} // namespace tilewright::cpu
