//===- OperandPlan.cpp - an execute job's entries -------------------------===//

#include "sim/model/OperandPlan.h"

namespace tilewright::sim::model {

using namespace isa;

namespace {

/// Output pixel `q` of a job: its sample and row.
struct Pixel {
  int64_t sample, row, x;
};
Pixel pixelOf(const Execute &job, int64_t q) {
  int64_t row = q / job.outWidth;
  return {row / job.outRowCount, row % job.outRowCount, q % job.outWidth};
}

int64_t rowAddress(const Execute &job, int64_t sample, int64_t y) {
  int64_t row = y - job.in.ringStart;
  return job.in.base + sample * job.in.samplePitch +
         (row >= job.in.ringRows ? row - job.in.ringRows : row) * job.in.pitch;
}

/// Cycles to read the lanes' words: one distinct word per bank and cycle, shared by the lanes that need it.
class BankCount {
public:
  void add(int64_t word) {
    std::vector<int64_t> &bank = words[size_t(word & 3)];
    if (std::find(bank.begin(), bank.end(), word) == bank.end())
      bank.push_back(word);
  }
  /// Also counts the words in `reads`, by bank.
  int64_t takeCycles(std::array<int64_t, 4> &reads) {
    size_t most = 1;
    for (size_t bank = 0; bank < 4; ++bank) {
      most = std::max(most, words[bank].size());
      reads[bank] += int64_t(words[bank].size());
      words[bank].clear();
    }
    return int64_t(most);
  }

private:
  std::array<std::vector<int64_t>, 4> words;
};

} // namespace

OperandPlan::OperandPlan(const Execute &job, const ArrayConfig &config) : groupCount(pixelGroups(job, config)) {
  switch (job.mode) {
  case ExecuteMode::Dense:
    planDense(job, config);
    break;
  case ExecuteMode::Depthwise:
    planDepthwise(job, config);
    break;
  case ExecuteMode::Packed:
    planPacked(job, config);
    break;
  }
}

void OperandPlan::planDense(const Execute &job, const ArrayConfig &config) {
  const Window &w = job.window;
  int64_t slices = 16 / config.reduction, words = ceilDiv(job.channelSteps, slices);
  int64_t taps = w.kernelHeight * w.kernelWidth, pixels = job.samples * job.outRowCount * job.outWidth;
  for (int64_t tap = 0; tap < taps; ++tap)
    for (int64_t word = 0; word < words; ++word)
      entrySteps.push_back(std::min(slices, job.channelSteps - word * slices));
  // The channel words of a tap are read alike: their addresses differ by multiples of one pitch.
  entriesPerRead = words;
  readsPerGroup = taps;
  cycles.reserve(size_t(groupCount * taps));
  BankCount banks;
  for (int64_t group = 0; group < groupCount; ++group)
    for (int64_t ky = 0; ky < w.kernelHeight; ++ky)
      for (int64_t kx = 0; kx < w.kernelWidth; ++kx) {
        for (int64_t p = 0; p < config.pixels; ++p) {
          int64_t q = group * config.pixels + p;
          if (q >= pixels)
            break;
          Pixel pixel = pixelOf(job, q);
          int64_t y = (job.outRowStart + pixel.row) * w.strideHeight - w.padTop + ky * w.dilationHeight;
          int64_t x = pixel.x * w.strideWidth - w.padLeft + kx * w.dilationWidth;
          if (y >= 0 && y < job.inHeight && x >= 0 && x < job.inWidth)
            banks.add(rowAddress(job, pixel.sample, y) + x);
        }
        cycles.push_back(uint8_t(banks.takeCycles(reads)));
      }
  // Each further channel word lies a plane's pitch behind the one before.
  std::array<int64_t, 4> first = reads;
  for (int64_t word = 1; word < words; ++word)
    for (int64_t bank = 0; bank < 4; ++bank)
      reads[size_t((bank + word * job.in.planePitch) & 3)] += first[size_t(bank)];
}

void OperandPlan::planDepthwise(const Execute &job, const ArrayConfig &config) {
  const Window &w = job.window;
  entrySteps.assign(size_t(w.kernelHeight), ceilDiv(w.kernelWidth, config.reduction));
  readsPerGroup = w.kernelHeight;
  int64_t span = (config.pixels - 1) * w.strideWidth + w.kernelWidth;
  int64_t overlap = std::max<int64_t>(w.kernelWidth - w.strideWidth, 0), all = 0;
  for (int64_t row = 0; row < job.samples * job.outRowCount; ++row)
    for (int64_t x = 0; x < job.outWidth; x += config.pixels)
      for (int64_t ky = 0; ky < w.kernelHeight; ++ky) {
        int64_t y = (job.outRowStart + row % job.outRowCount) * w.strideHeight - w.padTop + ky;
        bool inside = y >= 0 && y < job.inHeight;
        // Words that the group before did not read, four neighbours per cycle.
        int64_t words = inside ? span - (x ? overlap : 0) : 0;
        cycles.push_back(uint8_t(std::max<int64_t>(1, ceilDiv(words, 4))));
        all += words;
      }
  reads.fill(all / 4);
}

void OperandPlan::planPacked(const Execute &job, const ArrayConfig &config) {
  const Window &w = job.window;
  int64_t C = config.reduction, channels = job.packedChannels;
  packedRowBytes = w.kernelWidth * channels;
  int64_t carry = 0;
  for (int64_t ky = 0; ky < w.kernelHeight; ++ky) {
    int64_t available = carry + packedRowBytes + (ky + 1 == w.kernelHeight ? C - 1 : 0);
    entrySteps.push_back(available / C);
    carry += packedRowBytes - available / C * C;
  }
  readsPerGroup = w.kernelHeight;
  int64_t pixels = job.samples * job.outRowCount * job.outWidth, rowWidth = job.inWidth * channels;
  std::vector<int64_t> at(size_t(config.pixels)), left(size_t(config.pixels));
  for (int64_t group = 0; group < groupCount; ++group)
    for (int64_t ky = 0; ky < w.kernelHeight; ++ky) {
      for (int64_t p = 0; p < config.pixels; ++p) {
        left[size_t(p)] = 0;
        int64_t q = group * config.pixels + p;
        if (q >= pixels)
          continue;
        Pixel pixel = pixelOf(job, q);
        int64_t y = (job.outRowStart + pixel.row) * w.strideHeight - w.padTop + ky * w.dilationHeight;
        int64_t x = (pixel.x * w.strideWidth - w.padLeft) * channels;
        int64_t begin = std::max<int64_t>(x, 0), end = std::min(x + packedRowBytes, rowWidth);
        if (y < 0 || y >= job.inHeight || begin >= end)
          continue;
        at[size_t(p)] = rowAddress(job, pixel.sample, y) + begin / 16;
        left[size_t(p)] = (end - 1) / 16 - begin / 16 + 1;
      }
      // Each lane takes its words in order; a word goes to all lanes that stand at it.
      int64_t count = 0;
      for (bool more = true; more; ++count) {
        std::array<int64_t, 4> word = {-1, -1, -1, -1};
        more = false;
        for (size_t p = 0; p < left.size(); ++p) {
          int64_t &bank = word[size_t(at[p] & 3)];
          if (left[p] && (bank < 0 || bank == at[p])) {
            bank = at[p]++;
            --left[p];
          }
          more |= left[p] != 0;
        }
        for (size_t bank = 0; bank < 4; ++bank)
          reads[bank] += word[bank] >= 0;
      }
      cycles.push_back(uint8_t(count));
    }
}

} // namespace tilewright::sim::model
