//===- dram_row_walker.cpp - rows of a tensor in DRAM -----------------------===//
//
// Random strides, negative and zero ones among them: the address of every row after the
// first, in order; never more than four rows ahead; a row per cycle for a user that needs it.
//
//===----------------------------------------------------------------------===//

// VARIANT AddressBits=48
// VARIANT AddressBits=4
// FAULT plane_not_counted: if (@plane_count == planes_i@) => plane_count == planes_i + 16'd1
// FAULT sample_keeps_plane: plane = @sample@; => plane
// FAULT first_row_again: row_count = @16'd1@; => 16'd0
// FAULT too_far_ahead: walking && ahead < @3'(Ahead)@ => 3'(Ahead + 1)
// FAULT last_missed: last_o <= @!walking@; => !walking && samples_i != 16'd1
// FAULT single_row_walks: walking = @rows_i != 16'd1@ || => 1'b1

#include "Testbench.h"

namespace {

constexpr uint64_t mask = (uint64_t(1) << PARAMETER_AddressBits) - 1;

struct DramRowWalker : Testbench {
  void run(int percent) {
    uint64_t base = (uint64_t(random()) << 16 ^ random()) & mask;
    auto stride = [&] { return random.percent(20) ? 0 : int64_t(random.range(-100000, 100000)); };
    int64_t rowStride = stride(), planeStride = stride(), sampleStride = stride();
    int rows = random.percent(40) ? 1 : random.range(1, 9), planes = random.range(1, 4), samples = random.range(1, 3);
    std::vector<uint64_t> expected;
    for (int n = 0; n < samples; ++n)
      for (int p = 0; p < planes; ++p)
        for (int y = 0; y < rows; ++y)
          expected.push_back((base + n * sampleStride + p * planeStride + y * rowStride) & mask);
    top.address_i = base;
    top.row_stride_i = uint64_t(rowStride) & mask;
    top.plane_stride_i = uint64_t(planeStride) & mask;
    top.sample_stride_i = uint64_t(sampleStride) & mask;
    top.rows_i = rows;
    top.planes_i = planes;
    top.samples_i = samples;
    top.start_i = 1;
    edge();
    top.start_i = 0;
    size_t next = 1; // the user has the first
    int ahead = 1;
    int64_t began = cycle;
    for (int idle = 0; next < expected.size() || ahead > 0;) {
      settle();
      if (top.valid_o) {
        ASSERT_LT(next, expected.size()) << "a row behind the last";
        ASSERT_EQ(uint64_t(top.row_o), expected[next]) << "row " << next << " of " << expected.size();
        ASSERT_EQ(bool(top.last_o), next + 1 == expected.size()) << "row " << next;
        ++next;
        ++ahead;
        ASSERT_LE(ahead, 4) << "too far ahead";
        idle = 0;
      }
      top.done_i = ahead > 0 && random.percent(percent);
      ahead -= top.done_i;
      ASSERT_LT(++idle, 400) << "row " << next << " of " << expected.size() << " does not come";
      edge();
    }
    top.done_i = 0;
    if (percent == 100)
      ASSERT_LE(cycle - began, int64_t(expected.size()));
    for (int i = 0; i < 4; ++i) {
      settle();
      ASSERT_FALSE(top.valid_o);
      edge();
    }
  }
};

TEST_F(DramRowWalker, RandomStrides) {
  top.start_i = top.done_i = 0;
  reset();
  for (int i = 0; i < 3000; ++i)
    ASSERT_NO_FATAL_FAILURE(run(i % 3 == 0 ? 100 : i % 3 == 1 ? 50 : 10)) << "tensor " << i;
}

} // namespace
