//===- Windows.cpp - shapes of convolutions and pools ---------------------===//
//
// Layout N, C, then spatial dimensions; pads are all begins, then all ends.
//
//===----------------------------------------------------------------------===//

#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

namespace {
/// The window attributes of a convolution or pool over `rank` spatial dimensions, checked.
struct Window {
  SmallVector<int64_t> kernel, strides, dilations, pads;
  StringRef autoPad;
  bool ceil = false;

  LogicalResult read(ShapeContext &context, size_t rank, ArrayRef<int64_t> kernelShape) {
    onnx::NodeOp node = context.node;
    kernel.assign(kernelShape.begin(), kernelShape.end());
    strides = node.intsAttr("strides");
    dilations = node.intsAttr("dilations");
    pads = node.intsAttr("pads");
    autoPad = node.stringAttr("auto_pad", "NOTSET");
    ceil = node.intAttr("ceil_mode", 0) != 0;
    if (autoPad != "NOTSET" && autoPad != "VALID" && autoPad != "SAME_UPPER" && autoPad != "SAME_LOWER" &&
        !autoPad.empty())
      return context.error() << "attribute 'auto_pad' is '" << autoPad
                             << "'; it may be NOTSET, VALID, SAME_UPPER or SAME_LOWER";
    if (strides.empty())
      strides.assign(rank, 1);
    if (dilations.empty())
      dilations.assign(rank, 1);
    if (pads.empty() || sameSize() || autoPad == "VALID")
      pads.assign(2 * rank, 0);
    auto check = [&](StringRef name, ArrayRef<int64_t> values, size_t size, int64_t low, int64_t high) {
      if (values.size() != size)
        return context.error() << "attribute '" << name << "' has " << values.size() << " values; " << size
                               << " are needed for " << rank << " spatial dimensions";
      for (int64_t value : values)
        if (value < low || value > high)
          return context.error() << "attribute '" << name << "' has the value " << value << ", outside " << low
                                 << " to " << high;
      return InFlightDiagnostic();
    };
    constexpr int64_t most = 1 << 30;
    if (failed(LogicalResult(check("kernel_shape", kernel, rank, 1, most))) ||
        failed(LogicalResult(check("strides", strides, rank, 1, most))) ||
        failed(LogicalResult(check("dilations", dilations, rank, 1, most))) ||
        failed(LogicalResult(check("pads", pads, 2 * rank, -most, most))))
      return failure();
    return success();
  }
  bool sameSize() const { return autoPad == "SAME_UPPER" || autoPad == "SAME_LOWER"; }

  /// The output's spatial dimensions.
  FailureOr<Dims> outputs(ShapeContext &context, ArrayRef<Dim> spatial) const {
    Dims result;
    for (size_t i = 0; i < spatial.size(); ++i) {
      int64_t extent = dilations[i] * (kernel[i] - 1) + 1, stride = strides[i];
      if (sameSize()) {
        result.push_back(spatial[i].ceilDiv(stride));
        continue;
      }
      Dim room = spatial[i] + (pads[i] + pads[i + spatial.size()] - extent);
      if (auto known = constantOf(room); known && *known < 0 && constantOf(spatial[i]) != 0) {
        context.error() << "the kernel spans " << extent << " elements in dimension " << i + 2
                        << "; the padded input has " << *known + extent;
        return failure();
      }
      Dim out = (ceil ? room.ceilDiv(stride) : room.floorDiv(stride)) + 1;
      // A window that would start in the padding at the end is left out.
      if (auto known = constantOf(out); ceil && known)
        if (auto size = constantOf(spatial[i]); (*known - 1) * stride >= *size + pads[i])
          out = out - 1;
      result.push_back(out);
    }
    return result;
  }
};
} // namespace

/// The kernel shape that the weights have, checked against the attribute.
static FailureOr<SmallVector<int64_t>> kernelOf(ShapeContext &context, ArrayRef<Dim> weights) {
  SmallVector<int64_t> kernel = context.node.intsAttr("kernel_shape");
  bool given = !kernel.empty();
  for (size_t i = 2; i < weights.size(); ++i) {
    auto size = constantOf(weights[i]);
    if (!given) {
      if (!size)
        return failure();
      kernel.push_back(*size);
    } else if (size && i - 2 < kernel.size() && kernel[i - 2] != *size) {
      context.error() << "attribute 'kernel_shape' is " << kernel[i - 2] << " in dimension " << i - 2
                      << "; the weights have " << *size;
      return failure();
    }
  }
  return kernel;
}

/// Convolution with the weights [M, C / group, kernel...] in input `w`.
static LogicalResult convolution(ShapeContext &context, unsigned w, std::optional<unsigned> bias) {
  auto x = context.shape(0), weights = context.shape(w);
  if (!x || !weights)
    return success();
  if (x->size() < 3 || x->size() != weights->size())
    return context.error() << "input " << context.spell(*x) << " and weights " << context.spell(*weights)
                           << " must both have N, C and the same number of spatial dimensions";
  int64_t group = context.node.intAttr("group", 1);
  auto channels = constantOf((*x)[1]), perGroup = constantOf((*weights)[1]), maps = constantOf((*weights)[0]);
  if (group < 1 || (channels && *channels % group != 0) || (maps && *maps % group != 0))
    return context.error() << "attribute 'group' is " << group << ", which does not divide "
                           << context.spell({(*x)[1], (*weights)[0]}) << ", the channels in and out";
  if (channels && perGroup && *channels != *perGroup * group)
    return context.error() << "the input has " << *channels << " channels; the weights " << context.spell(*weights)
                           << " in " << group << " group(s) are for " << *perGroup * group;
  if (bias && maps)
    if (auto shape = context.shape(*bias))
      if (auto count = staticProduct(*shape); count && *count != *maps)
        return context.error() << "the bias has " << *count << " elements; there are " << *maps << " output channels";
  auto kernel = kernelOf(context, *weights);
  if (failed(kernel))
    return success(context.node.intsAttr("kernel_shape").empty());
  Window window;
  if (failed(window.read(context, x->size() - 2, *kernel)))
    return failure();
  auto spatial = window.outputs(context, x->drop_front(2));
  if (failed(spatial))
    return failure();
  Dims result{(*x)[0], (*weights)[0]};
  result.append(*spatial);
  context.set(0, result);
  return success();
}

static LogicalResult convTranspose(ShapeContext &context) {
  auto x = context.shape(0), weights = context.shape(1);
  if (!x || !weights)
    return success();
  if (x->size() < 3 || x->size() != weights->size())
    return context.error() << "input " << context.spell(*x) << " and weights " << context.spell(*weights)
                           << " must both have N, C and the same number of spatial dimensions";
  int64_t group = context.node.intAttr("group", 1);
  auto channels = constantOf((*x)[1]), rows = constantOf((*weights)[0]);
  if (group < 1 || (channels && *channels % group != 0))
    return context.error() << "attribute 'group' is " << group << ", which does not divide the input's channels";
  if (channels && rows && *channels != *rows)
    return context.error() << "the input has " << *channels << " channels; the weights are for " << *rows;
  auto kernel = kernelOf(context, *weights);
  if (failed(kernel))
    return success(context.node.intsAttr("kernel_shape").empty());
  Window window;
  size_t rank = x->size() - 2;
  if (failed(window.read(context, rank, *kernel)))
    return failure();
  SmallVector<int64_t> extra = context.node.intsAttr("output_padding"), given = context.node.intsAttr("output_shape");
  if (extra.empty())
    extra.assign(rank, 0);
  if (given.size() == rank + 2)
    given.erase(given.begin(), given.begin() + 2);
  if (extra.size() != rank || (!given.empty() && given.size() != rank))
    return context.error() << "attributes 'output_padding' and 'output_shape' need " << rank << " values";
  Dims result{(*x)[0], (*weights)[1] * group};
  for (size_t i = 0; i < rank; ++i) {
    int64_t extent = window.dilations[i] * (window.kernel[i] - 1) + 1, stride = window.strides[i];
    Dim in = (*x)[i + 2];
    if (!given.empty())
      result.push_back(context.constant(given[i]));
    else if (window.sameSize())
      result.push_back(in * stride);
    else
      result.push_back((in - 1) * stride + (extra[i] + extent - window.pads[i] - window.pads[i + rank]));
    if (auto size = constantOf(result.back()); size && *size < 0)
      return context.error() << "dimension " << i + 2 << " of the output would be " << *size;
  }
  context.set(0, result);
  return success();
}

/// Pools over the input's own channels; `indices` says whether a second result has the same shape. `last` is true when
/// channels come last.
static LogicalResult pool(ShapeContext &context, bool indices) {
  auto x = context.shape(0);
  if (!x)
    return success();
  if (x->size() < 3)
    return context.error() << "input " << context.spell(*x) << " must have N, C and spatial dimensions";
  bool last = context.node.intAttr("channels_last", 0) != 0;
  size_t rank = x->size() - 2;
  Window window;
  if (failed(window.read(context, rank, context.node.intsAttr("kernel_shape"))))
    return failure();
  auto spatial = window.outputs(context, x->slice(last ? 1 : 2, rank));
  if (failed(spatial))
    return failure();
  Dims result{x->front()};
  if (!last)
    result.push_back((*x)[1]);
  result.append(*spatial);
  if (last)
    result.push_back(x->back());
  context.set(0, result);
  if (indices && context.results() > 1)
    context.set(1, result);
  return success();
}

static LogicalResult globalPool(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x)
    return success();
  if (x->size() < 3)
    return context.error() << "input " << context.spell(*x) << " must have N, C and spatial dimensions";
  bool last = context.node.intAttr("channels_last", 0) != 0;
  Dims result(x->size(), context.constant(1));
  result.front() = x->front();
  result[last ? x->size() - 1 : 1] = (*x)[last ? x->size() - 1 : 1];
  context.set(0, result);
  return success();
}

static LogicalResult maxUnpool(ShapeContext &context) {
  auto x = context.shape(0);
  if (!x || x->size() < 3)
    return success();
  if (context.has(2)) {
    if (auto target = context.elements(2); target && target->size() == x->size()) {
      for (Dim &dim : *target)
        dim = dim ? dim : context.fresh();
      context.set(0, *target);
    }
    return success();
  }
  size_t rank = x->size() - 2;
  Window window;
  if (failed(window.read(context, rank, context.node.intsAttr("kernel_shape"))))
    return failure();
  Dims result(x->take_front(2));
  for (size_t i = 0; i < rank; ++i)
    result.push_back(((*x)[i + 2] - 1) * window.strides[i] +
                     (window.kernel[i] - window.pads[i] - window.pads[i + rank]));
  context.set(0, result);
  return success();
}

void shapes::addWindowRules(ShapeTable &table) {
  table.add("Conv", [](ShapeContext &c) { return convolution(c, 1, 2); });
  table.add("ConvInteger", [](ShapeContext &c) { return convolution(c, 1, std::nullopt); });
  table.add("QLinearConv", [](ShapeContext &c) { return convolution(c, 3, 8); });
  table.add("ConvTranspose", convTranspose);
  table.add("MaxUnpool", maxUnpool);
  for (const char *op : {"AveragePool", "MaxPool", "LpPool"})
    table.add(op, [](ShapeContext &c) { return pool(c, true); });
  for (const char *op : {"GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool"})
    table.add(op, globalPool);
  table.addMicrosoft("QLinearAveragePool", [](ShapeContext &c) { return pool(c, false); });
  table.addMicrosoft("QLinearGlobalAveragePool", globalPool);
}
