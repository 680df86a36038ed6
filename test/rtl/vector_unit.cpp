//===- vector_unit.cpp - window maxima, sums and additions of maps ----------===//
//
// Random jobs of every operation, over row rings, with padding, strides, dilation, tables,
// channel offsets and partial channel words; reads and writes are granted at random. The
// scratchpad afterwards is what naive loops with sim/Requantize.h say, nothing is read outside
// the operands, and a job is done when its last word is written.
//
//===----------------------------------------------------------------------===//

// FAULT padding_never_the_maximum: $signed(32'($signed(pad_value))) > $signed(reduced[k]) => 1'b0
// FAULT padding_not_summed: if (@pads != 4'd0@) begin => 1'b0
// FAULT no_zero_point_after_add: float_to_int(v2[k][31:0]) + @12'($signed(zero_point))@ => 12'd0
// FAULT table_halves_swapped: 32'(v3[k][7:4]^4'h8) => 32'(v3[k][7:4])
// FAULT straddling_word_misplaced: where[5][23:0] + out_plane_pitch => where[5][23:0]
// FAULT zero_point_not_in_clamp: 12'($signed(clamp_max)) - 12'($signed(zero_point)) => 12'($signed(clamp_max))
// FAULT done_too_early: if (@write_o && write_grant_i@) begin => write_o
// FAULT operands_confused in vector_reader: set_second[bank] = @second@; => 1'b0
// FAULT refused_reads_forgotten in vector_reader: reads = @reads & ~read_grant_i@; => 4'd0
// FAULT refused_reads_arrive in vector_reader: arriving_o <= @reads & read_grant_i@; => reads
// FAULT taps_do_not_wrap in vector_reader: tap_ring_row >= $signed({4'd0, in_ring_rows}) => 1'b0
// FAULT rows_do_not_wrap in row_walker: if (@ring_row >= ring_rows@) begin => 1'b0
// FAULT write_fifo_overflows in vector_reader: reserved < 6'(Places) => 1'b1
// FAULT idle_lanes_written in vector_reader: (left > 16'd16) ? 5'd16 : left[4:0] => 5'd16
// FAULT columns_outside_read in vector_reader: column < width => column <= width

#include "Maps.h"
#include "sim/Requantize.h"

#include <bit>
#include <deque>
#include <set>

namespace {

constexpr MapFields inMap = MAP_FIELDS(isa::VectorIn), secondMap = MAP_FIELDS(isa::VectorSecond),
                    outMap = MAP_FIELDS(isa::VectorOut);

struct VectorJob {
  unsigned op;
  int height, width, kernelHeight = 1, kernelWidth = 1, strideHeight = 1, strideWidth = 1, dilationHeight = 1,
                     dilationWidth = 1, padTop = 0, padLeft = 0, padValue;
  int rowStart, rows, columnStart, columns, samples, channels, offset, bias, zeroPoint, clampMin, clampMax, table;
  float scale, scaleB, fix;
  bool isUnsigned;
  Map in, second, out;
  int inputRow(int y, int ky) const { return y * strideHeight - padTop + ky * dilationHeight; }
  int inputColumn(int x, int kx) const { return x * strideWidth - padLeft + kx * dilationWidth; }
};

struct VectorUnit : Testbench {
  Memory memory{random, 8192};
  Word tables[4 * 16];
  int8_t lookUp(int table, int8_t value) const {
    int index = value + 128;
    return table == 0 ? value : int8_t(tables[(table - 1) * 16 + index / 16].bytes[index % 16]);
  }

  /// Operation, window and a part of its outputs.
  VectorJob randomWindow() {
    VectorJob job{};
    job.op = random.below(3);
    job.samples = random.range(1, 2);
    job.channels = random.percent(40) ? 16 * random.range(1, 3) : random.range(1, 40);
    job.offset = random.percent(50) ? 0 : int(random.below(16));
    job.height = random.range(1, 9);
    job.width = random.range(1, 9);
    job.padValue = random.range(-128, 127);
    if (job.op != isa::VectorOpAdd) {
      job.kernelHeight = random.range(1, 4);
      job.kernelWidth = random.range(1, random.percent(80) ? 4 : 9);
      job.strideHeight = random.range(1, 3);
      job.strideWidth = random.range(1, 3);
      job.dilationHeight = random.range(1, 2);
      job.dilationWidth = random.range(1, 2);
      job.padTop = random.range(0, 2);
      job.padLeft = random.range(0, 2);
    }
    job.rowStart = random.range(0, job.height - 1);
    job.rows = random.range(1, 4);
    job.columnStart = random.range(0, 3);
    job.columns = random.range(1, 6);
    if (job.op == isa::VectorOpAdd) {
      job.rows = std::min(job.rows, job.height - job.rowStart);
      job.columnStart = random.range(0, job.width - 1);
      job.columns = std::min(job.columns, job.width - job.columnStart);
    }
    return job;
  }
  VectorJob randomJob() {
    VectorJob job = randomWindow();
    while (touched(job).empty()) // nothing but padding: the compiler makes no such job
      job = randomWindow();
    job.bias = int32_t(random()) >> random.range(16, 31);
    job.zeroPoint = random.range(-128, 127);
    job.clampMin = random.range(-128, 0);
    job.clampMax = random.range(0, 127);
    if (random.percent(50)) {
      job.clampMin = -128;
      job.clampMax = 127;
    }
    job.scale = std::ldexp(1.0f + float(random()) * 0x1p-32f, random.range(-6, 1)) *
                (random.percent(30) ? 1.0f : 1.0f / float(job.kernelHeight * job.kernelWidth));
    if (random.percent(20))
      job.scale = std::ldexp(1.0f, -random.range(0, 4)); // ties
    job.scaleB = std::ldexp(1.0f + float(random()) * 0x1p-32f, random.range(-3, 0));
    job.fix = float(random.range(-200, 200)) * 0.37f;
    job.isUnsigned = random.percent(50);
    job.table = random.percent(40) ? random.range(1, 4) : 0;
    int planes = (job.channels + 15) / 16, outPlanes = (job.channels + job.offset + 15) / 16, end = 0;
    std::set<int> rows = touched(job);
    job.in = randomMap(random, 0, job.samples, planes, *rows.begin(), *rows.rbegin(), job.width, end);
    job.second = randomMap(random, end, job.samples, planes, job.rowStart, job.rowStart + job.rows - 1, job.width, end);
    int lastColumn = job.columnStart + job.columns;
    job.out =
        randomMap(random, end, job.samples, outPlanes, job.rowStart, job.rowStart + job.rows - 1, lastColumn, end);
    // In place: each word is read before it is written.
    if (job.op == isa::VectorOpAdd && job.offset == 0 && random.percent(40))
      job.out = random.percent(50) ? job.in : job.second;
    EXPECT_LT(end, int(memory.words.size()));
    return job;
  }
  static std::set<int> touched(const VectorJob &job) {
    std::set<int> rows;
    for (int y = job.rowStart; y < job.rowStart + job.rows; ++y)
      for (int ky = 0; ky < job.kernelHeight; ++ky)
        if (int row = job.inputRow(y, ky); row >= 0 && row < job.height)
          rows.insert(row);
    return rows;
  }
  /// What the scratchpad holds afterwards; `reads` are the words that the job may read.
  std::vector<Word> expected(const VectorJob &job, std::multiset<int> &reads) const {
    std::vector<Word> result = memory.words;
    for (int n = 0; n < job.samples; ++n)
      for (int channel = 0; channel < job.channels; ++channel)
        for (int y = job.rowStart; y < job.rowStart + job.rows; ++y)
          for (int x = job.columnStart; x < job.columnStart + job.columns; ++x) {
            int plane = channel / 16, byte = channel % 16;
            auto element = [&](const Map &map, int row, int column) {
              int word = map.word(n, plane, row, column);
              if (byte == 0)
                reads.insert(word);
              return int8_t(memory.words[word].bytes[byte]);
            };
            int32_t value = job.op == isa::VectorOpMax ? -128 : job.op == isa::VectorOpSum ? job.bias : 0;
            if (job.op == isa::VectorOpAdd) {
              value =
                  tilewright::sim::residualAdd(element(job.in, y, x), element(job.second, y, x), job.scale, job.scaleB,
                                               job.fix, job.zeroPoint, job.isUnsigned, job.clampMin, job.clampMax);
            } else {
              for (int ky = 0; ky < job.kernelHeight; ++ky)
                for (int kx = 0; kx < job.kernelWidth; ++kx) {
                  int row = job.inputRow(y, ky), column = job.inputColumn(x, kx);
                  bool inside = row >= 0 && row < job.height && column >= 0 && column < job.width;
                  int8_t tap = inside ? element(job.in, row, column) : int8_t(job.padValue);
                  value = job.op == isa::VectorOpMax ? std::max<int32_t>(value, tap) : value + tap;
                }
              if (job.op == isa::VectorOpSum)
                value =
                    tilewright::sim::requantize(value, job.scale, job.scale, job.zeroPoint, job.clampMin, job.clampMax);
            }
            int place = job.offset + channel;
            result[job.out.word(n, place / 16, y, x)].bytes[place % 16] = uint8_t(lookUp(job.table, int8_t(value)));
          }
    return result;
  }
  Job descriptor(const VectorJob &job) const {
    Job bits;
    bits.set(isa::HeaderOpcode, isa::OpcodeVector).set(isa::VectorOp, job.op);
    inMap.set(bits, job.in);
    secondMap.set(bits, job.second);
    outMap.set(bits, job.out);
    bits.set(isa::VectorInHeight, job.height).set(isa::VectorInWidth, job.width).set(isa::VectorPadValue, job.padValue);
    bits.set(isa::VectorWindowKernelHeight, job.kernelHeight).set(isa::VectorWindowKernelWidth, job.kernelWidth);
    bits.set(isa::VectorWindowStrideHeight, job.strideHeight).set(isa::VectorWindowStrideWidth, job.strideWidth);
    bits.set(isa::VectorWindowDilationHeight, job.dilationHeight)
        .set(isa::VectorWindowDilationWidth, job.dilationWidth);
    bits.set(isa::VectorWindowPadTop, job.padTop).set(isa::VectorWindowPadLeft, job.padLeft);
    bits.set(isa::VectorOutRowStart, job.rowStart).set(isa::VectorOutRowCount, job.rows);
    bits.set(isa::VectorOutColumnStart, job.columnStart).set(isa::VectorOutColumnCount, job.columns);
    bits.set(isa::VectorSamples, job.samples).set(isa::VectorChannels, job.channels);
    bits.set(isa::VectorOutChannelOffset, job.offset).set(isa::VectorBias, uint32_t(job.bias));
    bits.set(isa::VectorScale, std::bit_cast<uint32_t>(job.scale))
        .set(isa::VectorFix, std::bit_cast<uint32_t>(job.fix));
    bits.set(isa::VectorScaleB, std::bit_cast<uint32_t>(job.scaleB)).set(isa::VectorUnsignedAdd, job.isUnsigned);
    bits.set(isa::VectorOutZeroPoint, job.zeroPoint).set(isa::VectorTable, job.table);
    bits.set(isa::VectorClampMin, job.clampMin).set(isa::VectorClampMax, job.clampMax);
    return bits;
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
};

TEST_F(VectorUnit, RandomJobs) {
  top.job_valid_i = top.read_grant_i = top.write_grant_i = top.table_write_i = 0;
  reset();
  fillTables();
  int counts[3] = {};
  for (int number = 0; number < 1500; ++number) {
    VectorJob job = randomJob();
    ++counts[job.op];
    std::multiset<int> reads;
    std::vector<Word> after = expected(job, reads);
    descriptor(job).drive(top.job_i);
    top.job_valid_i = 1;
    uint32_t readPace = random.percent(50) ? 90 : 35, writePace = random.percent(50) ? 95 : 12;
    bool done = false;
    int granted[4] = {-1, -1, -1, -1};
    for (int i = 0; !done; ++i) {
      ASSERT_LT(i, 60000) << "job " << number << " does not end";
      for (int b = 0; b < 4; ++b)
        setWord(top.read_data_i, b, granted[b] >= 0 ? memory.words[granted[b]] : random.word());
      settle();
      // A read stands until it is granted; its word comes one cycle later, and only then.
      for (int b = 0; b < 4; ++b) {
        bool grant = (top.read_o >> b & 1) && random.percent(readPace);
        setBits(top.read_grant_i, b, 1, grant);
        granted[b] = -1;
        if (grant) {
          granted[b] = int(bitsOf(top.read_word_o, b * 24, 24));
          ASSERT_EQ(granted[b] % 4, b);
          ASSERT_EQ(reads.count(granted[b]) > 0, true) << "job " << number << " reads word " << granted[b];
        }
      }
      top.write_grant_i = top.write_o && random.percent(writePace);
      settle();
      if (top.write_grant_i)
        memory.write(top.write_word_o, top.write_enable_o, wordOf(top.write_data_o));
      done = top.done_o;
      bool take = top.take_o;
      edge();
      if (take) { // the queue has moved on
        top.job_valid_i = 0;
        random.job().drive(top.job_i);
      }
    }
    for (size_t word = 0; word < after.size(); ++word)
      ASSERT_EQ(memory.words[word], after[word])
          << "job " << number << " of kind " << job.op << ", word " << word << ", channels " << job.channels;
  }
  for (int count : counts)
    EXPECT_GT(count, 300);
}

} // namespace
