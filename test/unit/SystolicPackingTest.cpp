//===- SystolicPackingTest.cpp - packed weights against the contract ------===//
//
// Evaluates packed blocks exactly as docs/accelerator.md words it (which input
// byte lane c of step s takes) and compares with the convolution written down
// naively.
//
//===----------------------------------------------------------------------===//

#include "backends/systolic/WeightPacking.h"
#include <cstring>
#include <gtest/gtest.h>
#include <random>

using namespace tilewright;
using namespace tilewright::systolic;

namespace {

struct Case {
  ArrayConfig array;
  Layer layer;
  std::vector<int16_t> weights;
  std::vector<int8_t> narrow, input; ///< input [channels][y][x]
};

Case makeCase(const ArrayConfig &array, int64_t in, int64_t out, int64_t groups, WindowShape window, int64_t size,
              bool packed, bool wide) {
  Case c;
  c.array = array;
  std::mt19937 random(17);
  Layer &layer = c.layer;
  layer.name = "conv";
  layer.window = window;
  layer.groups = groups;
  layer.padValue = -5;
  layer.in.samples = layer.out.samples = 1;
  layer.in.channels = in;
  layer.in.height = layer.in.width = size;
  layer.in.packed = packed;
  layer.out.channels = out;
  auto outputs = [&](int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
    return (size + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
  };
  layer.out.height = outputs(window.kernelHeight, window.strideHeight, window.dilationHeight, window.padTop);
  layer.out.width = outputs(window.kernelWidth, window.strideWidth, window.dilationWidth, window.padLeft);
  c.weights.resize(out * (in / groups) * window.kernelHeight * window.kernelWidth);
  for (int16_t &w : c.weights)
    w = wide ? static_cast<int>(random() % 511) - 255 : static_cast<int>(random() % 256) - 128;
  for (int16_t w : c.weights)
    c.narrow.push_back(static_cast<int8_t>(w));
  if (wide)
    layer.weights.wide = c.weights.data();
  else
    layer.weights.bytes = c.narrow.data();
  for (int64_t o = 0; o < out; ++o) {
    layer.bias.push_back(static_cast<int>(random() % 20000) - 10000);
    layer.scale.push_back(0.001f * (1 + random() % 100));
  }
  c.input.resize(in * size * size);
  for (int8_t &x : c.input)
    x = static_cast<int8_t>(random());
  return c;
}

int64_t read(const Case &c, int64_t channel, int64_t y, int64_t x) {
  const Operand &in = c.layer.in;
  if (y < 0 || y >= in.height || x < 0 || x >= in.width)
    return c.layer.padValue;
  // Beyond the channels: bytes of some other map; their weights must be zero.
  return channel < in.channels ? c.input[(channel * in.height + y) * in.width + x] : 99;
}

int64_t naive(const Case &c, int64_t o, int64_t oy, int64_t ox) {
  const WindowShape &w = c.layer.window;
  int64_t inputs = c.layer.in.channels / c.layer.groups, group = o / (c.layer.out.channels / c.layer.groups);
  int64_t sum = c.layer.bias[o];
  for (int64_t i = 0; i < inputs; ++i)
    for (int64_t ky = 0; ky < w.kernelHeight; ++ky)
      for (int64_t kx = 0; kx < w.kernelWidth; ++kx)
        sum += c.weights[((o * inputs + i) * w.kernelHeight + ky) * w.kernelWidth + kx] *
               read(c, group * inputs + i, oy * w.strideHeight - w.padTop + ky * w.dilationHeight,
                    ox * w.strideWidth - w.padLeft + kx * w.dilationWidth);
  return sum;
}

/// What one piece adds to the accumulator of channel k at output (oy, ox).
int64_t evaluate(const Case &c, const WeightBlock &block, const ReductionPiece &piece, const uint8_t *words, int64_t k,
                 int64_t oy, int64_t ox) {
  int64_t C = c.array.reduction, wordBytes = c.array.ringWordBytes(), step = 0, sum = 0;
  WindowShape w = pieceWindow(c.layer, piece);
  auto weight = [&](int64_t lane) { return static_cast<int8_t>(words[step * wordBytes + k * C + lane]); };
  auto tap = [&](int64_t ky, int64_t kx, int64_t channel) {
    return read(c, channel, oy * w.strideHeight - w.padTop + ky * w.dilationHeight,
                ox * w.strideWidth - w.padLeft + kx * w.dilationWidth);
  };
  switch (executeMode(c.array, c.layer)) {
  case isa::ExecuteMode::Dense:
    for (int64_t ky = 0; ky < w.kernelHeight; ++ky)
      for (int64_t kx = 0; kx < w.kernelWidth; ++kx)
        for (int64_t s = 0; s < piece.channelSteps; ++s, ++step)
          for (int64_t lane = 0; lane < C; ++lane)
            sum += weight(lane) * tap(ky, kx, piece.word0 * 16 + s * C + lane);
    break;
  case isa::ExecuteMode::Depthwise:
    for (int64_t ky = 0; ky < w.kernelHeight; ++ky)
      for (int64_t t = 0; t < (w.kernelWidth + C - 1) / C; ++t, ++step)
        for (int64_t lane = 0; lane < C; ++lane)
          sum += weight(lane) * (t * C + lane < w.kernelWidth ? tap(ky, t * C + lane, block.channel + k) : 77);
    break;
  case isa::ExecuteMode::Packed: {
    int64_t c0 = c.layer.in.channels, elements = w.kernelHeight * w.kernelWidth * c0;
    for (; step < (elements + C - 1) / C; ++step)
      for (int64_t lane = 0; lane < C; ++lane) {
        int64_t e = step * C + lane;
        sum += weight(lane) * (e < elements ? tap(e / c0 / w.kernelWidth, e / c0 % w.kernelWidth, e % c0) : 77);
      }
    break;
  }
  }
  EXPECT_EQ(step, piece.steps);
  return sum;
}

void check(const Case &c, size_t minimalPieces = 1) {
  size_t mostPieces = 0;
  for (int64_t o = 0; o < c.layer.out.channels; o += c.array.channels) {
    WeightBlock block = planBlock(c.array, c.layer, o, std::min(c.array.channels, c.layer.out.channels - o));
    mostPieces = std::max(mostPieces, block.pieces.size());
    std::vector<std::vector<uint8_t>> pieces;
    for (const ReductionPiece &piece : block.pieces) {
      packPiece(c.array, c.layer, block, piece, pieces.emplace_back());
      ASSERT_EQ(pieces.back().size(), (headerWords(c.array) + piece.steps) * c.array.ringWordBytes());
      ASSERT_LE(pieces.back().size(), static_cast<size_t>(c.array.weightRingBytes));
    }
    for (int64_t k = 0; k < block.channels; ++k)
      for (int64_t y = 0; y < c.layer.out.height; ++y)
        for (int64_t x = 0; x < c.layer.out.width; ++x) {
          int32_t bias;
          std::memcpy(&bias, pieces.back().data() + 4 * k, 4);
          int64_t sum = bias;
          for (size_t p = 0; p < pieces.size(); ++p)
            sum += evaluate(c, block, block.pieces[p],
                            pieces[p].data() + headerWords(c.array) * c.array.ringWordBytes(), k, y, x);
          ASSERT_EQ(sum, naive(c, o + k, y, x)) << "channel " << o + k << " at " << y << ", " << x;
        }
  }
  EXPECT_GE(mostPieces, minimalPieces);
}

WindowShape window(int64_t h, int64_t w, int64_t stride, int64_t dilation, int64_t pad) {
  return {h, w, stride, stride, dilation, dilation, pad, pad};
}

class Packing : public ::testing::TestWithParam<const char *> {
protected:
  ArrayConfig array = ArrayConfig::load(GetParam());
};

TEST_P(Packing, Dense) { check(makeCase(array, 37, 21, 1, window(3, 3, 1, 1, 1), 6, false, false)); }
TEST_P(Packing, DilatedStrided) { check(makeCase(array, 20, 8, 1, window(3, 2, 2, 2, 1), 9, false, false)); }
TEST_P(Packing, GroupsAreBlockDiagonal) { check(makeCase(array, 40, 60, 5, window(3, 3, 1, 1, 1), 5, false, false)); }
TEST_P(Packing, Depthwise) { check(makeCase(array, 35, 35, 35, window(3, 3, 2, 1, 1), 7, false, false)); }
TEST_P(Packing, DepthwiseWide) { check(makeCase(array, 16, 16, 16, window(7, 7, 1, 1, 3), 7, false, false)); }
TEST_P(Packing, DepthwiseDilated) { check(makeCase(array, 35, 35, 35, window(3, 3, 1, 2, 2), 7, false, false)); }
TEST_P(Packing, DepthwiseMultiplier) { check(makeCase(array, 12, 36, 12, window(3, 3, 1, 1, 1), 5, false, false)); }
TEST_P(Packing, PackedImage) { check(makeCase(array, 3, 20, 1, window(7, 7, 2, 1, 3), 12, true, false)); }
TEST_P(Packing, TermsInRows) { check(makeCase(array, 37, 21, 1, window(1, 1, 1, 1, 0), 4, false, true)); }
TEST_P(Packing, TermsInColumns) { check(makeCase(array, 37, 21, 1, window(3, 1, 1, 1, 1), 5, false, true)); }
TEST_P(Packing, TermsAsPieces) { check(makeCase(array, 37, 21, 1, window(3, 3, 1, 1, 1), 5, false, true), 2); }
TEST_P(Packing, TermsOfDepthwise) { check(makeCase(array, 20, 20, 20, window(3, 3, 1, 1, 1), 5, false, true), 2); }
TEST_P(Packing, ReductionCut) {
  array.weightRingBytes = 8192;
  check(makeCase(array, 130, 21, 1, window(5, 5, 1, 1, 2), 4, false, false), 2);
}

INSTANTIATE_TEST_SUITE_P(Arrays, Packing, ::testing::Values("4x16x4", "16x16x1", "8x8x4", "1x16x16", "1x256x1"),
                         [](const auto &info) { return "array" + std::string(info.param); });

TEST(PackingErrors, ScaleNotFinite) {
  Case c = makeCase(ArrayConfig::load("4x16x4"), 16, 16, 1, window(1, 1, 1, 1, 0), 2, false, false);
  c.layer.scale[2] = NAN;
  std::vector<uint8_t> bytes;
  WeightBlock block = planBlock(c.array, c.layer, 0, 16);
  EXPECT_THROW(packPiece(c.array, c.layer, block, block.pieces[0], bytes), Error);
}

} // namespace
