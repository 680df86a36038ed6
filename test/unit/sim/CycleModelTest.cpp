//===- CycleModelTest.cpp - the model's books, and what bounds it ---------===//

#include "sim/Executor.h"
#include "sim/fuzz/ProgramFuzzer.h"
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::sim;

namespace {

RunResult model(const ArrayConfig &config, const std::vector<isa::Descriptor> &program, uint32_t bytesPerCycle = 0) {
  RunOptions options;
  options.dramBytesPerCycle = bytesPerCycle;
  RunResult result;
  modelCycles(config, program, 0, options, result);
  uint64_t accounted = result.steps();
  for (uint64_t cycles : result.lost())
    accounted += cycles;
  EXPECT_EQ(accounted, result.cycles);
  return result;
}

TEST(CycleModel, AccountsForEveryCycleOfRandomPrograms) {
  for (const char *name : {"4x16x4", "16x16x1", "8x8x4", "1x16x16", "1x256x1"})
    for (bool small : {false, true})
      for (uint64_t seed = 1; seed <= 40; ++seed) {
        SCOPED_TRACE(std::string(name) + ", seed " + std::to_string(seed));
        ArrayConfig config = ArrayConfig::load(name);
        if (small) {
          config.scratchpadBytes = 16384;
          config.weightRingBytes = (config.headerWords() + 60) * config.ringWordBytes();
        }
        FuzzedProgram program = fuzzProgram(config, seed);
        RunResult result = model(config, program.descriptors);
        size_t jobs = 0;
        for (const isa::Descriptor &descriptor : program.descriptors)
          jobs += isa::opcode(descriptor) != isa::Opcode::Sync;
        ASSERT_EQ(result.jobs.size(), jobs);
      }
}

/// One 3x3 convolution of 64 channels on a 56x56 map, `times` times over.
std::vector<isa::Descriptor> convolutions(int times) {
  using namespace isa;
  Load load;
  load.width = load.rowCount = 56;
  load.planes = 4;
  load.samples = 1;
  load.dramRowStride = 896;
  load.dramPlaneStride = 896 * 56;
  load.out = {0, 56, 3136, 12544, 56, 0};
  Weights weights;
  weights.dramAddress = 1 << 20;
  weights.byteCount = 4 * (3 + 144) * 64;
  Execute execute;
  execute.accInit = execute.accFinish = true;
  execute.release = Release::Block;
  execute.in = load.out;
  execute.inHeight = execute.inWidth = 56;
  execute.channelSteps = 16;
  execute.window = {3, 3, 1, 1, 1, 1, 1, 1};
  execute.out = {12544, 56, 3136, 12544, 56, 0};
  execute.outWidth = execute.outRowCount = 56;
  execute.samples = 1;
  execute.outChannels = 64;
  execute.waitLoad = 1;
  Sync end;
  end.end = true;
  std::vector<Descriptor> program{load};
  for (int i = 0; i < times; ++i) {
    program.push_back(weights);
    program.push_back(execute);
  }
  program.push_back(end);
  return program;
}

TEST(CycleModel, DenseConvolutionsRunAtPeak) {
  ArrayConfig config = ArrayConfig::load("4x16x4");
  RunResult result = model(config, convolutions(4));
  uint64_t ideal = 4ull * 56 * 56 * 64 * 576 / 256;
  EXPECT_EQ(result.steps(), ideal);
  // The load of the map comes first and holds up the first weights; after that only headers (3 cycles a block) are
  // lost.
  uint64_t load = uint64_t(56 * 56 * 4 / 0.9);
  EXPECT_NEAR(double(result.cycles - ideal), double(load + 4 * 4 * 3), 1000);
  EXPECT_GE(result.lost()[TilewrightCauseWaitLoad], load - 200);
}

TEST(CycleModel, StreamedWeightsAreBoundByTheBus) {
  using namespace isa;
  ArrayConfig config = ArrayConfig::load("4x16x4");
  // A dense layer of one pixel: every ring word of 64 bytes is used once.
  Execute execute = std::get<Execute>(convolutions(1)[2]);
  execute.waitLoad = 0;
  execute.window = {1, 1, 1, 1, 1, 1, 0, 0};
  execute.outWidth = execute.outRowCount = 1;
  execute.channelSteps = 1024;
  execute.in = {0, 1, 1, 256, 1, 0};
  execute.inHeight = execute.inWidth = 1;
  execute.outChannels = 160;
  execute.release = Release::Stream;
  Weights weights;
  weights.byteCount = 10 * (3 + 1024) * 64;
  Sync end;
  end.end = true;
  double words = 10 * 1027;
  for (uint32_t rate : {16u, 8u, 4u}) {
    RunResult result = model(config, {weights, execute, end}, rate);
    EXPECT_NEAR(double(result.cycles), words * 64 / (rate * 0.9), 1024 / rate + 250);
    EXPECT_NEAR(double(result.lost()[TilewrightCauseWeight]), double(result.cycles) - words, 1024 / rate + 250);
  }
}

} // namespace
