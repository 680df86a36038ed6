//===- store_dma.cpp - rows of maps into DRAM -------------------------------===//
//
// Random jobs from a scratchpad that grants reads at random to an AXI4 slave that accepts
// addresses, data and delays responses at random: every 16 bytes of every row once, in order,
// with the strobes of exactly them; bursts within 256 bytes and as long as announced; a job is
// complete when its last response has come; an error response is reported.
//
//===----------------------------------------------------------------------===//

// VARIANT BusBytes=16
// VARIANT BusBytes=32
// FAULT flips_another_bit: {16{arriving_flip, @7'd0@}} => 7'd1
// FAULT another_bank: read_data_i[32'(@arriving_bank@)*128+:128] => arriving_bank ^ 2'd1
// FAULT beyond_256_bytes: burst = @5'd16 - {1'b0, address[7:4]}@; => 5'd16
// FAULT fifo_overflows: reserved + {2'd0, burst} <= @7'(FifoWords)@) => 7'd127
// FAULT done_before_response: job_closed[oldest] && @job_bursts[oldest] == 16'd0@) => 1'b1
// FAULT last_too_early: last = @sent + 5'd1 == head[4:0]@; => sent + 5'd2 >= head[4:0]
// FAULT both_halves_written: wstrb_o <= @BusBytes'(32'h0000ffff)@; => '1
// FAULT error_ignored: error_o <= bvalid_i && @bresp_i != 2'd0@; => 1'b0
// FAULT targets_of_first_row in dram_row_walker: row = row + @row_stride_i@; => 0
// FAULT ring_ignored in row_walker: if (@ring_row >= ring_rows@) => 1'b0

#include "Testbench.h"

#include <deque>

namespace {

constexpr int busWords = PARAMETER_BusBytes / 16;

Word content(uint32_t word) {
  Word result;
  uint64_t values[2] = {(word + 1) * 0x9e3779b97f4a7c15u, (word + 7) * 0xc2b2ae3d27d4eb4fu};
  std::memcpy(result.bytes, values, 16);
  return result;
}

struct Write {
  uint64_t address;
  Word data;
  bool last; // of its job
};
struct Burst {
  uint64_t address;
  int beats;
};
struct Beat {
  Word data[2];
  uint32_t strobe;
  bool last;
};

struct StoreDma : Testbench {
  std::deque<Job> waiting;
  std::deque<Write> expected;

  void makeJob() {
    Job job = random.job();
    int planes = random.range(1, 3), samples = random.range(1, 2), rows = random.percent(30) ? 1 : random.range(1, 5);
    int width = random.percent(10) ? random.range(60, 200) : random.percent(30) ? 1 : random.range(1, 40);
    uint64_t address = (uint64_t(1) << 30) + 16 * random.below(1 << 20);
    auto stride = [&] { return random.percent(10) ? 0 : int64_t(random.range(-3000, 3000)) * 16; };
    int64_t rowStride = stride(), planeStride = stride(), sampleStride = stride();
    int ringRows = random.range(1, 6), ringStart = random.below(20), firstRow = ringStart + random.below(2 * ringRows);
    uint32_t base = random.below(1 << 20), pitch = random.below(100), planePitch = random.below(5000);
    uint32_t samplePitch = random.below(50000);
    bool flip = random.percent(50);
    job.set(isa::HeaderOpcode, isa::OpcodeStore).set(isa::StoreFlipSign, flip).set(isa::StoreDramAddress, address);
    job.set(isa::StoreDramRowStride, uint64_t(rowStride)).set(isa::StoreDramPlaneStride, uint64_t(planeStride));
    job.set(isa::StoreDramSampleStride, uint64_t(sampleStride)).set(isa::StoreInBase, base);
    job.set(isa::StoreInPitch, pitch).set(isa::StoreInPlanePitch, planePitch);
    job.set(isa::StoreInSamplePitch, samplePitch).set(isa::StoreInRingRows, ringRows);
    job.set(isa::StoreInRingStart, ringStart).set(isa::StoreRowStart, firstRow).set(isa::StoreRowCount, rows);
    job.set(isa::StoreWidth, width).set(isa::StorePlanes, planes).set(isa::StoreSamples, samples);
    waiting.push_back(job);
    for (int n = 0; n < samples; ++n)
      for (int p = 0; p < planes; ++p)
        for (int y = 0; y < rows; ++y) {
          uint32_t place = uint32_t((firstRow + y - ringStart) % ringRows);
          for (int x = 0; x < width; ++x) {
            Write write;
            write.address = address + n * sampleStride + p * planeStride + y * rowStride + 16 * x;
            write.data = content((base + n * samplePitch + p * planePitch + place * pitch + x) & 0xffffff);
            for (uint8_t &byte : write.data.bytes)
              byte ^= flip ? 0x80 : 0;
            write.last = false;
            expected.push_back(write);
          }
        }
    expected.back().last = true;
  }
};

TEST_F(StoreDma, RandomJobs) {
  top.job_valid_i = top.read_grant_i = top.awready_i = top.wready_i = top.bvalid_i = 0;
  reset();
  std::deque<Burst> bursts;
  std::deque<std::vector<Beat>> data;
  std::vector<Beat> beats;
  std::deque<bool> responses; // whether it is its job's last
  int made = 0, done = 0, finished = 0, idle = 0;
  bool granted = false, errorDue = false;
  uint32_t grantedWord = 0;
  for (int64_t i = 0; done < 500; ++i) {
    int pace = int(i / 3000 % 3); // slow scratchpad, slow memory, neither
    ASSERT_LT(++idle, 3000) << "nothing moves: " << done << " jobs have completed";
    if (waiting.size() < 2 && made < 500 && random.percent(30)) {
      makeJob();
      ++made;
    }
    top.job_valid_i = !waiting.empty();
    if (!waiting.empty())
      waiting.front().drive(top.job_i);
    for (unsigned bank = 0; bank < 4; ++bank)
      setWord(top.read_data_i, bank, granted && bank == grantedWord % 4 ? content(grantedWord) : random.word());
    top.awready_i = random.percent(pace == 1 ? 30 : 80);
    top.wready_i = random.percent(pace == 1 ? 40 : 90);
    top.bvalid_i = !responses.empty() && random.percent(20);
    top.bresp_i = top.bvalid_i && random.percent(5) ? 2 : 0;
    settle();
    top.read_grant_i = top.read_o && random.percent(pace == 0 ? 30 : 90);
    settle();

    ASSERT_EQ(top.error_o, errorDue) << "an error response is reported once";
    errorDue = top.bvalid_i && top.bresp_i;
    if (top.done_o) {
      ASSERT_GT(finished, 0) << "a job completes before its last response";
      --finished;
      ++done;
    }
    ASSERT_LE(finished, 8) << "completions are missing";
    if (top.bvalid_i) {
      finished += responses.front();
      responses.pop_front();
      idle = 0;
    }
    if (top.awvalid_o && top.awready_i)
      bursts.push_back({top.awaddr_o, top.awlen_o + 1});
    if (top.wvalid_o && top.wready_i) {
      Beat beat{{}, top.wstrb_o, bool(top.wlast_o)};
      for (int half = 0; half < busWords; ++half)
        beat.data[half] = wordOf(top.wdata_o, half);
      beats.push_back(beat);
      if (beat.last)
        data.push_back(std::exchange(beats, {}));
    }
    while (!bursts.empty() && !data.empty()) {
      const Burst &burst = bursts.front();
      ASSERT_EQ(size_t(burst.beats), data.front().size()) << "beats of the burst at " << burst.address;
      ASSERT_EQ(burst.address / 256, (burst.address + PARAMETER_BusBytes * burst.beats - 1) / 256);
      ASSERT_EQ(burst.address % PARAMETER_BusBytes, 0u);
      bool last = false;
      for (int b = 0; b < burst.beats; ++b)
        for (int half = 0; half < busWords; ++half) {
          const Beat &beat = data.front()[b];
          uint32_t strobe = beat.strobe >> 16 * half & 0xffff;
          if (!strobe)
            continue;
          ASSERT_EQ(strobe, 0xffffu);
          ASSERT_FALSE(expected.empty()) << "a write too many";
          ASSERT_EQ(burst.address + PARAMETER_BusBytes * b + 16 * half, expected.front().address) << "job " << done;
          ASSERT_EQ(beat.data[half], expected.front().data) << "job " << done;
          ASSERT_FALSE(last) << "a burst of two jobs";
          last = expected.front().last;
          expected.pop_front();
        }
      responses.push_back(last);
      bursts.pop_front();
      data.pop_front();
      idle = 0;
    }
    granted = top.read_grant_i;
    grantedWord = top.read_word_o;
    bool take = top.take_o;
    edge();
    if (take)
      waiting.pop_front();
  }
  EXPECT_TRUE(expected.empty());
}

} // namespace
