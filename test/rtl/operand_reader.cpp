//===- operand_reader.cpp - operands of execute jobs ------------------------===//
//
// Random jobs of all three modes; the test plays the scratchpad, the array's operand buffers
// (as systolic_array.sv describes them) and a sequencer that takes steps at random. For every
// step of every brick the buffers hold, at the time of the step, exactly the bytes that the
// job's window has there: padding, rings, strides, dilation, blocks and idle lanes included.
//
//===----------------------------------------------------------------------===//

// VARIANT P=4 K=16 C=4
// VARIANT P=8 K=8 C=4
// VARIANT P=16 K=16 C=1
// VARIANT P=1 K=16 C=16
// FAULT block_without_fill in pixel_walker: block_ended = @block_last@; => last
// FAULT column_not_reset in pixel_walker: column = @-pad_left_i@; => 20'sd0
// FAULT groups_overtake in pixel_walker: groups_ahead < @2'd2@ => 2'd3
// FAULT right_edge in tap_walker: x >= 20'sd0 && @x < width_i@ && => x <= width_i
// FAULT lanes_not_wrapped in tap_walker: if (@lane_ring_row[p] >= ring_rows_i@) => 1'b0
// FAULT column_dilation in tap_walker: tap_column = tap_column + @dilation_width_i@; => 20'sd1
// FAULT packed_ring_overflows in tap_walker: {1'b0, row_bytes_i} <= @9'd128@) => 9'd200
// FAULT partial_step_lost in tap_walker: if (@last_tap@) available => 1'b0
// FAULT copy_too_much in window_walker: if (@x == 16'd0@) overlap => 1'b0
// FAULT window_ring in window_walker: if (@tap_ring_row >= ring_rows_i@) => 1'b0
// FAULT block_byte in window_walker: block_byte = block_byte + @4'(K)@; => 4'd1
// FAULT slot_too_early in operand_fetcher: begun || slots_used < @4'd8@) => 4'd9
// FAULT words_merged in operand_fetcher: read_words[32'(bank)*24+:24] == @address[p]@)) => read_words[32'(bank)*24+:24]
// FAULT padding_once in operand_fetcher: mode != Packed || @fill_offset >= {2'd0, bytes}@) => 1'b1
// FAULT rows_of_next_job in operand_reader: if (job_done) running = @1'b0@; => running && tap_todo[0]
// FAULT samples_in_place in operand_reader: .inner_pitch_i(@sample_pitch@) => plane_pitch

#include "Testbench.h"

#include <deque>

namespace {

constexpr int P = PARAMETER_P, K = PARAMETER_K, C = PARAMETER_C;
constexpr int windowWords = (P - 1) * 2 + (7 + C - 1) / C * C + 1;

Word content(uint32_t word) {
  Word result;
  uint64_t values[2] = {((word & 0xffffff) + 1) * 0x9e3779b97f4a7c15u, ((word & 0xffffff) + 7) * 0xc2b2ae3d27d4eb4fu};
  for (uint64_t &value : values)
    value ^= value >> 29;
  std::memcpy(result.bytes, values, 16);
  return result;
}

/// One entry: its flags, and for each of its steps the bytes of every lane; -1: whatever (behind a packed brick's end).
struct Entry {
  unsigned mode;
  bool first, last, blockLast, jobLast;
  int stride, byte;                                 // depthwise
  std::vector<std::vector<std::vector<int>>> steps; // [step][lane][byte]; depthwise: 16 bytes for each of C words
};

struct Geometry {
  unsigned mode;
  uint32_t base, pitch, planePitch, samplePitch;
  int ringRows, ringStart, height, width, pad, channelSteps, packedChannels, kernelHeight, kernelWidth, strideHeight;
  int strideWidth, dilationHeight, dilationWidth, padTop, padLeft, outWidth, rowStart, rows, samples, channels;

  bool inMap(int y, int x) const { return y >= 0 && y < height && x >= 0 && x < width; }
  uint32_t row(int sample, int y) const {
    int place = y - ringStart;
    if (place > 0)
      place %= ringRows;
    return base + sample * samplePitch + uint32_t(place) * pitch;
  }
};

struct Pixel {
  bool exists;
  int sample, y, x; // of the window's first row and column
};

struct OperandReader : Testbench {
  std::deque<Job> waiting;
  std::deque<Entry> expected;

  Geometry randomGeometry() {
    Geometry g;
    g.mode = random.below(3);
    bool depthwise = g.mode == isa::ExecuteModeDepthwise, packed = g.mode == isa::ExecuteModePacked;
    g.base = random.below(1 << 22);
    g.pitch = random.below(200);
    g.planePitch = random.below(1 << 16);
    g.samplePitch = random.below(1 << 18);
    g.kernelHeight = random.range(1, depthwise ? 5 : 3);
    g.kernelWidth = random.range(1, depthwise || packed ? 7 : 4);
    g.strideHeight = random.range(1, 3);
    g.strideWidth = random.range(1, depthwise ? 2 : 3);
    g.dilationHeight = depthwise ? 1 : random.range(1, 3);
    g.dilationWidth = depthwise || packed ? 1 : random.range(1, 3);
    g.channelSteps = random.range(1, 2 * 16 / C + 1);
    g.packedChannels = random.range(1, 4);
    g.height = random.range(1, 12);
    g.width = random.range(1, 14);
    g.pad = random.range(-128, 127);
    g.padTop = random.range(-1, 3);
    g.padLeft = random.range(-1, 3);
    g.rowStart = random.below(4);
    g.rows = random.range(1, 4);
    g.outWidth = random.range(1, random.percent(20) ? 3 * P + 1 : 9);
    g.samples = random.range(1, 2);
    g.channels = random.range(1, 2 * K + 3);
    g.ringRows = random.range(std::max(g.strideHeight, g.dilationHeight), 9);
    int firstRow = g.rowStart * g.strideHeight - g.padTop;
    g.ringStart = firstRow <= 0 ? 0 : std::max(0, firstRow - int(random.below(2 * g.ringRows)));
    return g;
  }
  Job jobOf(const Geometry &g) {
    Job job = random.job();
    job.set(isa::HeaderOpcode, isa::OpcodeExecute).set(isa::ExecuteMode, g.mode).set(isa::ExecuteInBase, g.base);
    job.set(isa::ExecuteInPitch, g.pitch).set(isa::ExecuteInPlanePitch, g.planePitch);
    job.set(isa::ExecuteInSamplePitch, g.samplePitch).set(isa::ExecuteInRingRows, g.ringRows);
    job.set(isa::ExecuteInRingStart, g.ringStart).set(isa::ExecuteInHeight, g.height).set(isa::ExecuteInWidth, g.width);
    job.set(isa::ExecutePadValue, uint8_t(g.pad)).set(isa::ExecuteChannelSteps, g.channelSteps);
    job.set(isa::ExecutePackedChannels, g.packedChannels).set(isa::ExecuteWindowKernelHeight, g.kernelHeight);
    job.set(isa::ExecuteWindowKernelWidth, g.kernelWidth).set(isa::ExecuteWindowStrideHeight, g.strideHeight);
    job.set(isa::ExecuteWindowStrideWidth, g.strideWidth).set(isa::ExecuteWindowDilationHeight, g.dilationHeight);
    job.set(isa::ExecuteWindowDilationWidth, g.dilationWidth).set(isa::ExecuteWindowPadTop, uint64_t(g.padTop));
    job.set(isa::ExecuteWindowPadLeft, uint64_t(g.padLeft)).set(isa::ExecuteOutWidth, g.outWidth);
    job.set(isa::ExecuteOutRowStart, g.rowStart).set(isa::ExecuteOutRowCount, g.rows);
    return job.set(isa::ExecuteSamples, g.samples).set(isa::ExecuteOutChannels, g.channels);
  }

  /// The bytes of one lane for 16 channels of a pixel.
  std::vector<int> wordAt(const Geometry &g, const Pixel &pixel, int y, int x, uint32_t plane) {
    std::vector<int> bytes(16, g.pad);
    if (pixel.exists && g.inMap(y, x)) {
      Word word = content(g.row(pixel.sample, y) + x + plane);
      for (int i = 0; i < 16; ++i)
        bytes[i] = int8_t(word.bytes[i]);
    }
    return bytes;
  }

  void denseBrick(const Geometry &g, const std::vector<Pixel> &group, std::vector<Entry> &entries) {
    constexpr int slices = 16 / C;
    for (int ky = 0; ky < g.kernelHeight; ++ky)
      for (int kx = 0; kx < g.kernelWidth; ++kx)
        for (int step = 0; step < g.channelSteps; step += slices) {
          Entry entry{g.mode};
          for (int s = 0; s < std::min(slices, g.channelSteps - step); ++s) {
            std::vector<std::vector<int>> lanes;
            for (const Pixel &pixel : group) {
              std::vector<int> word = wordAt(g, pixel, pixel.y + ky * g.dilationHeight, pixel.x + kx * g.dilationWidth,
                                             step / slices * g.planePitch);
              lanes.emplace_back(word.begin() + s * C, word.begin() + (s + 1) * C);
            }
            entry.steps.push_back(lanes);
          }
          entries.push_back(entry);
        }
  }
  void packedBrick(const Geometry &g, const std::vector<Pixel> &group, std::vector<Entry> &entries) {
    std::vector<std::vector<int>> lanes(P); // all bytes of the brick
    size_t done = 0;
    for (int ky = 0; ky < g.kernelHeight; ++ky) {
      for (int p = 0; p < P; ++p)
        for (int i = 0; i < g.kernelWidth * g.packedChannels; ++i) {
          int y = group[p].y + ky * g.dilationHeight, byte = group[p].x * g.packedChannels + i;
          bool inside = group[p].exists && y >= 0 && y < g.height && byte >= 0 && byte < g.width * g.packedChannels;
          lanes[p].push_back(inside ? int8_t(content(g.row(group[p].sample, y) + byte / 16).bytes[byte % 16]) : g.pad);
        }
      bool last = ky + 1 == g.kernelHeight;
      if (last)
        for (auto &lane : lanes)
          lane.resize((lane.size() + C - 1) / C * C, 1000); // whatever
      Entry entry{g.mode};
      for (; done + C <= lanes[0].size(); done += C) {
        std::vector<std::vector<int>> step;
        for (auto &lane : lanes)
          step.emplace_back(lane.begin() + done, lane.begin() + done + C);
        entry.steps.push_back(step);
      }
      if (!entry.steps.empty())
        entries.push_back(entry);
    }
  }
  void depthwiseBrick(const Geometry &g, const std::vector<Pixel> &group, int block, std::vector<Entry> &entries) {
    for (int ky = 0; ky < g.kernelHeight; ++ky) {
      Entry entry{g.mode};
      entry.stride = g.strideWidth;
      entry.byte = block * K % 16;
      for (int kx = 0; kx < g.kernelWidth; kx += C) {
        std::vector<std::vector<int>> step;
        for (int p = 0; p < P; ++p) {
          std::vector<int> words;
          for (int c = 0; c < C; ++c) {
            std::vector<int> word = wordAt(g, group[0], group[0].y + ky, group[0].x + p * g.strideWidth + kx + c,
                                           block * K / 16 * g.planePitch);
            if (kx + c >= g.kernelWidth)
              word.assign(16, 1000); // its weights are zero
            words.insert(words.end(), word.begin(), word.end());
          }
          step.push_back(words);
        }
        entry.steps.push_back(step);
      }
      entries.push_back(entry);
    }
  }

  void makeJob() {
    Geometry g = randomGeometry();
    waiting.push_back(jobOf(g));
    int blocks = (g.channels + K - 1) / K;
    bool depthwise = g.mode == isa::ExecuteModeDepthwise;
    for (int block = 0; block < blocks; ++block) {
      std::vector<std::vector<Pixel>> groups(1);
      for (int n = 0; n < g.samples; ++n)
        for (int r = 0; r < g.rows; ++r)
          for (int x = 0; x < g.outWidth; ++x) {
            bool full = depthwise ? x % P == 0 : int(groups.back().size()) == P;
            if (full && !groups.back().empty())
              groups.emplace_back();
            groups.back().push_back(
                {true, n, (g.rowStart + r) * g.strideHeight - g.padTop, x * g.strideWidth - g.padLeft});
          }
      groups.back().resize(P, Pixel{false, 0, 0, 0});
      for (size_t i = 0; i < groups.size(); ++i) {
        std::vector<Entry> entries;
        if (depthwise)
          depthwiseBrick(g, groups[i], block, entries);
        else if (g.mode == isa::ExecuteModePacked)
          packedBrick(g, groups[i], entries);
        else
          denseBrick(g, groups[i], entries);
        for (size_t e = 0; e < entries.size(); ++e) {
          Entry &entry = entries[e];
          entry.first = e == 0;
          entry.last = e + 1 == entries.size();
          entry.blockLast = entry.last && i + 1 == groups.size();
          entry.jobLast = entry.blockLast && block + 1 == blocks;
          expected.push_back(entry);
        }
      }
    }
  }

  // ---- The array's buffers.
  std::vector<uint8_t> dense = std::vector<uint8_t>(8 * P * 16);
  std::vector<uint8_t> ring = std::vector<uint8_t>(P * 128);
  std::vector<Word> window = std::vector<Word>(8 * windowWords);

  void write(const Word *words) {
    unsigned slot = top.word_slot_o;
    if (top.word_mode_o == isa::ExecuteModeDepthwise) {
      if (top.window_valid_o) {
        std::vector<Word> before = window;
        unsigned first = top.window_first_o, low = top.window_low_o, high = top.window_high_o;
        for (unsigned i = 0; top.window_copy_o && i < first && i < 6; ++i)
          window[slot * windowWords + i] = before[top.window_previous_o * windowWords + top.window_shift_o + i];
        for (unsigned i = first; i < windowWords; ++i)
          if (i < low || i >= high)
            std::fill_n(window[slot * windowWords + i].bytes, 16, top.pad_value_o);
      }
      for (unsigned bank = 0; bank < 4; ++bank)
        if (top.word_valid_o >> bank & 1) {
          unsigned index = unsigned(bitsOf(top.window_index_o, bank * 8, 8));
          ASSERT_LT(index, unsigned(windowWords)) << "behind the window";
          window[slot * windowWords + index] = words[bank];
        }
      return;
    }
    for (int p = 0; p < P; ++p) {
      bool fill = top.fill_valid_o && bitsOf(top.fill_lanes_o, p, 1), any = fill;
      Word word;
      std::fill_n(word.bytes, 16, top.pad_value_o);
      for (unsigned bank = 0; bank < 4; ++bank)
        if ((top.word_valid_o >> bank & 1) && bitsOf(top.word_lanes_o, bank * P + p, 1)) {
          ASSERT_FALSE(any) << "two words for lane " << p;
          any = true;
          word = words[bank];
        }
      if (!any)
        continue;
      if (top.word_mode_o == isa::ExecuteModeDense) {
        std::memcpy(&dense[(slot * P + p) * 16], word.bytes, 16);
        continue;
      }
      int offset = int(uint32_t(bitsOf(top.packed_offset_o, p * 10, 10)) << 22) >> 22;
      int low = fill ? 0 : int(bitsOf(top.packed_low_o, p * 8, 8));
      int high = fill ? top.packed_bytes_o : int(bitsOf(top.packed_high_o, p * 8, 8));
      for (int i = 0; i < 16; ++i)
        if (offset + i >= low && offset + i < high)
          ring[p * 128 + (top.packed_base_o + offset + i) % 128] = word.bytes[i];
    }
  }

  /// Whether the buffers hold what step `s` of the entry needs.
  void checkStep(const Entry &entry, size_t s, unsigned slot, unsigned ringStart) {
    for (int p = 0; p < P; ++p)
      for (size_t i = 0; i < entry.steps[s][p].size(); ++i) {
        int wanted = entry.steps[s][p][i];
        if (wanted == 1000)
          continue;
        uint8_t byte;
        if (entry.mode == isa::ExecuteModeDense)
          byte = dense[(slot * P + p) * 16 + s * C + i];
        else if (entry.mode == isa::ExecuteModePacked)
          byte = ring[p * 128 + (ringStart + s * C + i) % 128];
        else
          byte = window[slot * windowWords + p * entry.stride + s * C + i / 16].bytes[i % 16];
        ASSERT_EQ(int(int8_t(byte)), wanted)
            << "mode " << entry.mode << " step " << s << " lane " << p << " byte " << i;
      }
  }
};

struct Formed {
  Entry entry;
  unsigned slot, ring;
  int64_t from; // earliest cycle of its first step
};

TEST_F(OperandReader, RandomJobs) {
  top.job_valid_i = top.room_i = top.entry_done_i = top.packed_step_i = 0;
  reset();
  std::deque<Formed> formed;
  Word words[4];
  uint32_t readWords[4] = {};
  unsigned reads = 0;
  size_t step = 0;
  int made = 0, entries = 0, idle = 0, jobs = P == 16 ? 150 : 300, finished = 0, modes[3] = {};
  for (int64_t i = 0; finished < jobs; ++i) {
    int pace = int(i / 3000 % 3);
    ASSERT_LT(++idle, 2000) << "nothing moves after " << finished << " jobs";
    if (waiting.size() < 2 && made < jobs) {
      makeJob();
      ++made;
    }
    top.job_valid_i = !waiting.empty() && random.percent(80);
    top.room_i = random.percent(80);
    if (!waiting.empty())
      waiting.front().drive(top.job_i);

    // ---- A step of the oldest entry, before this cycle's words.
    top.entry_done_i = top.packed_step_i = 0;
    if (!formed.empty() && cycle >= formed.front().from && random.percent(pace == 0 ? 10 : pace == 1 ? 60 : 100)) {
      const Formed &front = formed.front();
      ASSERT_NO_FATAL_FAILURE(checkStep(front.entry, step, front.slot, front.ring)) << "entry " << entries;
      top.packed_step_i = front.entry.mode == isa::ExecuteModePacked;
      idle = 0;
      if (++step == front.entry.steps.size()) {
        step = 0;
        top.entry_done_i = 1;
        ++entries;
        ++modes[front.entry.mode];
        finished += front.entry.jobLast;
        formed.pop_front();
      }
    }
    settle();

    ASSERT_EQ(top.word_valid_o & ~reads, 0u) << "a word that was not read";
    for (unsigned bank = 0; bank < 4; ++bank)
      words[bank] = reads >> bank & 1 ? content(readWords[bank]) : random.word();
    ASSERT_NO_FATAL_FAILURE(write(words));
    reads = top.read_o;
    for (unsigned bank = 0; bank < 4; ++bank) {
      readWords[bank] = uint32_t(bitsOf(top.read_word_o, bank * 24, 24));
      if (reads >> bank & 1)
        ASSERT_EQ(readWords[bank] % 4, bank) << "a word of another bank";
    }
    if (top.entry_valid_o) {
      ASSERT_FALSE(expected.empty()) << "an entry too many";
      const Entry &entry = expected.front();
      ASSERT_EQ(top.entry_mode_o, entry.mode);
      ASSERT_EQ(top.entry_steps_o, entry.steps.size());
      ASSERT_EQ(top.entry_first_o, entry.first);
      ASSERT_EQ(top.entry_last_o, entry.last);
      ASSERT_EQ(top.entry_block_last_o, entry.blockLast);
      ASSERT_EQ(top.entry_job_last_o, entry.jobLast);
      if (entry.mode == isa::ExecuteModeDepthwise) {
        ASSERT_EQ(top.entry_stride_o, entry.stride);
        ASSERT_EQ(top.entry_byte_o, entry.byte);
      }
      formed.push_back({entry, top.entry_slot_o, top.entry_ring_o, cycle + 2});
      ASSERT_LE(formed.size(), 8u) << "more entries than slots";
      expected.pop_front();
    }
    bool take = top.take_o;
    edge();
    if (take)
      waiting.pop_front();
  }
  EXPECT_TRUE(expected.empty());
  for (int mode : modes)
    EXPECT_GT(mode, 100);
}

} // namespace
