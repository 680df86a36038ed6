//===- Selection.cpp - shapes of operators that pick or join parts --------===//

#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

static LogicalResult concat(ShapeContext &context, unsigned first, unsigned stride) {
  std::optional<Dims> result;
  std::optional<int64_t> axis;
  bool followed = true;
  Dims elements;
  for (unsigned i = first; i < context.inputs(); i += stride) {
    auto x = context.shape(i);
    if (!x)
      return success();
    if (!result) {
      result = Dims(*x);
      bool old = context.node.is("Concat") && context.node.getSinceVersion() < 4;
      axis = context.axis(context.node.intAttr("axis", old ? 1 : 0), static_cast<int64_t>(x->size()));
      if (!axis)
        return failure();
    } else {
      if (x->size() != result->size())
        return context.error() << "inputs of rank " << result->size() << " and " << x->size() << " cannot be joined";
      for (size_t d = 0; d < x->size(); ++d) {
        Dim &known = (*result)[d];
        if (static_cast<int64_t>(d) == *axis) {
          known = known + (*x)[d];
          continue;
        }
        auto a = constantOf(known), b = constantOf((*x)[d]);
        if (a && b && *a != *b)
          return context.error() << "input " << i << " is " << context.spell(*x) << "; dimension " << d << " must be "
                                 << *a;
        known = b ? (*x)[d] : known;
      }
    }
    auto part = context.elements(i);
    followed = followed && part && x->size() == 1;
    if (followed)
      elements.append(*part);
  }
  if (!result)
    return success();
  context.set(0, *result);
  if (followed && elements.size() <= static_cast<size_t>(kMaxFollowedElements))
    context.setElements(0, elements);
  return success();
}

static LogicalResult split(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  auto axis = context.axis(context.node.intAttr("axis", 0), static_cast<int64_t>(x->size()));
  if (!axis)
    return failure();
  bool unknown;
  auto sizes = context.integersFrom("split", 1, unknown);
  int64_t parts = static_cast<int64_t>(context.results());
  auto total = constantOf((*x)[*axis]);
  if (sizes && static_cast<int64_t>(sizes->size()) != parts)
    return context.error() << "split has " << sizes->size() << " sizes for " << parts << " outputs";
  if (!sizes && !unknown && context.node.attr("num_outputs") && context.node.intAttr("num_outputs", 0) != parts)
    return context.error() << "attribute 'num_outputs' is " << context.node.intAttr("num_outputs", 0)
                           << " but the node has " << parts << " outputs";
  bool uneven = context.node.getSinceVersion() >= 18;
  if (!sizes && !unknown && total && *total % parts != 0 && !uneven)
    return context.error() << "dimension " << *axis << " of " << context.spell(*x) << " cannot be split into " << parts
                           << " equal parts";
  int64_t sum = 0;
  for (int64_t i = 0; i < parts; ++i) {
    Dims result(*x);
    Dim &dim = result[*axis];
    if (sizes) {
      if ((*sizes)[i] < 0)
        return context.error() << "split has the negative size " << (*sizes)[i];
      sum += (*sizes)[i];
      dim = context.constant((*sizes)[i]);
    } else if (unknown) {
      dim = context.fresh();
    } else if (total) {
      int64_t size = (*total + parts - 1) / parts;
      dim = context.constant(std::max<int64_t>(0, std::min(size, *total - size * i)));
    } else {
      dim = i + 1 < parts || !uneven ? dim.ceilDiv(parts) : dim - dim.ceilDiv(parts) * (parts - 1);
    }
    context.set(i, result);
  }
  if (sizes && total && sum != *total)
    return context.error() << "the split sizes add up to " << sum << "; dimension " << *axis << " of "
                           << context.spell(*x) << " is " << *total;
  return success();
}

/// The dimension that `start:end:step` leaves of `dim`, each of start and end possibly unknown (null).
static Dim sliced(ShapeContext &context, Dim dim, Dim start, Dim end, int64_t step) {
  if (!start || !end)
    return context.fresh();
  auto size = constantOf(dim), from = constantOf(start), to = constantOf(end);
  if (size && from && to) {
    int64_t low = step > 0 ? 0 : -1, high = step > 0 ? *size : *size - 1;
    auto clamp = [&](int64_t at) {
      at = at < 0 ? (at < -*size - 1 ? -1 : at + *size) : at;
      return std::clamp(at, low, high);
    };
    int64_t first = std::clamp<int64_t>(*from < 0 ? std::max<int64_t>(*from, -*size - 1) + *size : *from, 0,
                                        step > 0 ? *size : std::max<int64_t>(*size - 1, 0));
    int64_t distance = step > 0 ? clamp(*to) - first : first - clamp(*to);
    int64_t stride = step > 0 ? step : -step;
    return context.constant(*size == 0 ? 0 : std::max<int64_t>(0, distance / stride + (distance % stride > 0)));
  }
  if (step <= 0)
    return context.fresh();
  // Symbolic: a whole slice, or one between bounds that lie inside the dimension for every value of its symbols. "The
  // end" is any large number.
  if (to && *to >= (int64_t(1) << 30))
    end = dim;
  else if (to && *to < 0)
    end = dim + *to;
  else if (size && !to)
    return context.fresh();
  else if (!size && to)
    return context.fresh(); // min(end, dim)
  if (from && *from < 0)
    start = dim + *from;
  Dim length = end - start;
  if (auto known = constantOf(length))
    return context.constant(std::max<int64_t>(0, (*known + step - 1) / step));
  return step == 1 ? length : length.ceilDiv(step);
}

static LogicalResult slice(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  bool old = context.node.getSinceVersion() < 10, unknown;
  auto bounds = [&](StringRef name, unsigned i) -> std::optional<Dims> {
    return old ? context.constants(context.node.intsAttr(name)) : context.elements(i);
  };
  auto starts = bounds("starts", 1), ends = bounds("ends", 2);
  auto axes = context.integersFrom("axes", 3, unknown);
  bool anyAxis = unknown;
  std::optional<SmallVector<int64_t>> steps;
  if (!old)
    steps = context.integersFrom("steps", 4, unknown);
  if (anyAxis || !starts || !ends) {
    Dims result;
    for (size_t i = 0; i < x->size(); ++i)
      result.push_back(context.fresh());
    context.set(0, result);
    return success();
  }
  if (!axes) {
    axes.emplace();
    for (size_t i = 0; i < starts->size(); ++i)
      axes->push_back(static_cast<int64_t>(i));
  }
  if (starts->size() != axes->size() || ends->size() != axes->size() || (steps && steps->size() != axes->size()))
    return context.error() << "starts, ends, axes and steps must have the same length";
  Dims result(*x);
  for (size_t i = 0; i < axes->size(); ++i) {
    auto axis = context.axis((*axes)[i], static_cast<int64_t>(x->size()), "axes value");
    if (!axis)
      return failure();
    if (unknown && !old) {
      result[*axis] = context.fresh();
      continue;
    }
    int64_t step = steps ? (*steps)[i] : 1;
    if (step == 0)
      return context.error() << "a step is 0";
    result[*axis] = sliced(context, (*x)[*axis], (*starts)[i], (*ends)[i], step);
  }
  context.set(0, result);
  // Elements of a vector that is sliced at known places.
  auto elements = context.elements(0);
  auto from = starts->size() == 1 && (*starts)[0] ? constantOf((*starts)[0]) : std::nullopt;
  auto count = constantOf(result.empty() ? Dim() : result[0]);
  if (x->size() == 1 && elements && from && count && !unknown) {
    int64_t size = static_cast<int64_t>(elements->size()), step = steps ? (*steps)[0] : 1;
    int64_t at =
        std::clamp<int64_t>(*from < 0 ? *from + size : *from, 0, std::max<int64_t>(0, step > 0 ? size : size - 1));
    Dims picked;
    for (int64_t i = 0; i < *count; ++i, at += step)
      picked.push_back((*elements)[at]);
    context.setElements(0, picked);
  }
  return success();
}

/// Constant indices into dimension `size` must lie inside it. Those given at run time are the model's affair.
static LogicalResult checkIndices(ShapeContext &context, unsigned input, Dim size, size_t stride = 1, size_t at = 0) {
  auto bound = constantOf(size);
  auto indices = context.integers(input);
  if (!bound || !indices)
    return success();
  for (size_t i = at; i < indices->size(); i += stride)
    if ((*indices)[i] < -*bound || (*indices)[i] >= *bound)
      return context.error() << "index " << (*indices)[i] << " is outside a dimension of " << *bound;
  return success();
}

/// The index tuples of GatherND and ScatterND, `depth` numbers each.
static LogicalResult checkTuples(ShapeContext &context, ArrayRef<Dim> indexed, ArrayRef<Dim> indices) {
  auto depth = indices.empty() ? std::nullopt : constantOf(indices.back());
  for (int64_t d = 0; depth && d < *depth && d < static_cast<int64_t>(indexed.size()); ++d)
    if (failed(checkIndices(context, 1, indexed[d], *depth, d)))
      return failure();
  return success();
}

static LogicalResult gather(ShapeContext &context) {
  auto x = context.shape(0), indices = context.shape(1);
  if (!x || !indices)
    return success();
  auto axis = context.axis(context.node.intAttr("axis", 0), static_cast<int64_t>(x->size()));
  if (!axis)
    return failure();
  Dims result(x->take_front(*axis));
  result.append(indices->begin(), indices->end());
  result.append(x->begin() + *axis + 1, x->end());
  context.set(0, result);
  if (failed(checkIndices(context, 1, (*x)[*axis])))
    return failure();
  auto elements = context.elements(0);
  auto at = context.integers(1);
  if (x->size() != 1 || !elements || !at)
    return success();
  Dims picked;
  for (int64_t index : *at) {
    int64_t size = static_cast<int64_t>(elements->size());
    picked.push_back((*elements)[index < 0 ? index + size : index]);
  }
  context.setElements(0, picked);
  return success();
}

static LogicalResult gatherND(ShapeContext &context) {
  auto x = context.shape(0), indices = context.shape(1);
  if (!x || !indices || indices->empty())
    return success();
  int64_t batch = context.node.intAttr("batch_dims", 0);
  auto depth = constantOf(indices->back());
  if (!depth)
    return success();
  if (batch < 0 || *depth < 1 || batch + *depth > static_cast<int64_t>(x->size()))
    return context.error() << "indices " << context.spell(*indices) << " do not fit data " << context.spell(*x);
  Dims result(indices->drop_back());
  result.append(x->begin() + batch + *depth, x->end());
  context.set(0, result);
  return checkTuples(context, x->drop_front(batch), *indices);
}

/// GatherElements (result as the indices) and ScatterElements (result as the data).
static ShapeRule elementsAlongAxis(unsigned like) {
  return [like](ShapeContext &context) {
    auto x = context.shape(0), shape = context.shape(like);
    if (shape)
      context.set(0, Dims(*shape));
    if (!x)
      return LogicalResult(success());
    auto axis = context.axis(context.node.intAttr("axis", 0), static_cast<int64_t>(x->size()));
    return axis ? checkIndices(context, 1, (*x)[*axis]) : LogicalResult(failure());
  };
}

static LogicalResult scatterND(ShapeContext &context) {
  auto x = context.shape(0), indices = context.shape(1);
  if (x)
    context.set(0, Dims(*x));
  return x && indices ? checkTuples(context, *x, *indices) : success();
}

static LogicalResult topK(ShapeContext &context) {
  auto x = context.shape(0);
  bool unknown;
  auto k = context.integersFrom("k", 1, unknown);
  if (!k && context.node.attr("k"))
    k = SmallVector<int64_t>{context.node.intAttr("k", 0)};
  if (!x)
    return success();
  auto axis = context.axis(context.node.intAttr("axis", -1), static_cast<int64_t>(x->size()));
  if (!axis)
    return failure();
  if (context.node.getSinceVersion() == 1)
    k = SmallVector<int64_t>{context.node.intAttr("k", 0)};
  Dims result(*x);
  auto count = context.node.getSinceVersion() == 1 ? std::nullopt : context.elements(1);
  if (k && k->size() == 1) {
    auto size = constantOf((*x)[*axis]);
    if ((*k)[0] < 0 || (size && (*k)[0] > *size))
      return context.error() << "k is " << (*k)[0] << "; dimension " << *axis << " of " << context.spell(*x)
                             << " has fewer elements";
    result[*axis] = context.constant((*k)[0]);
  } else {
    result[*axis] = count && count->size() == 1 && (*count)[0] ? (*count)[0] : context.fresh();
  }
  context.set(0, result);
  if (context.results() > 1)
    context.set(1, result);
  return success();
}

static LogicalResult oneHot(ShapeContext &context) {
  auto indices = context.shape(0);
  if (!indices)
    return success();
  int64_t rank = static_cast<int64_t>(indices->size()) + 1;
  auto axis = context.axis(context.node.intAttr("axis", -1), rank);
  if (!axis)
    return failure();
  auto depth = context.elements(1);
  Dims result(*indices);
  result.insert(result.begin() + *axis, depth && depth->size() == 1 && (*depth)[0] ? (*depth)[0] : context.fresh());
  context.set(0, result);
  if (Type type = context.elementType(2))
    context.setType(0, type);
  return success();
}

static LogicalResult nonZero(ShapeContext &context) {
  if (auto x = context.shape(0))
    context.set(0, {context.constant(static_cast<int64_t>(x->size())), context.fresh()});
  return success();
}

static LogicalResult compress(ShapeContext &context) {
  auto x = context.shape(0);
  if (!context.node.attr("axis")) {
    context.set(0, {context.fresh()});
  } else if (x) {
    auto axis = context.axis(context.node.intAttr("axis", 0), static_cast<int64_t>(x->size()));
    if (!axis)
      return failure();
    Dims result(*x);
    result[*axis] = context.fresh();
    context.set(0, result);
  }
  return success();
}

void shapes::addSelectionRules(ShapeTable &table) {
  table.add("Concat", [](ShapeContext &c) { return concat(c, 0, 1); });
  table.addMicrosoft("QLinearConcat", [](ShapeContext &c) {
    c.setType(0, c.elementType(1));
    return concat(c, 2, 3);
  });
  table.add("Split", split, 2);
  table.add("Slice", slice);
  table.add("Gather", gather);
  table.add("GatherElements", elementsAlongAxis(1));
  table.add("GatherND", gatherND);
  table.add("Scatter", elementsAlongAxis(0));
  table.add("ScatterElements", elementsAlongAxis(0));
  table.add("ScatterND", scatterND);
  table.add("ReverseSequence", [](ShapeContext &context) {
    if (auto x = context.shape(0))
      context.set(0, Dims(*x));
    return LogicalResult(success());
  });
  table.add("TopK", topK);
  table.add("OneHot", oneHot);
  table.add("NonZero", nonZero);
  table.add("Compress", compress);
  table.add("NonMaxSuppression", [](ShapeContext &context) {
    context.set(0, {context.fresh(), context.constant(3)});
    return LogicalResult(success());
  });
}
