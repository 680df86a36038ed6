//===- Move.cpp - operators that only move elements -----------------------===//
//
// Nearly all of them are one copy between two ways of walking through memory: a permutation, a slice, a broadcast or a
// part of a concatenation is a set of strides and an offset.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Constants.h"
#include "backends/cpu/Operators.h"

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

static void lowerCopy(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  if (in.size() != out.size())
    throw Unsupported("input and output differ in size");
  k.copy({in.size()}, {in, {1}, 0}, {out, {1}, 0});
}

/// Dimension i of the loops is dimension permutation[i] of the buffer.
static Access permuted(Access access, ArrayRef<int64_t> permutation) {
  Shape strides;
  for (int64_t d : permutation)
    strides.push_back(access.strides[d]);
  access.strides = strides;
  return access;
}

static void lowerTranspose(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  Shape permutation = root.intsAttr("perm");
  if (permutation.empty())
    for (int64_t d = in.shape.size() - 1; d >= 0; --d)
      permutation.push_back(d);
  if (permutation.size() != in.shape.size())
    throw Unsupported("perm does not have one number per dimension");
  for (int64_t &d : permutation)
    d = normalAxis(d, in.shape.size());
  k.copy(out.shape, permuted(k.whole(in), permutation), k.whole(out));
}

static void lowerConcat(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer out = k.output(root->getResult(0));
  int64_t axis = normalAxis(root.intAttr("axis", 0), out.shape.size()), at = 0;
  for (Value value : root.getInputs()) {
    Buffer in = k.input(value);
    Access to = k.whole(out);
    to.offset = at * to.strides[axis];
    k.copy(in.shape, k.whole(in), to);
    at += in.shape[axis];
  }
}

static void lowerSplit(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0));
  int64_t axis = normalAxis(root.intAttr("axis", 0), in.shape.size()), at = 0;
  for (Value result : root->getResults()) {
    Shape shape = shapeOf(result);
    if (!result.use_empty() || result == root->getResult(0)) {
      Access from = k.whole(in);
      from.offset = at * from.strides[axis];
      k.copy(shape, from, k.whole(k.output(result)));
    }
    at += shape[axis];
  }
}

static void lowerSlice(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  SmallVector<int64_t> starts = requireInts(root, 1, "starts"), axes = requireInts(root, 3, "axes"),
                       steps = requireInts(root, 4, "steps");
  if (axes.empty())
    for (size_t i = 0; i < starts.size(); ++i)
      axes.push_back(i);
  if (steps.empty())
    steps.assign(starts.size(), 1);
  if (axes.size() != starts.size() || steps.size() != starts.size())
    throw Unsupported("starts, axes and steps differ in length");
  Access from = k.whole(in);
  for (auto [start, rawAxis, step] : llvm::zip(starts, axes, steps)) {
    int64_t axis = normalAxis(rawAxis, in.shape.size()), dim = in.shape[axis];
    if (step == 0)
      throw Unsupported("a step of 0");
    int64_t first = start < 0 ? std::max<int64_t>(start, -dim) + dim : start;
    first = std::clamp<int64_t>(first, 0, step > 0 ? dim : std::max<int64_t>(dim - 1, 0));
    from.offset += first * from.strides[axis];
    from.strides[axis] *= step;
  }
  k.copy(out.shape, from, k.whole(out));
}

static void lowerExpand(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  k.copy(out.shape, k.broadcast(in, out.shape), k.whole(out));
}

static void lowerTile(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  if (in.size() == 0)
    return;
  // Each dimension is a number of repetitions times what is repeated.
  Shape loops;
  Access from{in, {}, 0};
  Shape strides = stridesOf(in.shape);
  for (size_t d = 0; d < in.shape.size(); ++d) {
    loops.append({out.shape[d] / in.shape[d], in.shape[d]});
    from.strides.append({0, strides[d]});
  }
  k.copy(loops, from, {out, stridesOf(loops), 0});
}

/// Depth to space splits channels into (block, block, C) or (C, block, block); space to depth is the first way back.
static void lowerDepthToSpace(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  requireRank(root.input(0), 4);
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  int64_t block = root.intAttr("blocksize", 1);
  bool forth = root.is("DepthToSpace");
  const Shape &small = forth ? in.shape : out.shape, &large = forth ? out.shape : in.shape;
  int64_t n = small[0], c = large[1], h = small[2], w = small[3];
  bool columnsFirst = forth && root.stringAttr("mode", "DCR") == "CRD";
  // Loops: n, c, h, block row, w, block column, the order of the large image.
  Shape loops{n, c, h, block, w, block};
  int64_t plane = h * w, channelStride = columnsFirst ? block * block * plane : plane;
  int64_t rowStride = columnsFirst ? block * plane : block * c * plane, columnStride = columnsFirst ? plane : c * plane;
  Shape deep{small[1] * plane, channelStride, w, rowStride, 1, columnStride};
  Access spread{forth ? out : in, stridesOf(loops), 0}, stacked{forth ? in : out, deep, 0};
  k.copy(loops, forth ? stacked : spread, forth ? spread : stacked);
}

/// Where pixel `at` of a dimension of `size` padded by `before` and `after` comes from. Negative pads crop first: what
/// is cropped is never mirrored.
static int64_t paddedFrom(int64_t at, int64_t before, int64_t after, int64_t size, StringRef mode) {
  int64_t cropped = std::max<int64_t>(-before, 0), dim = size - cropped - std::max<int64_t>(-after, 0);
  if (dim < 1)
    throw Unsupported("pads that leave nothing to " + mode.str());
  if (cropped > 0)
    return cropped + paddedFrom(at, 0, after, size - cropped, mode);
  int64_t p = at - before;
  if (dim == 1 || mode == "edge")
    return std::clamp<int64_t>(p, 0, dim - 1);
  if (mode == "wrap")
    return ((p % dim) + dim) % dim;
  int64_t period = 2 * (dim - 1);
  p = ((p % period) + period) % period;
  return p < dim ? p : period - p;
}

static void lowerPad(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  SmallVector<int64_t> pads = requireInts(root, 1, "pads"), axes = requireInts(root, 3, "axes");
  StringRef mode = root.stringAttr("mode", "constant");
  size_t rank = in.shape.size();
  if (!root.input(3))
    for (size_t d = 0; d < rank; ++d)
      axes.push_back(d);
  if (pads.size() != 2 * axes.size())
    throw Unsupported("pads needs two numbers per axis");
  Shape before(rank, 0), after(rank, 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    before[normalAxis(axes[i], rank)] = pads[i];
    after[normalAxis(axes[i], rank)] = pads[axes.size() + i];
  }

  if (mode == "constant") {
    Num value = root.input(2) ? k.scalarOperand(root.input(2)) : k.constant(in.type, 0.0);
    Access from = k.whole(in), to = k.whole(out);
    Shape count = in.shape;
    for (size_t d = 0; d < rank; ++d) {
      int64_t cut = std::max<int64_t>(-before[d], 0), shift = std::max<int64_t>(before[d], 0);
      from.offset += cut * from.strides[d];
      to.offset += shift * to.strides[d];
      count[d] = std::clamp<int64_t>(out.shape[d] - shift, 0, std::max<int64_t>(in.shape[d] - cut, 0));
    }
    k.fill(out, value);
    return k.copy(count, from, to);
  }
  if (mode != "reflect" && mode != "edge" && mode != "wrap")
    throw Unsupported("mode \"" + mode.str() + "\"; supported are constant, reflect, edge and wrap");
  if (in.size() == 0)
    throw Unsupported("an empty tensor has nothing to " + mode.str());
  SmallVector<Buffer> tables;
  for (size_t d = 0; d < rank; ++d) {
    SmallVector<int64_t> from;
    for (int64_t i = 0; i < out.shape[d]; ++i)
      from.push_back(paddedFrom(i, before[d], after[d], in.shape[d], mode));
    tables.push_back(k.table(from));
  }
  k.forEach(out.shape, [&](ArrayRef<Value> at) {
    SmallVector<Value> from;
    for (size_t d = 0; d < rank; ++d)
      from.push_back(k.toIndex(k.loadFlat(tables[d], at[d])));
    k.storeFlat(k.loadFlat(in, k.linear(from, stridesOf(in.shape))), out, k.linear(at, stridesOf(out.shape)));
  });
}

static void lowerConstantOfShape(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer out = k.output(root->getResult(0));
  Num value = k.constant(out.type, 0.0);
  if (auto elements = dyn_cast_if_present<DenseElementsAttr>(root.attr("value"))) {
    if (isa<FloatType>(elements.getElementType()))
      value = value((*elements.getValues<APFloat>().begin()).convertToDouble());
    else
      value = value.integer((*elements.getValues<APInt>().begin()).getSExtValue());
  }
  k.fill(out, value);
}

static void lowerShape(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Shape shape = shapeOf(root.input(0));
  Buffer out = k.output(root->getResult(0));
  if (root.is("Size"))
    return k.fill(out, k.constant(out.type, 0.0).integer(product(shape)));
  int64_t rank = shape.size(), start = root.intAttr("start", 0);
  start = std::clamp<int64_t>(start < 0 ? start + rank : start, 0, rank);
  Buffer table = k.table(ArrayRef<int64_t>(shape).slice(start, out.size()));
  if (out.size() > 0)
    k.copy(out.shape, k.whole(table), k.whole(out));
}

static void lowerRange(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Num start = k.scalarOperand(root.input(0)), delta = k.scalarOperand(root.input(2));
  Buffer out = k.output(root->getResult(0));
  k.forEach(out.shape, [&](ArrayRef<Value> at) {
    k.storeFlat(start + convert(k.number(at[0], k.b.getI64Type()), delta.element()) * delta, out, at[0]);
  });
}

static void lowerEyeLike(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  requireRank(root.input(0), 2);
  Buffer out = k.output(root->getResult(0));
  int64_t shift = root.intAttr("k", 0), rows = out.shape[0], columns = out.shape[1];
  k.fill(out, k.constant(out.type, 0.0));
  int64_t first = std::max<int64_t>(0, -shift), last = std::min(rows, columns - shift);
  if (last <= first)
    return;
  Access diagonal{out, {columns + 1}, first * columns + first + shift};
  Num one = k.constant(out.type, 0.0).integer(1);
  k.map({last - first}, {}, {diagonal}, [&](ArrayRef<Num>) -> SmallVector<Num> { return {one}; });
}

static void lowerTrilu(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  requireRank(root.input(0), 2);
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  size_t rank = in.shape.size();
  SmallVector<int64_t> shift = requireInts(root, 1, "k");
  bool upper = root.intAttr("upper", 1);
  Num bound = k.constant(k.b.getI64Type(), 0.0).integer(shift.empty() ? 0 : shift[0]);
  k.forEach(in.shape, [&](ArrayRef<Value> at) {
    Value where = k.linear(at, stridesOf(in.shape));
    Num x = k.loadFlat(in, where);
    Num diagonal = k.number(at[rank - 1], k.b.getI64Type()) - k.number(at[rank - 2], k.b.getI64Type());
    k.storeFlat(select(upper ? diagonal >= bound : diagonal <= bound, x, x.integer(0)), out, where);
  });
}

void addMoves(Table &table) {
  for (auto [name, since] : {std::pair<const char *, int64_t>{"Reshape", 5},
                             {"Flatten", 1},
                             {"Squeeze", 1},
                             {"Unsqueeze", 1},
                             {"Identity", 1}})
    table.push_back({.name = name, .sinceVersion = since, .lower = lowerCopy, .isCopy = true});
  auto add = [&](StringRef name, int64_t since, LowerFn lower) {
    table.push_back({.name = name.str(), .sinceVersion = since, .lower = lower});
  };
  add("Transpose", 1, lowerTranspose);
  add("Concat", 4, lowerConcat);
  add("Split", 2, lowerSplit);
  add("Slice", 10, lowerSlice);
  add("Expand", 8, lowerExpand);
  add("Tile", 6, lowerTile);
  add("DepthToSpace", 1, lowerDepthToSpace);
  add("SpaceToDepth", 1, lowerDepthToSpace);
  add("Pad", 11, lowerPad);
  add("ConstantOfShape", 9, lowerConstantOfShape);
  add("Shape", 1, lowerShape);
  add("Size", 1, lowerShape);
  add("Range", 11, lowerRange);
  add("EyeLike", 9, lowerEyeLike);
  add("Trilu", 14, lowerTrilu);
}

} // namespace tilewright::cpu
