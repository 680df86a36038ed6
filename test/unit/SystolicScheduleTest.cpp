//===- SystolicScheduleTest.cpp - waits and the order of descriptors -----===//

#include "SystolicNet.h"
#include "backends/systolic/Hazards.h"
#include "backends/systolic/Schedule.h"
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::systolic;

namespace {

Access reads(int64_t begin, int64_t end) { return {Space::Scratchpad, false, begin, end}; }
Access writes(int64_t begin, int64_t end) { return {Space::Scratchpad, true, begin, end}; }

TEST(Hazards, ReadAfterWriteWaitsForTheLastWriter) {
  HazardTracker tracker(64, 0, 0);
  tracker.add(LoadQueue, 1, {writes(0, 8)});
  tracker.add(LoadQueue, 2, {writes(8, 16)});
  EXPECT_EQ(tracker.add(ExecuteQueue, 1, {reads(0, 8)}), (Waits{1, 0, 0, 0, 0}));
  EXPECT_EQ(tracker.add(ExecuteQueue, 2, {reads(4, 12)}), (Waits{2, 0, 0, 0, 0}));
  EXPECT_EQ(tracker.add(ExecuteQueue, 3, {reads(16, 32)}), (Waits{}));
}

TEST(Hazards, WriteAfterReadWaitsForEveryReader) {
  HazardTracker tracker(64, 0, 0);
  tracker.add(LoadQueue, 1, {writes(0, 8)});
  tracker.add(ExecuteQueue, 1, {reads(0, 8)});
  tracker.add(VectorQueue, 1, {reads(7, 8)});
  EXPECT_EQ(tracker.add(LoadQueue, 2, {writes(0, 4)}), (Waits{0, 0, 1, 0, 0}));
  EXPECT_EQ(tracker.add(LoadQueue, 3, {writes(6, 8)}), (Waits{0, 0, 1, 1, 0}));
}

TEST(Hazards, AQueueWaitsForItselfOnlyToReadWhatItWrote) {
  HazardTracker tracker(64, 0, 0);
  tracker.add(ExecuteQueue, 1, {reads(0, 8), writes(8, 16)});
  EXPECT_EQ(tracker.add(ExecuteQueue, 2, {reads(16, 24), writes(0, 16)}), (Waits{}));
  EXPECT_EQ(tracker.add(ExecuteQueue, 3, {reads(8, 9)}), (Waits{0, 0, 2, 0, 0}));
}

TEST(Hazards, ExecuteJobsOfWideArraysWriteInNoOrder) {
  HazardTracker tracker(64, 0, 0, /*executeWritesInOrder=*/false);
  tracker.add(ExecuteQueue, 1, {reads(0, 8), writes(8, 16)});
  EXPECT_EQ(tracker.add(ExecuteQueue, 2, {reads(16, 24), writes(15, 17)}), (Waits{0, 0, 1, 0, 0}));
  EXPECT_EQ(tracker.add(ExecuteQueue, 3, {writes(20, 24)}), (Waits{}));
  tracker.add(LoadQueue, 1, {writes(30, 31)});
  EXPECT_EQ(tracker.add(LoadQueue, 2, {writes(30, 31)}), (Waits{}));
}

TEST(Hazards, DramAndTablesAreSpacesOfTheirOwn) {
  HazardTracker tracker(64, 256, 4);
  tracker.add(StoreQueue, 1, {{Space::Arena, true, 0, 4}});
  tracker.add(WeightsQueue, 1, {{Space::Table, true, 2, 3}});
  EXPECT_EQ(tracker.add(LoadQueue, 1, {{Space::Arena, false, 3, 5}, writes(0, 2)}), (Waits{0, 0, 0, 0, 1}));
  EXPECT_EQ(tracker.add(ExecuteQueue, 1, {{Space::Table, false, 2, 3}}), (Waits{0, 1, 0, 0, 0}));
}

class Schedules : public ::testing::Test {
protected:
  ArrayConfig array = ArrayConfig::load("4x16x4");
  SystolicNet net{array};

  /// Positions in the program of the jobs of a queue that belong to a layer.
  std::vector<size_t> positions(isa::Opcode opcode, int64_t layer) const {
    std::vector<size_t> found;
    for (size_t i = 0; i < net.scheduled.descriptors.size(); ++i)
      if (isa::opcode(net.scheduled.descriptors[i]) == opcode &&
          isa::header(net.scheduled.descriptors[i]).layer == layer)
        found.push_back(i);
    return found;
  }
};

TEST_F(Schedules, LayersThatReadOneMapDoNotWaitForEachOther) {
  int x = net.input(1, 32, 10, 10);
  int a = net.conv(x, {.out = 32}), b = net.conv(x, {.out = 32});
  net.output(a);
  net.output(b);
  ASSERT_EQ(net.check(), "");
  const isa::Header &second = isa::header(net.scheduled.descriptors[positions(isa::Opcode::Execute, 1).front()]);
  EXPECT_EQ(second.waitExecute, 0);
  EXPECT_EQ(second.waitLoad, 1);
}

TEST_F(Schedules, WeightsOfTheNextLayerAreFetchedWhileThisOneRuns) {
  int a = net.conv(net.input(1, 64, 14, 14), {.out = 256});
  net.output(net.conv(a, {.out = 64, .kernelHeight = 1, .kernelWidth = 1}));
  ASSERT_EQ(net.check(), "");
  EXPECT_LT(positions(isa::Opcode::Weights, 1).front(), positions(isa::Opcode::Execute, 0).back());
}

TEST_F(Schedules, RowTilesAreLoadedAheadAndStoredBehind) {
  int x = net.input(1, 64, 40, 16);
  net.stream(x, 12);
  int a = net.conv(x, {.out = 64, .tileRows = 4});
  net.stream(a, 8);
  net.output(a);
  ASSERT_EQ(net.check(), "");
  std::vector<size_t> loads = positions(isa::Opcode::Load, 0), executes = positions(isa::Opcode::Execute, 0),
                      stores = positions(isa::Opcode::Store, 0);
  ASSERT_EQ(executes.size(), 10u);
  ASSERT_EQ(loads.size(), 10u);
  ASSERT_EQ(stores.size(), 10u);
  for (size_t tile = 0; tile + 1 < executes.size(); ++tile) {
    const isa::Header &load = isa::header(net.scheduled.descriptors[loads[tile + 1]]);
    EXPECT_LE(load.waitExecute, int64_t(tile)) << "tile " << tile + 1 << " is loaded only after tile " << tile;
    EXPECT_LT(loads[tile + 1], executes[tile + 1]);
  }
}

TEST_F(Schedules, KeptWeightsAreLoadedOnce) {
  int x = net.input(1, 64, 40, 16);
  net.output(net.conv(x, {.out = 64, .tileRows = 4}));
  ASSERT_EQ(net.check(), "");
  EXPECT_EQ(net.scheduled.layers[0].bytesWeights, 4 * (3 + 9 * 16) * 64);
}

TEST_F(Schedules, WeightsBeyondTheRingPassForEveryTile) {
  array.weightRingBytes = 20000;
  int x = net.input(1, 64, 40, 16);
  net.output(net.conv(x, {.out = 64, .tileRows = 4}));
  ASSERT_EQ(net.check(), "");
  EXPECT_EQ(net.scheduled.layers[0].bytesWeights, 10 * 4 * (3 + 9 * 16) * 64);
}

TEST_F(Schedules, ChannelsOutermostLoadsWeightsOnceAndTheMapOncePerPass) {
  array.weightRingBytes = 20000;
  int x = net.input(1, 64, 40, 16);
  net.stream(x, 12);
  net.output(net.conv(x, {.out = 64, .tileRows = 4, .tileChannels = 32, .channelsOutermost = true}));
  ASSERT_EQ(net.check(), "");
  EXPECT_EQ(net.scheduled.layers[0].bytesWeights, 4 * (3 + 9 * 16) * 64);
  EXPECT_EQ(net.scheduled.layers[0].bytesIn, 2 * 64 * 40 * 16);
}

TEST_F(Schedules, MistakesOfPlacementAreErrorsThatNameTheLayer) {
  int x = net.input(1, 64, 40, 16);
  net.stream(x, 4);
  net.output(net.conv(x, {.out = 64, .tileRows = 4}));
  try {
    net.check();
    FAIL();
  } catch (const Error &error) {
    EXPECT_STREQ(error.what(), "layer 'conv0': a tile reads 5 rows, the ring of its operand holds 4");
  }
}

} // namespace
