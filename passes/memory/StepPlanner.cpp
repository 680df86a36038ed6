//===- StepPlanner.cpp - tiles of one step --------------------------------===//

#include "passes/memory/StepPlanner.h"

#include "common/CeilDiv.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::memory;
using namespace tilewright::tile;

namespace {
/// What is decided for a candidate: rows of the driver's tile, samples per tile, output channels per tile of the
/// driver.
struct Candidate {
  int64_t rows = 1, samples = 1, channels = 0; // channels = 0: not cut
  bool channelsOutermost = false;
  bool doubleBuffered = true;
};

class Planner {
public:
  Planner(const Segment &segment, int step)
      : target(segment.target), step(segment.steps[step]), uses(usesOf(this->step)) {
    for (MapUse &use : uses) {
      bool internal = segment.isInternal(use.value());
      Residence residence = internal ? Residence() : segment.residences.lookup(use.value());
      internals.push_back(internal);
      streamed.push_back(!internal && segment.storages[residence.storage].streamed);
      stores.push_back(!internal && use.index < 0 && (streamed.back() || segment.storages[residence.storage].leaves));
    }
  }

  std::optional<StepPlan> best(int64_t freeBytes) const;
  int64_t minimal() const {
    Candidate smallest;
    smallest.doubleBuffered = false;
    return build(smallest).ringBytes;
  }

private:
  TileRootInterface driver() const { return step.layers.back(); }
  int64_t tileRows(TileRootInterface layer, const Candidate &candidate) const;
  StepPlan build(const Candidate &candidate) const;
  SmallVector<Candidate> candidates() const;
  bool needsRings() const { return llvm::is_contained(streamed, true) || llvm::is_contained(internals, true); }

  const TargetDescription &target;
  const Step &step;
  SmallVector<MapUse> uses;
  SmallVector<bool> streamed, internals, stores;
};
} // namespace

/// Output rows of a layer of the group for each tile of the driver: what the next layer's tile newly needs.
int64_t Planner::tileRows(TileRootInterface layer, const Candidate &candidate) const {
  if (layer == driver())
    return std::min(candidate.rows, layer.getIterationSpace().height);
  int64_t rows = 1;
  for (const MapUse &use : uses)
    if (use.index >= 0 && use.value() == layer->getResult(0)) {
      int64_t consumerRows = tileRows(use.layer, candidate);
      // Rows by which the window moves on with a tile.
      rows =
          std::max(rows, rowsOf(use.layer, use.index, 2 * consumerRows) - rowsOf(use.layer, use.index, consumerRows));
    }
  return std::min(rows, layer.getIterationSpace().height);
}

StepPlan Planner::build(const Candidate &candidate) const {
  StepPlan plan;
  // Rings.
  plan.rings.resize(uses.size());
  for (auto [i, use] : llvm::enumerate(uses)) {
    if (!streamed[i] && !internals[i])
      continue;
    int64_t height = use.type().getDimSize(2), rows;
    if (use.index >= 0) {
      int64_t consumerRows = tileRows(use.layer, candidate);
      rows = rowsOf(use.layer, use.index, candidate.doubleBuffered ? 2 * consumerRows : consumerRows);
      if (internals[i]) // and what its producer is ahead
        for (TileRootInterface layer : step.layers)
          if (layer->getResult(0) == use.value())
            rows += tileRows(layer, candidate);
    } else {
      rows = tileRows(use.layer, candidate) * (candidate.doubleBuffered ? 2 : 1);
    }
    bool packed = use.index >= 0 && target.packsOperand(use.layer, use.index);
    plan.rings[i] = {std::min(rows, height), candidate.samples, packed};
  }
  // An internal value has one ring, as large as any of its uses needs.
  for (auto [i, use] : llvm::enumerate(uses))
    for (size_t j = 0; j < uses.size(); ++j)
      if (internals[i] && uses[j].value() == use.value())
        plan.rings[i].rows = std::max(plan.rings[i].rows, plan.rings[j].rows);
  int64_t firstLoad = 0, lastStore = 0;
  for (auto [i, use] : llvm::enumerate(uses)) {
    RankedTensorType type = use.type();
    if (plan.rings[i].rows && !(internals[i] && use.index >= 0))
      plan.ringBytes += ringBytes(target, type.getShape(), type.getElementType(), plan.rings[i].rows,
                                  plan.rings[i].samples, plan.rings[i].packed);
    int64_t tile = ringBytes(target, type.getShape(), type.getElementType(),
                             use.index >= 0 ? rowsOf(use.layer, use.index, tileRows(use.layer, candidate))
                                            : tileRows(use.layer, candidate),
                             candidate.samples, plan.rings[i].packed);
    if (streamed[i] && use.index >= 0)
      firstLoad += tile;
    if (stores[i])
      lastStore = tile;
  }
  // Costs.
  for (TileRootInterface layer : step.layers) {
    LayerPlan part;
    IterationSpace space = layer.getIterationSpace();
    int64_t rows = tileRows(layer, candidate);
    int64_t channels =
        candidate.channels && layer == driver() ? std::min(candidate.channels, space.channels) : space.channels;
    part.choice.sizes = {std::min(candidate.samples, space.batch), space.group, channels, rows, space.width};
    int64_t rowTiles = ceilDiv(space.height, rows) * ceilDiv(space.batch, part.choice.sizes[0]);
    int64_t channelTiles = ceilDiv(space.channels, channels);
    auto cut = [&](LoopDim dim, int64_t extent, int64_t size) {
      if (size < extent)
        part.choice.order.push_back(dim);
    };
    if (candidate.channelsOutermost)
      cut(LoopDim::Channels, space.channels, channels);
    cut(LoopDim::Batch, space.batch, part.choice.sizes[0]);
    cut(LoopDim::Height, space.height, rows);
    if (!candidate.channelsOutermost)
      cut(LoopDim::Channels, space.channels, channels);
    part.choice.unit = target.unit(layer);
    if (layer.getWeightsOperand()) {
      int64_t all = target.weightBytes(layer, space.channels * space.group), capacity = target.weightCapacity();
      int64_t block = target.weightBytes(layer, 1), pass = target.weightBytes(layer, channels * space.group);
      if (block > capacity)
        part.choice.weights = WeightsPolicy::Streamed;
      else if (rowTiles == 1 || all <= capacity || (candidate.channelsOutermost && pass <= capacity))
        part.choice.weights = WeightsPolicy::Kept;
      else
        part.choice.weights = WeightsPolicy::Reloaded;
    }
    for (auto [i, use] : llvm::enumerate(uses)) {
      if (use.layer != layer || (!streamed[i] && !stores[i]))
        continue;
      RankedTensorType type = use.type();
      int64_t bytes = ringBytes(target, type.getShape(), type.getElementType(), type.getDimSize(2), type.getDimSize(0),
                                plan.rings[i].packed);
      bool again = use.index >= 0 && static_cast<unsigned>(use.index) < layer.getFirstResidual() &&
                   candidate.channelsOutermost && plan.rings[i].rows < type.getDimSize(2) && layer.getWeightsOperand();
      int64_t times = again ? channelTiles : 1;
      part.choice.mapBytes += bytes * times;
      int64_t row =
          plan.rings[i].packed ? type.getDimSize(3) * type.getDimSize(1) : type.getDimSize(3) * target.wordBytes();
      double stretch = std::max(1.0, static_cast<double>(target.burstBytes()) / static_cast<double>(row));
      part.choice.mapTransfer += static_cast<int64_t>(static_cast<double>(bytes * times) * stretch);
    }
    part.cost = target.estimate(layer, part.choice);
    plan.cycles += part.cost.cycles;
    plan.layers.push_back(std::move(part));
  }
  plan.cycles += static_cast<int64_t>(static_cast<double>(firstLoad + lastStore) / target.bytesPerCycle());
  return plan;
}

SmallVector<Candidate> Planner::candidates() const {
  SmallVector<Candidate> all;
  IterationSpace space = driver().getIterationSpace();
  SmallVector<int64_t> rows, samples{space.batch};
  for (int64_t parts : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128, 256, 1024})
    if (int64_t size = ceilDiv(space.height, parts); rows.empty() || rows.back() != size)
      rows.push_back(size);
  bool cutSamples = needsRings();
  // Where a placement has `dram`, its place counts the tile's own samples; a resident result that leaves holds all.
  for (size_t i = 0; i < uses.size(); ++i)
    cutSamples &= !(stores[i] && !streamed[i] && !internals[i]);
  if (cutSamples)
    for (int64_t parts : {2, 4, 8, 16, 64, 1 << 16})
      if (int64_t size = ceilDiv(space.batch, parts); samples.back() != size)
        if (step.layers.size() == 1 || size == 1) // rings between the layers of a group hold all samples or one
          samples.push_back(size);
  SmallVector<int64_t> channels{0};
  bool weighted = driver().getWeightsOperand() && step.layers.size() == 1 && space.group == 1;
  if (weighted) {
    int64_t granule = target.channelGranule(driver());
    for (int64_t share : {1, 2, 3}) { // what of the weights' memory a channel tile may take
      int64_t size = granule;
      while (size + granule < space.channels &&
             target.weightBytes(driver(), size + granule) <= target.weightCapacity() / share)
        size += granule;
      if (size < space.channels && !llvm::is_contained(channels, size))
        channels.push_back(size);
    }
  }
  for (int64_t n : samples)
    for (int64_t r : rows) {
      if (!needsRings() && r != rows.front() && !llvm::is_contained(stores, true))
        continue; // everything is on chip: one tile
      for (int64_t c : channels)
        for (bool doubled : {true, false})
          all.push_back({r, n, c, c != 0, doubled});
    }
  return all;
}

std::optional<StepPlan> Planner::best(int64_t freeBytes) const {
  std::optional<StepPlan> found;
  for (const Candidate &candidate : candidates()) {
    StepPlan plan = build(candidate);
    if (plan.ringBytes > freeBytes)
      continue;
    // Loads and computation take turns where a ring holds one tile.
    if (!candidate.doubleBuffered)
      plan.cycles += plan.cycles / 2;
    // Layers of a group run together and need all their weights at once.
    bool fits = true;
    if (step.layers.size() > 1) {
      int64_t weights = 0;
      for (TileRootInterface layer : step.layers)
        weights += layer.getWeightsOperand() ? target.weightBytes(layer, layer.getResultType().getDimSize(1)) : 0;
      fits = weights <= target.weightCapacity();
    }
    if (fits && (!found || plan.cycles < found->cycles))
      found = std::move(plan);
  }
  // Vector units: channel tiles, so that they can follow their producer's output channels and their consumers them.
  if (found && step.layers.size() == 1 && !driver().getWeightsOperand() && !needsRings()) {
    LayerPlan &part = found->layers.back();
    int64_t granule = target.channelGranule(driver()), channels = driver().getIterationSpace().channels;
    int64_t size = std::max(granule, ceilDiv(ceilDiv(channels, 8), granule) * granule);
    if (size < channels) {
      part.choice.sizes[2] = size;
      part.choice.order.push_back(LoopDim::Channels);
    }
  }
  return found;
}

std::optional<StepPlan> memory::planStep(const Segment &segment, int step, int64_t freeBytes) {
  return Planner(segment, step).best(freeBytes);
}

int64_t memory::minimalRingBytes(const Segment &segment, int step) { return Planner(segment, step).minimal(); }
