//===- RtlThroughputTest.cpp - cycles of the RTL on chosen jobs ------------===//
//
// What the array promises about lost cycles, measured on the RTL: bricks of four
// steps back to back, with residual words too, depthwise rows, the packed first layer.
// Maps use pitches of 0 where they would not fit the scratchpad: the values do not matter here (fuzz-programs compares
// them), only when they are computed.
//
//===----------------------------------------------------------------------===//

#include "backends/systolic/isa/Descriptor.h"
#include "sim/RtlExecutor.h"
#include <ctime>
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::sim;

namespace {

struct Measured {
  RunResult result;
  std::vector<JobRecord> execute;
  double cyclesPerSecond;
};

Measured run(std::vector<isa::Descriptor> jobs, const char *configName = "4x16x4") {
  static std::unique_ptr<Executor> rtl = makeRtlExecutor();
  ArrayConfig config = ArrayConfig::load(configName);
  isa::Sync end;
  end.end = true;
  jobs.push_back(end);
  std::vector<uint8_t> memory(1 << 24);
  std::vector<uint8_t> bytes = isa::encode(jobs);
  std::copy(bytes.begin(), bytes.end(), memory.begin());
  rtl->run(config, memory, 0); // the first run builds and opens the simulator
  std::copy(bytes.begin(), bytes.end(), memory.begin());
  std::clock_t begin = std::clock();
  Measured run;
  run.result = rtl->run(config, memory, 0);
  run.cyclesPerSecond = double(run.result.cycles) * CLOCKS_PER_SEC / double(std::clock() - begin);
  for (const JobRecord &job : run.result.jobs)
    if (job.opcode == unsigned(isa::Opcode::Execute))
      run.execute.push_back(job);
  return run;
}

/// A convolution over a map of 1 sample; window 1x1 unless changed. Outputs go to word 16384 on, all rows to one row.
isa::Execute convolution(int64_t width, int64_t rows, int64_t channelSteps, int64_t outChannels) {
  isa::Execute job;
  job.accInit = job.accFinish = true;
  job.release = isa::Release::Block;
  job.in.pitch = 0;
  job.in.planePitch = width;
  job.in.ringRows = job.out.ringRows = job.residualMap.ringRows = 65535;
  job.inHeight = rows;
  job.inWidth = width;
  job.channelSteps = channelSteps;
  job.window.kernelHeight = job.window.kernelWidth = 1;
  job.window.strideHeight = job.window.strideWidth = 1;
  job.window.dilationHeight = job.window.dilationWidth = 1;
  job.out.base = 16384;
  job.residualMap.base = 24576;
  job.out.planePitch = job.residualMap.planePitch = width;
  job.outWidth = width;
  job.outRowCount = rows;
  job.samples = 1;
  job.outChannels = outChannels;
  job.clampMin = -128;
  job.clampMax = 127;
  return job;
}

isa::Weights weightsFor(const isa::Execute &job, int64_t steps, int64_t channels = 16, int64_t reduction = 4) {
  isa::Weights weights;
  weights.dramAddress = 1 << 20;
  int64_t blocks = (job.outChannels + channels - 1) / channels;
  weights.byteCount = blocks * ((12 + reduction - 1) / reduction + steps) * channels * reduction;
  return weights;
}

uint64_t lostOf(const JobRecord &job) {
  uint64_t sum = 0;
  for (uint64_t cycles : job.lost)
    sum += cycles;
  return sum;
}

std::string describe(const JobRecord &job) {
  std::string text = std::to_string(job.steps) + " steps";
  for (unsigned cause = 0; cause < TilewrightCauseCount; ++cause)
    if (job.lost[cause])
      text += std::string(", ") + causeNames[cause] + " " + std::to_string(job.lost[cause]);
  return text;
}

/// The second of two equal jobs, so that start-up is not in it.
JobRecord steady(isa::Execute job, int64_t steps) {
  job.waitWeights = 2; // not measured here
  Measured measured = run({weightsFor(job, steps), weightsFor(job, steps), job, job});
  EXPECT_EQ(measured.execute.size(), 2u);
  std::printf("  %s: %s; %.0f cycles per CPU second\n", testing::UnitTest::GetInstance()->current_test_info()->name(),
              describe(measured.execute[1]).c_str(), measured.cyclesPerSecond);
  return measured.execute[1];
}

TEST(RtlThroughput, TenThousandBricksOfFourSteps) {
  JobRecord job = steady(convolution(200, 200, 4, 16), 4);
  EXPECT_EQ(job.steps, 40000u);
  EXPECT_LE(lostOf(job), 8u) << describe(job); // the block's header, nothing else
}

TEST(RtlThroughput, TenThousandBricksOfFourStepsWithResidual) {
  isa::Execute conv = convolution(200, 200, 4, 16);
  conv.residual = true;
  conv.residualScaleA = conv.residualScaleB = 0.5f;
  conv.residualClampMin = -128;
  conv.residualClampMax = 127;
  JobRecord job = steady(conv, 4);
  EXPECT_EQ(job.steps, 40000u);
  EXPECT_LE(lostOf(job), 8u) << describe(job);
}

TEST(RtlThroughput, ManyBlocks) {
  JobRecord job = steady(convolution(7, 7, 16, 512), 16);
  EXPECT_EQ(job.steps, 32u * 13 * 16);
  EXPECT_LE(lostOf(job), 32u * 4) << describe(job);
}

TEST(RtlThroughput, Convolution3x3) {
  isa::Execute conv = convolution(28, 28, 16, 64);
  conv.window.kernelHeight = conv.window.kernelWidth = 3;
  conv.window.padTop = conv.window.padLeft = 1;
  conv.in.pitch = 28;
  conv.in.planePitch = 28 * 28;
  JobRecord job = steady(conv, 9 * 16);
  EXPECT_EQ(job.steps, 4u * 196 * 144);
  EXPECT_LE(lostOf(job), 4u * 5) << describe(job);
}

TEST(RtlThroughput, Convolution3x3StrideTwo) {
  isa::Execute conv = convolution(28, 28, 16, 64);
  conv.window.kernelHeight = conv.window.kernelWidth = 3;
  conv.window.padTop = conv.window.padLeft = 1;
  conv.window.strideHeight = conv.window.strideWidth = 2;
  conv.in.pitch = 56;
  conv.in.planePitch = 56 * 56;
  conv.inWidth = conv.inHeight = 56;
  JobRecord job = steady(conv, 9 * 16);
  EXPECT_LE(lostOf(job), 4u * 5) << describe(job);
}

TEST(RtlThroughput, Depthwise3x3) {
  isa::Execute conv = convolution(56, 56, 1, 32);
  conv.mode = isa::ExecuteMode::Depthwise;
  conv.window.kernelHeight = conv.window.kernelWidth = 3;
  conv.window.padTop = conv.window.padLeft = 1;
  conv.in.pitch = 56;
  conv.in.planePitch = 56 * 56;
  JobRecord job = steady(conv, 3);
  uint64_t bricks = 2 * 56 * 14;
  EXPECT_EQ(job.steps, 3 * bricks);
  EXPECT_LE(job.steps + lostOf(job), bricks * 46 / 10) << describe(job);
}

TEST(RtlThroughput, Depthwise3x3StrideTwo) {
  isa::Execute conv = convolution(56, 56, 1, 32);
  conv.mode = isa::ExecuteMode::Depthwise;
  conv.window.kernelHeight = conv.window.kernelWidth = 3;
  conv.window.padTop = conv.window.padLeft = 1;
  conv.window.strideHeight = conv.window.strideWidth = 2;
  conv.in.pitch = 112;
  conv.in.planePitch = 0;
  conv.inWidth = conv.inHeight = 112;
  JobRecord job = steady(conv, 3);
  uint64_t bricks = 2 * 56 * 14;
  EXPECT_LE(job.steps + lostOf(job), bricks * 64 / 10) << describe(job);
}

TEST(RtlThroughput, PackedFirstLayer) {
  isa::Execute conv = convolution(112, 112, 1, 32);
  conv.mode = isa::ExecuteMode::Packed;
  conv.packedChannels = 3;
  conv.window.kernelHeight = conv.window.kernelWidth = 3;
  conv.window.strideHeight = conv.window.strideWidth = 2;
  conv.window.padTop = conv.window.padLeft = 1;
  conv.in.pitch = 42;
  conv.inWidth = conv.inHeight = 224;
  JobRecord job = steady(conv, 7);
  uint64_t bricks = 2 * 112 * 28;
  EXPECT_EQ(job.steps, 7 * bricks);
  EXPECT_LE(job.steps + lostOf(job), bricks * 72 / 10) << describe(job);
}

/// Jobs of one brick after one another, as in a network's last layers.
TEST(RtlThroughput, SmallJobsFollowWithoutBubbles) {
  isa::Execute conv = convolution(4, 1, 64, 16);
  std::vector<isa::Descriptor> jobs;
  for (int i = 0; i < 30; ++i)
    jobs.push_back(weightsFor(conv, 64));
  conv.waitWeights = 30; // their words are there
  for (int i = 0; i < 30; ++i)
    jobs.push_back(conv);
  Measured measured = run(jobs);
  uint64_t lost = 0;
  JobRecord sum{};
  for (size_t i = 4; i < measured.execute.size(); ++i) {
    lost += lostOf(measured.execute[i]);
    sum.steps += measured.execute[i].steps;
    for (unsigned cause = 0; cause < TilewrightCauseCount; ++cause)
      sum.lost[cause] += measured.execute[i].lost[cause];
  }
  std::printf("  26 jobs: %s\n", describe(sum).c_str());
  EXPECT_LE(lost, 26u * 5) << describe(sum);
}

} // namespace
