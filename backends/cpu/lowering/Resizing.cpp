//===- Resizing.cpp - Resize ----------------------------------------------===//
//
// Where each output pixel lies among the input's is worked out here, in double precision, and becomes a table per
// dimension: input positions and their weights. The kernel only gathers and sums.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Constants.h"
#include "backends/cpu/Operators.h"

#include <cmath>

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

namespace {
/// One dimension: `taps` neighbours per output pixel.
struct Taps {
  int64_t taps = 1;
  SmallVector<int64_t> positions;
  SmallVector<float> weights;
};

struct ResizeMode {
  std::string mode, coordinates, nearest;
  double cubicA;
  bool excludeOutside, antialias;
};
} // namespace

/// Position of output pixel `out` among `size` inputs; `scale` > 0 is outputs per input, exact when it is 0: resized /
/// size.
static double coordinate(const std::string &mode, int64_t out, int64_t size, int64_t resized, double scale) {
  auto overScale = [&](double x) { return scale == 0 ? x * size / resized : x / scale; };
  if (mode == "asymmetric")
    return overScale(out);
  if (mode == "align_corners")
    return resized > 1 ? static_cast<double>(out * (size - 1)) / (resized - 1) : 0.0;
  if (mode == "tf_half_pixel_for_nn")
    return overScale(out + 0.5);
  if (mode == "pytorch_half_pixel" && resized == 1)
    return 0.0;
  if (mode == "half_pixel_symmetric") {
    double adjustment = scale == 0 ? 1.0 : resized / (scale * size), centre = size / 2.0;
    return centre * (1 - adjustment) + overScale(out + 0.5) - 0.5;
  }
  if (mode == "half_pixel" || mode == "pytorch_half_pixel")
    return overScale(out + 0.5) - 0.5;
  throw Unsupported("coordinate_transformation_mode \"" + mode + "\"");
}

static int64_t nearest(const std::string &mode, double at) {
  if (mode == "round_prefer_floor")
    return std::ceil(at - 0.5);
  if (mode == "round_prefer_ceil")
    return std::floor(at + 0.5);
  if (mode == "floor")
    return std::floor(at);
  if (mode == "ceil")
    return std::ceil(at);
  throw Unsupported("nearest_mode \"" + mode + "\"");
}

static double kernelAt(const ResizeMode &mode, double distance) {
  double d = std::abs(distance), a = mode.cubicA;
  if (mode.mode == "linear")
    return std::max(1 - d, 0.0);
  if (d <= 1)
    return (a + 2) * d * d * d - (a + 3) * d * d + 1;
  return d < 2 ? a * d * d * d - 5 * a * d * d + 8 * a * d - 4 * a : 0.0;
}

static Taps tapsOf(const ResizeMode &mode, int64_t size, int64_t resized, double scale) {
  Taps result;
  bool isNearest = mode.mode == "nearest";
  double ratio = scale == 0 ? static_cast<double>(resized) / size : scale;
  // An antialiasing filter is as much wider as the image gets smaller.
  double stretch = mode.antialias && ratio < 1 ? ratio : 1.0;
  double reach = (mode.mode == "linear" ? 1.0 : 2.0) / stretch;
  result.taps = isNearest ? 1 : 2 * static_cast<int64_t>(std::ceil(reach));
  for (int64_t out = 0; out < resized; ++out) {
    double at = coordinate(mode.coordinates, out, size, resized, scale);
    if (isNearest) {
      result.positions.push_back(std::clamp<int64_t>(nearest(mode.nearest, at), 0, size - 1));
      result.weights.push_back(1.0f);
      continue;
    }
    int64_t first = static_cast<int64_t>(std::floor(at)) - result.taps / 2 + 1;
    SmallVector<double> weights;
    double total = 0;
    for (int64_t t = 0; t < result.taps; ++t) {
      int64_t p = first + t;
      double weight = kernelAt(mode, (p - at) * stretch);
      if (mode.excludeOutside && (p < 0 || p >= size))
        weight = 0;
      total += weight;
      weights.push_back(weight);
      result.positions.push_back(std::clamp<int64_t>(p, 0, size - 1));
    }
    bool normalize = mode.excludeOutside || stretch != 1.0;
    for (double weight : weights)
      result.weights.push_back(normalize ? weight / total : weight);
  }
  return result;
}

/// Outputs per input of each dimension; 0: exactly result / input.
static SmallVector<double> scalesOf(NodeOp node, ArrayRef<int64_t> in, ArrayRef<int64_t> out) {
  SmallVector<double> scales(in.size(), 0.0);
  SmallVector<int64_t> axes = node.intsAttr("axes");
  if (axes.empty())
    for (size_t d = 0; d < in.size(); ++d)
      axes.push_back(d);
  auto axisOf = [&](size_t i) { return normalAxis(axes[i], in.size()); };
  if (Value operand = node.input(2); operand && product(shapeOf(operand)) > 0) {
    auto values = constantFloats(operand);
    if (!values || values->size() != axes.size())
      throw Unsupported("scales must be known at compile time, one per axis");
    for (size_t i = 0; i < axes.size(); ++i) {
      double scale = (*values)[i];
      int64_t d = axisOf(i);
      // 0.5 of 4 and 2 / 4 are the same thing: then the exact form.
      scales[d] = scale * in[d] == out[d] ? 0.0 : scale;
    }
    return scales;
  }
  std::string policy = node.stringAttr("keep_aspect_ratio_policy", "stretch").str();
  if (policy == "stretch")
    return scales;
  SmallVector<int64_t> sizes = requireInts(node, 3, "sizes");
  if (sizes.size() != axes.size())
    throw Unsupported("sizes must have one number per axis");
  double common = 0;
  for (size_t i = 0; i < axes.size(); ++i) {
    double scale = static_cast<double>(sizes[i]) / in[axisOf(i)];
    common = i == 0 ? scale : policy == "not_larger" ? std::min(common, scale) : std::max(common, scale);
  }
  for (size_t i = 0; i < axes.size(); ++i)
    scales[axisOf(i)] = common;
  return scales;
}

static void lowerResize(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  ResizeMode mode{root.stringAttr("mode", "nearest").str(),
                  root.stringAttr("coordinate_transformation_mode", "half_pixel").str(),
                  root.stringAttr("nearest_mode", "round_prefer_floor").str(),
                  root.floatAttr("cubic_coeff_a", -0.75f),
                  root.intAttr("exclude_outside", 0) != 0,
                  root.intAttr("antialias", 0) != 0};
  if (mode.mode != "nearest" && mode.mode != "linear" && mode.mode != "cubic")
    throw Unsupported("mode \"" + mode.mode + "\"");
  if (in.size() == 0 || out.size() == 0)
    return;
  SmallVector<double> scales = scalesOf(root, in.shape, out.shape);
  size_t rank = in.shape.size();
  SmallVector<std::optional<std::pair<Buffer, Buffer>>> tables(rank);
  Shape taps(rank, 1);
  for (size_t d = 0; d < rank; ++d) {
    if (in.shape[d] == out.shape[d] && (scales[d] == 0 || scales[d] == 1))
      continue;
    Taps dimension = tapsOf(mode, in.shape[d], out.shape[d], scales[d]);
    taps[d] = dimension.taps;
    tables[d] = {k.table(dimension.positions), k.table(dimension.weights)};
  }
  Type sumType = isa<FloatType>(in.type) ? computeType(in.type) : Type(k.b.getF32Type());
  Shape inStrides = stridesOf(in.shape);
  k.forEach(out.shape, [&](ArrayRef<Value> at) {
    // The pixel and weight at one combination of taps.
    auto tap = [&](ArrayRef<Value> t) {
      SmallVector<Value> from(at);
      std::optional<Num> weight;
      for (size_t d = 0; d < rank; ++d) {
        if (!tables[d])
          continue;
        Value entry = k.add(k.mul(at[d], taps[d]), t[d]);
        from[d] = k.toIndex(k.loadFlat(tables[d]->first, entry));
        if (taps[d] > 1) {
          Num w = convert(k.loadFlat(tables[d]->second, entry), sumType);
          weight = weight ? *weight * w : w;
        }
      }
      return std::pair(k.loadFlat(in, k.linear(from, inStrides)), weight);
    };
    Value where = k.linear(at, stridesOf(out.shape));
    if (product(taps) == 1)
      return k.storeFlat(tap(SmallVector<Value>(rank, k.index(0))).first, out, where);
    Num zero = k.constant(sumType, 0.0);
    Value sum = k.loop(k.index(0), k.index(product(taps)), k.index(1), zero.v, [&](Value t, ValueRange carried) {
      auto [pixel, weight] = tap(k.delinearize(t, taps));
      return SmallVector<Value>{fma(convert(pixel, sumType), *weight, zero.with(carried[0])).v};
    })[0];
    k.storeFlat(convert(zero.with(sum), computeType(out.type), isUnsignedType(out.type)), out, where);
  });
}

void addResizing(Table &table) { table.push_back({.name = "Resize", .sinceVersion = 11, .lower = lowerResize}); }

} // namespace tilewright::cpu
