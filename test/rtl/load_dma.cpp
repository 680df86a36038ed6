//===- load_dma.cpp - rows of DRAM into maps --------------------------------===//
//
// Random jobs of all three modes from a memory that grants and answers at random, into a
// scratchpad that takes words at random: every word of every row once, in order, at its place
// in the map's ring; bytes of any alignment, planes interleaved, signs flipped, zeros behind a
// row's end; bursts stay within 256 bytes, data never overflows, jobs complete in order.
//
//===----------------------------------------------------------------------===//

// FAULT flips_one_bit_more: out_word ^ {16{@8'h80@}} => 8'h81
// FAULT row_end_not_cleared: if (@count != 5'd16@) => 1'b0
// FAULT beyond_256_bytes: burst = @5'd16 - {1'b0, stream_address[candidate][7:4]}@; => 5'd16
// FAULT buffer_overflows: (@buffer_planar ? 9'd64 : 9'd256@) => 9'd400
// FAULT half_of_a_word: possible = @stream_filled[0] > 9'({1'b0, row_offset} + count > 5'd16)@; => stream_filled[0] != 9'd0
// FAULT planes_alike: position[s] = {1'b0, @row_offset + plane_step * 4'(s)@}; => row_offset
// FAULT every_row_the_last: head_last <= @left == 24'd0 && last_row@; => left == 24'd0
// FAULT words_unsplit: popped = (@left <= 24'd16@ && => 1'b0
// FAULT offsets_of_first_row in dram_row_walker: row = row + @row_stride_i@; => 0
// FAULT ring_ignored in row_walker: if (@ring_row >= ring_rows@) => 1'b0

#include "Testbench.h"

#include <deque>

namespace {

uint8_t memory(uint64_t address) { return uint8_t((address * 0x9e3779b97f4a7c15u) >> 40); }

struct Write {
  uint32_t word;
  Word data;
  bool last; // of its job
};

struct LoadDma : Testbench {
  std::deque<Job> waiting;
  std::deque<Write> expected;
  int planar = 0, unaligned = 0, long_ = 0;

  /// A random job; appends what it must write.
  void makeJob() {
    Job job = random.job();
    unsigned mode = random.below(3);
    int planes = mode == isa::LoadModePlanar ? random.range(1, 4) : random.range(1, 3);
    int samples = random.range(1, 2), rows = random.percent(30) ? 1 : random.range(1, 5);
    int width = random.percent(10) ? random.range(300, 1500) : random.percent(30) ? 1 : random.range(1, 60);
    if (mode == isa::LoadModeWords)
      width = (width + 3) / 4;
    int unit = mode == isa::LoadModeWords ? 16 : 1; // of addresses and strides
    uint64_t address = (uint64_t(1) << 30) + random.below(1 << 20) * unit;
    auto stride = [&] { return random.percent(10) ? 0 : int64_t(random.range(-3000, 3000)) * unit; };
    int64_t rowStride = stride(), planeStride = stride(), sampleStride = stride();
    int ringRows = random.range(1, 6), ringStart = random.below(20), firstRow = ringStart + random.below(2 * ringRows);
    uint32_t base = random.below(1 << 20), pitch = random.below(100), planePitch = random.below(5000);
    uint32_t samplePitch = random.below(50000);
    bool flip = random.percent(50);
    job.set(isa::HeaderOpcode, isa::OpcodeLoad).set(isa::LoadMode, mode).set(isa::LoadFlipSign, flip);
    job.set(isa::LoadDramAddress, address).set(isa::LoadDramRowStride, uint64_t(rowStride));
    job.set(isa::LoadDramPlaneStride, uint64_t(planeStride)).set(isa::LoadDramSampleStride, uint64_t(sampleStride));
    job.set(isa::LoadOutBase, base).set(isa::LoadOutPitch, pitch).set(isa::LoadOutPlanePitch, planePitch);
    job.set(isa::LoadOutSamplePitch, samplePitch).set(isa::LoadOutRingRows, ringRows);
    job.set(isa::LoadOutRingStart, ringStart).set(isa::LoadRowStart, firstRow).set(isa::LoadRowCount, rows);
    job.set(isa::LoadWidth, width).set(isa::LoadPlanes, planes).set(isa::LoadSamples, samples);
    waiting.push_back(job);
    planar += mode == isa::LoadModePlanar && planes > 1;
    unaligned += mode == isa::LoadModeBytes && address % 16 != 0;
    long_ += width > 1000;

    bool interleaved = mode == isa::LoadModePlanar;
    for (int n = 0; n < samples; ++n)
      for (int p = 0; p < (interleaved ? 1 : planes); ++p)
        for (int y = 0; y < rows; ++y) {
          uint64_t from = address + n * sampleStride + p * planeStride + y * rowStride;
          std::vector<uint8_t> bytes;
          for (int x = 0; x < (mode == isa::LoadModeWords ? 16 * width : width); ++x)
            for (int lane = 0; lane < (interleaved ? planes : 1); ++lane)
              bytes.push_back(memory(from + lane * planeStride + x) ^ (flip ? 0x80 : 0));
          uint32_t place = uint32_t((firstRow + y - ringStart) % ringRows);
          uint32_t word = base + n * samplePitch + p * planePitch + place * pitch;
          bytes.resize((bytes.size() + 15) / 16 * 16);
          for (size_t i = 0; i < bytes.size(); i += 16) {
            Write write{(word + uint32_t(i / 16)) & 0xffffff, {}, false};
            std::memcpy(write.data.bytes, &bytes[i], 16);
            expected.push_back(write);
          }
        }
    expected.back().last = true;
  }
};

TEST_F(LoadDma, RandomJobs) {
  top.job_valid_i = top.grant_i = top.valid_i = top.write_grant_i = 0;
  reset();
  std::deque<uint64_t> flying; // words under way
  int made = 0, done = 0, finished = 0, idle = 0;
  for (int64_t i = 0; done < 600; ++i) {
    int pace = int(i / 3000 % 3); // slow scratchpad, slow memory, neither
    ASSERT_LT(++idle, 3000) << "nothing moves: " << done << " jobs have completed";
    if (waiting.size() < 2 && made < 600 && random.percent(30)) {
      makeJob();
      ++made;
    }
    top.job_valid_i = !waiting.empty();
    if (!waiting.empty())
      waiting.front().drive(top.job_i);
    top.valid_i = !flying.empty() && random.percent(pace == 1 ? 30 : 90);
    if (top.valid_i) {
      Word data;
      for (int b = 0; b < 16; ++b)
        data.bytes[b] = memory(flying.front() + b);
      setWord(top.data_i, 0, data);
      flying.pop_front();
    }
    settle();
    top.grant_i = top.request_o && random.percent(pace == 1 ? 30 : 80);
    top.write_grant_i = top.write_o && random.percent(pace == 0 ? 30 : 90);
    settle();

    if (top.done_o) {
      ASSERT_GT(finished, 0) << "a job completes before its last word";
      --finished;
      ++done;
    }
    ASSERT_LE(finished, 1) << "a completion is missing";
    if (top.write_grant_i) {
      ASSERT_FALSE(expected.empty()) << "a write too many";
      ASSERT_EQ(top.write_word_o, expected.front().word) << "job " << done;
      ASSERT_EQ(wordOf(top.write_data_o), expected.front().data) << "job " << done << " word " << top.write_word_o;
      finished += expected.front().last;
      expected.pop_front();
      idle = 0;
    }
    if (top.grant_i) {
      uint64_t address = top.address_o;
      ASSERT_EQ(address % 16, 0u);
      ASSERT_GT(top.words_o, 0);
      ASSERT_EQ(address / 256, (address + 16 * top.words_o - 1) / 256) << "beyond an aligned 256 bytes";
      for (unsigned w = 0; w < top.words_o; ++w)
        flying.push_back(address + 16 * w);
      ASSERT_LE(flying.size(), 256u) << "more than the buffer holds";
    }
    bool take = top.take_o;
    edge();
    if (take)
      waiting.pop_front();
  }
  EXPECT_TRUE(expected.empty());
  EXPECT_GT(planar, 30);
  EXPECT_GT(unaligned, 30);
  EXPECT_GT(long_, 5);
}

} // namespace
