//===- array_bricks.cpp - bricks of four steps back to back ---------------===//
//
// 10,000 bricks of 4 steps: a step in every cycle, a drain begins every 4 cycles, and
// every pixel that leaves the array has the sums of exactly its brick.
//
//===----------------------------------------------------------------------===//

// FAULT wrong_bank_drained in systolic_array: {drain_parameters, drain_bank, 1'b1} => {drain_parameters, 1'b0, 1'b1}
// FAULT drain_too_long in systolic_array: drain_count == 8'(P) => drain_count == 8'(P + 1)

#include "Testbench.h"

#include <deque>

namespace {

constexpr int P = 4, K = 16, C = 4;

struct Brick {
  int8_t activations[P][16], weights[4][K][C];
  std::vector<int32_t> pixel(int p) const {
    std::vector<int32_t> sums(K);
    for (int k = 0; k < K; ++k)
      for (int s = 0; s < 4; ++s)
        for (int c = 0; c < C; ++c)
          sums[k] += activations[p][s * C + c] * weights[s][k][c];
    return sums;
  }
};

TEST_F(Testbench, TenThousandBricksOfFourStepsWithoutALostCycle) {
  top.word_valid_i = top.step_valid_i = top.drain_valid_i = 0;
  reset();
  constexpr int bricks = 10000;
  std::deque<Brick> expected; // bricks whose pixels have not all left
  Brick brick{};
  int64_t pixels = 0, firstPixel = -1, lastPixel = -1;
  // Brick b's words arrive in cycle 4b, its steps run in cycles 4b+4 .. 4b+7, its drain begins in 4b+8.
  for (int64_t begin = cycle; cycle - begin < 4 * int64_t(bricks) + 64;) {
    int64_t b = (cycle - begin) / 4, phase = (cycle - begin) % 4;
    top.word_valid_i = phase == 0 && b < bricks;
    if (top.word_valid_i) {
      Brick next;
      for (auto &lane : next.activations)
        for (int8_t &value : lane)
          value = int8_t(random());
      for (auto &step : next.weights)
        for (auto &channel : step)
          for (int8_t &value : channel)
            value = int8_t(random());
      top.word_slot_i = b % 8;
      std::memcpy(&top.word_i, next.activations, 64);
      expected.push_back(next);
    }
    int64_t running = b - 1;
    top.step_valid_i = running >= 0 && running < bricks;
    if (top.step_valid_i) {
      if (phase == 0)
        brick = expected[expected.size() - (running + 1 < bricks ? 2 : 1)];
      top.step_first_i = phase == 0;
      top.step_bank_i = running % 2;
      top.step_slot_i = running % 8;
      top.step_slice_i = phase;
      std::memcpy(&top.weights_i, brick.weights[phase], 64);
    }
    int64_t drained = b - 2;
    top.drain_valid_i = phase == 0 && drained >= 0 && drained < bricks;
    top.drain_bank_i = drained % 2;
    edge();
    if (top.pixel_valid_o) {
      if (firstPixel < 0)
        firstPixel = cycle;
      lastPixel = cycle;
      std::vector<int32_t> sums = expected.front().pixel(int(pixels % P));
      ASSERT_EQ(std::memcmp(&top.pixel_o, sums.data(), 64), 0) << "brick " << pixels / P << " pixel " << pixels % P;
      if (++pixels % P == 0)
        expected.pop_front();
    }
  }
  EXPECT_EQ(pixels, int64_t(bricks) * P);
  EXPECT_EQ(lastPixel - firstPixel + 1, int64_t(bricks) * P) << "a pixel in every cycle";
}

} // namespace
