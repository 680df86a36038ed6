//===- drain_group.cpp - accumulators through the epilogue to the scratchpad ===//
//
// Random execute jobs with every step of the epilogue; headers, bricks of accumulators,
// residual words and grants of writes come at random, as sequencer, array and arbiter would
// bring them. The scratchpad afterwards is what naive loops with sim/Requantize.h say, a job
// is done when its last word is written and not before, every place and brick is accounted for.
//
//===----------------------------------------------------------------------===//

// VARIANT P=4 K=16 C=4 Group=0 WriteFifo=64
// VARIANT P=2 K=32 C=4 Group=1 WriteFifo=16
// VARIANT P=4 K=8 C=2 Group=0 WriteFifo=32
// FAULT bias_of_another_block: bias[32'(pixel_parameters_i)*Lanes+k] => bias[k]
// FAULT negative_slope_ignored: float_multiply(converted[k], @converted[k][30]@ ? => 1'b0
// FAULT zero_point_of_another_job: clamp_high[s]) + @zero_point[s]@; => zero_point[s+2'd1]
// FAULT table_1_skipped: table_1[s] != 3'd0 => 1'b0
// FAULT residual_scales_confused: fma_int(operand, @residual_a[s]@, => residual_b[s]
// FAULT swap_ignored: residual_mode[s][1] ? residual_byte : q4[k] => q4[k]
// FAULT no_residual_zero_point: 12'($signed(residual_zero_point[s])) => 12'd0
// FAULT residual_clamp_too_high: 12'($signed(residual_high[s])) => 12'd127
// FAULT table_2_of_table_1: (32'(@table_2[s]@)-1) => table_1[s]
// FAULT residual_not_shifted: residual_word[4] >> {pixel[4][37:34], 3'd0} => residual_word[4]
// FAULT straddling_word_lost: if (@enables[31:16] != 16'd0@) begin => 1'b0
// FAULT done_without_grant: if (@write_o && write_grant_i@) begin => write_o
// FAULT places_not_given_back: freed + 2'd1 + {1'b0, straddles[s]} => freed + 2'd1
// FAULT second_before_first: offered[1] && first_done => offered[1]
// FAULT brick_too_short: row_count == 8'(P) => row_count == 8'(P - 1)
// FAULT idle_lanes_written in output_walker: if (@lanes > 16'(Lanes)@) lanes => 1'b1
// FAULT residual_at_output in output_walker: res_row + {8'd0, x} + res_plane => out_row + {8'd0, x} + res_plane
// FAULT planes_not_advanced in output_walker: out_byte < 4'(K) => 1'b0
// FAULT rows_do_not_wrap in row_walker: if (@ring_row >= ring_rows@) begin => 1'b0

#include "Maps.h"
#include "sim/Requantize.h"

#include <bit>
#include <deque>

namespace {

constexpr int P = PARAMETER_P, K = PARAMETER_K, C = PARAMETER_C, group = PARAMETER_Group;
constexpr int lanes = std::min(K, 16), headerWords = (12 + C - 1) / C;
constexpr MapFields outMap = MAP_FIELDS(isa::ExecuteOut), residualMap = MAP_FIELDS(isa::ExecuteResidualMap);

struct ExecuteJob {
  bool depthwise, residual, swap, isUnsigned;
  int width, rowStart, rows, samples, channels, offset;
  int zeroPoint, clampMin, clampMax, table1, table2, residualZeroPoint, residualMin, residualMax;
  float scaleA, scaleB, fix;
  Map out, second;
  int begin, end; // words of the scratchpad that it may touch
  bool straddles() const { return offset % lanes != 0; }
  int blocks() const { return (channels + K - 1) / K; }
  int groupsPerRow() const { return (width + P - 1) / P; }
  int bricks() const { return depthwise ? samples * rows * groupsPerRow() : (samples * rows * width + P - 1) / P; }
  /// Where lane p of a brick lies; false if it carries no pixel.
  bool pixel(int brick, int p, int &n, int &y, int &x) const {
    int line = brick / groupsPerRow();
    x = brick % groupsPerRow() * P + p;
    if (!depthwise) {
      line = (brick * P + p) / width;
      x = (brick * P + p) % width;
    }
    n = line / rows;
    y = rowStart + line % rows;
    return n < samples && x < width;
  }
};

struct Block {
  int job, number;
  int32_t bias[K];
  float scale[K], negative[K];
};

struct DrainGroup : Testbench {
  Memory memory{random, 16384};
  Word tables[4 * 16];
  int8_t lookUp(int table, int32_t value) const {
    int index = value + 128;
    return int8_t(table == 0 ? value : tables[(table - 1) * 16 + index / 16].bytes[index % 16]);
  }

  ExecuteJob randomJob(int begin) {
    ExecuteJob job{};
    job.depthwise = K <= 16 && random.percent(30);
    job.residual = random.percent(50);
    job.swap = random.percent(50);
    job.isUnsigned = random.percent(50);
    job.width = random.range(1, 9);
    job.rowStart = random.range(0, 6);
    job.rows = random.range(1, 4);
    job.samples = random.range(1, 3);
    job.channels = random.percent(40) ? K * random.range(1, 3) : random.range(1, 3 * K);
    job.offset = random.percent(50) ? 0 : int(random.below(16));
    job.zeroPoint = random.range(-128, 127);
    job.clampMin = random.percent(50) ? -128 : random.range(-128, 0);
    job.clampMax = random.percent(50) ? 127 : random.range(0, 127);
    job.table1 = random.percent(60) ? 0 : random.range(1, 4);
    job.table2 = random.percent(60) ? 0 : random.range(1, 4);
    job.residualZeroPoint = random.range(-128, 127);
    job.residualMin = random.percent(50) ? -128 : random.range(-128, 0);
    job.residualMax = random.percent(50) ? 127 : random.range(0, 127);
    job.scaleA = std::ldexp(1.0f + float(random()) * 0x1p-32f, random.range(-3, 0));
    job.scaleB = random.percent(20) ? 0.5f : std::ldexp(1.0f + float(random()) * 0x1p-32f, random.range(-3, 0));
    job.fix = float(random.range(-200, 200)) * 0.25f;
    int last = job.rowStart + job.rows - 1, end = 0;
    int planes = (job.channels + 15) / 16, outPlanes = (job.offset + job.channels + 15) / 16;
    job.begin = begin;
    job.second = randomMap(random, begin, job.samples, planes, job.rowStart, last, job.width, end);
    job.out = randomMap(random, end, job.samples, outPlanes, job.rowStart, last, job.width, job.end);
    if (job.residual && job.offset == 0 && random.percent(40)) // in place
      job.out = job.second;
    return job;
  }
  Job descriptor(const ExecuteJob &job) {
    Job bits;
    bits.set(isa::HeaderOpcode, isa::OpcodeExecute).set(isa::ExecuteAccInit, 1).set(isa::ExecuteAccFinish, 1);
    bits.set(isa::ExecuteMode, job.depthwise ? isa::ExecuteModeDepthwise : random.below(2) * isa::ExecuteModePacked);
    outMap.set(bits, job.out);
    residualMap.set(bits, job.second);
    bits.set(isa::ExecuteOutWidth, job.width).set(isa::ExecuteOutRowStart, job.rowStart);
    bits.set(isa::ExecuteOutRowCount, job.rows).set(isa::ExecuteSamples, job.samples);
    bits.set(isa::ExecuteOutChannels, job.channels).set(isa::ExecuteOutChannelOffset, job.offset);
    bits.set(isa::ExecuteOutZeroPoint, job.zeroPoint).set(isa::ExecuteClampMin, job.clampMin);
    bits.set(isa::ExecuteClampMax, job.clampMax)
        .set(isa::ExecuteTable1, job.table1)
        .set(isa::ExecuteTable2, job.table2);
    bits.set(isa::ExecuteResidual, job.residual).set(isa::ExecuteResidualSwap, job.swap);
    bits.set(isa::ExecuteResidualUnsigned, job.isUnsigned).set(isa::ExecuteResidualZeroPoint, job.residualZeroPoint);
    bits.set(isa::ExecuteResidualScaleA, std::bit_cast<uint32_t>(job.scaleA));
    bits.set(isa::ExecuteResidualScaleB, std::bit_cast<uint32_t>(job.scaleB));
    bits.set(isa::ExecuteResidualFix, std::bit_cast<uint32_t>(job.fix));
    bits.set(isa::ExecuteResidualClampMin, job.residualMin).set(isa::ExecuteResidualClampMax, job.residualMax);
    return bits;
  }
  Block randomBlock(int job, int number) {
    Block block{job, number};
    for (int k = 0; k < K; ++k) {
      block.bias[k] = int32_t(random()) >> random.range(8, 24);
      block.scale[k] = std::ldexp(1.0f + float(random()) * 0x1p-32f, -random.range(8, 14));
      if (random.percent(20))
        block.scale[k] = std::ldexp(1.0f, -random.range(8, 14)); // ties
      block.negative[k] = random.percent(50) ? block.scale[k] : block.scale[k] * (float(random.range(-8, 8)) * 0.125f);
    }
    return block;
  }
  /// The epilogue of one element, docs/accelerator.md step by step.
  int8_t epilogue(const ExecuteJob &job, const Block &block, int k, int32_t accumulator, int8_t second) const {
    namespace sim = tilewright::sim;
    int32_t q = sim::requantize(sim::wrappingAdd(accumulator, block.bias[k]), block.scale[k], block.negative[k],
                                job.zeroPoint, job.clampMin, job.clampMax);
    q = lookUp(job.table1, q);
    if (job.residual)
      q = sim::residualAdd(job.swap ? second : q, job.swap ? q : second, job.scaleA, job.scaleB, job.fix,
                           job.residualZeroPoint, job.isUnsigned, job.residualMin, job.residualMax);
    return lookUp(job.table2, q);
  }
  void fillTables() {
    for (int word = 0; word < 64; ++word) {
      tables[word] = random.word();
      top.table_write_i = 1;
      top.table_word_i = word;
      setWord(top.table_data_i, 0, tables[word]);
      edge();
    }
    top.table_write_i = 0;
  }
  /// Some jobs that overlap in time, in disjoint parts of the scratchpad.
  void batch();
  int places = PARAMETER_WriteFifo; // of the FIFO of writes, as the sequencer counts them
  int blocksBefore = 0;             // of earlier batches: sets of bias and scales alternate
};

void DrainGroup::batch() {
  std::vector<ExecuteJob> jobs;
  std::vector<Block> blocks; // of all jobs
  for (int end = 0; jobs.size() < 7; end = jobs.back().end) {
    jobs.push_back(randomJob(end));
    for (int b = 0; b < jobs.back().blocks(); ++b)
      blocks.push_back(randomBlock(int(jobs.size()) - 1, b));
  }
  ASSERT_LT(jobs.back().end, int(memory.words.size()));
  const std::vector<Word> before = memory.words;
  std::vector<Word> after = before;
  size_t taken = 0, done = 0;     // jobs
  size_t loading = 0, loaded = 0; // blocks whose header has begun, is complete
  int headerIndex = 0;
  size_t current = 0; // block whose bricks come
  int brick = 0, lane = 0;
  bool inBrick = false;
  int ready = 0;                 // pixels prepared
  std::deque<size_t> inEpilogue; // blocks of the bricks that have not been reported
  std::vector<int> bricksLeft;   // of each block, not reported
  for (const Block &block : blocks)
    bricksLeft.push_back(jobs[block.job].bricks());
  int granted[2] = {-1, -1};
  bool quickReads = random.percent(60), quickWrites = random.percent(60), quickArray = random.percent(60);

  for (int i = 0; done < jobs.size(); ++i) {
    ASSERT_LT(i, 100000) << "hangs at job " << done;
    top.take_i = taken < jobs.size() && taken - done < 4 && random.percent(10);
    bool finishes = true;
    if (top.take_i) {
      Job bits = descriptor(jobs[taken]);
      if (random.percent(20)) { // a part of a longer reduction: no output
        finishes = false;
        bits.set(isa::ExecuteAccFinish, 0);
      }
      bits.drive(top.job_i);
    }
    // ---- Headers: one block ahead of the bricks, when the bricks of the block before the last are out.
    top.header_valid_i = 0;
    if (loading < blocks.size() && size_t(blocks[loading].job) < taken && loading <= current + 1 &&
        (loading < 2 || bricksLeft[loading - 2] == 0) && random.percent(60)) {
      const Block &block = blocks[loading];
      uint32_t entries[headerWords * K * C / 4] = {};
      std::memcpy(entries, block.bias, sizeof(block.bias));
      std::memcpy(entries + K, block.scale, sizeof(block.scale));
      std::memcpy(entries + 2 * K, block.negative, sizeof(block.negative));
      top.header_valid_i = 1;
      top.header_parameters_i = (blocksBefore + loading) % 2;
      top.header_index_i = headerIndex;
      std::memcpy(&top.header_i, entries + headerIndex * K * C / 4, K * C);
      if (++headerIndex == headerWords) {
        headerIndex = 0;
        ++loading;
      }
    }
    // ---- Bricks: P pixels without a gap once there are places for all of them.
    top.pixel_valid_i = 0;
    if (!inBrick && current < loaded && ready >= P) {
      const ExecuteJob &job = jobs[blocks[current].job];
      int cost = job.straddles() ? 2 * P : P;
      if (places >= cost && random.percent(quickArray ? 90 : 15)) {
        places -= cost;
        ready -= P;
        inBrick = true;
        inEpilogue.push_back(current);
      }
    }
    if (inBrick) {
      const Block &block = blocks[current];
      const ExecuteJob &job = jobs[block.job];
      top.pixel_valid_i = 1;
      top.pixel_parameters_i = (blocksBefore + current) % 2;
      int n, y, x;
      bool exists = job.pixel(brick, lane, n, y, x);
      for (int k = 0; k < lanes; ++k) {
        int32_t accumulator = int32_t(random()) >> random.range(4, 20);
        setBits(top.pixel_i, k * 32, 32, uint32_t(accumulator));
        int channel = block.number * K + group * 16 + k;
        if (exists && channel < job.channels) {
          int8_t second = int8_t(before[job.second.word(n, channel / 16, y, x)].bytes[channel % 16]);
          int place = job.offset + channel;
          after[job.out.word(n, place / 16, y, x)].bytes[place % 16] =
              uint8_t(epilogue(job, block, group * 16 + k, accumulator, second));
        }
      }
      if (++lane == P) {
        lane = 0;
        inBrick = false;
        if (++brick == job.bricks()) {
          brick = 0;
          ++current;
        }
      }
    }
    for (int b = 0; b < 4; ++b)
      setWord(top.read_data_i, b, random.word());
    for (int r : granted)
      if (r >= 0)
        setWord(top.read_data_i, r % 4, memory.words[r]);
    settle();
    // ---- Residual words: two in different banks, the second not before the first.
    top.read_grant_i = 0;
    granted[0] = granted[1] = -1;
    for (int r = 0; r < 2; ++r)
      if ((top.read_o >> r & 1) && random.percent(quickReads ? 90 : 30)) {
        int word = int(bitsOf(top.read_word_o, r * 24, 24));
        if (r == 1 && (((top.read_o & 1) && granted[0] < 0) || (granted[0] >= 0 && granted[0] % 4 == word % 4)))
          continue;
        ASSERT_LT(word, int(memory.words.size()));
        granted[r] = word;
        top.read_grant_i |= 1 << r;
      }
    top.write_grant_i = top.write_o && random.percent(quickWrites ? 95 : 30);
    settle();
    if (top.write_grant_i)
      memory.write(top.write_word_o, top.write_enable_o, wordOf(top.write_data_o));

    // ---- What it reports.
    ready += top.pixel_ready_o;
    places += top.write_free_o;
    ASSERT_LE(places, PARAMETER_WriteFifo) << "places that do not exist";
    if (top.brick_done_o) {
      ASSERT_FALSE(inEpilogue.empty()) << "a brick out of nothing";
      ASSERT_EQ(top.brick_done_parameters_o, (blocksBefore + inEpilogue.front()) % 2);
      --bricksLeft[inEpilogue.front()];
      inEpilogue.pop_front();
    }
    if (top.job_done_o) {
      ASSERT_LT(done, taken) << "a job out of nothing";
      const ExecuteJob &job = jobs[done];
      for (const Block &block : blocks)
        if (block.job == int(done)) {
          ASSERT_EQ(bricksLeft[size_t(&block - &blocks.front())], 0)
              << "job " << done << " is done before its last brick";
        }
      for (int word = job.begin; word < job.end; ++word)
        ASSERT_EQ(memory.words[word], after[word]) << "job " << done << ", word " << word;
      ++done;
    }
    bool take = top.take_i;
    edge();
    loaded = loading;
    taken += take && finishes;
  }
  top.take_i = top.header_valid_i = top.pixel_valid_i = 0;
  for (int i = 0; i < 20; ++i) {
    top.read_grant_i = top.write_grant_i = 0;
    settle();
    ASSERT_FALSE(top.write_o || top.read_o || top.job_done_o);
    places += top.write_free_o;
    ASSERT_EQ(top.pixel_ready_o, 0);
    edge();
  }
  ASSERT_EQ(ready, 0) << "more pixels than the jobs have";
  ASSERT_EQ(places, PARAMETER_WriteFifo) << "places are lost";
  for (size_t word = 0; word < after.size(); ++word)
    ASSERT_EQ(memory.words[word], after[word]) << "word " << word;
  blocksBefore += int(blocks.size());
}

TEST_F(DrainGroup, RandomJobs) {
  top.take_i = top.header_valid_i = top.table_write_i = top.read_grant_i = top.pixel_valid_i = top.write_grant_i = 0;
  reset();
  for (int i = 0; i < 150; ++i) {
    if (i % 5 == 0)
      fillTables();
    ASSERT_NO_FATAL_FAILURE(batch()) << "batch " << i;
  }
}

} // namespace
