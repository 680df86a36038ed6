//===- DramModelTest.cpp - rate, refusals, latency and order of the DRAM --===//

#include "sim/DramModel.h"
#include <gtest/gtest.h>
#include <vector>

using namespace tilewright::sim;

namespace {

struct Bench {
  explicit Bench(DramParameters parameters, uint64_t bytes = 1 << 16)
      : memory(bytes), dram(memory.data(), bytes, parameters), parameters(parameters) {
    for (uint64_t i = 0; i < bytes; ++i)
      memory[i] = uint8_t(i / 16 + i);
  }
  /// Cycles to read and write so many bursts of 16 beats, both streams at once, the core never waiting.
  unsigned transfer(unsigned readBursts, unsigned writeBursts) {
    unsigned reads = 0, writes = 0, readBeats = 0, writeBeats = 0, responses = 0, cycle = 0;
    const AxiSlave *slave = &idle;
    while ((readBeats < readBursts * 16 || responses < writeBursts) && cycle < 100000) {
      AxiMaster master;
      master.arValid = reads < readBursts;
      master.arAddress = uint64_t(reads) * 16 * parameters.busBytes;
      master.arLen = master.awLen = 15;
      master.rReady = master.bReady = true;
      master.awValid = writes < writeBursts;
      master.awAddress = 0x8000 + uint64_t(writes) * 16 * parameters.busBytes;
      master.wValid = writeBeats < writeBursts * 16;
      master.wStrobe = ~0u;
      std::fill_n(master.wData, 32, uint8_t(writeBeats));
      if (slave->rValid) {
        EXPECT_EQ(slave->rData[0], uint8_t(readBeats * parameters.busBytes / 16 + readBeats * parameters.busBytes));
        EXPECT_EQ(slave->rLast, readBeats % 16 == 15);
        if (firstBeat == 0)
          firstBeat = cycle;
        ++readBeats;
      }
      reads += master.arValid && slave->arReady;
      writes += master.awValid && slave->awReady;
      writeBeats += master.wValid && slave->wReady;
      responses += slave->bValid;
      slave = &dram.clock(master, [&](uint64_t, const uint8_t *, uint32_t) { ++accepted; });
      ++cycle;
    }
    EXPECT_EQ(accepted, writeBursts * 16);
    return cycle;
  }
  std::vector<uint8_t> memory;
  DramModel dram;
  DramParameters parameters;
  AxiSlave idle;
  unsigned firstBeat = 0, accepted = 0;
};

TEST(DramModel, ReadsAtRateAfterLatency) {
  Bench bench({16, 16, 10, 100});
  unsigned cycles = bench.transfer(100, 0);
  EXPECT_EQ(bench.firstBeat, 100u);
  EXPECT_NEAR(cycles, 100 + 1600 / 0.9, 3);
  EXPECT_EQ(bench.dram.readBytes()[0], 1600u * 16);
}

TEST(DramModel, HonoursTheRate) {
  EXPECT_NEAR(Bench({16, 8, 0, 10}).transfer(100, 0), 10 + 3200, 3);
  EXPECT_NEAR(Bench({16, 5, 0, 10}).transfer(20, 0), 10 + 320 * 16 / 5.0, 7); // credit saved up during the latency
  EXPECT_NEAR(Bench({32, 32, 0, 10}).transfer(40, 0), 10 + 640, 3);
  EXPECT_NEAR(Bench({32, 16, 2, 10}).transfer(40, 0), 10 + 640 * 4, 5);
}

TEST(DramModel, WritesAtRateAndAnswersAfterLatency) {
  EXPECT_NEAR(Bench({16, 16, 0, 50}).transfer(0, 100), 50 + 1600, 5);
  Bench bench({16, 16, 0, 50});
  bench.transfer(0, 1);
  EXPECT_EQ(bench.memory[0x8000], 0);
  EXPECT_EQ(bench.memory[0x8000 + 15 * 16], 15);
}

TEST(DramModel, ReadsAndWritesShareTheRate) {
  EXPECT_NEAR(Bench({16, 16, 10, 100}).transfer(100, 100), 3200 / 0.9, 20); // writes fill the reads' latency
}

TEST(DramModel, ReportsAddressesOutsideTheMemory) {
  DramModel dram(nullptr, 0, {16, 16, 0, 1});
  AxiMaster master;
  master.arValid = true;
  master.rReady = true;
  auto ignore = [](uint64_t, const uint8_t *, uint32_t) {};
  bool seen = false;
  for (int i = 0; i < 5; ++i) {
    const AxiSlave &slave = dram.clock(master, ignore);
    master.arValid = false;
    if (slave.rValid && !seen) {
      seen = true;
      EXPECT_TRUE(slave.rError);
    }
  }
  EXPECT_TRUE(seen);
}

} // namespace
