//===- FuzzedExecute.cpp - random execute jobs and their weights ----------===//

#include "sim/fuzz/Fuzzer.h"
#include <bit>
#include <cmath>

namespace tilewright::sim {

void Fuzzer::execute() {
  const bool packed = oneIn(4);
  const LiveMap *found = anyMap(packed);
  if (!found)
    return load();
  const LiveMap in = *found;
  ++layer;
  Execute job;
  Window &w = job.window;
  bool depthwise = !packed && config.channels <= 16 && oneIn(3);
  job.mode = packed ? ExecuteMode::Packed : depthwise ? ExecuteMode::Depthwise : ExecuteMode::Dense;
  w.kernelHeight = oneIn(3) ? 1 : between(1, oneIn(4) ? 7 : 3);
  w.kernelWidth = oneIn(3) ? w.kernelHeight : between(1, oneIn(4) ? 7 : 3);
  w.strideHeight = between(1, depthwise ? 2 : 3);
  w.strideWidth = oneIn(2) ? w.strideHeight : between(1, depthwise ? 2 : 3);
  w.dilationHeight = depthwise || oneIn(2) ? 1 : between(1, 3);
  w.dilationWidth = depthwise || packed || oneIn(2) ? 1 : between(1, 3);
  w.padTop = oneIn(3) ? 0 : between(-1, w.kernelHeight);
  w.padLeft = oneIn(3) ? 0 : between(-1, w.kernelWidth);
  job.in.ringRows = 1;
  job.inHeight = in.height;
  job.inWidth = in.width;
  job.padValue = between(-128, 127);
  job.samples = between(1, in.samples);
  job.packedChannels = packed ? in.packedChannels : 0;
  job.channelSteps = job.mode == ExecuteMode::Dense ? between(1, in.planes() * 16 / config.reduction) : 1;
  if (job.mode == ExecuteMode::Dense && oneIn(2))
    job.channelSteps = ceilDiv(in.channels, config.reduction);
  if (!chooseRows(in, w, job.outRowStart, job.outRowCount, 10))
    return;
  job.in = in.at(inputRows(job).size() ? inputRows(job).begin : 0);
  int64_t natural =
      (in.width + 2 * std::max<int64_t>(w.padLeft, 0) - (w.kernelWidth - 1) * w.dilationWidth - 1) / w.strideWidth + 1;
  job.outWidth = oneIn(4) ? between(1, 20) : std::max<int64_t>(natural, 1);
  job.outChannels = depthwise ? between(1, in.planes() * 16) : pick({1, 3, 7, 8, 9, 16, 17, 24, 33, 40});
  if (!depthwise && config.channels > 16 && oneIn(2))
    job.outChannels = between(1, config.channels + 20);
  bool split = oneIn(6);
  if (split || oneIn(8)) { // one brick, or one group of pixels
    job.samples = job.outRowCount = 1;
    job.outWidth = between(1, config.pixels);
  }
  if (split)
    job.outChannels = depthwise ? std::min(job.outChannels, config.channels) : between(1, config.channels);
  job.in = in.at(inputRows(job).size() ? inputRows(job).begin : 0);
  job.outChannelOffset = oneIn(3) ? below(16) : 0;

  LiveMap out;
  out.width = job.outWidth;
  out.channels = job.outChannels;
  out.samples = job.samples;
  Range rows{job.outRowStart, job.outRowStart + job.outRowCount};

  // A residual of the output's shape: any map that is large enough, or the output itself.
  job.residual = oneIn(3);
  const LiveMap *residual = nullptr;
  LiveMap residualCopy;
  bool inPlace = false;
  if (job.residual) {
    for (const LiveMap &live : maps)
      if (!live.packedChannels && live.width >= job.outWidth && live.channels >= job.outChannels &&
          live.samples >= job.samples && live.rows.begin <= rows.begin && live.rows.end >= rows.end)
        residual = &live;
    if (residual) {
      residualCopy = *residual;
      residual = &residualCopy;
      inPlace = oneIn(3) && (residualCopy.lastWord < in.firstWord || residualCopy.firstWord > in.lastWord);
    }
  }
  if (inPlace) {
    job.outChannelOffset = 0;
    out = residualCopy;
  } else if (!chooseOutput(out, job.outChannelOffset, {&in, residual}, rows)) {
    return;
  }
  job.out = out.at(rows.begin);
  if (job.residual)
    job.residualMap = residual ? residualCopy.at(rows.begin) : Map{};
  if (job.residual && !residual)
    job.residual = false;
  if (!chooseRelease(job, split))
    return;
  chooseEpilogue(job);
  countPaths(job, in, inPlace);
  emitExecute(job, split);
  if (!inPlace)
    enlist(out);
}

bool Fuzzer::chooseRelease(Execute &job, bool split) {
  int64_t words = blockWords(job, config), blocks = channelBlocks(job, config), groups = pixelGroups(job, config);
  job.release = Release::Block;
  if (groups == 1 && oneIn(2))
    job.release = Release::Stream;
  if (words > config.ringWords()) {
    if (groups != 1)
      return false;
    job.release = Release::Stream;
  }
  repeat = 1;
  if (!split && blocks * words <= config.ringWords() / 2 && oneIn(4))
    repeat = between(2, 3); // the same weights serve several jobs; the last one frees them
  return true;
}

void Fuzzer::chooseEpilogue(Execute &job) {
  job.accInit = job.accFinish = true;
  job.outZeroPoint = oneIn(2) ? 0 : between(-128, 127);
  job.clampMin = oneIn(2) ? -128 : between(-128, 127);
  job.clampMax = oneIn(2) ? 127 : between(job.clampMin, 127);
  job.table1 = oneIn(3) ? between(1, config.tableSlots) : 0;
  job.table2 = oneIn(3) ? between(1, config.tableSlots) : 0;
  if (!job.residual)
    return;
  job.residualSwap = oneIn(2);
  job.residualUnsigned = oneIn(2);
  // Half of the sums are multiples of a quarter, so that many of them are ties.
  if (oneIn(2)) {
    job.residualScaleA = float(between(1, 6)) / 4;
    job.residualScaleB = float(between(1, 6)) / 4;
    job.residualFix = float(between(-400, 400)) / 4;
  } else {
    job.residualScaleA = uniform(0.05f, 1.5f);
    job.residualScaleB = oneIn(8) ? uniform(-1e20f, 1e20f) : uniform(0.05f, 1.5f);
    job.residualFix = uniform(-100.0f, 100.0f);
  }
  job.residualZeroPoint = oneIn(2) ? 0 : between(-128, 127);
  job.residualClampMin = oneIn(2) ? -128 : between(-128, 127);
  job.residualClampMax = oneIn(2) ? 127 : between(job.residualClampMin, 127);
}

void Fuzzer::countPaths(const Execute &job, const LiveMap &in, bool inPlace) {
  took(job.mode == ExecuteMode::Dense ? "execute dense" : packedMode(job) ? "execute packed" : "execute depthwise");
  if (job.outChannels % config.channels)
    took("partial channel block");
  if (channelBlocks(job, config) > 1)
    took("several channel blocks");
  if (job.samples > 1)
    took("samples");
  if (job.outChannelOffset)
    took("channel offset");
  if (job.residual)
    took("residual");
  if (job.residual && job.residualSwap)
    took("residual swapped");
  if (job.residual && job.residualUnsigned)
    took("residual unsigned");
  if (job.residual && job.residualZeroPoint)
    took("residual zero point");
  if (inPlace)
    took("residual in place");
  if (job.table1)
    took("table 1");
  if (job.table2)
    took("table 2");
  if (job.window.dilationHeight > 1 || job.window.dilationWidth > 1)
    took("dilation");
  if (job.window.padTop < 0 || job.window.padLeft < 0)
    took("negative padding");
  if (inputRows(job).size() == 0 || inputColumns(job).size() == 0)
    took("only padding");
  if (in.map.ringRows < in.height)
    took("execute reads a row ring");
}

void Fuzzer::appendBlock(std::vector<uint8_t> &bytes, const Execute &job, int64_t block, int parts) {
  int64_t K = config.channels, C = config.reduction, wordBytes = config.ringWordBytes();
  size_t begin = bytes.size();
  bytes.resize(begin + size_t(blockWords(job, config) * wordBytes), 0);
  double spread = 5400.0 * std::sqrt(double(steps(job, config) * C * parts));
  for (int64_t k = 0; k < K; ++k) {
    int32_t bias = int32_t(between(-int64_t(spread), int64_t(spread)));
    float m = uniform(10.0f, 120.0f) / float(spread), mNegative = oneIn(2) ? m : m * uniform(0.0f, 1.0f);
    if (oneIn(40)) // denormal, huge, tiny
      m = std::bit_cast<float>(uint32_t(random() % 0x7f800000));
    std::memcpy(bytes.data() + begin + 4 * k, &bias, 4);
    std::memcpy(bytes.data() + begin + 4 * (K + k), &m, 4);
    std::memcpy(bytes.data() + begin + 4 * (2 * K + k), &mNegative, 4);
  }
  uint8_t *weights = bytes.data() + begin + config.headerWords() * wordBytes;
  int64_t rowSteps = ceilDiv(job.window.kernelWidth, C);
  int64_t elements = job.window.kernelHeight * job.window.kernelWidth * job.packedChannels;
  for (int64_t s = 0; s < steps(job, config); ++s)
    for (int64_t k = 0; k < K; ++k)
      for (int64_t c = 0; c < C; ++c) {
        bool idle = (job.mode == ExecuteMode::Depthwise && s % rowSteps * C + c >= job.window.kernelWidth) ||
                    (job.mode == ExecuteMode::Packed && s * C + c >= elements);
        weights[s * wordBytes + k * C + c] = idle ? 0 : uint8_t(random());
      }
  (void)block;
}

int64_t Fuzzer::placeWeights(const std::vector<uint8_t> &bytes) {
  int64_t address = int64_t(program.memory.size());
  program.memory.insert(program.memory.end(), bytes.begin(), bytes.end());
  program.memory.resize((program.memory.size() + 15) / 16 * 16);
  return address;
}

void Fuzzer::emitWeights(const std::vector<uint8_t> &bytes) {
  // One job, or several of whole ring words.
  int64_t address = placeWeights(bytes), words = int64_t(bytes.size()) / config.ringWordBytes();
  while (words > 0) {
    Weights job;
    int64_t part = oneIn(2) ? words : between(1, words);
    job.layer = layer;
    job.dramAddress = address;
    job.byteCount = part * config.ringWordBytes();
    program.descriptors.push_back(job);
    weightJobs.push_back(program.descriptors.size() - 1);
    // Weights lie outside what loads and stores touch: no waits, but the count goes on.
    countWeights();
    address += job.byteCount;
    words -= part;
  }
  ringFill += int64_t(bytes.size()) / config.ringWordBytes();
  if (ringFill > config.ringWords())
    took("ring wrap");
}

void Fuzzer::countWeights() {
  Descriptor counted = Weights();
  std::get<Weights>(counted).byteCount = 0;
  dependences.issue(counted);
}

void Fuzzer::emitExecute(Execute job, bool split) {
  int parts = split ? int(between(2, 3)) : 1;
  for (int part = 0; part < parts; ++part) {
    job.accInit = part == 0;
    job.accFinish = part + 1 == parts;
    std::vector<uint8_t> bytes;
    for (int64_t block = 0; block < channelBlocks(job, config); ++block)
      appendBlock(bytes, job, block, parts);
    emitWeights(bytes);
    Release last = job.release;
    for (int64_t turn = 0; turn < repeat; ++turn) {
      // With repeats the output is written again: the same values in golden, an ordering test in hardware.
      Execute copy = job;
      copy.release = turn + 1 < repeat ? Release::Keep : last;
      if (copy.release == Release::Keep && channelBlocks(copy, config) > 1 && oneIn(2) && !copy.residual) {
        copy.ringOffset = blockWords(copy, config); // all but the first block
        copy.outChannels -= config.channels;
        took("ring offset");
      }
      if (copy.mode == ExecuteMode::Depthwise && copy.ringOffset) {
        copy.outChannels += config.channels;
        copy.ringOffset = 0;
      }
      if (repeat > 1)
        took("release keep");
      issue(copy);
    }
    took(last == Release::Stream ? "release stream" : "release block");
    if (split)
      took("split reduction");
  }
}

} // namespace tilewright::sim
