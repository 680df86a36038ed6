//===- VectorJobs.cpp - pools, additions, rescaling ----------------------===//

#include "backends/systolic/JobBuilder.h"
#include <algorithm>

using namespace tilewright;
using namespace tilewright::systolic;

void JobBuilder::vector(int index, const Tile &tile) {
  const Layer &layer = program.layers[index];
  if (tile.channels.begin % 16 != 0)
    throw Error("layer '" + layer.name + "': its channel tiles must be multiples of 16");
  Range words = {tile.channels.begin / 16, (tile.channels.end + 15) / 16};
  int64_t outChannel = layer.out.place.channelOffset + tile.channels.begin;

  isa::Vector vector;
  vector.op = layer.kind == LayerKind::MaxPool   ? isa::VectorOp::Max
              : layer.kind == LayerKind::SumPool ? isa::VectorOp::Sum
                                                 : isa::VectorOp::Add;
  Range rows = inputRows(layer, tile.rows);
  Range inSamples = placeSamples(layer.in, tile.samples, tile.samples),
        outSamples = placeSamples(layer.out, tile.samples, tile.samples);
  vector.in = mapOf(layer.in, inSamples.begin, words.begin, rows.begin);
  vector.inHeight = layer.in.height;
  vector.inWidth = layer.in.width;
  vector.padValue = layer.padValue;
  vector.window = windowOf(layer.window);
  vector.out = mapOf(layer.out, outSamples.begin, outChannel / 16, tile.rows.begin);
  vector.samples = tile.samples.size();
  vector.channels = tile.channels.size();
  vector.outChannelOffset = outChannel % 16;
  vector.bias = layer.sumBias;
  vector.outZeroPoint = layer.zeroPoint;
  vector.clampMin = layer.clampMin;
  vector.clampMax = layer.clampMax;

  std::vector<Access> operands;
  addAccesses(operands, false, layer.in, inSamples, words, rows, {0, layer.in.rowWords()});
  if (layer.kind == LayerKind::Add) {
    Range samples = placeSamples(layer.second, tile.samples, tile.samples);
    vector.second = mapOf(layer.second, samples.begin, words.begin, tile.rows.begin);
    vector.scale = layer.residual.scaleA;
    vector.scaleB = layer.residual.scaleB;
    vector.fix = layer.residual.fix;
    vector.outZeroPoint = layer.residual.zeroPoint;
    vector.unsignedAdd = layer.residual.isUnsigned;
    vector.clampMin = layer.residual.clampMin;
    vector.clampMax = layer.residual.clampMax;
    addAccesses(operands, false, layer.second, samples, words, tile.rows, {0, layer.second.rowWords()});
    if (layer.residual.swap) {
      std::swap(vector.in, vector.second);
    }
  }
  vector.table = tableSlot(index, layer.table1);
  if (vector.table)
    operands.push_back({Space::Table, false, vector.table - 1, vector.table});

  std::vector<PoolRegion> regions = layer.regions;
  if (regions.empty())
    regions.push_back({0, layer.out.height, 0, layer.out.width, 0});
  for (const PoolRegion &region : regions) {
    int64_t begin = std::max(region.rowStart, tile.rows.begin);
    int64_t end = std::min(region.rowStart + region.rowCount, tile.rows.end);
    if (begin >= end)
      continue;
    vector.outRowStart = begin;
    vector.outRowCount = end - begin;
    vector.outColumnStart = region.columnStart;
    vector.outColumnCount = region.columnCount;
    if (layer.kind == LayerKind::SumPool)
      vector.scale = region.scale;
    // ring_start follows the rows that this job touches.
    vector.out.ringStart = ringStart(layer.out.place, begin);
    vector.in.ringStart = ringStart(layer.in.place, inputRows(layer, {begin, end}).begin);
    std::vector<Access> accesses = operands;
    addAccesses(accesses, true, layer.out, outSamples, {outChannel / 16, (outChannel + tile.channels.size() + 15) / 16},
                {begin, end}, {region.columnStart, region.columnStart + region.columnCount});
    Job &job = append(index, VectorQueue, vector, accesses);
    job.cycles = vector.samples * words.size() * vector.outRowCount * vector.outColumnCount *
                 layer.window.kernelHeight * layer.window.kernelWidth;
  }
}
