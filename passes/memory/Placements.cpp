//===- Placements.cpp - placement attributes of a segment's maps ----------===//

#include "passes/memory/Placements.h"

#include "common/CeilDiv.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::memory;
using namespace tilewright::tile;

/// The input of the segment that owns `storage`, if it is one and every layer that reads it packs it.
static ToMapOp packedInput(const Segment &segment, int storage) {
  for (ToMapOp input : segment.inputs) {
    if (segment.residences.lookup(input.getResult()).storage != storage)
      continue;
    if (input.getResult().use_empty())
      return nullptr;
    for (OpOperand &use : input.getResult().getUses()) {
      auto root = dyn_cast<TileRootInterface>(use.getOwner());
      if (!root || !segment.target.packsOperand(root, use.getOperandNumber()))
        return nullptr;
    }
    return input;
  }
  return nullptr;
}

static DramAttr dramOf(const Segment &segment, const Residence &residence, ArrayRef<int64_t> dramOffsets) {
  const Storage &storage = segment.storages[residence.storage];
  int64_t channels = storage.shape[1], height = storage.shape[2], width = storage.shape[3];
  MLIRContext *context = storage.element.getContext();
  int64_t offset = dramOffsets[residence.storage];
  if (ToMapOp input = packedInput(segment, residence.storage)) {
    bool interleaved = channels == 1 || input.getStrides()[1] == 1;
    if (interleaved)
      return DramAttr::get(context, DramLayout::Bytes, offset, width * channels, 0, height * width * channels);
    return DramAttr::get(context, DramLayout::Planar, offset, width, height * width, channels * height * width);
  }
  int64_t word = segment.target.wordBytes(), row = width * word, plane = height * row;
  int64_t sample = ceilDiv(channels, segment.target.channelWord()) * plane;
  if (offset >= 0)
    offset += residence.channel / segment.target.channelWord() * plane + residence.row * row + residence.column * word;
  return DramAttr::get(context, DramLayout::Words, offset, row, plane, sample);
}

int64_t memory::dramBytes(const Segment &segment, int index) {
  const Storage &storage = segment.storages[index];
  if (!storage.streamed && !storage.leaves && !storage.enters)
    return 0;
  int64_t elements = storage.shape[0] * storage.shape[1] * storage.shape[2] * storage.shape[3];
  if (packedInput(segment, index))
    return elements;
  return segment.target.mapBytes(storage.shape, storage.element);
}

static PlacementAttr placementOf(const Segment &segment, const MapUse &use, const Ring &ring, int64_t offset,
                                 ArrayRef<int64_t> dramOffsets) {
  RankedTensorType type = use.type();
  MLIRContext *context = type.getContext();
  int64_t word = segment.target.wordBytes(), perWord = segment.target.channelWord();
  bool internal = segment.isInternal(use.value());
  Residence residence = internal ? Residence() : segment.residences.lookup(use.value());
  DramAttr dram;
  if (!internal) {
    const Storage &storage = segment.storages[residence.storage];
    if (storage.streamed || (use.index < 0 && storage.leaves))
      dram = dramOf(segment, residence, dramOffsets);
  }
  int64_t base = offset < 0 ? -1 : offset / word;
  if (ring.rows) {
    int64_t pitch = type.getDimSize(3), planes = ceilDiv(type.getDimSize(1), perWord);
    if (ring.packed) {
      pitch = segment.target.packedRowBytes(type.getDimSize(3), type.getDimSize(1)) / word;
      planes = 1;
    }
    // A ring between layers of a group holds one sample at a time: all samples share its addresses.
    int64_t samplePitch = internal && ring.samples < type.getDimSize(0) ? 0 : planes * ring.rows * pitch;
    // Streamed results that start within a word of the whole do so in their ring, too.
    int64_t channelOffset = use.index < 0 && !internal ? residence.channel % perWord : 0;
    int64_t ringSamples = !internal && ring.samples < type.getDimSize(0) ? ring.samples : 0;
    return PlacementAttr::get(context, base, pitch, ring.rows * pitch, samplePitch, ring.rows, channelOffset,
                              ring.packed ? type.getDimSize(1) : 0, ringSamples, dram);
  }
  const Storage &storage = segment.storages[residence.storage];
  int64_t pitch = storage.shape[3], plane = storage.shape[2] * pitch;
  int64_t sample = ceilDiv(storage.shape[1], perWord) * plane;
  if (base >= 0)
    base += residence.channel / perWord * plane + residence.row * pitch + residence.column;
  return PlacementAttr::get(context, base, pitch, plane, sample, type.getDimSize(2),
                            use.index < 0 ? residence.channel % perWord : 0, 0, 0, dram);
}

void memory::writePlacements(const Segment &segment, int step, ArrayRef<Ring> rings, ArrayRef<int64_t> offsets,
                             ArrayRef<int64_t> dramOffsets) {
  SmallVector<MapUse> uses = usesOf(segment.steps[step]);
  DenseMap<Operation *, SmallVector<Attribute>> operands;
  for (auto [i, use] : llvm::enumerate(uses)) {
    PlacementAttr placement = placementOf(segment, use, rings[i], offsets[i], dramOffsets);
    if (use.index < 0)
      use.layer->setAttr("result_placement", placement);
    else
      operands[use.layer].push_back(placement);
  }
  for (auto &[op, placements] : operands)
    op->setAttr("operand_placements", ArrayAttr::get(op->getContext(), placements));
}

void memory::writeBoundaries(const Segment &segment, ArrayRef<int64_t> dramOffsets) {
  for (ToMapOp input : segment.inputs)
    input.setPlacementAttr(dramOf(segment, segment.residences.lookup(input.getResult()), dramOffsets));
  for (FromMapOp output : segment.outputs)
    output.setPlacementAttr(dramOf(segment, segment.residences.lookup(output.getMap()), dramOffsets));
}

/// The operation that owns a storage: whose result covers it all.
static Operation *ownerOf(const Segment &segment, int storage) {
  for (auto &[value, residence] : segment.residences)
    if (residence.storage == storage && !residence.channel && !residence.row && !residence.column &&
        cast<RankedTensorType>(value.getType()).getShape() == ArrayRef(segment.storages[storage].shape) &&
        !segment.isInternal(value) &&
        !(isa<MoveOp>(value.getDefiningOp()) && cast<MoveOp>(value.getDefiningOp()).getKind() == MoveKind::Slice) &&
        !isa<GroupOp>(value.getDefiningOp()->getParentOp()))
      return value.getDefiningOp();
  return nullptr;
}

void memory::writeStreamed(const Segment &segment) {
  for (auto [i, storage] : llvm::enumerate(segment.storages))
    if (Operation *owner = ownerOf(segment, i)) {
      if (storage.streamed)
        owner->setAttr(kStreamedAttr, UnitAttr::get(owner->getContext()));
      else
        owner->removeAttr(kStreamedAttr);
    }
}

void memory::readStreamed(Segment &segment) {
  for (auto [i, storage] : llvm::enumerate(segment.storages))
    if (Operation *owner = ownerOf(segment, i))
      storage.streamed = owner->hasAttr(kStreamedAttr);
}

SmallVector<Ring> memory::readRings(const Segment &segment, int step) {
  SmallVector<Ring> rings;
  SmallVector<MapUse> uses = usesOf(segment.steps[step]);
  for (const MapUse &use : uses) {
    TileRootInterface layer = use.layer;
    PlacementAttr placement = use.index < 0 ? layer.getResultPlacementAttr() : layer.getOperandPlacement(use.index);
    bool internal = segment.isInternal(use.value());
    bool streamed = !internal && segment.storages[segment.residences.lookup(use.value()).storage].streamed;
    if (!placement || !layer.getTilingAttr() || (!internal && !streamed))
      rings.push_back({});
    else
      rings.push_back(
          {placement.getRingRows(), layer.getTilingAttr().size(LoopDim::Batch), placement.getPacked() != 0});
  }
  return rings;
}
