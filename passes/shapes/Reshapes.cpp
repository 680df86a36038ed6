//===- Reshapes.cpp - shapes of operators that rearrange a whole tensor ---===//

#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

/// A view has its input's elements in the same order.
static void keepElements(ShapeContext &context) {
  if (auto elements = context.elements(0))
    context.setElements(0, *elements);
}

static LogicalResult reshape(ShapeContext &context) {
  auto x = context.shape(0);
  std::optional<Dims> target;
  if (context.has(1))
    target = context.elements(1);
  else if (context.node.attr("shape"))
    target = context.constants(context.node.intsAttr("shape"));
  if (!target)
    return success();
  bool allowZero = context.node.intAttr("allowzero", 0) != 0;
  Dims result, rest;
  std::optional<size_t> open;
  bool unknown = false;
  for (size_t i = 0; i < target->size(); ++i) {
    Dim dim = (*target)[i];
    auto number = dim ? constantOf(dim) : std::nullopt;
    if (number && *number < -1)
      return context.error() << "the new shape holds " << *number << " at position " << i;
    if (number && *number == -1) {
      if (open)
        return context.error() << "the new shape leaves two dimensions open (-1)";
      open = i;
      result.push_back(Dim());
      continue;
    }
    if (number && *number == 0 && !allowZero) {
      if (!x) {
        unknown = true;
        dim = context.fresh();
      } else if (i >= x->size()) {
        return context.error() << "the new shape keeps dimension " << i << " of " << context.spell(*x);
      } else {
        dim = (*x)[i];
      }
    }
    if (!dim) { // an unknown element may also be −1 or 0
      unknown = true;
      dim = context.fresh();
    }
    result.push_back(dim);
    rest.push_back(dim);
  }
  auto total = x ? staticProduct(*x) : std::nullopt;
  auto given = staticProduct(rest);
  if (total && given && !unknown) {
    bool fits = open ? (*given != 0 && *total % *given == 0) : *total == *given;
    if (!fits) {
      if (open)
        result[*open] = context.constant(-1);
      return context.error() << "a tensor " << context.spell(*x) << " of " << *total
                             << " elements cannot be reshaped to " << context.spell(result);
    }
  }
  if (open)
    result[*open] = x && !unknown ? context.quotient(*x, rest) : context.fresh();
  context.set(0, result);
  keepElements(context);
  return success();
}

static LogicalResult flatten(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  int64_t rank = static_cast<int64_t>(x->size()), axis = context.node.intAttr("axis", 1);
  if (axis < -rank || axis > rank)
    return context.error() << "axis " << axis << " is outside a tensor of rank " << rank;
  axis = axis < 0 ? axis + rank : axis;
  Dim rows = context.constant(1), columns = context.constant(1);
  for (int64_t i = 0; i < rank; ++i)
    (i < axis ? rows : columns) = (i < axis ? rows : columns) * (*x)[i];
  context.set(0, {rows, columns});
  return success();
}

static LogicalResult squeeze(ShapeContext &context) {
  bool unknown;
  auto axes = context.integersFrom("axes", 1, unknown);
  auto x = context.shape(0);
  if (!x || unknown)
    return success();
  int64_t rank = static_cast<int64_t>(x->size());
  SmallVector<bool> drop(rank, false);
  if (axes) {
    for (int64_t value : *axes) {
      auto axis = context.axis(value, rank, "axes value");
      if (!axis)
        return failure();
      auto size = constantOf((*x)[*axis]);
      if (size && *size != 1)
        return context.error() << "dimension " << *axis << " of " << context.spell(*x) << " is not 1";
      drop[*axis] = true;
    }
  } else {
    for (int64_t i = 0; i < rank; ++i) {
      if (!constantOf((*x)[i]))
        return success(); // it may or may not be 1
      drop[i] = constantOf((*x)[i]) == 1;
    }
  }
  Dims result;
  for (int64_t i = 0; i < rank; ++i)
    if (!drop[i])
      result.push_back((*x)[i]);
  context.set(0, result);
  keepElements(context);
  return success();
}

static LogicalResult unsqueeze(ShapeContext &context) {
  bool unknown;
  auto axes = context.integersFrom("axes", 1, unknown);
  auto x = context.shape(0);
  if (!x || unknown || !axes)
    return success();
  int64_t rank = static_cast<int64_t>(x->size() + axes->size());
  SmallVector<bool> isNew(rank, false);
  for (int64_t value : *axes) {
    auto axis = context.axis(value, rank, "axes value");
    if (!axis)
      return failure();
    if (isNew[*axis])
      return context.error() << "axes names dimension " << *axis << " twice";
    isNew[*axis] = true;
  }
  Dims result;
  for (int64_t i = 0, from = 0; i < rank; ++i)
    result.push_back(isNew[i] ? context.constant(1) : (*x)[from++]);
  context.set(0, result);
  keepElements(context);
  return success();
}

static LogicalResult transpose(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  SmallVector<int64_t> order = context.node.intsAttr("perm");
  if (!context.node.attr("perm"))
    for (size_t i = x->size(); i-- > 0;)
      order.push_back(static_cast<int64_t>(i));
  SmallVector<bool> seen(x->size(), false);
  Dims result;
  bool whole = order.size() == x->size();
  for (int64_t &axis : order) {
    axis = axis < 0 ? axis + static_cast<int64_t>(x->size()) : axis;
    if (whole && (axis < 0 || axis >= static_cast<int64_t>(x->size()) || seen[axis]))
      whole = false;
    if (!whole)
      return context.error() << "attribute 'perm' is no permutation of " << x->size() << " dimensions";
    seen[axis] = true;
    result.push_back((*x)[axis]);
  }
  if (!whole)
    return context.error() << "attribute 'perm' is no permutation of " << x->size() << " dimensions";
  context.set(0, result);
  if (x->size() < 2)
    keepElements(context);
  return success();
}

static LogicalResult expand(ShapeContext &context) {
  auto x = context.shape(0);
  auto target = context.elements(1);
  if (!x || !target)
    return success();
  for (Dim &dim : *target)
    if (!dim)
      dim = context.fresh();
  auto merged = context.broadcast(*x, *target);
  if (failed(merged))
    return failure();
  context.set(0, *merged);
  auto count = staticProduct(*merged);
  auto elements = context.elements(0);
  if (count && elements && *count <= kMaxFollowedElements &&
      (elements->size() == 1 || elements->size() == static_cast<size_t>(*count)))
    context.setElements(0, elements->size() == 1 ? Dims(*count, elements->front()) : *elements);
  return success();
}

static LogicalResult tile(ShapeContext &context) {
  auto x = context.shape(0);
  auto repeats = context.elements(1);
  if (!x || !repeats)
    return success();
  Dims result(*x);
  if (context.node.getSinceVersion() == 1) { // inputs tiles and axis
    auto axis = context.integers(2);
    if (!axis || axis->size() != 1)
      return success();
    auto at = context.axis((*axis)[0], static_cast<int64_t>(x->size()));
    if (!at)
      return failure();
    Dim count = repeats->front();
    result[*at] = count ? result[*at] * count : context.fresh();
  } else {
    if (repeats->size() != x->size())
      return context.error() << "repeats has " << repeats->size() << " values for a tensor of rank " << x->size();
    for (size_t i = 0; i < x->size(); ++i)
      result[i] = (*repeats)[i] ? result[i] * (*repeats)[i] : context.fresh();
  }
  context.set(0, result);
  return success();
}

static LogicalResult depthToSpace(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  int64_t block = context.node.intAttr("blocksize", 0);
  if (block < 1 || block > (1 << 15) || x->size() != 4)
    return context.error() << "needs an input of rank 4 and a positive blocksize; they are " << context.spell(*x)
                           << " and " << block;
  Dim n = (*x)[0], c = (*x)[1], h = (*x)[2], w = (*x)[3];
  bool toSpace = context.node.is("DepthToSpace");
  auto divides = [&](Dim dim, int64_t by) { return constantOf(dim).value_or(0) % by == 0; };
  if (toSpace ? !divides(c, block * block) : !divides(h, block) || !divides(w, block))
    return context.error() << "blocksize " << block << " does not divide " << context.spell(*x);
  if (toSpace)
    context.set(0, {n, c.floorDiv(block * block), h * block, w * block});
  else
    context.set(0, {n, c * (block * block), h.floorDiv(block), w.floorDiv(block)});
  return success();
}

void shapes::addReshapeRules(ShapeTable &table) {
  table.add("Reshape", reshape);
  table.add("Flatten", flatten);
  table.add("Squeeze", squeeze);
  table.add("Unsqueeze", unsqueeze);
  table.add("Transpose", transpose);
  table.add("Expand", expand);
  table.add("Tile", tile);
  table.add("DepthToSpace", depthToSpace);
  table.add("SpaceToDepth", depthToSpace);
}
