//===- DriverTest.cpp - options and the host's memory plan ----------------===//

#include "common/Error.h"
#include "driver/ArenaPlanner.h"
#include "driver/CompileOptions.h"

#include <gtest/gtest.h>

#include <random>

using namespace tilewright;

namespace {

TEST(ArenaPlannerTest, BuffersAliveTogetherDoNotOverlap) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<ArenaBuffer> buffers(1 + random() % 40);
    for (ArenaBuffer &buffer : buffers) {
      buffer.bytes = random() % 5 ? random() % 2000 : 0;
      buffer.firstStep = random() % 30;
      buffer.lastStep = buffer.firstStep + random() % 8;
    }
    uint64_t size = planArena(buffers);
    for (const ArenaBuffer &a : buffers) {
      ASSERT_LE(a.offset + a.bytes, size);
      ASSERT_EQ(a.offset % 64, 0u);
      for (const ArenaBuffer &b : buffers)
        if (&a != &b && a.firstStep <= b.lastStep && b.firstStep <= a.lastStep)
          ASSERT_TRUE(a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset || !a.bytes || !b.bytes);
    }
  }
}

TEST(ArenaPlannerTest, AChainTakesTwoBuffers) {
  std::vector<ArenaBuffer> buffers;
  for (uint32_t i = 0; i < 10; ++i)
    buffers.push_back({1000, i, i + 1, 0});
  EXPECT_EQ(planArena(buffers), 2 * 1024u);
}

TEST(CompileOptionsTest, InputShapesMakeSpecialisations) {
  EXPECT_EQ(parseInputShapes({}).size(), 1u);
  auto maps = parseInputShapes({"x:1x3x8x8", "n:y:2", "x:1x3x16x16"});
  ASSERT_EQ(maps.size(), 2u);
  EXPECT_EQ(maps[1]["x"], (std::vector<int64_t>{1, 3, 16, 16}));
  EXPECT_EQ(maps[1]["n:y"], (std::vector<int64_t>{2}));
  EXPECT_EQ(parseInputShapes({"scalar:"})[0]["scalar"], std::vector<int64_t>());
  EXPECT_THROW(parseInputShapes({"a:1", "a:2", "b:1", "b:2", "b:3"}), Error);
  for (const char *bad : {"x", ":1x2", "x:1x", "x:axb", "x:1x-2", "x:1,2", "x:99999999999999999999"})
    EXPECT_THROW(parseInputShapes({bad}), Error) << bad;
}

TEST(CompileOptionsTest, RefusesWhatMakesNoSense) {
  auto message = [](auto change) {
    CompileOptions options;
    change(options);
    try {
      options.validate();
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message([](CompileOptions &) {}), "");
  EXPECT_NE(message([](CompileOptions &o) { o.target = "tpu"; }).find("systolic, cpu, cuda"), std::string::npos);
  EXPECT_NE(message([](CompileOptions &o) { o.target = "cuda"; }).find("no GPU code generation yet"),
            std::string::npos);
  EXPECT_NE(message([](CompileOptions &o) { o.batch = 0; }).find("at least 1"), std::string::npos);
  EXPECT_EQ(message([](CompileOptions &o) { o.allTensors = true; }), "");
  EXPECT_NE(message([](CompileOptions &o) { o.allTensors = true, o.target = "cpu"; }).find("--target=systolic"),
            std::string::npos);
}

} // namespace
