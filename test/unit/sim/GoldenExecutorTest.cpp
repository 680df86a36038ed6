//===- GoldenExecutorTest.cpp - golden against the page's formulas --------===//

#include "NaiveExecutor.h"
#include "backends/systolic/isa/ProgramVerifier.h"
#include "common/Error.h"
#include "sim/Executor.h"
#include "sim/fuzz/ProgramFuzzer.h"
#include <gtest/gtest.h>

using namespace tilewright;
using namespace tilewright::sim;

namespace {

RunResult run(Executor &executor, const ArrayConfig &config, const FuzzedProgram &program, uint8_t fill = 0) {
  std::vector<uint8_t> memory = program.memory;
  RunOptions options;
  options.collectWrites = options.strict = true;
  options.fill = fill;
  return executor.run(config, memory, program.programAddress, options);
}

class Golden : public testing::TestWithParam<const char *> {};

/// Every write of random programs, on every array shape, with small and default memories.
TEST_P(Golden, WritesWhatThePageSays) {
  auto golden = makeGoldenExecutor(), naive = makeNaiveExecutor();
  std::map<std::string, int> paths;
  for (bool small : {false, true}) {
    ArrayConfig config = ArrayConfig::load(GetParam());
    if (small) {
      config.scratchpadBytes = 16384;
      config.weightRingBytes = (config.headerWords() + 60) * config.ringWordBytes();
      config.tableSlots = 2;
    }
    for (uint64_t seed = 1; seed <= 60; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed) + (small ? ", small memories" : ""));
      FuzzedProgram program = fuzzProgram(config, seed);
      ASSERT_NO_THROW(isa::verifyProgram(program.descriptors, config, program.memory.size()))
          << isa::disassemble(program.descriptors);
      RunResult expected = run(*naive, config, program), actual = run(*golden, config, program, 0x55);
      std::string difference =
          compareWrites(config, program.memory, program.programAddress, *naive, expected, *golden, actual);
      ASSERT_EQ(difference, "");
      for (const auto &[path, count] : program.paths)
        paths[path] += count;
    }
  }
  ArrayConfig config = ArrayConfig::load(GetParam());
  for (const std::string &path : fuzzPaths(config))
    EXPECT_GT(paths[path], 0) << path << " was never taken";
}

INSTANTIATE_TEST_SUITE_P(Shapes, Golden, testing::Values("4x16x4", "16x16x1", "8x8x4", "1x16x16", "1x256x1"),
                         [](const auto &info) { return std::string("Array") + info.param; });

TEST(GoldenExecutor, ComparisonNamesTheFirstDifferentWrite) {
  ArrayConfig config = ArrayConfig::load("4x16x4");
  FuzzedProgram program = fuzzProgram(config, 3);
  auto golden = makeGoldenExecutor();
  RunResult expected = run(*golden, config, program);
  // The same program with another clamp in one execute job, run as "other".
  struct Faulty final : Executor {
    std::unique_ptr<Executor> inner = makeGoldenExecutor();
    uint32_t changed = 0;
    const char *name() const override { return "faulty"; }
    RunResult run(const ArrayConfig &config, std::span<uint8_t> memory, uint64_t address,
                  const RunOptions &options) override {
      std::vector<isa::Descriptor> program = isa::decodeProgram(memory.subspan(address));
      for (uint32_t i = 0; i < program.size() && !changed; ++i)
        if (auto *job = std::get_if<isa::Execute>(&program[i]); job && job->accFinish && !job->table1 && !job->table2)
          changed = i;
      std::get<isa::Execute>(program[changed]).clampMin = std::get<isa::Execute>(program[changed]).clampMax = 77;
      std::get<isa::Execute>(program[changed]).residual = false;
      std::vector<uint8_t> bytes = isa::encode(program);
      std::copy(bytes.begin(), bytes.end(), memory.begin() + ptrdiff_t(address));
      return inner->run(config, memory, address, options);
    }
  } faulty;
  RunResult actual = run(faulty, config, program);
  std::string difference =
      compareWrites(config, program.memory, program.programAddress, *golden, expected, faulty, actual);
  EXPECT_NE(difference.find("execute descriptor " + std::to_string(faulty.changed) + " "), std::string::npos)
      << difference;
  EXPECT_NE(difference.find("scratchpad word"), std::string::npos) << difference;
}

std::string errorOf(const ArrayConfig &config, const std::vector<isa::Descriptor> &program, bool strict = false) {
  std::vector<uint8_t> memory = isa::encode(program);
  memory.resize(memory.size() + 4096);
  RunOptions options;
  options.strict = strict;
  try {
    makeGoldenExecutor()->run(config, memory, 0, options);
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(GoldenExecutor, StrictModeFindsReadsOfUnwrittenWords) {
  ArrayConfig config;
  isa::Store store;
  store.layer = 5;
  store.in.base = 40;
  store.in.ringRows = 1;
  store.rowCount = store.width = store.planes = store.samples = 1;
  store.dramAddress = 1024;
  isa::Sync end;
  end.end = true;
  EXPECT_EQ(errorOf(config, {store, end}), "");
  EXPECT_EQ(errorOf(config, {store, end}, true),
            "descriptor 0 (store, layer 5): reads scratchpad word 40, which no job before it has written");
}

} // namespace
