//===- FormPooling.cpp - pools and reductions over the image to layers ----===//

#include "passes/layers/Contraction.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layers;

/// Epilogue of a maximum: nothing, or a table when the result is quantized differently or clamped.
static bool maximumEpilogue(LayerFormer &former, const LayerPattern &pattern, const Activation &input, Block *block) {
  Value value = block->getArgument(0);
  bool same = input.quant == pattern.quant && pattern.activations.empty();
  if (!same) {
    ElementsAttr table = unaryTable(former, pattern, pattern.root->getResult(0), input);
    if (!table)
      return false;
    value = tile::TableOp::create(former.builder, pattern.root->getLoc(), value, table, pattern.quant);
  }
  tile::YieldOp::create(former.builder, pattern.root->getLoc(), value);
  return true;
}

/// Epilogue of an average over `count` elements; a message when it cannot be.
static std::string averageEpilogue(LayerFormer &former, const LayerPattern &pattern, const Activation &input,
                                   int64_t count, Block *block) {
  Clamps clamps;
  if (std::string problem = former.readActivations(pattern, 1, 1, clamps); !problem.empty())
    return problem;
  if (clamps.slopes)
    return "an average with slopes for negative values";
  int64_t zero = input.deviceZeroPoint();
  if (count * 256 > INT32_MAX)
    return ("a window of " + Twine(count) + " elements").str();
  float scale = static_cast<float>(static_cast<double>(input.scale()) /
                                   (static_cast<double>(pattern.quant.scaleValue()) * static_cast<double>(count)));
  if (!std::isfinite(scale) || scale <= 0)
    return "a scale that is not finite and positive";
  OpBuilder &builder = former.builder;
  Location loc = pattern.root->getLoc();
  int32_t bias = static_cast<int32_t>(-zero * count);
  Value q = tile::RequantizeOp::create(
      builder, loc, pattern.element(), block->getArgument(0), former.elements<int32_t>(builder.getI32Type(), {bias}),
      former.elements<float>(builder.getF32Type(), {scale}), ElementsAttr(),
      builder.getI64IntegerAttr(tile::toDevice(pattern.element(), pattern.quant.getZeroPoint())),
      builder.getI64IntegerAttr(clamps.low), builder.getI64IntegerAttr(clamps.high), pattern.quant);
  tile::YieldOp::create(builder, loc, q);
  return {};
}

Formed layers::formPool(LayerFormer &former, const LayerPattern &pattern) {
  onnx::NodeOp node = pattern.root;
  bool average = node.is("AveragePool");
  if (cast<OpResult>(pattern.rootValue()).getResultNumber() != 0 ||
      (node->getNumResults() > 1 && !node->getResult(1).use_empty()))
    return refuse("MaxPool with indices");
  std::optional<Activation> input = former.read(node.input(0));
  if (!input)
    return refuse("its input is not quantized to 8 bits with one constant scale");
  if (input->element() != pattern.element() && !average)
    return refuse("a maximum that changes between int8 and uint8");
  if (average && pattern.quantize->hasAttr(onnx::kRoundsWithZeroPointAttr) && pattern.quant.getZeroPoint() % 2 != 0)
    return refuse("onnxruntime's QLinearAveragePool with an odd zero point, which it rounds with the average");
  SmallVector<int64_t> kernel = node.intsAttr("kernel_shape");
  auto inShape = cast<RankedTensorType>(node.input(0).getType()).getShape();
  auto outShape = cast<RankedTensorType>(node.getResult(0).getType()).getShape();
  if ((inShape.size() != 4 && inShape.size() != 3) || kernel.size() + 2 != inShape.size())
    return refuse("a pool over other than 1 or 2 dimensions");
  Value map = former.toImage(*input);
  if (!map)
    return refuse("its input's layout cannot be read with strides");
  WindowParts window;
  if (!readWindow(node, inShape.drop_front(2), outShape.drop_front(2), kernel, window))
    return refuse("strides, dilations or padding that are negative or of another rank");
  bool padded = window.pads[0] || window.pads[1] || window.pads[2] || window.pads[3];
  bool excludePad = average && padded && node.intAttr("count_include_pad", 0) == 0;
  if (average && node.intAttr("count_include_pad", 0) != 0)
    for (unsigned axis : {0u, 1u})
      if (window.pads[2 + axis] > window.declaredAfter[axis])
        return refuse("ceil_mode with count_include_pad reaches beyond the padding");
  OpBuilder &builder = former.builder;
  Location loc = node.getLoc();
  ArrayRef<int64_t> mapShape = cast<RankedTensorType>(map.getType()).getShape();
  OperationState state(loc, tile::PoolingOp::getOperationName());
  state.addOperands(map);
  state.addTypes(former.mapType({mapShape[0], mapShape[1], outShape.size() == 4 ? outShape[2] : 1, outShape.back()},
                                pattern.element()));
  former.describe(state, pattern, {input->quant});
  state.addAttribute(
      "kind", tile::PoolKindAttr::get(builder.getContext(), average ? tile::PoolKind::Sum : tile::PoolKind::Max));
  state.addAttribute("kernel", builder.getDenseI64ArrayAttr(window.kernel));
  state.addAttribute("strides", builder.getDenseI64ArrayAttr(window.strides));
  state.addAttribute("dilations", builder.getDenseI64ArrayAttr(window.dilations));
  state.addAttribute("pads", builder.getDenseI64ArrayAttr(window.pads));
  state.addAttribute("pad_value", builder.getI64IntegerAttr(average ? input->deviceZeroPoint() : -128));
  if (excludePad)
    state.addAttribute("exclude_pad", builder.getUnitAttr());
  OpBuilder::InsertionGuard guard(builder);
  if (average) {
    Block *block = former.beginEpilogue(state, {builder.getI32Type()});
    if (std::string problem = averageEpilogue(former, pattern, *input, window.kernel[0] * window.kernel[1], block);
        !problem.empty())
      return refuse(problem);
  } else {
    Block *block = former.beginEpilogue(state, {input->element()});
    if (!maximumEpilogue(former, pattern, *input, block))
      return refuse("a function behind it that is not known");
  }
  builder.setInsertionPoint(pattern.quantize);
  return {builder.create(state)->getResult(0), {0, 1, 2, 3}, {}};
}

Formed layers::formGlobalPool(LayerFormer &former, const LayerPattern &pattern) {
  onnx::NodeOp node = pattern.root;
  bool average = node.is("GlobalAveragePool") || node.is("ReduceMean");
  std::optional<Activation> input = former.read(node.input(0));
  if (!input)
    return refuse("its input is not quantized to 8 bits with one constant scale");
  if (input->element() != pattern.element() && !average)
    return refuse("a maximum that changes between int8 and uint8");
  int64_t rank = input->view.axes.size();
  SmallVector<int64_t> axes;
  if (node.is("ReduceMean") || node.is("ReduceMax")) {
    axes = node.intsAttr("axes");
    if (node.input(1)) {
      std::optional<SmallVector<int64_t>> values = onnx::integers(onnx::constantValue(node.input(1)));
      if (!values)
        return refuse("axes that are not constant");
      axes = *values;
    }
    if (axes.empty())
      return refuse(node.intAttr("noop_with_empty_axes", 0) ? "a reduction over no dimension (noop_with_empty_axes)"
                                                            : "a reduction over all dimensions");
    for (int64_t &axis : axes) {
      axis += axis < 0 ? rank : 0;
      if (axis < 0 || axis >= rank)
        return refuse("an axis that the input does not have");
    }
    llvm::sort(axes);
  } else {
    for (int64_t axis = 2; axis < rank; ++axis)
      axes.push_back(axis);
  }
  // In the layout in which the activation lies, the reduced axes must be rows and columns.
  std::optional<MapLayout> layout = former.layoutOf(*input);
  if (!layout)
    return refuse("its input's layout cannot be read with strides");
  if (!former.deviceSource(*input) && rank == 4 && axes == SmallVector<int64_t>{1, 2}) { // NHWC from the host
    auto shape = cast<RankedTensorType>(node.input(0).getType()).getShape();
    layout = MapLayout{{shape[0], shape[3], shape[1], shape[2]}, {0, 2, 3, 1}};
  }
  Value map = former.toLayout(*input, *layout);
  if (!map)
    return refuse("its input's layout cannot be read with strides");
  SmallVector<int64_t> mapStrides = tile::mapStrides(layout->shape, layout->order);
  View whole = View::whole(cast<RankedTensorType>(node.input(0).getType()).getShape());
  SmallVector<int64_t> dims;
  int64_t count = 1;
  SmallVector<int64_t> outShape = layout->shape;
  for (int64_t axis : axes) {
    std::optional<SmallVector<unsigned>> at = asMapDims(whole.axes[axis], layout->shape, mapStrides);
    if (!at)
      return refuse("a reduction over a part of a dimension");
    for (unsigned d : *at) {
      if (d < 2)
        return refuse(d == 1 ? "a reduction over channels" : "a reduction over samples");
      dims.push_back(d);
      count *= layout->shape[d];
      outShape[d] = 1;
    }
  }
  llvm::sort(dims);
  SmallVector<unsigned> order;
  for (unsigned d : layout->order)
    if (!llvm::is_contained(dims, static_cast<int64_t>(d)))
      order.push_back(d);
  OpBuilder &builder = former.builder;
  OperationState state(node.getLoc(), tile::ReductionOp::getOperationName());
  state.addOperands(map);
  state.addTypes(former.mapType(outShape, pattern.element()));
  former.describe(state, pattern, {input->quant});
  state.addAttribute(
      "kind", tile::PoolKindAttr::get(builder.getContext(), average ? tile::PoolKind::Sum : tile::PoolKind::Max));
  state.addAttribute("dims", builder.getDenseI64ArrayAttr(dims));
  OpBuilder::InsertionGuard guard(builder);
  if (average) {
    Block *block = former.beginEpilogue(state, {builder.getI32Type()});
    if (std::string problem = averageEpilogue(former, pattern, *input, count, block); !problem.empty())
      return refuse(problem);
  } else {
    Block *block = former.beginEpilogue(state, {input->element()});
    if (!maximumEpilogue(former, pattern, *input, block))
      return refuse("a function behind it that is not known");
  }
  builder.setInsertionPoint(pattern.quantize);
  return {builder.create(state)->getResult(0), order, {}};
}
