//===- CollectLayers.cpp - tile IR read into layers -----------------------===//

#include "backends/systolic/CollectLayers.h"
#include "backends/systolic/EpilogueReader.h"

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::systolic;
using tile::LoopDim;

DramPlace systolic::dramPlace(tile::DramAttr attr) {
  DramPlace place;
  place.layout = attr.getLayout() == tile::DramLayout::Words   ? DramLayout::Blocked
                 : attr.getLayout() == tile::DramLayout::Bytes ? DramLayout::Nhwc
                                                               : DramLayout::Nchw;
  place.offset = attr.getOffset();
  place.rowStride = attr.getRowStride();
  place.planeStride = attr.getPlaneStride();
  place.sampleStride = attr.getSampleStride();
  return place;
}

static Operand readMap(RankedTensorType type, tile::PlacementAttr placement) {
  Operand operand;
  operand.samples = type.getDimSize(0);
  operand.channels = type.getDimSize(1);
  operand.height = type.getDimSize(2);
  operand.width = type.getDimSize(3);
  operand.isUnsigned = type.getElementType().isUnsignedInteger(8);
  operand.packed = placement.getPacked() != 0;
  operand.place = {placement.getBase(),        placement.getPitch(),    placement.getPlanePitch(),
                   placement.getSamplePitch(), placement.getRingRows(), placement.getChannelOffset()};
  operand.isStaged = placement.getRingSamples() != 0;
  if (placement.getDram())
    operand.dram = dramPlace(placement.getDram());
  return operand;
}

void LayerCollector::noteArena(const Operand &operand) {
  if (!operand.dram)
    return;
  const DramPlace &dram = *operand.dram;
  int64_t planes = dram.layout == DramLayout::Blocked ? operand.channelWords()
                   : dram.layout == DramLayout::Nchw  ? operand.channels
                                                      : 1;
  int64_t row = dram.layout == DramLayout::Blocked ? operand.width * 16 : operand.width * operand.channels;
  int64_t end = dram.offset + (operand.samples - 1) * dram.sampleStride + (planes - 1) * dram.planeStride +
                (operand.height - 1) * dram.rowStride + row;
  program.arenaBytes = std::max(program.arenaBytes, (end + 63) / 64 * 64);
}

LogicalResult LayerCollector::readOperand(tile::TileRootInterface root, unsigned index, Operand &operand) {
  tile::PlacementAttr placement = root.getOperandPlacement(index);
  Type element = root.getOperandType(index).getElementType();
  if (!element.isInteger(8))
    return root->emitError("the array takes maps of int8 and uint8, not ") << element;
  if (!placement)
    return root->emitError("an operand has no placement: place-buffers must run before");
  operand = readMap(root.getOperandType(index), placement);
  if (auto producer = producers.find(root->getOperand(index)); producer != producers.end())
    operand.producer = producer->second;
  noteArena(operand);
  return success();
}

LogicalResult LayerCollector::readWeights(tile::TileRootInterface root, Value value, Layer &layer) {
  ElementsAttr weights = onnx::constantValue(value);
  if (!weights)
    return root->emitError("the array multiplies by constant weights; a product of two maps is not built yet");
  Type element = weights.getElementType();
  unsigned width = element.isInteger(8) ? 1 : element.isInteger(16) ? 2 : 0;
  if (width == 0)
    return root->emitError("weights are int8, or int16 where zero points widen them, not ") << element;
  ArrayRef<char> raw;
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(weights)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      raw = blob->getData();
  } else if (auto dense = dyn_cast<DenseElementsAttr>(weights)) {
    raw = dense.getRawData();
  }
  size_t count = weights.getNumElements();
  bool isWhole = raw.size() == count * width && reinterpret_cast<uintptr_t>(raw.data()) % width == 0;
  if (isWhole && width == 1) {
    layer.weights.bytes = reinterpret_cast<const int8_t *>(raw.data());
  } else if (isWhole) {
    layer.weights.wide = reinterpret_cast<const int16_t *>(raw.data());
  } else if (width == 1) {
    layer.weights.bytes = byteStorage.emplace_back(valuesOf<int8_t>(weights, count)).data();
  } else {
    layer.weights.wide = wideStorage.emplace_back(valuesOf<int16_t>(weights, count)).data();
  }
  return success();
}

template <typename OpTy> static void readWindow(OpTy op, ArrayRef<int64_t> kernel, Layer &layer) {
  layer.window = {kernel[0],
                  kernel[1],
                  op.getStrides()[0],
                  op.getStrides()[1],
                  op.getDilations()[0],
                  op.getDilations()[1],
                  op.getPads()[0],
                  op.getPads()[1]};
  layer.padValue = op.getPadValue();
}

LogicalResult LayerCollector::readRoot(tile::TileRootInterface root, Layer &layer) {
  Operation *op = root;
  if (auto contraction = dyn_cast<tile::ContractionOp>(op)) {
    layer.kind = LayerKind::Contraction;
    layer.groups = contraction.getGroup();
    readWindow(contraction, contraction.getWeights().getType().getShape().take_back(2), layer);
    bool dense = layer.in.height == 1 && layer.window.kernelHeight == 1 && layer.window.kernelWidth == 1;
    bool whole = layer.window.kernelHeight == layer.in.height && layer.window.kernelWidth == layer.in.width;
    layer.reportKind = dense || whole ? "dense" : layer.groups > 1 ? "grouped convolution" : "convolution";
    return readWeights(root, contraction.getWeights(), layer);
  }
  if (auto depthwise = dyn_cast<tile::DepthwiseOp>(op)) {
    layer.kind = LayerKind::Depthwise;
    layer.groups = layer.in.channels;
    layer.reportKind = "depthwise convolution";
    readWindow(depthwise, depthwise.getWeights().getType().getShape().take_back(2), layer);
    return readWeights(root, depthwise.getWeights(), layer);
  }
  if (auto pooling = dyn_cast<tile::PoolingOp>(op)) {
    bool isMax = pooling.getKind() == tile::PoolKind::Max;
    layer.kind = isMax ? LayerKind::MaxPool : LayerKind::SumPool;
    layer.reportKind = isMax ? "max pool" : "average pool";
    readWindow(pooling, pooling.getKernel(), layer);
    if (pooling.getExcludePad())
      for (const auto &r : pooling.getRegions())
        layer.regions.push_back({r.rowStart, r.rowCount, r.columnStart, r.columnCount, pooling.scaleForCount(r.count)});
    return success();
  }
  if (auto reduction = dyn_cast<tile::ReductionOp>(op)) {
    bool isMax = reduction.getKind() == tile::PoolKind::Max;
    layer.kind = isMax ? LayerKind::MaxPool : LayerKind::SumPool;
    layer.reportKind = isMax ? "global max pool" : "global average pool";
    for (int64_t dim : reduction.getDims()) {
      if (dim == 2)
        layer.window.kernelHeight = layer.in.height;
      else if (dim == 3)
        layer.window.kernelWidth = layer.in.width;
      else
        return root->emitError("the array reduces over rows and columns, not over dimension ") << dim;
    }
    return success();
  }
  if (isa<tile::ElementwiseOp>(op)) {
    layer.kind = LayerKind::MaxPool; // of one element: the value itself; the epilogue may say otherwise
    layer.reportKind = "elementwise";
    return success();
  }
  return root->emitError("the array has no unit for this layer");
}

LogicalResult LayerCollector::readEpilogue(tile::TileRootInterface root, Layer &layer) {
  EpilogueReader reader(root, layer);
  if (failed(reader.read()))
    return failure();
  if (reader.residualOperand)
    return readOperand(root, *reader.residualOperand, layer.second);
  return success();
}

LogicalResult LayerCollector::addRoot(tile::TileRootInterface root, int group, tile::TilingAttr tiling) {
  if (tiling && tiling.getUnit() == "none") {
    // Concat and split: a matter of placement. What reads the result depends on whoever wrote the operands.
    if (root->getNumOperands() == 1)
      if (auto producer = producers.find(root->getOperand(0)); producer != producers.end())
        producers[root->getResult(0)] = producer->second;
    return success();
  }
  Layer layer;
  layer.name = root.getLayerName().str();
  if (auto nodes = root->getAttrOfType<ArrayAttr>("nodes"))
    for (auto node : nodes.getAsRange<StringAttr>())
      layer.onnxNodes.push_back(node.str());
  layer.macs = root.getMacs();
  if (auto estimate = root->getAttrOfType<tile::EstimateAttr>("estimate"))
    layer.predictedCycles = estimate.getCycles();
  tile::PlacementAttr result = root.getResultPlacementAttr();
  if (!result)
    return root->emitError("the result has no placement: place-buffers must run before");
  layer.out = readMap(root.getResultType(), result);
  noteArena(layer.out);
  if (failed(readOperand(root, root.getMapOperands().front(), layer.in)) || failed(readRoot(root, layer)) ||
      failed(readEpilogue(root, layer)))
    return failure();
  if (tiling) {
    auto cut = [&](LoopDim dim, int64_t extent) { return tiling.size(dim) < extent ? tiling.size(dim) : 0; };
    layer.tileSamples = cut(LoopDim::Batch, layer.out.samples);
    layer.tileRows = cut(LoopDim::Height, layer.out.height);
    int64_t channels = tiling.size(LoopDim::Group) * tiling.size(LoopDim::Channels);
    layer.tileChannels = channels < layer.out.channels ? channels : 0;
    if (cut(LoopDim::Width, layer.out.width))
      return root->emitError("the array tiles rows and channels, not columns: ")
             << tiling.size(LoopDim::Width) << " of " << layer.out.width;
    auto position = [&](LoopDim dim) { return llvm::find(tiling.getOrder(), dim) - tiling.getOrder().begin(); };
    layer.channelsOutermost = std::min(position(LoopDim::Channels), position(LoopDim::Group)) <
                              std::min(position(LoopDim::Height), position(LoopDim::Batch));
  }
  layer.group = group;
  producers[root->getResult(0)] = program.layers.size();
  program.layers.push_back(std::move(layer));
  return success();
}

LogicalResult LayerCollector::add(Operation *op) {
  if (auto root = dyn_cast<tile::TileRootInterface>(op))
    return addRoot(root, -1, root.getTilingAttr());
  auto group = cast<tile::GroupOp>(op);
  int number = groups++;
  Block &body = group.getBody().front();
  Operation *last = body.getTerminator()->getPrevNode();
  for (Operation &inner : body.without_terminator()) {
    auto root = dyn_cast<tile::TileRootInterface>(inner);
    if (!root)
      continue;
    tile::TilingAttr tiling = root.getTilingAttr();
    if (&inner == last && group.getTiling())
      tiling = *group.getTiling();
    if (failed(addRoot(root, number, tiling)))
      return failure();
  }
  for (auto [result, value] : llvm::zip(group.getResults(), body.getTerminator()->getOperands()))
    if (auto producer = producers.find(value); producer != producers.end())
      producers[result] = producer->second;
  return success();
}
