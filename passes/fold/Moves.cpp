//===- Moves.cpp - folding what only moves elements -----------------------===//

#include "passes/fold/Evaluator.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::fold;

/// The same elements under another shape: no byte is touched.
static Results view(const Context &context) {
  const Operand *x = context.input(0);
  RankedTensorType type = context.resultType();
  if (!x || x->count() != type.getNumElements())
    return {};
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(x->attr))
    return {DenseResourceElementsAttr::get(type, resource.getRawHandle())};
  return {cast<DenseElementsAttr>(x->attr).reshape(type)};
}

/// A splat stays one whatever is picked from it.
static std::optional<Results> splat(const Operand &x, RankedTensorType type) {
  if (!x.attr.isSplat() || !isa<DenseElementsAttr>(x.attr))
    return std::nullopt;
  return Results{cast<DenseElementsAttr>(x.attr).resizeSplat(type)};
}

static Results transpose(const Context &context) {
  const Operand *x = context.input(0);
  RankedTensorType type = context.resultType();
  SmallVector<int64_t> order = context.node.intsAttr("perm"), own = stridesOf(x->shape()), strides;
  if (order.size() != own.size())
    return {};
  if (auto same = splat(*x, type))
    return *same;
  for (int64_t axis : order)
    strides.push_back(own[axis < 0 ? axis + static_cast<int64_t>(own.size()) : axis]);
  Buffer result(type);
  copyStrided(x->data.bytes().data(), strides, result.data(), stridesOf(type.getShape()), type.getShape(),
              result.elementSize());
  return {result.finish()};
}

static Results expand(const Context &context) {
  const Operand *x = context.input(0);
  RankedTensorType type = context.resultType();
  if (auto same = splat(*x, type))
    return *same;
  Buffer result(type);
  copyStrided(x->data.bytes().data(), broadcastStrides(x->shape(), type.getShape()), result.data(),
              stridesOf(type.getShape()), type.getShape(), result.elementSize());
  return {result.finish()};
}

/// Reads the input once per repeat: dimension i becomes [repeats, size].
static Results tile(const Context &context) {
  const Operand *x = context.input(0);
  auto repeats = context.integers(1);
  RankedTensorType type = context.resultType();
  if (!repeats || repeats->size() != x->shape().size())
    return {};
  if (auto same = splat(*x, type))
    return *same;
  SmallVector<int64_t> own = stridesOf(x->shape()), shape, strides;
  for (size_t i = 0; i < own.size(); ++i) {
    shape.append({(*repeats)[i], x->shape()[i]});
    strides.append({0, own[i]});
  }
  Buffer result(type);
  copyStrided(x->data.bytes().data(), strides, result.data(), stridesOf(shape), shape, result.elementSize());
  return {result.finish()};
}

static Results slice(const Context &context) {
  const Operand *x = context.input(0);
  auto starts = context.integers(1);
  RankedTensorType type = context.resultType();
  int64_t rank = static_cast<int64_t>(x->shape().size());
  SmallVector<int64_t> axes, steps;
  if (auto given = context.integers(3))
    axes = *given;
  if (auto given = context.integers(4))
    steps = *given;
  if (!starts)
    return {};
  if (auto same = splat(*x, type))
    return *same;
  SmallVector<int64_t> strides = stridesOf(x->shape());
  int64_t offset = 0;
  for (size_t i = 0; i < starts->size(); ++i) {
    int64_t axis = context.input(3) ? axes[i] : static_cast<int64_t>(i);
    axis = axis < 0 ? axis + rank : axis;
    int64_t size = x->shape()[axis], step = context.input(4) ? steps[i] : 1, start = (*starts)[i];
    start = start < 0 ? std::max<int64_t>(start, -size - 1) + size : start;
    start = std::clamp<int64_t>(start, 0, step > 0 ? size : std::max<int64_t>(size - 1, 0));
    offset += start * strides[axis];
    strides[axis] *= step;
  }
  Buffer result(type);
  if (type.getNumElements() != 0)
    copyStrided(x->data.bytes().data() + offset * static_cast<int64_t>(result.elementSize()), strides, result.data(),
                stridesOf(type.getShape()), type.getShape(), result.elementSize());
  return {result.finish()};
}

static Results concat(const Context &context) {
  RankedTensorType type = context.resultType();
  int64_t axis = context.node.intAttr("axis", 0);
  axis = axis < 0 ? axis + type.getRank() : axis;
  SmallVector<int64_t> strides = stridesOf(type.getShape());
  Buffer result(type);
  char *at = result.data();
  for (size_t i = 0; i < context.inputs.size(); ++i) {
    const Operand *x = context.input(i);
    if (!x)
      return {};
    copyStrided(x->data.bytes().data(), stridesOf(x->shape()), at, strides, x->shape(), result.elementSize());
    at += x->shape()[axis] * strides[axis] * static_cast<int64_t>(result.elementSize());
  }
  return {result.finish()};
}

static Results split(const Context &context) {
  const Operand *x = context.input(0);
  int64_t axis = context.node.intAttr("axis", 0);
  axis = axis < 0 ? axis + static_cast<int64_t>(x->shape().size()) : axis;
  SmallVector<int64_t> strides = stridesOf(x->shape());
  const char *at = x->data.bytes().data();
  Results results;
  for (size_t i = 0; i < context.node.getNumResults(); ++i) {
    RankedTensorType type = context.resultType(i);
    Buffer result(type);
    copyStrided(at, strides, result.data(), stridesOf(type.getShape()), type.getShape(), result.elementSize());
    at += type.getDimSize(axis) * strides[axis] * static_cast<int64_t>(result.elementSize());
    results.push_back(result.finish());
  }
  return results;
}

static Results gather(const Context &context) {
  const Operand *x = context.input(0);
  auto indices = context.integers(1);
  RankedTensorType type = context.resultType();
  if (!indices)
    return {};
  int64_t axis = context.node.intAttr("axis", 0);
  axis = axis < 0 ? axis + static_cast<int64_t>(x->shape().size()) : axis;
  int64_t size = x->shape()[axis], outer = 1, inner = 1;
  for (auto [d, dim] : llvm::enumerate(x->shape()))
    (static_cast<int64_t>(d) < axis ? outer : inner) *= static_cast<int64_t>(d) == axis ? 1 : dim;
  Buffer result(type);
  int64_t run = inner * static_cast<int64_t>(result.elementSize());
  char *to = result.data();
  for (int64_t o = 0; o < outer; ++o)
    for (int64_t index : *indices) {
      if (index < -size || index >= size)
        return {};
      std::memcpy(to, x->data.bytes().data() + (o * size + (index < 0 ? index + size : index)) * run, run);
      to += run;
    }
  return {result.finish()};
}

static Results pad(const Context &context) {
  const Operand *x = context.input(0), *value = context.input(2);
  auto pads = context.integers(1), given = context.integers(3);
  RankedTensorType type = context.resultType();
  if (!pads || context.node.stringAttr("mode", "constant") != "constant")
    return {};
  int64_t rank = type.getRank();
  SmallVector<int64_t> begins(rank, 0), shape(x->shape());
  size_t axes = pads->size() / 2;
  for (size_t i = 0; i < axes; ++i) {
    int64_t axis = context.input(3) ? (*given)[i] : static_cast<int64_t>(i);
    begins[axis < 0 ? axis + rank : axis] = (*pads)[i];
    if ((*pads)[i] < 0 || (*pads)[i + axes] < 0)
      return {}; // cuts off
  }
  Buffer result(type);
  SmallVector<int64_t> strides = stridesOf(type.getShape());
  size_t size = result.elementSize();
  if (value)
    copyStrided(value->data.bytes().data(), SmallVector<int64_t>(rank, 0), result.data(), strides, type.getShape(),
                size);
  int64_t offset = 0;
  for (int64_t d = 0; d < rank; ++d)
    offset += begins[d] * strides[d];
  copyStrided(x->data.bytes().data(), stridesOf(shape), result.data() + offset * static_cast<int64_t>(size), strides,
              shape, size);
  return {result.finish()};
}

static Results where(const Context &context) {
  RankedTensorType type = context.resultType();
  const Operand *condition = context.input(0);
  auto flags = broadcastStrides(condition->shape(), type.getShape());
  Buffer mask(RankedTensorType::get(type.getShape(), condition->element())), a(type), b(type);
  auto fill = [&](Buffer &to, const Operand &from) {
    copyStrided(from.data.bytes().data(), broadcastStrides(from.shape(), type.getShape()), to.data(),
                stridesOf(type.getShape()), type.getShape(), to.elementSize());
  };
  fill(mask, *condition);
  fill(a, *context.input(1));
  fill(b, *context.input(2));
  for (int64_t i = 0; i < type.getNumElements(); ++i)
    if (!mask.data()[i])
      std::memcpy(a.data() + i * a.elementSize(), b.data() + i * a.elementSize(), a.elementSize());
  return {a.finish()};
}

static Results constantOfShape(const Context &context) {
  RankedTensorType type = context.resultType();
  auto value = dyn_cast_if_present<DenseElementsAttr>(context.node.attr("value"));
  if (value && value.getNumElements() == 1)
    return {value.resizeSplat(type)};
  return {DenseElementsAttr::get(type, Attribute(Builder(type.getContext()).getZeroAttr(type.getElementType())))};
}

void fold::addMoveRules(Rules &rules) {
  for (const char *op : {"Reshape", "Flatten", "Squeeze", "Unsqueeze", "Identity"})
    rules[op] = view;
  rules["Transpose"] = transpose;
  rules["Expand"] = expand;
  rules["Tile"] = tile;
  rules["Slice"] = slice;
  rules["Concat"] = concat;
  rules["Split"] = split;
  rules["Gather"] = gather;
  rules["Pad"] = pad;
  rules["Where"] = where;
  rules["ConstantOfShape"] = constantOfShape;
}
