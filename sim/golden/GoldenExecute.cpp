//===- GoldenExecute.cpp - execute jobs -----------------------------------===//
//
// The array's bricks of P pixels x K channels are computed here as tiles of pixels
// x 16 channels: the window of each pixel is gathered once as int16, in the order of
// the reduction steps, and multiplied with all channels. Integer sums do not depend
// on the order.
//
//===----------------------------------------------------------------------===//

#include "backends/systolic/isa/JobGeometry.h"
#include "sim/golden/GoldenMachine.h"

namespace tilewright::sim {

using namespace isa;

/// 16 output channels, whatever K is.
struct GoldenMachine::Block {
  int64_t channel = 0, count = 0;
  std::vector<int16_t> pairs; ///< dense, packed: [reduction/2][16][2]
  std::vector<int8_t> taps;   ///< depthwise: [ky][kx][16]
  Epilogue epilogue{};
};

std::vector<GoldenMachine::Block> GoldenMachine::readBlocks(const Execute &job) {
  int64_t K = config.channels, C = config.reduction, stepCount = steps(job, config);
  int64_t words = blockWords(job, config), wordBytes = config.ringWordBytes();
  int64_t blocks = channelBlocks(job, config);
  size_t begin = ringTail + size_t(job.ringOffset * wordBytes), bytes = size_t(blocks * words * wordBytes);
  if (begin + bytes > ring.size())
    throw Error("weight ring: needs " + std::to_string(job.ringOffset + blocks * words) + " words, it holds " +
                std::to_string((ring.size() - ringTail) / size_t(wordBytes)));
  bool depthwise = job.mode == ExecuteMode::Depthwise;
  const Window &window = job.window;
  int64_t rowSteps = ceilDiv(window.kernelWidth, C), reduction = stepCount * C;

  std::vector<Block> groups(size_t(ceilDiv(job.outChannels, 16)));
  for (size_t g = 0; g < groups.size(); ++g) {
    groups[g].channel = int64_t(g) * 16;
    groups[g].count = std::min<int64_t>(16, job.outChannels - int64_t(g) * 16);
    if (depthwise)
      groups[g].taps.resize(size_t(window.kernelHeight * window.kernelWidth * 16));
    else
      groups[g].pairs.resize(size_t((reduction + 1) / 2 * 32));
    Epilogue &e = groups[g].epilogue;
    e.zeroPoint = int32_t(job.outZeroPoint);
    e.lowest = int32_t(job.clampMin);
    e.highest = int32_t(job.clampMax);
    e.table1 = table(job.table1);
    e.table2 = table(job.table2);
    e.residual = job.residual;
    e.residualSwap = job.residualSwap;
    e.residualUnsigned = job.residualUnsigned;
    e.residualScaleA = job.residualScaleA;
    e.residualScaleB = job.residualScaleB;
    e.residualFix = job.residualFix;
    e.residualZeroPoint = int32_t(job.residualZeroPoint);
    e.residualLowest = int32_t(job.residualClampMin);
    e.residualHighest = int32_t(job.residualClampMax);
  }
  for (int64_t j = 0; j < job.outChannels; ++j) {
    Block &group = groups[size_t(j / 16)];
    int64_t k = j % K, lane = j % 16;
    const uint8_t *block = ring.data() + begin + (j / K) * words * wordBytes;
    std::memcpy(&group.epilogue.bias[lane], block + 4 * k, 4);
    std::memcpy(&group.epilogue.m[lane], block + 4 * (K + k), 4);
    std::memcpy(&group.epilogue.mNegative[lane], block + 4 * (2 * K + k), 4);
    const int8_t *weights = reinterpret_cast<const int8_t *>(block + config.headerWords() * wordBytes);
    for (int64_t s = 0; s < stepCount; ++s)
      for (int64_t c = 0; c < C; ++c) {
        int8_t weight = weights[s * wordBytes + k * C + c];
        if (depthwise) {
          int64_t ky = s / rowSteps, kx = s % rowSteps * C + c;
          if (kx < window.kernelWidth)
            group.taps[size_t((ky * window.kernelWidth + kx) * 16 + lane)] = weight;
        } else {
          int64_t r = s * C + c;
          group.pairs[size_t(r / 2 * 32 + lane * 2 + r % 2)] = weight;
        }
      }
  }
  if (job.release != Release::Keep)
    ringTail += bytes;
  return groups;
}

/// The window of output (y, x) as [ky][kx][channel_steps * C].
void GoldenMachine::gatherPixel(const Execute &job, int64_t sample, int64_t y, int64_t x, int16_t *out) const {
  const Window &w = job.window;
  int64_t channels = job.channelSteps * config.reduction;
  int64_t y0 = y * w.strideHeight - w.padTop, x0 = x * w.strideWidth - w.padLeft;
  for (int64_t ky = 0; ky < w.kernelHeight; ++ky) {
    int64_t iy = y0 + ky * w.dilationHeight;
    bool rowInside = iy >= 0 && iy < job.inHeight;
    int64_t row = rowInside ? rowAddress(job.in, sample, 0, iy) : 0;
    for (int64_t kx = 0; kx < w.kernelWidth; ++kx, out += channels) {
      int64_t ix = x0 + kx * w.dilationWidth;
      if (!rowInside || ix < 0 || ix >= job.inWidth) {
        std::fill_n(out, channels, int16_t(job.padValue));
        continue;
      }
      for (int64_t c = 0; c < channels; c += 16) {
        const uint8_t *word = read(row + c / 16 * job.in.planePitch + ix);
        if (channels - c >= 16)
          kernel.widen(word, out + c);
        else
          for (int64_t b = 0; b < channels - c; ++b)
            out[c + b] = int8_t(word[b]);
      }
    }
  }
}

/// The window of output (y, x) as [ky][kx][image channel], then zeros.
void GoldenMachine::gatherPackedPixel(const Execute &job, int64_t sample, int64_t y, int64_t x, int16_t *out) const {
  const Window &w = job.window;
  for (int64_t ky = 0; ky < w.kernelHeight; ++ky) {
    int64_t iy = y * w.strideHeight - w.padTop + ky * w.dilationHeight;
    for (int64_t kx = 0; kx < w.kernelWidth; ++kx) {
      int64_t ix = x * w.strideWidth - w.padLeft + kx;
      bool inside = iy >= 0 && iy < job.inHeight && ix >= 0 && ix < job.inWidth;
      for (int64_t c = 0; c < job.packedChannels; ++c) {
        int64_t byte = ix * job.packedChannels + c;
        *out++ = inside ? int8_t(read(rowAddress(job.in, sample, 0, iy) + byte / 16)[byte % 16]) : job.padValue;
      }
    }
  }
}

void GoldenMachine::accumulateDepthwise(const Execute &job, const Block &block, int64_t sample, int64_t y, int64_t x,
                                        int32_t *acc) const {
  const Window &w = job.window;
  int8_t padding[16];
  std::fill_n(padding, 16, int8_t(job.padValue));
  for (int64_t ky = 0; ky < w.kernelHeight; ++ky) {
    int64_t iy = y * w.strideHeight - w.padTop + ky;
    bool rowInside = iy >= 0 && iy < job.inHeight;
    int64_t row = rowInside ? rowAddress(job.in, sample, block.channel / 16, iy) : 0;
    for (int64_t kx = 0; kx < w.kernelWidth; ++kx) {
      int64_t ix = x * w.strideWidth - w.padLeft + kx;
      bool inside = rowInside && ix >= 0 && ix < job.inWidth;
      const int8_t *activation = inside ? reinterpret_cast<const int8_t *>(read(row + ix)) : padding;
      kernel.multiplyAdd(activation, block.taps.data() + (ky * w.kernelWidth + kx) * 16, acc);
    }
  }
}

void GoldenMachine::finish(const Execute &job, const Block &block, int64_t sample, int64_t y, int64_t x,
                           const int32_t *acc) {
  const int8_t *residual = nullptr;
  if (job.residual)
    residual = reinterpret_cast<const int8_t *>(read(rowAddress(job.residualMap, sample, block.channel / 16, y) + x));
  int8_t out[16];
  kernel.epilogue(acc, block.epilogue, residual, out);
  writeChannels(rowAddress(job.out, sample, 0, y) + x, job.out, block.channel, block.count, job.outChannelOffset, out);
}

void GoldenMachine::run(const Execute &job) {
  std::vector<Block> blocks = readBlocks(job);
  int64_t reduction = steps(job, config) * config.reduction, stride = (reduction + 1) / 2 * 2;
  int64_t pixels = job.samples * job.outRowCount * job.outWidth;
  bool depthwise = job.mode == ExecuteMode::Depthwise;
  // So many pixels at a time that their windows stay in the first-level cache beside a block's weights.
  constexpr int64_t tilePixels = 16;
  std::vector<int16_t> windows(depthwise ? 0 : size_t(tilePixels * stride));
  std::vector<int32_t> acc(size_t(tilePixels * 16));

  // A split reduction: one brick, its sums kept between jobs.
  bool split = !job.accInit || !job.accFinish;
  if (split && job.accInit)
    accumulators.assign(blocks.size() * size_t(pixels * 16), 0);
  if (split && accumulators.size() != blocks.size() * size_t(pixels * 16))
    throw Error("acc_init = 0: the job before it left a brick of another size");

  for (int64_t first = 0; first < pixels; first += tilePixels) {
    int64_t count = std::min(tilePixels, pixels - first);
    auto place = [&](int64_t p, int64_t &sample, int64_t &y, int64_t &x) {
      int64_t row = (first + p) / job.outWidth;
      sample = row / job.outRowCount;
      y = job.outRowStart + row % job.outRowCount;
      x = (first + p) % job.outWidth;
    };
    int64_t sample, y, x;
    for (int64_t p = 0; p < count && !depthwise; ++p) {
      place(p, sample, y, x);
      int16_t *window = windows.data() + p * stride;
      if (job.mode == ExecuteMode::Packed)
        gatherPackedPixel(job, sample, y, x, window);
      else
        gatherPixel(job, sample, y, x, window);
    }
    for (size_t b = 0; b < blocks.size(); ++b) {
      int32_t *sums = split ? accumulators.data() + b * size_t(pixels * 16) + first * 16 : acc.data();
      if (!split)
        std::fill(acc.begin(), acc.end(), 0);
      if (!depthwise)
        kernel.dot(windows.data(), size_t(stride), size_t(count), blocks[b].pairs.data(), size_t(stride / 2), sums);
      for (int64_t p = 0; p < count; ++p) {
        place(p, sample, y, x);
        if (depthwise)
          accumulateDepthwise(job, blocks[b], sample, y, x, sums + 16 * p);
        if (job.accFinish)
          finish(job, blocks[b], sample, y, x, sums + 16 * p);
      }
    }
  }
}

} // namespace tilewright::sim
