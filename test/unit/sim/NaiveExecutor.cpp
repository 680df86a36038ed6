//===- NaiveExecutor.cpp - docs/accelerator.md, word for word -------------===//

#include "NaiveExecutor.h"
#include "backends/systolic/isa/Descriptor.h"
#include "sim/WriteDigest.h"
#include <cmath>
#include <cstring>

namespace tilewright::sim {

using namespace isa;

namespace {

using Exact = __float128; // products and short sums of float32 are exact in its 113 bits

float toFloat(Exact v) { return float(v); }
int64_t roundHalfEven(float v) {
  double whole = std::floor(double(v)), rest = double(v) - whole;
  int64_t low = int64_t(whole);
  return rest > 0.5 || (rest == 0.5 && low % 2 != 0) ? low + 1 : low;
}
int32_t wrap(int64_t v) { return int32_t(uint32_t(uint64_t(v))); }

class Naive final : public Executor {
public:
  const char *name() const override { return "naive"; }

  RunResult run(const ArrayConfig &arrayConfig, std::span<uint8_t> image, uint64_t programAddress,
                const RunOptions &options) override {
    config = arrayConfig;
    memory = image;
    watched = options.watchScratchpad;
    result = RunResult();
    result.scratchpadWrites = WriteDigest(uint64_t(config.scratchpadWords()));
    result.dramWrites = WriteDigest((memory.size() + 15) / 16);
    scratchpad.assign(size_t(config.scratchpadBytes), options.fill);
    ring.clear();
    tail = 0;
    std::vector<Descriptor> program = decodeProgram(memory.subspan(programAddress));
    for (current = 0; current < program.size(); ++current)
      std::visit([&](const auto &job) { execute(job); }, program[current]);
    return std::move(result);
  }

private:
  int64_t wordOf(const Map &m, int64_t n, int64_t cb, int64_t y, int64_t x) const {
    int64_t row = y - m.ringStart >= m.ringRows ? y - m.ringStart - m.ringRows : y - m.ringStart;
    return m.base + n * m.samplePitch + cb * m.planePitch + row * m.pitch + x;
  }
  int8_t byteAt(int64_t word, int64_t byte) const { return int8_t(scratchpad.at(size_t(16 * word + byte))); }
  void put(int64_t word, int64_t byte, int32_t value) {
    uint8_t data[16] = {};
    data[byte] = uint8_t(value);
    scratchpad.at(size_t(16 * word + byte)) = uint8_t(value);
    digestWrite(result.scratchpadWrites.word(uint64_t(word)), data, 1u << byte);
    if (uint64_t(word) == watched) {
      TilewrightWrite write{0, 0, uint32_t(current), {}, uint16_t(1u << byte)};
      write.data[byte] = uint8_t(value);
      result.watched.push_back(write);
    }
  }
  void putChannel(const Map &m, int64_t n, int64_t channel, int64_t y, int64_t x, int64_t offset, int32_t value) {
    put(wordOf(m, n, (offset + channel) / 16, y, x), (offset + channel) % 16, value);
  }
  int32_t activation(const Map &m, int64_t height, int64_t width, int64_t pad, int64_t n, int64_t c, int64_t y,
                     int64_t x) const {
    if (y < 0 || y >= height || x < 0 || x >= width)
      return int32_t(pad);
    return byteAt(wordOf(m, n, c / 16, y, x), c % 16);
  }
  int32_t ringInt(int64_t byte) const {
    int32_t v;
    std::memcpy(&v, &ring.at(size_t(tail + byte)), 4);
    return v;
  }
  float ringFloat(int64_t byte) const {
    float v;
    std::memcpy(&v, &ring.at(size_t(tail + byte)), 4);
    return v;
  }
  static int32_t stepTwo(float v, int64_t zeroPoint, int64_t lowest, int64_t highest) {
    if (v < float(lowest - zeroPoint))
      v = float(lowest - zeroPoint);
    if (v > float(highest - zeroPoint))
      v = float(highest - zeroPoint);
    return int32_t(roundHalfEven(v) + zeroPoint);
  }
  static int32_t stepFour(int32_t a, int32_t b, float ra, float rb, float fix, int64_t zeroPoint, bool isUnsigned,
                          int64_t lowest, int64_t highest) {
    int32_t shift = isUnsigned ? 128 : 0;
    float inner = toFloat(Exact(b + shift) * rb + fix);
    float s = toFloat(Exact(a + shift) * ra + inner);
    if (s > 16777216.0f)
      s = 16777216.0f;
    if (s < -16777216.0f)
      s = -16777216.0f;
    int64_t t = roundHalfEven(s) + zeroPoint;
    return int32_t(t < lowest ? lowest : t > highest ? highest : t);
  }

  void execute(const Sync &) {}

  void execute(const Load &job) {
    int64_t channels = job.mode == LoadMode::Planar ? job.planes : 1;
    for (int64_t n = 0; n < job.samples; ++n)
      for (int64_t p = 0; p < (job.mode == LoadMode::Words ? job.planes : 1); ++p)
        for (int64_t y = job.rowStart; y < job.rowStart + job.rowCount; ++y) {
          int64_t bytes = job.mode == LoadMode::Words ? 16 * job.width : job.width * channels;
          for (int64_t b = 0; b < (bytes + 15) / 16 * 16; ++b) {
            int64_t address = job.dramAddress + n * job.dramSampleStride + p * job.dramPlaneStride +
                              (y - job.rowStart) * job.dramRowStride;
            address += channels == 1 ? b : b / channels + b % channels * job.dramPlaneStride;
            int32_t value = b < bytes ? memory[size_t(address)] ^ (job.flipSign ? 0x80 : 0) : 0;
            put(wordOf(job.out, n, p, y, b / 16), b % 16, value);
          }
        }
  }

  void execute(const Weights &job) {
    for (int64_t b = 0; b < job.byteCount; ++b) {
      uint8_t byte = memory[size_t(job.dramAddress + b)];
      if (job.destination == WeightsDestination::Table)
        tables[size_t(job.table)][size_t(b)] = int8_t(byte);
      else
        ring.push_back(byte);
    }
  }

  void execute(const Store &job) {
    for (int64_t n = 0; n < job.samples; ++n)
      for (int64_t p = 0; p < job.planes; ++p)
        for (int64_t y = job.rowStart; y < job.rowStart + job.rowCount; ++y)
          for (int64_t x = 0; x < job.width; ++x) {
            int64_t address = job.dramAddress + n * job.dramSampleStride + p * job.dramPlaneStride +
                              (y - job.rowStart) * job.dramRowStride + 16 * x;
            uint8_t data[16];
            for (int64_t b = 0; b < 16; ++b)
              memory[size_t(address + b)] = data[b] =
                  uint8_t(byteAt(wordOf(job.in, n, p, y, x), b)) ^ (job.flipSign ? 0x80 : 0);
            digestWrite(result.dramWrites.word(uint64_t(address / 16)), data, 0xffff);
          }
  }

  void execute(const Vector &job) {
    const Window &w = job.window;
    for (int64_t n = 0; n < job.samples; ++n)
      for (int64_t c = 0; c < job.channels; ++c)
        for (int64_t y = job.outRowStart; y < job.outRowStart + job.outRowCount; ++y)
          for (int64_t x = job.outColumnStart; x < job.outColumnStart + job.outColumnCount; ++x) {
            int32_t q;
            if (job.op == VectorOp::Add) {
              q = stepFour(byteAt(wordOf(job.in, n, c / 16, y, x), c % 16),
                           byteAt(wordOf(job.second, n, c / 16, y, x), c % 16), job.scale, job.scaleB, job.fix,
                           job.outZeroPoint, job.unsignedAdd, job.clampMin, job.clampMax);
            } else {
              int64_t sum = job.bias;
              int32_t highest = -128;
              for (int64_t ky = 0; ky < w.kernelHeight; ++ky)
                for (int64_t kx = 0; kx < w.kernelWidth; ++kx) {
                  int32_t tap = activation(job.in, job.inHeight, job.inWidth, job.padValue, n, c,
                                           y * w.strideHeight - w.padTop + ky * w.dilationHeight,
                                           x * w.strideWidth - w.padLeft + kx * w.dilationWidth);
                  sum += tap;
                  highest = tap > highest ? tap : highest;
                }
              q = job.op == VectorOp::Max ? highest
                                          : stepTwo(toFloat(Exact(toFloat(Exact(wrap(sum)))) * job.scale),
                                                    job.outZeroPoint, job.clampMin, job.clampMax);
            }
            if (job.table)
              q = tables[size_t(job.table - 1)][size_t(q + 128)];
            putChannel(job.out, n, c, y, x, job.outChannelOffset, q);
          }
  }

  /// The activation that lane c of step s reads for output channel j at (y, x), or nothing.
  int32_t operand(const Execute &job, int64_t n, int64_t j, int64_t y, int64_t x, int64_t s, int64_t c) const {
    const Window &w = job.window;
    int64_t C = config.reduction, top = y * w.strideHeight - w.padTop, left = x * w.strideWidth - w.padLeft;
    if (job.mode == ExecuteMode::Dense) {
      int64_t tap = s / job.channelSteps, ky = tap / w.kernelWidth, kx = tap % w.kernelWidth;
      return activation(job.in, job.inHeight, job.inWidth, job.padValue, n, s % job.channelSteps * C + c,
                        top + ky * w.dilationHeight, left + kx * w.dilationWidth);
    }
    if (job.mode == ExecuteMode::Depthwise) {
      int64_t turns = (w.kernelWidth + C - 1) / C, ky = s / turns, kx = s % turns * C + c;
      return kx >= w.kernelWidth
                 ? 0
                 : activation(job.in, job.inHeight, job.inWidth, job.padValue, n, j, top + ky, left + kx);
    }
    int64_t e = s * C + c, rowElements = w.kernelWidth * job.packedChannels;
    if (e >= w.kernelHeight * rowElements)
      return 0;
    int64_t iy = top + e / rowElements * w.dilationHeight, ix = left + e % rowElements / job.packedChannels;
    if (iy < 0 || iy >= job.inHeight || ix < 0 || ix >= job.inWidth)
      return int32_t(job.padValue);
    int64_t byte = ix * job.packedChannels + e % job.packedChannels;
    return byteAt(wordOf(job.in, n, 0, iy, byte / 16), byte % 16);
  }

  void execute(const Execute &job) {
    const Window &w = job.window;
    int64_t P = config.pixels, K = config.channels, C = config.reduction;
    int64_t steps = job.mode == ExecuteMode::Dense ? w.kernelHeight * w.kernelWidth * job.channelSteps
                    : job.mode == ExecuteMode::Depthwise
                        ? w.kernelHeight * ((w.kernelWidth + C - 1) / C)
                        : (w.kernelHeight * w.kernelWidth * job.packedChannels + C - 1) / C;
    int64_t headerWords = (12 + C - 1) / C, blockBytes = (headerWords + steps) * K * C;
    int64_t pixels = job.samples * job.outRowCount * job.outWidth, blocks = (job.outChannels + K - 1) / K;
    if (bank.size() != size_t(P * K))
      bank.assign(size_t(P * K), 0);
    for (int64_t block = 0; block < blocks; ++block) {
      int64_t base = job.ringOffset * K * C + block * blockBytes;
      for (int64_t first = 0; first < pixels; first += P)
        for (int64_t p = 0; p < P; ++p)
          for (int64_t k = 0; k < K; ++k) {
            int64_t q = first + p, j = block * K + k;
            if (q >= pixels || j >= job.outChannels)
              continue;
            int64_t x = q % job.outWidth, row = q / job.outWidth, n = row / job.outRowCount;
            int64_t y = job.outRowStart + row % job.outRowCount;
            int32_t &acc = bank[size_t(p * K + k)];
            if (job.accInit)
              acc = 0;
            for (int64_t s = 0; s < steps; ++s)
              for (int64_t c = 0; c < C; ++c) {
                int8_t weight = int8_t(ring.at(size_t(tail + base + (headerWords + s) * K * C + k * C + c)));
                acc = wrap(int64_t(acc) + weight * operand(job, n, j, y, x, s, c));
              }
            if (job.accFinish)
              finish(job, n, j, y, x, wrap(int64_t(acc) + ringInt(base + 4 * k)), ringFloat(base + 4 * (K + k)),
                     ringFloat(base + 4 * (2 * K + k)));
          }
    }
    if (job.release != Release::Keep)
      tail += blocks * blockBytes;
  }

  void finish(const Execute &job, int64_t n, int64_t j, int64_t y, int64_t x, int32_t sum, float m, float mNegative) {
    float v = toFloat(Exact(toFloat(Exact(sum))) * (sum < 0 ? mNegative : m));
    int32_t q = stepTwo(v, job.outZeroPoint, job.clampMin, job.clampMax);
    if (job.table1)
      q = tables[size_t(job.table1 - 1)][size_t(q + 128)];
    if (job.residual) {
      int32_t other = byteAt(wordOf(job.residualMap, n, j / 16, y, x), j % 16);
      q = stepFour(job.residualSwap ? other : q, job.residualSwap ? q : other, job.residualScaleA, job.residualScaleB,
                   job.residualFix, job.residualZeroPoint, job.residualUnsigned, job.residualClampMin,
                   job.residualClampMax);
    }
    if (job.table2)
      q = tables[size_t(job.table2 - 1)][size_t(q + 128)];
    putChannel(job.out, n, j, y, x, job.outChannelOffset, q);
  }

  ArrayConfig config;
  std::span<uint8_t> memory;
  RunResult result;
  std::vector<uint8_t> scratchpad, ring;
  int64_t tail = 0;
  std::array<std::array<int8_t, 256>, 4> tables{};
  std::vector<int32_t> bank;
  size_t current = 0;
  uint64_t watched = UINT64_MAX;
};

} // namespace

std::unique_ptr<Executor> makeNaiveExecutor() { return std::make_unique<Naive>(); }

} // namespace tilewright::sim
