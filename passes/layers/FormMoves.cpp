//===- FormMoves.cpp - Concat, Split and Slice to layers ------------------===//
//
// They move nothing by themselves: where buffers are placed, parts of a concatenation are written where they belong and
// slices are read where they lie.
//
//===----------------------------------------------------------------------===//

#include "passes/layers/LayerFormer.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layers;

/// A rank's layout whose channels are `axis`; `extents` are those of the tensor. Nothing when the array has none.
static std::optional<MapLayout> layoutAlong(ArrayRef<int64_t> extents, int64_t axis) {
  switch (extents.size()) {
  case 2:
    if (axis == 1)
      return MapLayout{{extents[0], extents[1], 1, 1}, {0, 1}};
    break;
  case 3:
    if (axis == 1)
      return MapLayout{{extents[0], extents[1], 1, extents[2]}, {0, 1, 3}};
    if (axis == 2)
      return MapLayout{{extents[0], extents[2], 1, extents[1]}, {0, 3, 1}};
    break;
  case 4:
    if (axis == 1)
      return MapLayout{{extents[0], extents[1], extents[2], extents[3]}, {0, 1, 2, 3}};
    if (axis == 3)
      return MapLayout{{extents[0], extents[3], extents[1], extents[2]}, {0, 2, 3, 1}};
    break;
  }
  return std::nullopt;
}

/// The layout of `input` in which its tensor's dimension `axis` is exactly the channels: as it lies on the device if
/// so.
static std::optional<MapLayout> channelLayout(LayerFormer &former, const Activation &input, ArrayRef<int64_t> extents,
                                              int64_t axis) {
  if (former.deviceSource(input))
    if (std::optional<MapLayout> layout = former.layoutOf(input)) {
      View whole = View::whole(extents);
      auto dims = asMapDims(whole.axes[axis], layout->shape, tile::mapStrides(layout->shape, layout->order));
      if (dims && dims->size() == 1 && (*dims)[0] == 1)
        return layout;
    }
  return layoutAlong(extents, axis);
}

static Value buildMove(LayerFormer &former, const LayerPattern &pattern, tile::MoveKind kind, ValueRange inputs,
                       ArrayRef<tile::QuantAttr> quants, ArrayRef<int64_t> shape, ArrayRef<int64_t> offsets = {}) {
  OpBuilder &builder = former.builder;
  OperationState state(pattern.root->getLoc(), tile::MoveOp::getOperationName());
  state.addOperands(inputs);
  state.addTypes(former.mapType(shape, pattern.element()));
  former.describe(state, pattern, quants);
  state.addAttribute("kind", tile::MoveKindAttr::get(builder.getContext(), kind));
  if (!offsets.empty())
    state.addAttribute("offsets", builder.getDenseI64ArrayAttr(offsets));
  OpBuilder::InsertionGuard guard(builder);
  Block *block = former.beginEpilogue(state, {pattern.element()});
  tile::YieldOp::create(builder, pattern.root->getLoc(), block->getArgument(0));
  builder.setInsertionPoint(pattern.quantize);
  return builder.create(state)->getResult(0);
}

Formed layers::formConcat(LayerFormer &former, const LayerPattern &pattern) {
  onnx::NodeOp node = pattern.root;
  if (!pattern.activations.empty())
    return refuse("an activation behind a concatenation");
  int64_t rank = pattern.rootType().getRank(), axis = node.intAttr("axis", 1);
  axis += axis < 0 ? rank : 0;
  if (axis < 0 || axis >= rank)
    return refuse("an axis that the result does not have");
  SmallVector<Value> maps;
  SmallVector<tile::QuantAttr> quants;
  SmallVector<int64_t> shape;
  SmallVector<unsigned> order;
  for (unsigned i = 0; i < node.getInputs().size(); ++i) {
    std::optional<Activation> input = former.read(node.input(i));
    if (!input)
      return refuse("operand " + Twine(i) + " is not quantized to 8 bits with one constant scale");
    if (input->element() != pattern.element())
      return refuse("a concatenation of int8 and uint8");
    auto extents = cast<RankedTensorType>(node.input(i).getType()).getShape();
    std::optional<MapLayout> layout = channelLayout(former, *input, extents, axis);
    if (!layout)
      return refuse("a concatenation along axis " + Twine(axis) + ", which is not the channels");
    if (!maps.empty() && layout->order != order) {
      layout->order = order;
      SmallVector<int64_t> first = shape;
      first[1] = extents[axis];
      layout->shape = first;
    }
    Value map = former.toLayout(*input, *layout);
    if (!map)
      return refuse("its operands lie in different layouts");
    if (input->quant != pattern.quant) { // bring it to the common quantization
      ElementsAttr table = unaryTable(former, pattern.quant, *input, pattern.element());
      map = rescale(former, pattern, map, *input, table);
    }
    quants.push_back(pattern.quant);
    if (maps.empty()) {
      shape = layout->shape;
      order = layout->order;
    } else {
      ArrayRef<int64_t> other = layout->shape;
      if (other[0] != shape[0] || other[2] != shape[2] || other[3] != shape[3])
        return refuse("its operands lie in different layouts");
      shape[1] += other[1];
    }
    maps.push_back(map);
  }
  return {buildMove(former, pattern, tile::MoveKind::Concat, maps, quants, shape), order, {}};
}

/// Start of the box that the node's result `index` takes from its input, and its extents; a message when it has none.
static std::string readBox(onnx::NodeOp node, unsigned index, ArrayRef<int64_t> in, ArrayRef<int64_t> out,
                           SmallVector<int64_t> &offsets) {
  offsets.assign(in.size(), 0);
  int64_t rank = in.size();
  if (node.is("Split")) {
    int64_t axis = node.intAttr("axis", 0);
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
      return "an axis that the input does not have";
    for (unsigned i = 0; i < index; ++i)
      offsets[axis] += cast<RankedTensorType>(node.getResult(i).getType()).getDimSize(axis);
    return {};
  }
  auto list = [&](StringRef name, unsigned operand) -> std::optional<SmallVector<int64_t>> {
    if (node.attr(name))
      return node.intsAttr(name);
    if (!node.input(operand))
      return SmallVector<int64_t>();
    return onnx::integers(onnx::constantValue(node.input(operand)));
  };
  auto starts = list("starts", 1), axes = list("axes", 3), steps = list("steps", 4);
  if (!starts || !axes || !steps)
    return "bounds that are not constant";
  if ((!axes->empty() && axes->size() != starts->size()) || (!steps->empty() && steps->size() != starts->size()))
    return "bounds of different lengths";
  for (auto [i, start] : llvm::enumerate(*starts)) {
    int64_t axis = axes->empty() ? static_cast<int64_t>(i) : (*axes)[i];
    axis += axis < 0 ? rank : 0;
    if (axis < 0 || axis >= rank)
      return "an axis that the input does not have";
    if (!steps->empty() && (*steps)[i] != 1)
      return "a step other than 1";
    int64_t at = start < 0 ? start + in[axis] : start;
    offsets[axis] = std::min(std::max<int64_t>(at, 0), in[axis]);
    if (offsets[axis] + out[axis] > in[axis])
      return "an empty result";
  }
  return {};
}

Formed layers::formSlice(LayerFormer &former, const LayerPattern &pattern) {
  onnx::NodeOp node = pattern.root;
  if (!pattern.activations.empty())
    return refuse("an activation behind a slice");
  std::optional<Activation> input = former.read(node.input(0));
  if (!input)
    return refuse("its input is not quantized to 8 bits with one constant scale");
  if (input->element() != pattern.element())
    return refuse("a slice that changes between int8 and uint8");
  auto extents = cast<RankedTensorType>(node.input(0).getType()).getShape();
  auto outExtents = pattern.rootType().getShape();
  SmallVector<int64_t> offsets;
  if (std::string problem =
          readBox(node, cast<OpResult>(pattern.rootValue()).getResultNumber(), extents, outExtents, offsets);
      !problem.empty())
    return refuse(problem);
  std::optional<MapLayout> layout = former.layoutOf(*input);
  Value map = layout ? former.toLayout(*input, *layout) : nullptr;
  if (!map)
    return refuse("its input's layout cannot be read with strides");
  // Each cut dimension of the tensor must be one of the map.
  SmallVector<int64_t> strides = tile::mapStrides(layout->shape, layout->order);
  View whole = View::whole(extents);
  SmallVector<int64_t> shape = layout->shape, mapOffsets(4, 0);
  for (auto [i, extent] : llvm::enumerate(extents)) {
    if (extent == outExtents[i])
      continue;
    std::optional<SmallVector<unsigned>> at = asMapDims(whole.axes[i], layout->shape, strides);
    if (!at || at->size() != 1)
      return refuse("a slice of a part of a dimension");
    if ((*at)[0] == 0)
      return refuse("a slice of samples");
    shape[(*at)[0]] = outExtents[i];
    mapOffsets[(*at)[0]] = offsets[i];
  }
  Value result = buildMove(former, pattern, tile::MoveKind::Slice, map, {input->quant}, shape, mapOffsets);
  if (input->quant != pattern.quant)
    result = rescale(former, pattern, result, *input, unaryTable(former, pattern.quant, *input, pattern.element()));
  return {result, layout->order, {}};
}
