//===- GenerateJobs.cpp - the order of tiles ------------------------------===//
//
// Walks layers, or groups of layers that run tile by tile, in an order that is
// right when executed one job after the other. Schedule.h moves jobs forward
// from there as far as their waits allow.
//
//===----------------------------------------------------------------------===//

#include "backends/systolic/JobBuilder.h"
#include "common/CeilDiv.h"
#include <algorithm>

using namespace tilewright;
using namespace tilewright::systolic;

namespace {

class Generator {
public:
  Generator(const ArrayConfig &array, const LayerProgram &program)
      : array(array), program(program), builder(array, program), state(program.layers.size()) {}

  JobList run();

private:
  /// How far a layer has come in the current group and sample tile.
  struct State {
    int64_t rowsDone = 0;
    /// Groups: rows that are computed at all. Strides may leave out the last rows of a ring that nobody else reads.
    int64_t rowsWanted = 0;
    /// Rows that have been loaded, by first channel of what was loaded: of the input, of the second operand.
    std::map<int64_t, int64_t> loaded[2];
  };

  bool isContraction(const Layer &layer) const {
    return layer.kind == LayerKind::Contraction || layer.kind == LayerKind::Depthwise;
  }
  void checkLayer(const Layer &layer) const;
  Range channelTile(const Layer &layer, int64_t begin) const;
  void loadRows(int index, int which, const Operand &operand, Range samples, Range channels, Range rows);
  void tileOf(int index, const Tile &tile, Range passChannels, bool first, bool last);
  void alone(int index);
  void rowTile(int index, int64_t until, Range samples, bool firstSamples, bool lastSamples, Range groupLayers);
  void group(Range layers);

  const ArrayConfig &array;
  const LayerProgram &program;
  JobBuilder builder;
  std::vector<State> state;
};

} // namespace

void Generator::checkLayer(const Layer &layer) const {
  auto refuse = [&](const std::string &what) { throw Error("layer '" + layer.name + "': " + what); };
  for (const Operand *operand : {&layer.in, &layer.out, &layer.second}) {
    if (!*operand)
      continue;
    if (operand->place.ringRows < 1)
      refuse("an operand has no place in the scratchpad");
    if (operand->place.ringRows < operand->height &&
        operand->place.planePitch < operand->place.ringRows * operand->place.pitch && operand->channelWords() > 1)
      refuse("the rings of an operand's channel words overlap");
    if (operand != &layer.out && operand->place.channelOffset != 0)
      refuse("an operand may not start within a word of 16 channels");
  }
  if (layer.out.dram && layer.out.place.channelOffset % 16 != 0 && layer.out.place.ringRows < layer.out.height)
    refuse("a result that starts within a word of 16 channels must be resident to be stored");
  if (isContraction(layer) && static_cast<int64_t>(layer.scale.size()) != layer.out.channels)
    refuse("its requantization needs one scale per output channel");
}

/// Channel tiles are whole blocks and whole words.
Range Generator::channelTile(const Layer &layer, int64_t begin) const {
  int64_t unit = std::max<int64_t>(16, array.channels);
  int64_t size = layer.tileChannels ? ceilDiv(layer.tileChannels, unit) * unit : layer.out.channels;
  return {begin, std::min(begin + size, layer.out.channels)};
}

void Generator::loadRows(int index, int which, const Operand &operand, Range samples, Range channels, Range rows) {
  if (rows.size() > operand.place.ringRows)
    throw Error("layer '" + program.layers[index].name + "': a tile reads " + std::to_string(rows.size()) +
                " rows, the ring of its operand holds " + std::to_string(operand.place.ringRows));
  if (!operand.dram)
    return;
  int64_t &done = state[index].loaded[which].try_emplace(channels.begin, 0).first->second;
  Range missing = {std::max(done, rows.begin), rows.end};
  if (missing.size() <= 0)
    return;
  builder.load(index, operand, {samples, channels, missing}, which);
  done = rows.end;
}

void Generator::tileOf(int index, const Tile &tile, Range passChannels, bool first, bool last) {
  const Layer &layer = program.layers[index];
  bool perChannel = layer.kind != LayerKind::Contraction;
  loadRows(index, 0, layer.in, tile.samples, perChannel ? tile.channels : Range{0, layer.in.channels},
           inputRows(layer, tile.rows));
  if (layer.second)
    loadRows(index, 1, layer.second, tile.samples, tile.channels, tile.rows);
  if (tile.rows.size() > layer.out.place.ringRows)
    throw Error("layer '" + layer.name + "': a tile writes " + std::to_string(tile.rows.size()) +
                " rows, the ring of its result holds " + std::to_string(layer.out.place.ringRows));
  if (isContraction(layer))
    builder.contraction(index, tile, passChannels, first, last);
  else
    builder.vector(index, tile);
  if (layer.out.dram)
    builder.store(index, tile);
}

static std::vector<Range> split(int64_t total, int64_t size) {
  std::vector<Range> parts;
  if (size <= 0)
    size = total;
  for (int64_t begin = 0; begin < total; begin += size)
    parts.push_back({begin, std::min(begin + size, total)});
  return parts;
}

void Generator::alone(int index) {
  const Layer &layer = program.layers[index];
  std::vector<Range> samples = split(layer.out.samples, layer.tileSamples);
  std::vector<Range> rows = split(layer.out.height, layer.tileRows);
  std::vector<Range> channels;
  for (int64_t c = 0; c < layer.out.channels; c = channels.back().end)
    channels.push_back(channelTile(layer, c));

  auto forgetLoads = [&](bool all) {
    for (auto [which, operand] : {std::pair{0, &layer.in}, std::pair{1, &layer.second}})
      if (*operand && (all || operand->place.ringRows < operand->height))
        state[index].loaded[which].clear();
  };
  Range allChannels = {0, layer.out.channels};
  if (!layer.channelsOutermost || channels.size() == 1) {
    for (const Range &n : samples) {
      forgetLoads(true);
      for (const Range &y : rows)
        for (const Range &c : channels)
          tileOf(index, {n, c, y}, allChannels, &n == &samples.front() && &y == &rows.front(),
                 &n == &samples.back() && &y == &rows.back());
    }
    return;
  }
  for (const Range &c : channels)
    for (const Range &n : samples) {
      forgetLoads(samples.size() > 1);
      for (const Range &y : rows)
        tileOf(index, {n, c, y}, c, &n == &samples.front() && &y == &rows.front(),
               &n == &samples.back() && &y == &rows.back());
    }
}

/// The next row tile of a layer of a group, after the row tiles of the group that it reads. Without a tile size of its
/// own, a layer computes what is asked for: rows up to `until`.
void Generator::rowTile(int index, int64_t until, Range samples, bool firstSamples, bool lastSamples,
                        Range groupLayers) {
  const Layer &layer = program.layers[index];
  int64_t begin = state[index].rowsDone;
  int64_t size = layer.tileRows > 0 ? layer.tileRows : until - begin;
  Tile tile = {samples, {0, layer.out.channels}, {begin, std::min(begin + size, state[index].rowsWanted)}};
  bool isLast = tile.rows.end == state[index].rowsWanted;
  auto need = [&](const Operand &operand, int64_t rows) {
    if (!operand || operand.producer < groupLayers.begin || operand.producer >= index)
      return;
    // Producers end first: their weights lie before this layer's in the ring.
    if (isLast)
      rows = state[operand.producer].rowsWanted;
    while (state[operand.producer].rowsDone < rows)
      rowTile(operand.producer, rows, samples, firstSamples, lastSamples, groupLayers);
  };
  need(layer.in, inputRows(layer, tile.rows).end);
  need(layer.second, tile.rows.end);
  state[index].rowsDone = tile.rows.end;
  bool first = firstSamples && begin == 0, last = lastSamples && isLast;
  for (int64_t c = 0; c < layer.out.channels; c = tile.channels.end) {
    tile.channels = channelTile(layer, c);
    tileOf(index, tile, {0, layer.out.channels}, first, last);
  }
}

void Generator::group(Range layers) {
  const Layer &driver = program.layers[layers.end - 1];
  std::vector<Range> samples = split(driver.out.samples, driver.tileSamples);
  for (const Range &n : samples) {
    for (int64_t i = layers.end - 1; i >= layers.begin; --i) {
      const Operand &out = program.layers[i].out;
      state[i] = {};
      state[i].rowsWanted = out.dram || out.place.ringRows >= out.height || i == layers.end - 1 ? out.height : 0;
      for (int64_t j = i + 1; j < layers.end; ++j)
        for (auto [operand, window] : {std::pair{&program.layers[j].in, program.layers[j].window},
                                       std::pair{&program.layers[j].second, WindowShape()}})
          if (*operand && operand->producer == i)
            state[i].rowsWanted =
                std::max(state[i].rowsWanted, inputRows(window, out.height, {0, state[j].rowsWanted}).end);
    }
    // The driver last; whatever else of the group is not read by it (a second result) is completed too.
    for (int64_t i = layers.end - 1; i >= layers.begin; --i)
      while (state[i].rowsDone < state[i].rowsWanted)
        rowTile(i, state[i].rowsWanted, n, &n == &samples.front(), &n == &samples.back(), layers);
  }
}

JobList Generator::run() {
  for (const Layer &layer : program.layers)
    checkLayer(layer);
  int64_t count = program.layers.size();
  for (int64_t i = 0; i < count;) {
    int64_t end = i + 1;
    while (program.layers[i].group >= 0 && end < count && program.layers[end].group == program.layers[i].group)
      ++end;
    if (end - i > 1)
      group({i, end});
    else
      alone(i);
    i = end;
  }
  return builder.take();
}

JobList systolic::generateJobs(const ArrayConfig &array, const LayerProgram &program) {
  return Generator(array, program).run();
}
