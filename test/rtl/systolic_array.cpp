//===- systolic_array.cpp - bricks of every mode through the array ----------===//
//
// Bricks of random steps in dense, packed and depthwise mode, mixed, with gaps, in both
// banks, while operands of all kinds are written into the buffers at random: every pixel that
// leaves has the sums of exactly its brick. And 10,000 bricks of 4 steps back to back: a step
// in every cycle, a drain every P cycles, no lost cycle.
//
//===----------------------------------------------------------------------===//

// VARIANT P=4 K=16 C=4
// VARIANT P=2 K=32 C=8
// VARIANT P=4 K=8 C=2
// FAULT wrong_bank_drained: {drain_parameters, drain_bank, 1'b1} => {drain_parameters, 1'b0, 1'b1}
// FAULT drain_too_long: drain_count == 8'(P) => drain_count == 8'(P + 1)
// FAULT sums_not_reset: flags[i][1] ? 32'd0 : acc0[i] => acc0[i]
// FAULT packed_ring_does_not_wrap: (32'(step_ring_i)+c)%RingBytes => 32'(step_ring_i)+c
// FAULT bytes_outside_image: $signed(lane_offset + 10'(i)) >= $signed(lane_low) => 1'b1
// FAULT padding_not_filled: lane_write = @lane_fill@; => 1'b0
// FAULT window_right_not_padded: i >= 32'(window_high_i) * 4 => 1'b0
// FAULT window_copied_unshifted: 32'(window_previous_i)*WindowWords+32'(window_shift_i) => 32'(window_previous_i)*WindowWords
// FAULT upper_channels_ignored: +@32'(step_byte_i[3:2])@+j => 0
// FAULT depthwise_stride_1: p*32'(step_stride_i) => p
// FAULT slice_of_another_slot: (32'(step_slot_i)*P+p)*Slices+32'(step_slice_i) => p*Slices+32'(step_slice_i)

#include "Testbench.h"

#include <deque>

namespace {

constexpr int P = PARAMETER_P, K = PARAMETER_K, C = PARAMETER_C;
constexpr int groupLanes = std::min(K, 16), groups = K / groupLanes;
constexpr int windowWords = (P - 1) * 2 + (7 + C - 1) / C * C + 1;
constexpr unsigned dense = isa::ExecuteModeDense, depthwise = isa::ExecuteModeDepthwise,
                   packed = isa::ExecuteModePacked;

struct Pixel {
  int32_t sums[K];
  int parameters;
};

struct Array : Testbench {
  // The operand buffers.
  Word words[8][P] = {};
  int8_t rings[P][128] = {};
  Word windows[8][windowWords] = {};
  int32_t sums[2][P][K] = {};
  std::deque<Pixel> expected[groups];
  int64_t pixels = 0;

  void idle() {
    top.word_valid_i = top.fill_valid_i = top.window_valid_i = top.window_copy_i = 0;
    top.step_valid_i = top.drain_valid_i = 0;
  }
  /// One cycle of writes to a buffer. Steps of the same cycle read what was there before.
  struct Write {
    unsigned mode;
    int slot, source[P]; // per lane: bank, 4 fill, 5 nothing
    Word words[4];
    int8_t pad;
    int offset[P], low[P], high[P], base, bytes;
    bool begins, copies;
    int previous, shift, first, from, to, index[4], valid;
  };
  Write randomWrite() {
    Write write{};
    write.mode = random.below(K > 16 ? 2 : 3);
    write.mode = write.mode == 0 ? dense : write.mode == 1 ? packed : depthwise;
    write.slot = int(random.below(8));
    write.pad = int8_t(random());
    for (Word &word : write.words)
      word = random.word();
    for (int p = 0; p < P; ++p) {
      write.source[p] = int(random.below(6));
      write.offset[p] = random.range(-16, 111);
      write.low[p] = random.range(0, 40);
      write.high[p] = random.range(write.low[p], 128);
    }
    write.base = int(random.below(128));
    write.bytes = random.range(1, 128);
    write.begins = random.percent(40);
    write.copies = write.begins && random.percent(50);
    write.previous = (write.slot + random.range(1, 7)) % 8;
    write.first = write.copies ? random.range(0, std::min(6, windowWords - 1)) : 0;
    write.shift = random.range(0, windowWords - write.first);
    write.from = random.range(0, windowWords);
    write.to = random.range(write.from, windowWords);
    write.valid = int(random.below(16));
    int start = random.range(0, windowWords - 1);
    for (int b = 0; b < 4; ++b)
      write.index[b] = (start + b) % windowWords;
    return write;
  }
  void drive(const Write &write) {
    top.word_mode_i = write.mode;
    top.word_slot_i = write.slot;
    top.pad_value_i = uint8_t(write.pad);
    std::memcpy(&top.word_i, write.words, 64);
    top.word_valid_i = 0;
    std::memset(&top.word_lanes_i, 0, sizeof(top.word_lanes_i));
    setBits(top.fill_lanes_i, 0, P, 0);
    top.fill_valid_i = 0;
    top.window_valid_i = 0;
    if (write.mode == depthwise) {
      top.word_valid_i = write.valid;
      top.window_valid_i = write.begins;
      top.window_copy_i = write.copies;
      top.window_previous_i = write.previous;
      top.window_shift_i = write.shift;
      top.window_first_i = write.first;
      top.window_low_i = write.from;
      top.window_high_i = write.to;
      for (int b = 0; b < 4; ++b)
        setBits(top.window_index_i, b * 8, 8, write.index[b]);
      return;
    }
    for (int p = 0; p < P; ++p) {
      if (write.source[p] < 4) {
        top.word_valid_i |= 1 << write.source[p];
        setBits(top.word_lanes_i, write.source[p] * P + p, 1, 1);
      } else if (write.source[p] == 4) {
        top.fill_valid_i = 1;
        setBits(top.fill_lanes_i, p, 1, 1);
      }
      setBits(top.packed_offset_i, p * 10, 10, uint64_t(write.offset[p]));
      setBits(top.packed_low_i, p * 8, 8, write.low[p]);
      setBits(top.packed_high_i, p * 8, 8, write.high[p]);
    }
    top.packed_base_i = write.base;
    top.packed_bytes_i = write.bytes;
  }
  void apply(const Write &write) {
    if (write.mode == depthwise) {
      Word *window = windows[write.slot];
      if (write.begins) {
        for (int i = 0; i < write.first; ++i)
          window[i] = windows[write.previous][write.shift + i];
        for (int i = write.first; i < windowWords; ++i)
          if (i < write.from || i >= write.to)
            std::memset(window[i].bytes, write.pad, 16);
      }
      for (int b = 0; b < 4; ++b)
        if (write.valid >> b & 1)
          window[write.index[b]] = write.words[b];
      return;
    }
    for (int p = 0; p < P; ++p) {
      if (write.source[p] == 5)
        continue;
      bool fill = write.source[p] == 4;
      Word word;
      std::memset(word.bytes, write.pad, 16);
      if (!fill)
        word = write.words[write.source[p]];
      if (write.mode == dense)
        words[write.slot][p] = word;
      for (int i = 0; i < 16 && write.mode == packed; ++i) {
        int place = write.offset[p] + i, low = fill ? 0 : write.low[p], high = fill ? write.bytes : write.high[p];
        if (place >= low && place < high)
          rings[p][(write.base + place + 128) % 128] = int8_t(word.bytes[i]);
      }
    }
  }
  /// Drives a random step of the mode and adds its products.
  void step(unsigned mode, bool first, int bank) {
    int8_t weights[K][C];
    for (auto &channel : weights)
      for (int8_t &weight : channel)
        weight = int8_t(random());
    int slot = int(random.below(8)), slice = int(random.below(16 / C)), ring = int(random.below(128));
    int stride = random.range(1, 2), window = int(random.below((7 + C - 1) / C)) * C;
    int byte = K < 16 ? K * int(random.below(16 / K)) : 0;
    top.step_valid_i = 1;
    top.step_first_i = first;
    top.step_bank_i = bank;
    top.step_mode_i = mode;
    top.step_slot_i = slot;
    top.step_slice_i = slice;
    top.step_ring_i = ring;
    top.step_window_i = window;
    top.step_stride_i = stride;
    top.step_byte_i = byte;
    std::memcpy(&top.weights_i, weights, sizeof(weights));
    for (int p = 0; p < P; ++p)
      for (int k = 0; k < K; ++k) {
        if (first)
          sums[bank][p][k] = 0;
        for (int c = 0; c < C; ++c) {
          int8_t activation = mode == dense    ? int8_t(words[slot][p].bytes[slice * C + c])
                              : mode == packed ? rings[p][(ring + c) % 128]
                                               : int8_t(windows[slot][window + p * stride + c].bytes[byte + k]);
          sums[bank][p][k] += activation * weights[k][c];
        }
      }
  }
  void drain(int bank, int parameters) {
    top.drain_valid_i = 1;
    top.drain_bank_i = bank;
    top.drain_parameters_i = parameters;
    for (int p = 0; p < P; ++p)
      for (int g = 0; g < groups; ++g) {
        Pixel pixel;
        std::memcpy(pixel.sums, sums[bank][p], sizeof(pixel.sums));
        pixel.parameters = parameters;
        expected[g].push_back(pixel);
      }
  }
  void checkPixels() {
    for (int g = 0; g < groups; ++g)
      if (bitsOf(top.pixel_valid_o, g, 1)) {
        ASSERT_FALSE(expected[g].empty()) << "a pixel out of nothing";
        const Pixel &pixel = expected[g].front();
        ASSERT_EQ(bitsOf(top.pixel_parameters_o, g, 1), pixel.parameters);
        for (int k = g * groupLanes; k < (g + 1) * groupLanes; ++k)
          ASSERT_EQ(int32_t(bitsOf(top.pixel_o, k * 32, 32)), pixel.sums[k]) << "pixel " << pixels << " channel " << k;
        expected[g].pop_front();
        ++pixels;
      }
  }
};

TEST_F(Array, BricksOfEveryMode) {
  idle();
  reset();
  struct Brick {
    unsigned mode;
    int steps, done, bank, parameters;
    int64_t lastStep;
  };
  std::deque<Brick> finished; // their drain has not begun
  Brick brick{dense, 1, 0, 0, 0, 0};
  bool busy[2] = {};
  int64_t lastDrain = -P, bricks = 0;
  for (int64_t i = 0; bricks < 8000; ++i) {
    idle();
    bool filling = i < 400; // every buffer is written whole before the first step
    Write write = randomWrite();
    bool writes = random.percent(70);
    if (writes)
      drive(write);
    if (i < 16) {
      Write all = write;
      all.mode = dense;
      all.slot = int(i % 8);
      for (int &source : all.source)
        source = int(random.below(5));
      write = all;
      drive(write);
      writes = true;
    } else if (i < 200) {
      write.mode = packed;
      for (int p = 0; p < P; ++p) {
        write.source[p] = int(random.below(4));
        write.offset[p] = int(i % 8) * 16;
        write.low[p] = 0;
        write.high[p] = 128;
      }
      write.base = 0;
      drive(write);
      writes = true;
    } else if (filling && K <= 16) {
      write.mode = depthwise;
      write.slot = int(i % 8);
      write.begins = true;
      write.copies = false;
      write.first = 0;
      write.from = write.to = 0;
      drive(write);
      writes = true;
    }
    // ---- A drain from the cycle after the last step on, every P cycles at most.
    if (!finished.empty() && finished.front().lastStep < i && lastDrain + P <= i && random.percent(60)) {
      Brick drained = finished.front();
      finished.pop_front();
      drain(drained.bank, drained.parameters);
      lastDrain = i;
      busy[drained.bank] = false;
      ++bricks;
    } else if (!filling && (brick.done > 0 || !busy[brick.bank]) && random.percent(85)) {
      step(brick.mode, brick.done == 0, brick.bank);
    }
    if (top.step_valid_i && ++brick.done == brick.steps) {
      brick.lastStep = i;
      finished.push_back(brick);
      busy[brick.bank] = true;
      unsigned mode = random.percent(60) ? brick.mode : random.below(K > 16 ? 2 : 3);
      if (K > 16 && mode == depthwise)
        mode = packed;
      brick = {mode, random.range(1, 9), 0, !brick.bank, int(random.below(2)), 0};
    }
    edge();
    if (writes)
      apply(write);
    ASSERT_NO_FATAL_FAILURE(checkPixels());
  }
  for (int i = 0; i < P + K + 40; ++i) {
    idle();
    edge();
    ASSERT_NO_FATAL_FAILURE(checkPixels());
  }
  for (const auto &queue : expected)
    EXPECT_TRUE(queue.empty()) << "pixels are missing";
}

TEST_F(Array, TenThousandBricksOfFourStepsWithoutALostCycle) {
  if (P > 4)
    GTEST_SKIP() << "a drain takes longer than the steps";
  idle();
  reset();
  constexpr int bricks = 10000;
  int64_t first = -1, last = -1;
  for (int64_t i = 0; i < 4 * bricks + P + K + 40; ++i) {
    idle();
    int64_t b = i / 4, phase = i % 4;
    // Brick b's words arrive in cycle 4b, its steps run in 4b + 4 ... 4b + 7, its drain begins in 4b + 8.
    Write write = randomWrite();
    write.mode = dense;
    for (int p = 0; p < P; ++p)
      write.source[p] = p % 4;
    if (phase == 0 && b < bricks)
      drive(write);
    if (b >= 1 && b <= bricks)
      step(dense, phase == 0, int(b % 2));
    // The other bank is complete; this cycle's step does not touch it.
    if (phase == 0 && b >= 2 && b < bricks + 2)
      drain(int((b - 1) % 2), int(b % 2));
    int64_t before = pixels;
    edge();
    if (phase == 0 && b < bricks)
      apply(write);
    ASSERT_NO_FATAL_FAILURE(checkPixels());
    if (pixels > before) {
      first = first < 0 ? i : first;
      last = i;
    }
  }
  EXPECT_EQ(pixels, int64_t(bricks) * P * groups);
  int64_t cycles = int64_t(bricks - 1) * 4 + P + (groups - 1) * groupLanes;
  EXPECT_EQ(last - first + 1, cycles) << "cycles from the first pixel to the last";
}

} // namespace
