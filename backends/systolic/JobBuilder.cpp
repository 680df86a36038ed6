//===- JobBuilder.cpp - common ground of the job generators; transfers ----===//

#include "backends/systolic/JobBuilder.h"
#include "common/CeilDiv.h"
#include <algorithm>
#include <cassert>

using namespace tilewright;
using namespace tilewright::systolic;

JobBuilder::JobBuilder(const ArrayConfig &array, const LayerProgram &program)
    : array(array), program(program),
      hazards(array.scratchpadWords(), program.arenaBytes, array.tableSlots, array.channels <= 16),
      tables(array.tableSlots) {
  jobs.layers.resize(program.layers.size());
}

Job &JobBuilder::append(int layer, Queue queue, isa::Descriptor descriptor, const std::vector<Access> &accesses) {
  const std::string &name = program.layers[layer].name;
  for (const Access &access : accesses) {
    int64_t size = access.space == Space::Scratchpad ? array.scratchpadWords()
                   : access.space == Space::Arena    ? (program.arenaBytes + 15) / 16
                                                     : array.tableSlots;
    if (access.begin < 0 || access.end > size)
      throw Error("layer '" + name + "': its placement reaches " + std::to_string(access.end) + " of " +
                  std::to_string(size) +
                  (access.space == Space::Scratchpad ? " words of the scratchpad" : " units of the activation arena"));
  }
  auto &list = jobs.queues[queue];
  Job job;
  job.waits = hazards.add(queue, list.size() + 1, accesses);
  job.order = order++;
  isa::header(descriptor).layer = layer;
  job.descriptor = std::move(descriptor);
  list.push_back(std::move(job));
  return list.back();
}

int64_t JobBuilder::addConstants(const void *data, int64_t bytes) {
  int64_t offset = (jobs.constants.size() + 15) / 16 * 16;
  jobs.constants.resize(offset + bytes);
  std::copy_n(static_cast<const uint8_t *>(data), bytes, jobs.constants.begin() + offset);
  return offset;
}

int64_t JobBuilder::tableSlot(int layer, const std::optional<ValueTable> &table, int64_t busy) {
  if (!table)
    return 0;
  for (size_t slot = 0; slot < tables.size(); ++slot)
    if (tables[slot] == table)
      return slot + 1;
  size_t slot = nextTable;
  if (static_cast<int64_t>(slot) + 1 == busy)
    slot = (slot + 1) % tables.size();
  if (static_cast<int64_t>(slot) + 1 == busy)
    throw Error("layer '" + program.layers[layer].name + "' needs two tables, the array has one slot");
  nextTable = (slot + 1) % tables.size();
  tables[slot] = table;
  isa::Weights weights;
  weights.destination = isa::WeightsDestination::Table;
  weights.table = slot;
  weights.dramAddress = addConstants(table->data(), table->size());
  weights.byteCount = table->size();
  int64_t unit = slot;
  Job &job = append(layer, WeightsQueue, weights, {{Space::Table, true, unit, unit + 1}});
  job.dramBytes = table->size();
  job.ringAppended = ringAppended;
  jobs.layers[layer].bytesWeights += table->size();
  return slot + 1;
}

Range systolic::inputRows(const WindowShape &w, int64_t height, Range rows) {
  int64_t begin = rows.begin * w.strideHeight - w.padTop;
  int64_t end = (rows.end - 1) * w.strideHeight - w.padTop + (w.kernelHeight - 1) * w.dilationHeight + 1;
  begin = std::clamp<int64_t>(begin, 0, height);
  return {begin, std::clamp(end, begin, height)};
}

isa::Map systolic::mapOf(const Operand &operand, int64_t sample, int64_t word, int64_t row) {
  const Place &place = operand.place;
  isa::Map map;
  map.base = place.base + sample * place.samplePitch + word * place.planePitch;
  map.pitch = place.pitch;
  map.planePitch = place.planePitch;
  map.samplePitch = place.samplePitch;
  map.ringRows = place.ringRows;
  map.ringStart = ringStart(place, row);
  return map;
}

isa::Window systolic::windowOf(const WindowShape &w) {
  isa::Window window;
  window.kernelHeight = w.kernelHeight;
  window.kernelWidth = w.kernelWidth;
  window.strideHeight = w.strideHeight;
  window.strideWidth = w.strideWidth;
  window.dilationHeight = w.dilationHeight;
  window.dilationWidth = w.dilationWidth;
  window.padTop = w.padTop;
  window.padLeft = w.padLeft;
  return window;
}

void systolic::addAccesses(std::vector<Access> &accesses, bool write, const Operand &operand, Range samples,
                           Range words, Range rows, Range columns) {
  const Place &place = operand.place;
  bool wholeRows = columns.begin == 0 && columns.end == place.pitch;
  for (int64_t n = samples.begin; n < samples.end; ++n)
    for (int64_t word = words.begin; word < words.end; ++word) {
      int64_t base = place.base + n * place.samplePitch + word * place.planePitch;
      for (int64_t row = rows.begin; row < rows.end;) {
        int64_t ringRow = row % place.ringRows;
        int64_t count = wholeRows ? std::min(rows.end - row, place.ringRows - ringRow) : 1;
        int64_t begin = base + ringRow * place.pitch + columns.begin;
        accesses.push_back({Space::Scratchpad, write, begin, begin + (count - 1) * place.pitch + columns.size()});
        row += count;
      }
    }
}

/// Bytes of the arena that hold rows of channel words (blocked) or of all channels (others), one access per stretch.
static void addDramAccesses(std::vector<Access> &accesses, bool write, const Operand &operand, Range samples,
                            Range words, Range rows) {
  const DramPlace &dram = *operand.dram;
  int64_t rowBytes = dram.layout == DramLayout::Blocked ? operand.width * 16
                     : dram.layout == DramLayout::Nhwc  ? operand.width * operand.channels
                                                        : operand.width;
  for (int64_t n = samples.begin; n < samples.end; ++n)
    for (int64_t p = words.begin; p < words.end; ++p)
      for (int64_t row = rows.begin; row < rows.end;) {
        int64_t count = dram.rowStride == rowBytes ? rows.size() : 1;
        int64_t begin = dram.offset + n * dram.sampleStride + p * dram.planeStride + row * dram.rowStride;
        accesses.push_back(
            {Space::Arena, write, begin / 16, ceilDiv(begin + (count - 1) * dram.rowStride + rowBytes, 16)});
        row += count;
      }
}

void JobBuilder::load(int layer, const Operand &operand, const Tile &part, int which) {
  const DramPlace &dram = *operand.dram;
  Range words = {part.channels.begin / 16, ceilDiv(part.channels.end, 16)};
  if (dram.layout == DramLayout::Nhwc)
    words = {0, 1};
  else if (dram.layout == DramLayout::Nchw)
    words = {0, operand.channels};
  isa::Load load;
  load.flipSign = operand.isUnsigned;
  load.mode = dram.layout == DramLayout::Blocked ? isa::LoadMode::Words
              : dram.layout == DramLayout::Nhwc  ? isa::LoadMode::Bytes
                                                 : isa::LoadMode::Planar;
  load.dramAddress = dram.offset + part.samples.begin * dram.sampleStride + words.begin * dram.planeStride +
                     part.rows.begin * dram.rowStride;
  load.dramRowStride = dram.rowStride;
  load.dramPlaneStride = dram.planeStride;
  load.dramSampleStride = dram.sampleStride;
  Range samples = placeSamples(operand, part.samples, part.samples);
  load.out = mapOf(operand, samples.begin, operand.packed ? 0 : words.begin, part.rows.begin);
  load.rowStart = part.rows.begin;
  load.rowCount = part.rows.size();
  load.width = dram.layout == DramLayout::Nhwc ? operand.width * operand.channels : operand.width;
  load.planes = words.size();
  load.samples = part.samples.size();
  std::vector<Access> accesses;
  addDramAccesses(accesses, false, operand, part.samples, words, part.rows);
  addAccesses(accesses, true, operand, samples, operand.packed ? Range{0, 1} : words, part.rows,
              {0, operand.rowWords()});
  Job &job = append(layer, LoadQueue, load, accesses);
  int64_t elementBytes = dram.layout == DramLayout::Blocked ? 16 : 1;
  job.dramBytes = load.width * elementBytes * load.planes * load.rowCount * load.samples;
  LayerInfo &info = jobs.layers[layer];
  (which == 0 ? info.bytesIn : info.bytesResidual) += job.dramBytes;
}

void JobBuilder::store(int layer, const Tile &tile) {
  const Operand &out = program.layers[layer].out;
  const DramPlace &dram = *out.dram;
  int64_t offset = out.place.channelOffset;
  Range words = {(offset + tile.channels.begin) / 16, ceilDiv(offset + tile.channels.end, 16)};
  isa::Store store;
  store.flipSign = out.isUnsigned;
  store.dramAddress = dram.offset + tile.samples.begin * dram.sampleStride + words.begin * dram.planeStride +
                      tile.rows.begin * dram.rowStride;
  store.dramRowStride = dram.rowStride;
  store.dramPlaneStride = dram.planeStride;
  store.dramSampleStride = dram.sampleStride;
  Range samples = placeSamples(out, tile.samples, tile.samples);
  store.in = mapOf(out, samples.begin, words.begin, tile.rows.begin);
  store.rowStart = tile.rows.begin;
  store.rowCount = tile.rows.size();
  store.width = out.width;
  store.planes = words.size();
  store.samples = tile.samples.size();
  std::vector<Access> accesses;
  addDramAccesses(accesses, true, out, tile.samples, words, tile.rows);
  addAccesses(accesses, false, out, samples, words, tile.rows, {0, out.width});
  Job &job = append(layer, StoreQueue, store, accesses);
  job.dramBytes = store.width * 16 * store.planes * store.rowCount * store.samples;
  jobs.layers[layer].bytesOut += job.dramBytes;
}
