//===- BufferPlan.cpp - scratchpad buffers of a segment -------------------===//

#include "passes/memory/BufferPlan.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::memory;
using namespace tilewright::tile;

Value MapUse::value() const {
  TileRootInterface root = layer;
  return index < 0 ? root->getResult(0) : root->getOperand(index);
}

RankedTensorType MapUse::type() const { return cast<RankedTensorType>(value().getType()); }

SmallVector<MapUse> memory::usesOf(const Step &step) {
  SmallVector<MapUse> uses;
  for (TileRootInterface layer : step.layers) {
    for (unsigned index : layer.getMapOperands())
      uses.push_back({layer, static_cast<int>(index)});
    uses.push_back({layer, -1});
  }
  return uses;
}

std::pair<void *, int> BufferPlan::keyOf(const MapUse &use) const {
  // A value internal to a group has one ring for its producer and all of its readers.
  if (segment.isInternal(use.value()))
    return {use.value().getAsOpaquePointer(), -1};
  return {use.value().getAsOpaquePointer(), use.index};
}

void BufferPlan::addRing(int step, const MapUse &use, const Ring &ring) {
  auto [entry, isNew] = rings.try_emplace({step, keyOf(use)}, static_cast<int>(buffers.size()));
  RankedTensorType type = use.type();
  int64_t size =
      ringBytes(segment.target, type.getShape(), type.getElementType(), ring.rows, ring.samples, ring.packed);
  if (!isNew) {
    Buffer &buffer = buffers[entry->second];
    buffer.size = std::max(buffer.size, size);
    return;
  }
  if (!segment.isInternal(use.value()))
    (use.index >= 0 ? loaded : stored).push_back(buffers.size());
  buffers.push_back({size, step, step});
}

void BufferPlan::addStorages() {
  SmallVector<int> representative;
  for (size_t i = 0; i < segment.storages.size(); ++i)
    representative.push_back(i);
  SmallVector<std::pair<int64_t, int64_t>> lives;
  for (const Storage &storage : segment.storages)
    lives.push_back({storage.first, storage.last});
  // A result may take the place of a residual that dies there: each element is read just before it is written. Not when
  // the root reads the same storage, whose other elements are still needed.
  for (auto [i, step] : llvm::enumerate(segment.steps)) {
    if (step.layers.size() != 1)
      continue;
    TileRootInterface layer = step.layers[0];
    Residence result = segment.residences.lookup(layer->getResult(0));
    const Storage &out = segment.storages[result.storage];
    if (out.streamed || out.first != static_cast<int64_t>(i) || result.channel ||
        layer.getResultType().getShape() != ArrayRef(out.shape))
      continue;
    for (unsigned index = layer.getFirstResidual(); index < layer->getNumOperands(); ++index) {
      Residence residual = segment.residences.lookup(layer->getOperand(index));
      const Storage &in = segment.storages[residual.storage];
      bool alsoRead = false;
      for (unsigned other : layer.getMapOperands())
        alsoRead |= other != index && segment.residences.lookup(layer->getOperand(other)).storage == residual.storage;
      int root = representative[residual.storage];
      if (in.streamed || alsoRead || lives[root].second != static_cast<int64_t>(i) || in.shape != out.shape ||
          residual.channel || residual.row || residual.column)
        continue;
      representative[result.storage] = root; // a root itself: results are born after residuals
      lives[root].second = out.last;
      break;
    }
  }
  auto isOnChip = [&](size_t i) {
    return !segment.storages[i].streamed && segment.storages[i].first <= segment.storages[i].last;
  };
  for (size_t i = 0; i < segment.storages.size(); ++i)
    if (isOnChip(i) && representative[i] == static_cast<int>(i)) {
      storageBuffers[i] = buffers.size();
      const Storage &storage = segment.storages[i];
      if (storage.leaves)
        stored.push_back(buffers.size());
      buffers.push_back({segment.target.mapBytes(storage.shape, storage.element), lives[i].first, lives[i].second});
    }
  for (size_t i = 0; i < segment.storages.size(); ++i)
    if (isOnChip(i) && representative[i] != static_cast<int>(i))
      storageBuffers[i] = storageBuffers.lookup(representative[i]);
}

int64_t BufferPlan::allocate() { return memory::allocate(buffers, segment.target.channelWord()); }

void BufferPlan::lengthen(ArrayRef<int> chosen, int64_t before, int64_t after, int &attempts) {
  if (chosen.empty() || attempts-- <= 0)
    return;
  SmallVector<Buffer> fitting = buffers;
  int64_t end = segment.steps.size() - 1;
  for (int i : chosen) {
    buffers[i].first = std::max<int64_t>(0, buffers[i].first - before);
    buffers[i].last = std::min(end, buffers[i].last + after);
  }
  if (allocate() <= segment.target.mapCapacity())
    return;
  buffers = std::move(fitting);
  if (chosen.size() > 1) {
    lengthen(chosen.take_front(chosen.size() / 2), before, after, attempts);
    lengthen(chosen.drop_front(chosen.size() / 2), before, after, attempts);
  }
}

void BufferPlan::allocateApart() {
  allocate();
  auto all = llvm::to_vector(llvm::seq<int>(0, buffers.size()));
  auto wish = [&](ArrayRef<int> chosen, int64_t before, int64_t after) {
    int attempts = 64;
    lengthen(chosen, before, after, attempts);
  };
  wish(loaded, 1, 0);
  wish(stored, 0, 1);
  wish(all, 0, 1);
  wish(all, 0, 8); // steps may be shorter than a transfer's latency
}

int64_t BufferPlan::offsetOf(int step, const MapUse &use) const {
  if (auto ring = rings.find({step, keyOf(use)}); ring != rings.end())
    return buffers[ring->second].offset;
  Residence residence = segment.residences.lookup(use.value());
  return buffers[storageBuffers.lookup(residence.storage)].offset;
}
