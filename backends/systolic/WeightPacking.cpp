//===- WeightPacking.cpp - weights in the order the array reads them ------===//

#include "backends/systolic/WeightPacking.h"
#include "common/CeilDiv.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace tilewright;
using namespace tilewright::systolic;
using isa::ExecuteMode;

/// Input channels per output channel.
static int64_t groupInputs(const Layer &layer) { return layer.in.channels / layer.groups; }
static int64_t reductionSize(const Layer &layer) {
  return groupInputs(layer) * layer.window.kernelHeight * layer.window.kernelWidth;
}

/// int8 terms that sum to `value`, which lies in [-255, 255].
static int64_t termsOf(int64_t value) { return value > 127 ? ceilDiv(value, 127) : value < -128 ? 2 : 1; }

/// Term `index` of `value`: as much as fits int8 in each, zero once nothing is left.
static int64_t termOf(int64_t value, int64_t index) {
  for (int64_t i = 0;; ++i) {
    int64_t term = std::clamp<int64_t>(value, -128, 127);
    if (i == index)
      return term;
    value -= term;
  }
}

static int64_t countTerms(const Layer &layer, int64_t channel, int64_t channels) {
  if (!layer.weights.wide)
    return 1;
  int64_t terms = 1;
  int64_t perChannel = reductionSize(layer);
  for (int64_t i = channel * perChannel; i < (channel + channels) * perChannel; ++i)
    terms = std::max(terms, termsOf(layer.weights.at(i)));
  return terms;
}

ExecuteMode systolic::executeMode(const ArrayConfig &array, const Layer &layer) {
  const WindowShape &w = layer.window;
  if (layer.in.packed) {
    if (layer.groups != 1 || w.dilationWidth != 1)
      throw Error("layer '" + layer.name + "': an image in packed rows serves convolutions of one group without " +
                  "horizontal dilation only");
    return ExecuteMode::Packed;
  }
  auto strideFits = [](int64_t stride) { return stride == 1 || stride == 2; };
  bool native = layer.groups > 1 && layer.groups == layer.in.channels && layer.groups == layer.out.channels &&
                strideFits(w.strideHeight) && strideFits(w.strideWidth) && w.dilationHeight == 1 &&
                w.dilationWidth == 1 && w.kernelHeight <= 7 && w.kernelWidth <= 7 && array.channels <= 16 &&
                countTerms(layer, 0, layer.out.channels) == 1;
  return native ? ExecuteMode::Depthwise : ExecuteMode::Dense;
}

int64_t systolic::headerWords(const ArrayConfig &array) { return ceilDiv(12, array.reduction); }

static int64_t stepsOf(const ArrayConfig &array, ExecuteMode mode, const Layer &layer, const ReductionPiece &piece) {
  int64_t rows = piece.ky1 - piece.ky0, columns = piece.kx1 - piece.kx0, terms = piece.term1 - piece.term0;
  switch (mode) {
  case ExecuteMode::Dense:
    return terms * rows * columns * piece.channelSteps;
  case ExecuteMode::Depthwise:
    return rows * ceilDiv(columns, array.reduction);
  case ExecuteMode::Packed:
    return ceilDiv(terms * rows * columns * layer.in.channels, array.reduction);
  }
  return 0;
}

/// Several terms share one job where a kernel dimension is free to repeat them in.
static bool termsFitWindow(ExecuteMode mode, const Layer &layer) {
  return layer.window.kernelHeight == 1 || (layer.window.kernelWidth == 1 && mode == ExecuteMode::Dense);
}

WindowShape systolic::pieceWindow(const Layer &layer, const ReductionPiece &piece) {
  WindowShape w = layer.window;
  w.padTop -= piece.ky0 * w.dilationHeight;
  w.padLeft -= piece.kx0 * w.dilationWidth;
  w.kernelHeight = piece.ky1 - piece.ky0;
  w.kernelWidth = piece.kx1 - piece.kx0;
  int64_t terms = piece.term1 - piece.term0;
  if (terms > 1 && layer.window.kernelHeight == 1) {
    w.kernelHeight = terms;
    w.dilationHeight = 0;
  } else if (terms > 1) {
    w.kernelWidth = terms;
    w.dilationWidth = 0;
  }
  return w;
}

WeightBlock systolic::planBlock(const ArrayConfig &array, const Layer &layer, int64_t channel, int64_t channels) {
  ExecuteMode mode = executeMode(array, layer);
  const WindowShape &w = layer.window;
  // The channels of the input's map that this block's groups read, counted from the map's first word.
  int64_t outputsPerGroup = layer.out.channels / layer.groups;
  int64_t first = channel / outputsPerGroup * groupInputs(layer);
  int64_t last = ((channel + channels - 1) / outputsPerGroup + 1) * groupInputs(layer);

  ReductionPiece whole;
  whole.ky1 = w.kernelHeight;
  whole.kx1 = w.kernelWidth;
  auto setWords = [&](ReductionPiece &piece, int64_t word0, int64_t word1) {
    piece.word0 = word0;
    piece.word1 = word1;
    piece.channelSteps =
        mode == ExecuteMode::Dense ? ceilDiv(std::min(word1 * 16, last) - word0 * 16, array.reduction) : 1;
  };
  if (mode == ExecuteMode::Dense)
    setWords(whole, first / 16, ceilDiv(last, 16));
  else
    setWords(whole, 0, 1);
  int64_t terms = countTerms(layer, channel, channels);
  whole.term1 = terms;

  int64_t capacity = array.ringWords() - headerWords(array);
  auto fits = [&](ReductionPiece &piece, int64_t limit) {
    piece.steps = stepsOf(array, mode, layer, piece);
    return piece.steps <= limit;
  };
  WeightBlock block{channel, channels, {}};
  if ((terms == 1 || termsFitWindow(mode, layer)) && fits(whole, capacity)) {
    block.pieces.push_back(whole);
    return block;
  }
  // Cut: one term per piece, then kernel rows, kernel columns, input words. Half a ring, so that the next piece loads
  // while one is consumed.
  int64_t limit = std::max<int64_t>(array.ringWords() / 2 - headerWords(array), 1);
  auto cutWords = [&](ReductionPiece piece) {
    for (int64_t size = piece.word1 - piece.word0; size > 0; size = size == 1 ? 0 : ceilDiv(size, 2)) {
      ReductionPiece probe = piece;
      setWords(probe, piece.word0, piece.word0 + size);
      if (!fits(probe, size == 1 ? capacity : limit))
        continue;
      for (int64_t word = piece.word0; word < piece.word1; word += size) {
        ReductionPiece part = piece;
        setWords(part, word, std::min(word + size, piece.word1));
        fits(part, capacity);
        block.pieces.push_back(part);
      }
      return;
    }
    throw Error("layer '" + layer.name + "': the weight ring (" + std::to_string(array.weightRingBytes) +
                " bytes) cannot hold one kernel tap of 16 input channels");
  };
  for (int64_t term = 0; term < terms; ++term) {
    ReductionPiece ofTerm = whole;
    ofTerm.term0 = term;
    ofTerm.term1 = term + 1;
    if (fits(ofTerm, limit)) {
      block.pieces.push_back(ofTerm);
      continue;
    }
    for (int64_t ky = 0; ky < w.kernelHeight; ++ky) {
      ReductionPiece row = ofTerm;
      row.ky0 = ky;
      row.ky1 = ky + 1;
      if (fits(row, limit)) {
        block.pieces.push_back(row);
        continue;
      }
      for (int64_t kx = 0; kx < w.kernelWidth; ++kx) {
        ReductionPiece tap = row;
        tap.kx0 = kx;
        tap.kx1 = kx + 1;
        if (fits(tap, limit))
          block.pieces.push_back(tap);
        else
          cutWords(tap);
      }
    }
  }
  return block;
}

int64_t systolic::ringWords(const ArrayConfig &array, const WeightBlock &block) {
  int64_t words = 0;
  for (const ReductionPiece &piece : block.pieces)
    words += headerWords(array) + piece.steps;
  return words;
}

void systolic::packPiece(const ArrayConfig &array, const Layer &layer, const WeightBlock &block,
                         const ReductionPiece &piece, std::vector<uint8_t> &bytes) {
  ExecuteMode mode = executeMode(array, layer);
  int64_t K = array.channels, C = array.reduction, wordBytes = array.ringWordBytes();
  size_t at = bytes.size();
  bytes.resize(at + (headerWords(array) + piece.steps) * wordBytes, 0);
  uint8_t *header = bytes.data() + at, *steps = header + headerWords(array) * wordBytes;
  for (int64_t k = 0; k < block.channels; ++k) {
    int64_t o = block.channel + k;
    int32_t bias = layer.bias[o];
    float scale = layer.scale[o], scaleNeg = layer.scaleNeg.empty() ? scale : layer.scaleNeg[o];
    if (!(std::isfinite(scale) && scale > 0) || !std::isfinite(scaleNeg))
      throw Error("layer '" + layer.name + "': the scale of output channel " + std::to_string(o) +
                  " is not finite and positive");
    std::memcpy(header + 4 * k, &bias, 4);
    std::memcpy(header + 4 * (K + k), &scale, 4);
    std::memcpy(header + 4 * (2 * K + k), &scaleNeg, 4);
  }

  int64_t rows = piece.ky1 - piece.ky0, columns = piece.kx1 - piece.kx0, terms = piece.term1 - piece.term0;
  int64_t outputsPerGroup = layer.out.channels / layer.groups, inputs = groupInputs(layer);
  auto put = [&](int64_t step, int64_t k, int64_t lane, int64_t weight) {
    steps[step * wordBytes + k * C + lane] = static_cast<uint8_t>(static_cast<int8_t>(weight));
  };
  for (int64_t k = 0; k < block.channels; ++k) {
    int64_t o = block.channel + k, group = o / outputsPerGroup;
    // Position, in lanes from the piece's first word, of the group's first input.
    int64_t lead = group * inputs - piece.word0 * 16;
    for (int64_t t = 0; t < terms; ++t)
      for (int64_t y = 0; y < rows; ++y)
        for (int64_t x = 0; x < columns; ++x)
          for (int64_t i = 0; i < inputs; ++i) {
            int64_t at = ((o * inputs + i) * layer.window.kernelHeight + piece.ky0 + y) * layer.window.kernelWidth;
            int64_t weight = termOf(layer.weights.at(at + piece.kx0 + x), piece.term0 + t);
            // Terms are the outermost loop of the window: with one row or one column that is the tap's number.
            int64_t tap = (t * rows + y) * columns + x;
            if (mode == ExecuteMode::Depthwise) {
              put(y * ceilDiv(columns, C) + x / C, k, x % C, weight);
            } else if (mode == ExecuteMode::Packed) {
              int64_t element = tap * inputs + i;
              put(element / C, k, element % C, weight);
            } else {
              // Several terms in columns (kernel_width = terms): the tap's row is y, its column t.
              if (terms > 1 && layer.window.kernelHeight > 1)
                tap = y * terms + t;
              int64_t lane = lead + i;
              if (lane < 0 || lane >= piece.channelSteps * C)
                continue; // another piece's input
              put(tap * piece.channelSteps + lane / C, k, lane % C, weight);
            }
          }
  }
}
