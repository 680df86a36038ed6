//===- Resizes.cpp - shapes of Pad, Resize and Upsample -------------------===//

#include "dialects/onnx/ConstantData.h"
#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

static LogicalResult pad(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  bool unknown, anyAxis = false;
  int64_t rank = static_cast<int64_t>(x->size());
  auto pads = context.integersFrom(context.node.attr("paddings") ? "paddings" : "pads", 1, unknown);
  std::optional<SmallVector<int64_t>> axes;
  if (context.node.getSinceVersion() >= 18)
    axes = context.integersFrom("axes", 3, anyAxis);
  Dims result(*x);
  if (!pads || anyAxis) {
    for (Dim &dim : result)
      dim = context.fresh();
    context.set(0, result);
    return success();
  }
  if (!axes) {
    axes.emplace();
    for (int64_t i = 0; i < rank; ++i)
      axes->push_back(i);
  }
  if (pads->size() != 2 * axes->size())
    return context.error() << "pads has " << pads->size() << " values; " << 2 * axes->size() << " are needed";
  for (size_t i = 0; i < axes->size(); ++i) {
    auto axis = context.axis((*axes)[i], rank, "axes value");
    if (!axis)
      return failure();
    Dim &dim = result[*axis];
    dim = dim + (*pads)[i] + (*pads)[i + axes->size()];
    if (auto size = constantOf(dim); size && *size < 0)
      return context.error() << "dimension " << *axis << " would be " << *size;
  }
  context.set(0, result);
  return success();
}

/// dim × scale, rounded down as ONNX does (in float: scales are floats).
static Dim scaled(ShapeContext &context, Dim dim, double scale) {
  if (auto size = constantOf(dim))
    return context.constant(static_cast<int64_t>(std::floor(static_cast<float>(*size) * static_cast<float>(scale))));
  if (scale == std::floor(scale))
    return dim * static_cast<int64_t>(scale);
  double inverse = 1.0 / scale;
  return inverse == std::floor(inverse) ? dim.floorDiv(static_cast<int64_t>(inverse)) : context.fresh();
}

static std::optional<SmallVector<double>> scalesOf(ShapeContext &context, unsigned input) {
  if (Value value = context.node.input(input))
    return onnx::floats(onnx::constantValue(value));
  if (auto array = dyn_cast_if_present<ArrayAttr>(context.node.attr("scales"))) {
    SmallVector<double> scales;
    for (Attribute scale : array)
      scales.push_back(::cast<FloatAttr>(scale).getValueAsDouble());
    return scales;
  }
  if (context.node.attr("height_scale"))
    return SmallVector<double>{1, 1, context.node.floatAttr("height_scale", 1),
                               context.node.floatAttr("width_scale", 1)};
  return std::nullopt;
}

static LogicalResult resize(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  bool hasRoi = context.node.is("Resize") && context.node.getSinceVersion() >= 11;
  unsigned scalesAt = hasRoi ? 2 : 1;
  int64_t rank = static_cast<int64_t>(x->size());
  SmallVector<int64_t> axes = context.node.intsAttr("axes");
  if (axes.empty())
    for (int64_t i = 0; i < rank; ++i)
      axes.push_back(i);
  for (int64_t &axis : axes) {
    auto checked = context.axis(axis, rank, "axes value");
    if (!checked)
      return failure();
    axis = *checked;
  }
  Dims result(*x);
  std::optional<SmallVector<double>> scales = scalesOf(context, scalesAt);
  if (scales && scales->empty())
    scales.reset();
  auto sizes = hasRoi && context.has(3) ? context.elements(3) : std::nullopt;
  if (scales) {
    if (scales->size() != axes.size())
      return context.error() << "scales has " << scales->size() << " values; " << axes.size() << " are needed";
    for (size_t i = 0; i < axes.size(); ++i) {
      if (!((*scales)[i] > 0) || (*scales)[i] > 1e9)
        return context.error() << "a scale is " << (*scales)[i];
      result[axes[i]] = scaled(context, result[axes[i]], (*scales)[i]);
    }
    context.set(0, result);
    return success();
  }
  if (sizes && sizes->size() != axes.size())
    return context.error() << "sizes has " << sizes->size() << " values; " << axes.size() << " are needed";
  StringRef policy = context.node.stringAttr("keep_aspect_ratio_policy", "stretch");
  if (sizes && policy != "stretch") {
    double factor = policy == "not_larger" ? INFINITY : 0;
    for (size_t i = 0; i < axes.size(); ++i) {
      auto from = constantOf((*x)[axes[i]]), to = (*sizes)[i] ? constantOf((*sizes)[i]) : std::nullopt;
      if (!from || !to || *from == 0) {
        factor = NAN;
        break;
      }
      double ratio = static_cast<double>(*to) / static_cast<double>(*from);
      factor = policy == "not_larger" ? std::min(factor, ratio) : std::max(factor, ratio);
    }
    for (int64_t axis : axes)
      result[axis] = std::isnan(factor)
                         ? context.fresh()
                         : context.constant(std::llround(factor * static_cast<double>(*constantOf((*x)[axis]))));
  } else {
    for (size_t i = 0; i < axes.size(); ++i)
      result[axes[i]] = sizes && (*sizes)[i] ? (*sizes)[i] : context.fresh();
  }
  context.set(0, result);
  return success();
}

/// Input N, C, spatial...; grid N, output spatial..., coordinates.
static LogicalResult gridSample(ShapeContext &context) {
  auto x = context.shape(0), grid = context.shape(1);
  if (!x || !grid)
    return success();
  if (x->size() < 3 || grid->size() != x->size())
    return context.error() << "input " << context.spell(*x) << " and grid " << context.spell(*grid)
                           << " must have the same rank";
  Dims result(x->take_front(2));
  result.append(grid->begin() + 1, grid->end() - 1);
  context.set(0, result);
  return success();
}

static LogicalResult roiAlign(ShapeContext &context) {
  auto x = context.shape(0), rois = context.shape(1);
  if (x && rois && x->size() == 4 && rois->size() == 2)
    context.set(0, {rois->front(), (*x)[1], context.constant(context.node.intAttr("output_height", 1)),
                    context.constant(context.node.intAttr("output_width", 1))});
  return success();
}

void shapes::addResizeRules(ShapeTable &table) {
  table.add("GridSample", gridSample);
  table.add("RoiAlign", roiAlign);
  table.add("Pad", pad);
  table.add("Resize", resize);
  table.add("Upsample", resize, 1, 9);
}
