//===- SystolicProgramTest.cpp - compiled programs on golden --------------===//

#include "SystolicNet.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::systolic;

namespace {

class Programs : public ::testing::TestWithParam<const char *> {
protected:
  ArrayConfig array = ArrayConfig::load(GetParam());
  SystolicNet net{array};
};

TEST_P(Programs, OneConvolution) {
  net.output(net.conv(net.input(1, 20, 9, 11), {.out = 21}));
  EXPECT_EQ(net.check(), "");
}

TEST_P(Programs, PackedImageInThreeLayouts) {
  for (DramLayout layout : {DramLayout::Nhwc, DramLayout::Nchw}) {
    SystolicNet image(array);
    image.output(image.conv(image.input(2, 3, 13, 15, layout, true),
                            {.out = 24, .kernelHeight = 5, .kernelWidth = 5, .stride = 2, .pad = 2}));
    EXPECT_EQ(image.check(), "");
  }
}

TEST_P(Programs, ChainWithEveryEpilogueStep) {
  int x = net.input(1, 16, 8, 8);
  int a = net.conv(x, {.out = 32, .prelu = true});
  int b = net.conv(a, {.out = 32, .kernelHeight = 1, .kernelWidth = 1, .table1 = true});
  int c = net.conv(b, {.out = 32, .table2 = true, .swap = true, .residual = a});
  net.output(net.conv(c, {.out = 40, .kernelHeight = 1, .kernelWidth = 1, .table1 = true, .table2 = true}));
  net.output(b);
  EXPECT_EQ(net.check(), "");
}

TEST_P(Programs, DepthwiseAndGroups) {
  int x = net.input(1, 40, 12, 10);
  int a = net.conv(x, {.out = 40, .groups = 40});
  int b = net.conv(a, {.out = 40, .stride = 2, .groups = 40});
  int c = net.conv(b, {.out = 40, .dilation = 2, .pad = 2, .groups = 40});
  net.output(net.conv(c, {.out = 60, .groups = 5}));
  EXPECT_EQ(net.check(), "");
}

TEST_P(Programs, PoolsAddsTables) {
  int x = net.input(2, 24, 12, 14, DramLayout::Blocked, true);
  int a = net.maxPool(x, 3, 2, 1);
  int b = net.averagePool(a, 3, 1, 1, false);
  int c = net.averagePool(a, 3, 1, 1, true);
  int d = net.add(b, c);
  net.output(net.lookUp(d));
  net.output(d);
  EXPECT_EQ(net.check(), "");
}

TEST_P(Programs, ConcatAtAnyChannel) {
  int x = net.input(1, 16, 6, 7);
  int a = net.conv(x, {.out = 24});
  int b = net.conv(x, {.out = 40, .kernelHeight = 1, .kernelWidth = 1});
  int c = net.maxPool(x, 3, 1, 1);
  net.concat({a, b, c});
  (void)b;
  // Reading the concatenation: the naive evaluation has one map only, so its parts are checked on their own.
  net.output(a);
  EXPECT_EQ(net.check(), "");
}

TEST_P(Programs, BatchesShareThePixelLanes) {
  int x = net.input(5, 32, 1, 1);
  int a = net.conv(x, {.out = 48, .kernelHeight = 1, .kernelWidth = 1});
  net.output(net.conv(a, {.out = 10, .kernelHeight = 1, .kernelWidth = 1}));
  EXPECT_EQ(net.check(), "");
}

TEST_P(Programs, RowTilesThroughDram) {
  int x = net.input(1, 32, 20, 9);
  net.stream(x, 8);
  int a = net.conv(x, {.out = 48, .tileRows = 3});
  net.stream(a, 8);
  int skip = net.conv(x, {.out = 48, .kernelHeight = 1, .kernelWidth = 1, .tileRows = 4});
  net.stream(skip, 9);
  int b = net.conv(a, {.out = 48, .residual = skip, .tileRows = 3, .tileChannels = 16});
  net.stream(b, 7);
  int c = net.conv(b, {.out = 64, .stride = 2, .tileRows = 2, .tileChannels = 32, .channelsOutermost = true});
  net.output(net.maxPool(c, 2, 2, 0, 2));
  net.output(b);
  EXPECT_EQ(net.check(), "");
}

TEST_P(Programs, GroupThroughARing) {
  int x = net.input(1, 3, 32, 32, DramLayout::Nchw);
  int a = net.conv(x, {.out = 32, .kernelHeight = 7, .kernelWidth = 7, .stride = 2, .pad = 3, .group = 0});
  net.ring(a, 6);
  int b = net.maxPool(a, 3, 2, 1, 1, 0);
  net.output(net.conv(b, {.out = 32}));
  EXPECT_EQ(net.check(), "");
}

TEST_P(Programs, ExpandDepthwiseProject) {
  // K > 16: depthwise runs dense, and its weights do not stay in the ring.
  int group = array.channels > 16 ? -1 : 0;
  int x = net.input(1, 16, 14, 14);
  int a = net.conv(x, {.out = 96, .kernelHeight = 1, .kernelWidth = 1, .group = group});
  if (group == 0)
    net.ring(a, 6);
  int b = net.conv(a, {.out = 96, .groups = 96, .group = group});
  if (group == 0)
    net.ring(b, 4);
  net.output(
      net.conv(b, {.out = 16, .kernelHeight = 1, .kernelWidth = 1, .residual = x, .tileRows = 2, .group = group}));
  EXPECT_EQ(net.check(), "");
}

TEST_P(Programs, WideWeights) {
  int x = net.input(1, 20, 7, 7);
  int a = net.conv(x, {.out = 20, .kernelHeight = 1, .kernelWidth = 1, .wide = true});
  int b = net.conv(a, {.out = 20, .kernelHeight = 3, .kernelWidth = 1, .wide = true});
  net.output(net.conv(b, {.out = 20, .wide = true}));
  EXPECT_EQ(net.check(), "");
}

TEST_P(Programs, TinyRingCutsReductions) {
  array.weightRingBytes = std::max<int64_t>(4096, 48 * array.ringWordBytes());
  int x = net.input(1, 130, 6, 9);
  int a = net.conv(x, {.out = 36});
  net.output(net.conv(a, {.out = 16, .kernelHeight = 1, .kernelWidth = 1, .tileRows = 2}));
  EXPECT_EQ(net.check(), "");
}

TEST_P(Programs, LongReductionOfOnePixel) {
  array.weightRingBytes = 8192;
  int x = net.input(2, 64, 5, 5);
  net.output(net.conv(x, {.out = 40, .kernelHeight = 5, .kernelWidth = 5, .pad = 0}));
  EXPECT_EQ(net.check(), "");
}

/// A random network of up to four layers on a small or the given array: tiles, rings and streams at random.
std::string randomNet(ArrayConfig array, uint32_t seed, int &streams) {
  std::mt19937 random(seed);
  auto between = [&](int64_t low, int64_t high) { return low + int64_t(random() % uint32_t(high - low + 1)); };
  auto oneIn = [&](int n) { return random() % n == 0; };
  if (oneIn(3))
    array.weightRingBytes = std::max<int64_t>(4096, 48 * array.ringWordBytes());
  SystolicNet net(array, seed);
  bool image = oneIn(3);
  int64_t channels = image ? between(1, 4) : between(1, 70);
  int x = net.input(between(1, 2), channels, between(3, 20), between(3, 20),
                    image ? (oneIn(2) ? DramLayout::Nhwc : DramLayout::Nchw) : DramLayout::Blocked, oneIn(2));
  bool mayStream = !image;
  for (int64_t left = between(1, 4); left > 0; --left) {
    const Operand in = net.maps[x].operand;
    ConvOptions o;
    o.kernelHeight = between(1, std::min<int64_t>(5, in.height));
    o.kernelWidth = oneIn(3) ? between(1, std::min<int64_t>(5, in.width)) : std::min(o.kernelHeight, in.width);
    o.stride = between(1, 3);
    o.dilation = image || oneIn(2) ? 1 : between(1, 2);
    o.pad = between(0, 2);
    auto fits = [&](int64_t size, int64_t kernel) {
      return size + (kernel > 1 ? 2 * o.pad : 0) >= (kernel - 1) * o.dilation + 1;
    };
    if (!fits(in.height, o.kernelHeight) || !fits(in.width, o.kernelWidth))
      o.dilation = o.kernelHeight = o.kernelWidth = 1;
    o.out = between(1, 80);
    if (!in.packed && oneIn(4)) {
      o.groups = o.out = in.channels;
      o.stride = std::min<int64_t>(o.stride, 2);
    } else if (!in.packed && in.channels % 2 == 0 && oneIn(4)) {
      o.groups = 2;
      o.out += o.out % 2;
    }
    o.prelu = oneIn(2);
    o.table1 = oneIn(4);
    o.wide = oneIn(5);
    bool samesize = o.stride == 1 && o.kernelHeight == 1 && o.kernelWidth == 1 && !in.packed;
    // K = 8: a residual needs the weights of two blocks in the ring at once.
    if (samesize && o.groups == 1 && oneIn(2) && (array.channels >= 16 || !o.wide)) {
      o.out = in.channels;
      o.residual = x;
      o.swap = oneIn(2);
      o.table2 = oneIn(3);
    }
    if (oneIn(2))
      o.tileRows = between(1, 6);
    if (oneIn(3)) {
      o.tileChannels = 16 * between(1, 3);
      o.channelsOutermost = oneIn(2);
    }
    if (in.samples > 1 && mayStream && oneIn(3))
      o.tileSamples = 1;
    if (mayStream && o.tileRows && o.residual < 0 && oneIn(2)) {
      net.stream(x, (o.tileRows - 1) * o.stride + (o.kernelHeight - 1) * o.dilation + 1 + between(0, 4));
      ++streams;
    }
    bool streamedOut = o.tileRows && oneIn(2);
    if (o.tileSamples && !streamedOut)
      o.tileSamples = 0;
    x = net.conv(x, o);
    if (streamedOut && left > 1) {
      net.stream(x, std::max<int64_t>(o.tileRows + between(0, 4), net.maps[x].operand.height));
      mayStream = true;
      ++streams;
    } else {
      mayStream = false;
    }
    image = false;
    if (oneIn(3) && left > 1 && net.maps[x].operand.height >= 3 && net.maps[x].operand.width >= 3) {
      x = oneIn(2) ? net.maxPool(x, 3, between(1, 2), 1, between(0, 3))
                   : net.averagePool(x, 2, between(1, 2), 1, oneIn(2));
      mayStream = false;
    }
  }
  net.output(x);
  return net.check();
}

TEST_P(Programs, RandomNetworks) {
  int streams = 0;
  // By hand: TILEWRIGHT_TEST_SEEDS=5000.
  const char *wanted = std::getenv("TILEWRIGHT_TEST_SEEDS");
  uint32_t seeds = wanted ? std::strtoul(wanted, nullptr, 10) : 100;
  for (uint32_t seed = 1; seed <= seeds; ++seed)
    EXPECT_EQ(randomNet(array, seed, streams), "") << "seed " << seed;
  EXPECT_GT(streams, 5);
}

INSTANTIATE_TEST_SUITE_P(Arrays, Programs, ::testing::Values("4x16x4", "16x16x1", "8x8x4", "1x16x16", "1x256x1"),
                         [](const auto &info) { return "array" + std::string(info.param); });

} // namespace
