//===- MapLayout.cpp - activations as maps --------------------------------===//

#include "passes/layers/LayerFormer.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layers;

/// For each channel of the view its channel in the map behind it; nothing when the view is more than a permutation of
/// channels, or less.
static std::optional<SmallVector<int64_t>> permutedChannels(const View &view, tile::FromMapOp from) {
  ArrayRef<int64_t> shape = from.getMap().getType().getShape(), strides = from.getStrides();
  if (view.axes.size() != 4 || view.axes[1].size() < 2)
    return std::nullopt;
  for (unsigned d : {0u, 2u, 3u})
    if (view.axes[d] != (shape[d] == 1 ? Axis() : Axis{{shape[d], strides[d]}}))
      return std::nullopt;
  SmallVector<int64_t> channels{0};
  for (Factor factor : view.axes[1]) {
    if (factor.stride % strides[1] != 0)
      return std::nullopt;
    SmallVector<int64_t> next;
    for (int64_t before : channels)
      for (int64_t i = 0; i < factor.extent; ++i)
        next.push_back(before + i * (factor.stride / strides[1]));
    channels = std::move(next);
  }
  for (int64_t channel : channels)
    if (channel >= shape[1])
      return std::nullopt;
  return channels;
}

std::optional<Activation> LayerFormer::read(Value real) {
  std::optional<Activation> input = activation(real);
  tile::FromMapOp from = input ? deviceSource(*input) : nullptr;
  std::optional<SmallVector<int64_t>> channels;
  if (from)
    channels = permutedChannels(input->view, from);
  if (!channels)
    return input;
  Location loc = real.getLoc();
  auto type = from.getMap().getType();
  OperationState state(loc, tile::MoveOp::getOperationName());
  state.addOperands(from.getMap());
  state.addTypes(type);
  auto node = real.getDefiningOp<onnx::NodeOp>();
  state.addAttribute("layer", builder.getStringAttr(node ? node.nodeName() : "shuffle"));
  if (node)
    state.addAttribute("nodes", builder.getArrayAttr(
                                    {builder.getStringAttr((node.nodeName() + ": " + node.getQualifiedName()).str())}));
  state.addAttribute("input_quants", builder.getArrayAttr({input->quant}));
  state.addAttribute("kind", tile::MoveKindAttr::get(builder.getContext(), tile::MoveKind::Gather));
  state.addAttribute("indices", builder.getDenseI64ArrayAttr(*channels));
  OpBuilder::InsertPoint here = builder.saveInsertionPoint();
  Block *block = beginEpilogue(state, {type.getElementType()});
  tile::YieldOp::create(builder, loc, block->getArgument(0));
  builder.restoreInsertionPoint(here);
  Value gathered = builder.create(state)->getResult(0);
  // As a tensor of the model: what the layers read through.
  auto tensor = RankedTensorType::get(type.getShape(), type.getElementType());
  auto strides = builder.getDenseI64ArrayAttr(tile::mapStrides(type.getShape(), {0, 1, 2, 3}));
  input->view =
      View::whole(tile::FromMapOp::create(builder, loc, tensor, gathered, strides, tile::DramAttr()).getResult());
  return input;
}

tile::FromMapOp LayerFormer::deviceSource(const Activation &input) {
  return input.view.base.getDefiningOp<tile::FromMapOp>();
}

Value LayerFormer::toMap(const Activation &input, ArrayRef<int64_t> shape, ArrayRef<Factor> factors) {
  SmallVector<int64_t> strides;
  for (auto [extent, factor] : llvm::zip_equal(shape, factors))
    strides.push_back(extent == 1 ? 0 : factor.stride);
  // Straight from the device in the same layout?
  if (tile::FromMapOp from = deviceSource(input))
    if (from.getMap().getType().getShape() == shape && from.getStrides() == ArrayRef(strides))
      return from.getMap();
  return tile::ToMapOp::create(builder, input.view.base.getLoc(), mapType(shape, input.element()), input.view.base,
                               builder.getDenseI64ArrayAttr(strides), tile::DramAttr());
}

Value LayerFormer::toImage(const Activation &input) {
  SmallVector<int64_t> shape;
  SmallVector<Factor> factors;
  size_t rank = input.view.axes.size();
  if (rank < 2 || rank > 4)
    return nullptr;
  for (unsigned i = 0; i < rank; ++i) {
    std::optional<Factor> factor = input.view.single(i);
    if (!factor)
      return nullptr;
    if (i == 2 && rank == 3) { // one-dimensional: along the width
      shape.push_back(1);
      factors.push_back({});
    }
    shape.push_back(factor->extent);
    factors.push_back(*factor);
  }
  while (shape.size() < 4) {
    shape.push_back(1);
    factors.push_back({});
  }
  return toMap(input, shape, factors);
}

std::optional<MapLayout> LayerFormer::layoutOf(const Activation &input) {
  if (tile::FromMapOp from = deviceSource(input)) {
    MapLayout layout;
    layout.shape.assign(from.getMap().getType().getShape().begin(), from.getMap().getType().getShape().end());
    if (auto order = asMapDims(input.view.flat(), layout.shape, from.getStrides())) {
      layout.order = *order;
      return layout;
    }
  }
  SmallVector<int64_t> extents;
  for (const Axis &axis : input.view.axes) {
    int64_t extent = 1;
    for (Factor factor : axis)
      extent *= factor.extent;
    extents.push_back(extent);
  }
  switch (extents.size()) {
  case 1:
    return MapLayout{{1, extents[0], 1, 1}, {1}};
  case 2:
    return MapLayout{{extents[0], extents[1], 1, 1}, {0, 1}};
  case 3: // tokens: the last dimension is the channels
    return MapLayout{{extents[0], extents[2], 1, extents[1]}, {0, 3, 1}};
  case 4:
    return MapLayout{{extents[0], extents[1], extents[2], extents[3]}, {0, 1, 2, 3}};
  default:
    return std::nullopt;
  }
}

Value LayerFormer::toLayout(const Activation &input, const MapLayout &layout) {
  // Split the tensor's elements, innermost first, by the layout's extents.
  SmallVector<int64_t> extents;
  for (unsigned d : layout.order)
    extents.push_back(layout.shape[d]);
  View view = input.view;
  if (!view.reshape(extents))
    return nullptr;
  SmallVector<Factor> factors(4);
  for (auto [i, d] : llvm::enumerate(layout.order)) {
    std::optional<Factor> factor = view.single(i);
    if (!factor)
      return nullptr;
    factors[d] = *factor;
  }
  return toMap(input, layout.shape, factors);
}
