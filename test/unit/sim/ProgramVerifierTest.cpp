//===- ProgramVerifierTest.cpp - programs that are refused, and why -------===//

#include "backends/systolic/isa/ProgramVerifier.h"
#include "backends/systolic/isa/JobGeometry.h"
#include <gtest/gtest.h>
#include <limits>

using namespace tilewright;
using namespace tilewright::isa;

namespace {

constexpr uint64_t memoryBytes = 1 << 20;

Load goodLoad() {
  Load job;
  job.rowCount = 4;
  job.width = 8;
  job.planes = 2;
  job.samples = 1;
  job.dramRowStride = 128;
  job.dramPlaneStride = 512;
  job.out = {/*base*/ 0, /*pitch*/ 8, /*planePitch*/ 32, /*samplePitch*/ 64, /*ringRows*/ 4, /*ringStart*/ 0};
  return job;
}

/// 1x1 convolution of 32 channels of an 8x4 map to 16.
Execute goodExecute() {
  Execute job;
  job.accInit = job.accFinish = true;
  job.release = Release::Block;
  job.in = goodLoad().out;
  job.inHeight = 4;
  job.inWidth = 8;
  job.channelSteps = 8;
  job.window = {1, 1, 1, 1, 1, 1, 0, 0};
  job.out = {1000, 8, 32, 32, 4, 0};
  job.outWidth = 8;
  job.outRowCount = 4;
  job.samples = 1;
  job.outChannels = 16;
  job.clampMin = -128;
  job.clampMax = 127;
  job.residualMap = job.out;
  return job;
}

/// Header and 8 steps.
Weights goodWeights() {
  Weights job;
  job.byteCount = 11 * 64;
  return job;
}

Vector goodVector() {
  Vector job;
  job.in = goodLoad().out;
  job.inHeight = 4;
  job.inWidth = 8;
  job.window = {2, 2, 2, 2, 1, 1, 0, 0};
  job.out = {1000, 4, 8, 16, 2, 0};
  job.outRowCount = 2;
  job.outColumnCount = 4;
  job.samples = 1;
  job.channels = 32;
  job.clampMin = -128;
  job.clampMax = 127;
  return job;
}

Store goodStore() {
  Store job;
  job.in = goodLoad().out;
  job.rowCount = 4;
  job.width = 8;
  job.planes = 2;
  job.samples = 1;
  job.dramRowStride = 128;
  job.dramPlaneStride = 512;
  return job;
}

Sync end() {
  Sync job;
  job.end = true;
  return job;
}

std::string messageOf(std::vector<Descriptor> program, ArrayConfig config = {}) {
  try {
    verifyProgram(program, config, memoryBytes);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

/// The rule that `change` breaks in an otherwise right descriptor.
template <typename Job, typename Change> std::string broken(Job job, Change change, ArrayConfig config = {}) {
  try {
    verifyDescriptor(job, config, memoryBytes);
  } catch (const Error &error) {
    return std::string("already broken: ") + error.what();
  }
  change(job);
  try {
    verifyDescriptor(job, config, memoryBytes);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(ProgramVerifier, AcceptsARightProgram) {
  Execute execute = goodExecute();
  execute.waitLoad = 1;
  Vector vector = goodVector();
  vector.waitExecute = 1;
  Store store = goodStore();
  store.waitVector = 1;
  EXPECT_EQ(messageOf({goodLoad(), goodWeights(), execute, vector, store, end()}), "");
}

TEST(ProgramVerifier, RefusesReservedValuesByName) {
  EXPECT_EQ(broken(goodWeights(), [](Weights &j) { j.source = WeightsSource::Scratchpad; }),
            "source = scratchpad is reserved: this array takes weights from DRAM only");
  EXPECT_EQ(broken(goodWeights(), [](Weights &j) { j.order = WeightsOrder::TokenMajor; }),
            "order = token_major is reserved: this array takes weights as_stored only");
  EXPECT_EQ(broken(goodWeights(), [](Weights &j) { j.order = WeightsOrder::ChannelMajor; }),
            "order = channel_major is reserved: this array takes weights as_stored only");
  EXPECT_EQ(broken(goodExecute(), [](Execute &j) { j.storeInt32 = true; }),
            "store_int32 is reserved: this array stores int8 results only");
}

TEST(ProgramVerifier, RefusesWhatTheHardwareDoesNotTake) {
  EXPECT_EQ(broken(goodExecute(), [](Execute &j) { j.window.strideWidth = 0; }),
            "window_stride_width = 0 must be at least 1");
  EXPECT_EQ(broken(goodExecute(), [](Execute &j) { j.outChannels = 0; }), "out_channels = 0 must be at least 1");
  EXPECT_EQ(broken(goodExecute(), [](Execute &j) { j.packedChannels = 3; }),
            "packed_channels = 3: 0 unless mode = packed");
  auto depthwise = [](auto change) {
    Execute job = goodExecute();
    job.mode = ExecuteMode::Depthwise;
    job.channelSteps = 1;
    return broken(job, change);
  };
  EXPECT_EQ(depthwise([](Execute &j) { j.window.strideHeight = 3; }),
            "mode = depthwise: window_stride 3x1 is above 2x2");
  EXPECT_EQ(depthwise([](Execute &j) { j.window.kernelWidth = 9; }),
            "mode = depthwise: window_kernel 1x9 is above 7x7");
  EXPECT_EQ(depthwise([](Execute &j) { j.window.dilationWidth = 2; }),
            "mode = depthwise: window_dilation 1x2 is not 1x1");
  EXPECT_EQ(depthwise([](Execute &j) { j.channelSteps = 2; }), "channel_steps = 2: 1 unless mode = dense");
  EXPECT_EQ(broken(goodExecute(), [](Execute &j) { j.release = Release::Stream; }),
            "release = stream needs one pixel group, this job has 8");
  EXPECT_EQ(
      broken(goodExecute(), [](Execute &j) { j.accFinish = false; }),
      "acc_init = 0 or acc_finish = 0 needs a job of one brick, this one has 8 pixel groups and 1 channel blocks");
  EXPECT_EQ(broken(goodExecute(), [](Execute &j) { j.ringOffset = 1; }), "ring_offset = 1: 0 unless release = keep");
  EXPECT_EQ(broken(goodExecute(), [](Execute &j) { j.clampMin = 5, j.clampMax = 4; }),
            "clamp_min = 5 is above clamp_max = 4");
  EXPECT_EQ(broken(goodExecute(), [](Execute &j) { j.table1 = 5; }), "table_1 = 5: the array has 4 table slots");
  Execute residual = goodExecute();
  residual.residual = true;
  EXPECT_EQ(broken(residual, [](Execute &j) { j.residualScaleA = std::numeric_limits<float>::infinity(); }),
            "residual_scale_a = inf is not finite");
  EXPECT_EQ(broken(goodVector(), [](Vector &j) { j.op = VectorOp::Add; }),
            "op = add: the window is 1x1, stride 1, without padding");
}

TEST(ProgramVerifier, RefusesMisalignment) {
  EXPECT_EQ(broken(goodWeights(), [](Weights &j) { j.dramAddress = 8; }), "dram_address = 8 is not a multiple of 16");
  EXPECT_EQ(broken(goodWeights(), [](Weights &j) { j.byteCount = 100; }), "byte_count = 100 is not a multiple of 64");
  EXPECT_EQ(broken(goodWeights(), [](Weights &j) { j.destination = WeightsDestination::Table; }),
            "byte_count = 704: a table has 256 bytes");
  EXPECT_EQ(broken(goodStore(), [](Store &j) { j.dramRowStride = 120; }),
            "dram_row_stride = 120 is not a multiple of 16");
  EXPECT_EQ(broken(goodLoad(), [](Load &j) { j.dramAddress = 3, j.dramRowStride = 121; }), "");
}

TEST(ProgramVerifier, RefusesRowsOutsideTheRing) {
  EXPECT_EQ(broken(goodLoad(), [](Load &j) { j.out.ringRows = 3; }),
            "out: rows 0 to 3 are more than the 3 rows of the ring (out_ring_rows)");
  EXPECT_EQ(broken(goodLoad(), [](Load &j) { j.rowStart = 9, j.out.ringStart = 4; }),
            "out_ring_start = 4 is not the multiple of out_ring_rows = 4 at or below the first row touched, 9");
  EXPECT_EQ(broken(goodLoad(), [](Load &j) { j.rowStart = 9, j.out.ringStart = 8; }), "");
  EXPECT_EQ(broken(goodLoad(), [](Load &j) { j.out.ringRows = 0; }), "out_ring_rows = 0 must be at least 1");
}

TEST(ProgramVerifier, RefusesAddressesOutsideTheMemories) {
  EXPECT_EQ(broken(goodLoad(), [](Load &j) { j.out.base = 32768 - 63; }),
            "out: its last word, 32768, lies outside the scratchpad of 32768 words");
  EXPECT_EQ(broken(goodLoad(), [](Load &j) { j.out.base = 32768 - 64; }), "");
  EXPECT_EQ(broken(goodLoad(), [](Load &j) { j.dramRowStride = -128; }),
            "dram_address: bytes -384 to 639 are not all in the memory of 1048576 bytes");
  EXPECT_EQ(broken(goodLoad(), [](Load &j) { j.dramAddress = (1 << 20) - 1023; }),
            "dram_address: bytes 1047553 to 1048576 are not all in the memory of 1048576 bytes");
  EXPECT_EQ(broken(goodLoad(), [](Load &j) { j.dramAddress = (1 << 20) - 1024; }), "");
}

TEST(ProgramVerifier, RefusesWaitsThatNeverHold) {
  Execute execute = goodExecute();
  execute.layer = 9;
  execute.waitLoad = 2;
  EXPECT_EQ(messageOf({goodLoad(), goodWeights(), execute, end()}),
            "descriptor 2 (execute, layer 9): wait_load = 2 can never hold: 1 load jobs stand before it");
}

TEST(ProgramVerifier, RefusesProgramsWithoutAnEnd) {
  EXPECT_EQ(messageOf({}), "the program does not end with a sync descriptor with `end`");
  EXPECT_EQ(messageOf({goodLoad()}), "the program does not end with a sync descriptor with `end`");
  EXPECT_EQ(messageOf({end(), end()}), "descriptor 0 (sync, layer 0): `end` is set before the last descriptor");
}

TEST(ProgramVerifier, AccountsForTheRing) {
  EXPECT_EQ(messageOf({goodExecute(), end()}),
            "descriptor 0 (execute, layer 0): needs 11 words in the weight ring, the "
            "weights jobs before it leave 0");
  Execute keep = goodExecute();
  keep.release = Release::Keep;
  EXPECT_EQ(messageOf({goodWeights(), keep, end()}),
            "descriptor 2 (sync, layer 0): the program ends with 11 words in the weight ring that no job released: the "
            "next run would read them");
  EXPECT_EQ(messageOf({goodWeights(), keep, goodExecute(), end()}), "");
  ArrayConfig small;
  small.weightRingBytes = 10 * 64;
  EXPECT_EQ(messageOf({goodWeights(), goodExecute(), end()}, small),
            "descriptor 1 (execute, layer 0): release = block holds 11 ring words, the weight ring has 10");
}

TEST(ProgramVerifier, FollowsSplitReductionsAndTables) {
  Execute first = goodExecute();
  first.outRowCount = 1;
  first.outWidth = 4;
  first.accFinish = false;
  EXPECT_EQ(messageOf({goodWeights(), first, end()}),
            "descriptor 2 (sync, layer 0): the program ends after a job with acc_finish = 0: its sum is never written");
  EXPECT_EQ(
      messageOf({goodWeights(), first, goodWeights(), goodExecute(), end()}),
      "descriptor 3 (execute, layer 0): acc_init = 1 after a job with acc_finish = 0: that job's sum would be lost");
  Execute last = first;
  last.accInit = false;
  last.accFinish = true;
  EXPECT_EQ(messageOf({goodWeights(), first, goodWeights(), last, end()}), "");
  EXPECT_EQ(messageOf({goodWeights(), last, end()}),
            "descriptor 1 (execute, layer 0): acc_init = 0, but the execute job before it has acc_finish = 1: there is "
            "nothing to add to");

  Weights table;
  table.destination = WeightsDestination::Table;
  table.byteCount = 256;
  Execute reader = goodExecute();
  reader.table1 = 1;
  EXPECT_EQ(messageOf({goodWeights(), reader, end()}),
            "descriptor 1 (execute, layer 0): table_1 = 1: no weights job before it fills that table");
  EXPECT_EQ(messageOf({table, goodWeights(), reader, end()}),
            "descriptor 2 (execute, layer 0): table_1 = 1: wait_weights must be at least 1 for the job that fills that "
            "table, it is 0");
  reader.waitWeights = 1;
  EXPECT_EQ(
      messageOf({table, goodWeights(), reader, table, end()}),
      "descriptor 3 (weights, layer 0): overwrites table 0 without waiting for its readers: wait_execute must be at "
      "least 1, wait_vector at least 0");
  // Fills of one table are in one queue: only the first after a reader has to wait for it.
  Weights refill = table;
  refill.waitExecute = 1;
  EXPECT_EQ(messageOf({table, goodWeights(), reader, refill, table, end()}), "");
}

TEST(ProgramVerifier, FindsDeadlocks) {
  ArrayConfig small;
  small.weightRingBytes = 11 * 64; // one block
  // The fetch stops at the eleventh weights job: ring full, one running, eight queued. The execute jobs are never seen.
  std::vector<Descriptor> program(11, goodWeights());
  program.insert(program.end(), 11, goodExecute());
  program.push_back(end());
  EXPECT_EQ(
      messageOf(program, small),
      "the program can never finish: the fetch stands at descriptor 10 (weights, layer 0); weights at descriptor 1 "
      "(weights, layer 0) waiting for free words in the weight ring");
  program.erase(program.begin());
  program.erase(program.begin() + 10);
  EXPECT_EQ(messageOf(program, small), "");
}

} // namespace
