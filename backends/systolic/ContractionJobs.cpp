//===- ContractionJobs.cpp - execute and weights jobs of one tile --------===//
//
// Weights are kept in the ring over a layer's tiles where all of them fit, and
// pass again for every tile otherwise. Either way a job may only name blocks
// that earlier jobs of the program have loaded, so jobs are cut to what fits the
// ring beside the next job's weights.
//
//===----------------------------------------------------------------------===//

#include "backends/systolic/JobBuilder.h"
#include "common/CeilDiv.h"
#include <algorithm>

using namespace tilewright;
using namespace tilewright::systolic;
using isa::ExecuteMode;

namespace tilewright::systolic {

class ContractionJobs {
public:
  ContractionJobs(JobBuilder &builder, int index)
      : builder(builder), array(builder.array), layer(builder.program.layers[index]), index(index),
        mode(executeMode(array, layer)) {}

  void run(const Tile &tile, Range passChannels, bool firstTile, bool lastTile);

private:
  JobBuilder::PackedBlock &packedBlock(int64_t channel);
  void loadWeights(int64_t constants, int64_t words);
  void loadPiece(const JobBuilder::PackedBlock &block, size_t piece);
  void execute(const Tile &tile, Range columns, Range channels, const ReductionPiece &piece, bool init, bool finish,
               isa::Release release, int64_t ringStart, int64_t words);
  void bricks(const Tile &tile, const JobBuilder::PackedBlock &block);
  int64_t pixelGroups(const Tile &tile, int64_t width) const;

  JobBuilder &builder;
  const ArrayConfig &array;
  const Layer &layer;
  int index;
  ExecuteMode mode;
  Range tileSamples; ///< of the tile that is being generated
};

} // namespace tilewright::systolic

JobBuilder::PackedBlock &ContractionJobs::packedBlock(int64_t channel) {
  auto [it, isNew] = builder.packed.try_emplace({index, channel});
  JobBuilder::PackedBlock &packed = it->second;
  if (isNew) {
    packed.block = planBlock(array, layer, channel, std::min(array.channels, layer.out.channels - channel));
    std::vector<uint8_t> bytes;
    for (const ReductionPiece &piece : packed.block.pieces) {
      packed.offsets.push_back(bytes.size());
      packPiece(array, layer, packed.block, piece, bytes);
    }
    int64_t offset = builder.addConstants(bytes.data(), bytes.size());
    for (int64_t &piece : packed.offsets)
      piece += offset;
  }
  return packed;
}

void ContractionJobs::loadWeights(int64_t constants, int64_t words) {
  // In jobs of at most a quarter of the ring: the next layer's first weights need not wait for room for all.
  int64_t limit = std::max<int64_t>(array.ringWords() / 4, 1);
  for (int64_t done = 0; done < words;) {
    int64_t count = std::min(words - done, limit);
    isa::Weights weights;
    weights.dramAddress = constants + done * array.ringWordBytes();
    weights.byteCount = count * array.ringWordBytes();
    Job &job = builder.append(index, WeightsQueue, weights, {});
    builder.ringAppended += count;
    job.ringAppended = builder.ringAppended;
    job.dramBytes = weights.byteCount;
    builder.jobs.layers[index].bytesWeights += weights.byteCount;
    done += count;
  }
}

void ContractionJobs::loadPiece(const JobBuilder::PackedBlock &block, size_t piece) {
  loadWeights(block.offsets[piece], headerWords(array) + block.block.pieces[piece].steps);
}

int64_t ContractionJobs::pixelGroups(const Tile &tile, int64_t width) const {
  int64_t rows = tile.samples.size() * tile.rows.size();
  return mode == ExecuteMode::Depthwise ? rows * ceilDiv(width, array.pixels) : ceilDiv(rows * width, array.pixels);
}

void ContractionJobs::execute(const Tile &tile, Range columns, Range channels, const ReductionPiece &piece, bool init,
                              bool finish, isa::Release release, int64_t ringStart, int64_t words) {
  isa::Execute execute;
  std::vector<Access> accesses;
  execute.mode = mode;
  execute.accInit = init;
  execute.accFinish = finish;
  execute.release = release;
  execute.ringOffset = ringStart - builder.ringFreed;

  WindowShape window = pieceWindow(layer, piece);
  Range inRows = inputRows(window, layer.in.height, tile.rows); // a piece of the kernel touches fewer
  Range inSamples = placeSamples(layer.in, tile.samples, tileSamples);
  // Depthwise: the job's first channel decides the input word.
  Range inWords = mode == ExecuteMode::Depthwise ? Range{channels.begin / 16, ceilDiv(channels.end, 16)}
                                                 : Range{piece.word0, piece.word1};
  execute.in = mapOf(layer.in, inSamples.begin, inWords.begin, inRows.begin);
  execute.inHeight = layer.in.height;
  execute.inWidth = layer.in.width;
  execute.padValue = layer.padValue;
  execute.channelSteps = piece.channelSteps;
  execute.packedChannels = layer.in.packed ? layer.in.channels : 0;
  // A job of part of the columns is a narrower map whose windows start further right.
  window.padLeft -= columns.begin * window.strideWidth;
  execute.window = windowOf(window);
  addAccesses(accesses, false, layer.in, inSamples, inWords, inRows, {0, layer.in.rowWords()});

  int64_t outChannel = layer.out.place.channelOffset + channels.begin;
  Range outWords = {outChannel / 16, ceilDiv(outChannel + channels.size(), 16)};
  Range outSamples = placeSamples(layer.out, tile.samples, tileSamples);
  execute.out = mapOf(layer.out, outSamples.begin, outWords.begin, tile.rows.begin);
  execute.out.base += columns.begin;
  execute.outWidth = columns.size();
  execute.outRowStart = tile.rows.begin;
  execute.outRowCount = tile.rows.size();
  execute.samples = tile.samples.size();
  execute.outChannels = channels.size();
  execute.outChannelOffset = outChannel % 16;
  execute.outZeroPoint = layer.zeroPoint;
  execute.clampMin = layer.clampMin;
  execute.clampMax = layer.clampMax;
  if (finish)
    addAccesses(accesses, true, layer.out, outSamples, outWords, tile.rows, columns);

  if (layer.second) {
    Range samples = placeSamples(layer.second, tile.samples, tileSamples);
    Range residualWords = {channels.begin / 16, ceilDiv(channels.end, 16)};
    if (channels.begin % 16 != 0)
      throw Error("layer '" + layer.name + "': a job with a residual starts at channel " +
                  std::to_string(channels.begin) +
                  ", no multiple of 16: the weights of 16 channels do not fit the ring");
    execute.residual = true;
    execute.residualSwap = layer.residual.swap;
    execute.residualUnsigned = layer.residual.isUnsigned;
    execute.residualMap = mapOf(layer.second, samples.begin, residualWords.begin, tile.rows.begin);
    execute.residualMap.base += columns.begin;
    execute.residualScaleA = layer.residual.scaleA;
    execute.residualScaleB = layer.residual.scaleB;
    execute.residualFix = layer.residual.fix;
    execute.residualZeroPoint = layer.residual.zeroPoint;
    execute.residualClampMin = layer.residual.clampMin;
    execute.residualClampMax = layer.residual.clampMax;
    if (finish)
      addAccesses(accesses, false, layer.second, samples, residualWords, tile.rows, columns);
  }
  execute.table1 = builder.tableSlot(index, layer.table1);
  execute.table2 = builder.tableSlot(index, layer.table2, execute.table1);
  for (int64_t slot : {execute.table1, execute.table2})
    if (slot)
      accesses.push_back({Space::Table, false, slot - 1, slot});

  Job &job = builder.append(index, ExecuteQueue, execute, accesses);
  int64_t blocks = ceilDiv(channels.size(), array.channels);
  job.cycles = blocks * pixelGroups(tile, columns.size()) * std::max(piece.steps, array.pixels) + 8;
  job.ringNeeded = ringStart + words;
  if (release != isa::Release::Keep)
    builder.ringFreed = ringStart + words;
  job.ringFreed = builder.ringFreed;
}

/// A block whose reduction is cut, or whose jobs may have only one pixel group: brick by brick, piece by piece.
void ContractionJobs::bricks(const Tile &tile, const JobBuilder::PackedBlock &block) {
  const WeightBlock &weights = block.block;
  Range channels = {weights.channel, weights.channel + weights.channels};
  int64_t total = ringWords(array, weights);
  // The tile's bricks: P columns of a row, or several rows (and samples) where they are short.
  std::vector<std::pair<Tile, Range>> parts;
  Range allColumns = {0, layer.out.width};
  if (pixelGroups(tile, layer.out.width) == 1) {
    parts.push_back({tile, allColumns});
  } else {
    for (int64_t n = tile.samples.begin; n < tile.samples.end; ++n)
      for (int64_t row = tile.rows.begin; row < tile.rows.end; ++row)
        for (int64_t x = 0; x < layer.out.width; x += array.pixels)
          parts.push_back(
              {Tile{{n, n + 1}, channels, {row, row + 1}}, {x, std::min(x + array.pixels, layer.out.width)}});
  }
  bool keep = parts.size() > 1 && total + (builder.ringAppended - builder.ringFreed) <= array.ringWords();
  int64_t start = builder.ringAppended;
  for (size_t part = 0; part < parts.size(); ++part) {
    bool last = part + 1 == parts.size();
    int64_t at = keep ? start : builder.ringAppended;
    for (size_t piece = 0; piece < weights.pieces.size(); ++piece) {
      if (!keep || part == 0)
        loadPiece(block, piece);
      int64_t words = headerWords(array) + weights.pieces[piece].steps;
      execute(parts[part].first, parts[part].second, channels, weights.pieces[piece], piece == 0,
              piece + 1 == weights.pieces.size(), keep && !last ? isa::Release::Keep : isa::Release::Stream, at, words);
      at += words;
    }
  }
}

void ContractionJobs::run(const Tile &tile, Range passChannels, bool firstTile, bool lastTile) {
  tileSamples = tile.samples;
  bool several = !(firstTile && lastTile);
  if (firstTile && tile.channels.begin == passChannels.begin) {
    bool keep = several;
    int64_t total = 0;
    for (int64_t c = passChannels.begin; c < passChannels.end; c += array.channels) {
      const WeightBlock &block = packedBlock(c).block;
      keep &= block.pieces.size() == 1;
      total += ringWords(array, block);
    }
    keep &= total + (builder.ringAppended - builder.ringFreed) <= array.ringWords();
    builder.kept[index] = keep ? builder.ringAppended : -1;
    if (!keep && builder.ringAppended != builder.ringFreed)
      throw Error("layer '" + layer.name + "': its weights (" + std::to_string(total * array.ringWordBytes()) +
                  " bytes) do not fit the ring beside those that the layers of its group keep there");
  }
  int64_t &kept = builder.kept[index];
  bool keep = kept >= 0;

  // Neighbouring blocks that read the same input words make one job, as long as their weights fit a third of the ring:
  // one third is consumed, one is there, one is loading. K < 16: jobs start at whole words of 16 channels where they
  // can.
  int64_t limit = keep ? array.ringWords() : array.ringWords() / 3;
  int64_t wholeWords = std::max<int64_t>(16, array.channels);
  bool oneGroup = pixelGroups(tile, layer.out.width) == 1;
  for (int64_t c = tile.channels.begin; c < tile.channels.end;) {
    const JobBuilder::PackedBlock &first = packedBlock(c);
    if (first.block.pieces.size() > 1) {
      bricks(tile, first);
      c += array.channels;
      continue;
    }
    const ReductionPiece &piece = first.block.pieces[0];
    std::vector<const JobBuilder::PackedBlock *> span = {&first};
    int64_t blockWords = ringWords(array, first.block), end = c + array.channels;
    for (; end < tile.channels.end; end += array.channels) {
      const JobBuilder::PackedBlock &next = packedBlock(end);
      const ReductionPiece &other = next.block.pieces[0];
      int64_t more = span.size() + 1, nextWord = span.size() + wholeWords / array.channels;
      if (more * blockWords > array.ringWords() || (end % wholeWords == 0 && nextWord * blockWords > limit))
        break;
      if (next.block.pieces.size() > 1 || other.word0 != piece.word0 || other.word1 != piece.word1 ||
          other.steps != piece.steps || other.term1 != piece.term1)
        break;
      span.push_back(&next);
    }
    Range channels = {c, std::min(end, tile.channels.end)};
    int64_t words = blockWords * span.size();
    int64_t at = keep ? kept : builder.ringAppended;
    if (keep)
      for (int64_t before = passChannels.begin; before < c; before += array.channels)
        at += ringWords(array, packedBlock(before).block);
    // Blocks lie side by side in the constants when they were packed together: one job then loads several.
    for (size_t i = 0, next; i < span.size() && (!keep || firstTile); i = next) {
      int64_t offset = span[i]->offsets[0], bytes = blockWords * array.ringWordBytes();
      for (next = i + 1; next < span.size() && span[next]->offsets[0] == offset + int64_t(next - i) * bytes;)
        ++next;
      loadWeights(offset, int64_t(next - i) * blockWords);
    }
    isa::Release release = keep && !lastTile ? isa::Release::Keep
                           : oneGroup        ? isa::Release::Stream
                                             : isa::Release::Block;
    execute(tile, {0, layer.out.width}, channels, piece, true, true, release, at, words);
    c = end;
  }
}

void JobBuilder::contraction(int layer, const Tile &tile, Range passChannels, bool firstTile, bool lastTile) {
  ContractionJobs(*this, layer).run(tile, passChannels, firstTile, lastTile);
}
