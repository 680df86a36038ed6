//===- SystolicNet.cpp - small networks with known results ----------------===//

#include "SystolicNet.h"
#include "backends/systolic/isa/JobGeometry.h"
#include "backends/systolic/isa/ProgramVerifier.h"
#include "sim/RtlExecutor.h"
#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>

using namespace tilewright;
using namespace tilewright::systolic;

int SystolicNet::newMap(int64_t samples, int64_t channels, int64_t height, int64_t width, bool isUnsigned) {
  NetMap map;
  map.operand.samples = samples;
  map.operand.channels = channels;
  map.operand.height = height;
  map.operand.width = width;
  map.operand.isUnsigned = isUnsigned;
  map.values.resize(samples * channels * height * width);
  maps.push_back(std::move(map));
  return static_cast<int>(maps.size()) - 1;
}

int SystolicNet::input(int64_t samples, int64_t channels, int64_t height, int64_t width, DramLayout layout,
                       bool isUnsigned) {
  int index = newMap(samples, channels, height, width, isUnsigned);
  NetMap &map = maps[index];
  map.operand.packed = layout != DramLayout::Blocked;
  map.operand.dram = DramPlace{layout, 0, 0, 0, 0};
  for (int8_t &value : map.values)
    value = static_cast<int8_t>(random());
  return index;
}

void SystolicNet::output(int map) { outputs.push_back(map); }

void SystolicNet::concat(std::initializer_list<int> parts) {
  int64_t offset = 0;
  for (int part : parts) {
    parents[part] = {*parts.begin(), offset};
    offset += maps[part].operand.channels;
  }
  concatChannels[*parts.begin()] = offset;
}

static float rounded(float value) { return std::nearbyint(value); }

int8_t SystolicNet::finish(const Layer &layer, int64_t channel, int64_t sum, int second, int64_t n, int64_t y,
                           int64_t x) const {
  int32_t total = static_cast<int32_t>(sum);
  float m = layer.scale[channel];
  if (total < 0 && !layer.scaleNeg.empty())
    m = layer.scaleNeg[channel];
  float v = static_cast<float>(total) * m;
  v = std::min(std::max(v, static_cast<float>(layer.clampMin - layer.zeroPoint)),
               static_cast<float>(layer.clampMax - layer.zeroPoint));
  int64_t q = static_cast<int64_t>(rounded(v)) + layer.zeroPoint;
  if (layer.table1)
    q = (*layer.table1)[q + 128];
  if (second >= 0) {
    int64_t shift = layer.residual.isUnsigned ? 128 : 0;
    float a = q + shift, b = maps[second].at(n, channel, y, x) + shift;
    if (layer.residual.swap)
      std::swap(a, b);
    float s = std::fma(a, layer.residual.scaleA, std::fma(b, layer.residual.scaleB, layer.residual.fix));
    q = std::clamp<int64_t>(static_cast<int64_t>(rounded(s)) + layer.residual.zeroPoint, layer.residual.clampMin,
                            layer.residual.clampMax);
  }
  if (layer.table2)
    q = (*layer.table2)[q + 128];
  return static_cast<int8_t>(q);
}

static int64_t outputSize(int64_t in, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad) {
  return (in + 2 * pad - (kernel - 1) * dilation - 1) / stride + 1;
}

int SystolicNet::conv(int in, const ConvOptions &o) {
  Operand source = maps[in].operand;
  int64_t inputs = source.channels / o.groups, kernel = o.kernelHeight * o.kernelWidth;
  Layer layer;
  layer.name = "conv" + std::to_string(program.layers.size());
  layer.kind = o.groups > 1 && o.groups == source.channels ? LayerKind::Depthwise : LayerKind::Contraction;
  layer.reportKind = "convolution";
  layer.groups = o.groups;
  int64_t padHeight = o.kernelHeight > 1 ? o.pad : 0, padWidth = o.kernelWidth > 1 ? o.pad : 0;
  layer.window = {o.kernelHeight, o.kernelWidth, o.stride, o.stride, o.dilation, o.dilation, padHeight, padWidth};
  layer.padValue = static_cast<int>(random() % 40) - 20;
  int out = newMap(source.samples, o.out, outputSize(source.height, o.kernelHeight, o.stride, o.dilation, padHeight),
                   outputSize(source.width, o.kernelWidth, o.stride, o.dilation, padWidth),
                   o.residual >= 0 && maps[o.residual].operand.isUnsigned);
  std::vector<int16_t> weights(o.out * inputs * kernel);
  for (int16_t &w : weights)
    w = o.wide ? static_cast<int>(random() % 511) - 255 : static_cast<int>(random() % 256) - 128;
  if (o.wide)
    layer.weights.wide = wide.emplace_back(weights).data();
  else
    layer.weights.bytes = bytes.emplace_back(weights.begin(), weights.end()).data();
  for (int64_t c = 0; c < o.out; ++c) {
    layer.bias.push_back(static_cast<int>(random() % 4001) - 2000);
    layer.scale.push_back((0.5f + (random() % 1000) * 0.001f) / (74.0f * std::sqrt(float(inputs * kernel))));
    if (o.prelu)
      layer.scaleNeg.push_back(layer.scale.back() * 0.25f);
  }
  layer.zeroPoint = static_cast<int>(random() % 40) - 20;
  layer.clampMin = o.prelu ? -128 : layer.zeroPoint - 60;
  auto makeTable = [&] {
    ValueTable table;
    for (int8_t &value : table)
      value = static_cast<int8_t>(random());
    return table;
  };
  if (o.table1)
    layer.table1 = makeTable();
  if (o.table2)
    layer.table2 = makeTable();
  bool isUnsigned = maps[out].operand.isUnsigned;
  layer.residual = {0.61f, 0.53f, 1.75f, o.swap, isUnsigned, /*zeroPoint=*/isUnsigned ? -121 : 3, -120, 127};
  layer.tileRows = o.tileRows;
  layer.tileChannels = o.tileChannels;
  layer.tileSamples = o.tileSamples;
  layer.channelsOutermost = o.channelsOutermost;
  layer.group = o.group;

  const NetMap &input = maps[in];
  NetMap &result = maps[out];
  layer.macs = result.values.size() * inputs * kernel;
  size_t at = 0;
  for (int64_t n = 0; n < result.operand.samples; ++n)
    for (int64_t c = 0; c < o.out; ++c)
      for (int64_t y = 0; y < result.operand.height; ++y)
        for (int64_t x = 0; x < result.operand.width; ++x) {
          int64_t sum = layer.bias[c], first = c / (o.out / o.groups) * inputs;
          const int16_t *w = weights.data() + c * inputs * kernel;
          for (int64_t i = 0; i < inputs; ++i)
            for (int64_t ky = 0; ky < o.kernelHeight; ++ky)
              for (int64_t kx = 0; kx < o.kernelWidth; ++kx, ++w) {
                int64_t iy = y * o.stride - padHeight + ky * o.dilation, ix = x * o.stride - padWidth + kx * o.dilation;
                bool inside = iy >= 0 && iy < source.height && ix >= 0 && ix < source.width;
                sum += *w * (inside ? input.at(n, first + i, iy, ix) : layer.padValue);
              }
          result.values[at++] = finish(layer, c, sum, o.residual, n, y, x);
        }
  program.layers.push_back(std::move(layer));
  uses.push_back({in, o.residual, out});
  return out;
}

int SystolicNet::maxPool(int in, int64_t kernel, int64_t stride, int64_t pad, int64_t tileRows, int group) {
  Operand source = maps[in].operand;
  Layer layer;
  layer.name = "pool" + std::to_string(program.layers.size());
  layer.reportKind = "max pool";
  layer.kind = LayerKind::MaxPool;
  layer.window = {kernel, kernel, stride, stride, 1, 1, pad, pad};
  layer.padValue = -128;
  layer.tileRows = tileRows;
  layer.group = group;
  int out = newMap(source.samples, source.channels, outputSize(source.height, kernel, stride, 1, pad),
                   outputSize(source.width, kernel, stride, 1, pad), source.isUnsigned);
  NetMap &result = maps[out];
  size_t at = 0;
  for (int64_t n = 0; n < source.samples; ++n)
    for (int64_t c = 0; c < source.channels; ++c)
      for (int64_t y = 0; y < result.operand.height; ++y)
        for (int64_t x = 0; x < result.operand.width; ++x) {
          int8_t best = -128;
          for (int64_t iy = y * stride - pad; iy < y * stride - pad + kernel; ++iy)
            for (int64_t ix = x * stride - pad; ix < x * stride - pad + kernel; ++ix)
              if (iy >= 0 && iy < source.height && ix >= 0 && ix < source.width)
                best = std::max(best, maps[in].at(n, c, iy, ix));
          result.values[at++] = best;
        }
  program.layers.push_back(std::move(layer));
  uses.push_back({in, -1, out});
  return out;
}

int SystolicNet::averagePool(int in, int64_t kernel, int64_t stride, int64_t pad, bool countPad) {
  Operand source = maps[in].operand;
  Layer layer;
  layer.name = "average" + std::to_string(program.layers.size());
  layer.reportKind = "average pool";
  layer.kind = LayerKind::SumPool;
  layer.window = {kernel, kernel, stride, stride, 1, 1, pad, pad};
  layer.padValue = 7;
  layer.sumBias = -7 * kernel * kernel;
  layer.zeroPoint = -3;
  int out = newMap(source.samples, source.channels, outputSize(source.height, kernel, stride, 1, pad),
                   outputSize(source.width, kernel, stride, 1, pad), source.isUnsigned);
  NetMap &result = maps[out];
  auto inside = [&](int64_t position, int64_t limit) {
    int64_t count = 0;
    for (int64_t i = position * stride - pad; i < position * stride - pad + kernel; ++i)
      count += i >= 0 && i < limit;
    return count;
  };
  for (int64_t y = 0; y < result.operand.height; ++y)
    for (int64_t x = 0; x < result.operand.width; ++x) {
      int64_t count = countPad ? kernel * kernel : inside(y, source.height) * inside(x, source.width);
      float scale = static_cast<float>(1.3 / count);
      layer.regions.push_back({y, 1, x, 1, scale});
      for (int64_t n = 0; n < source.samples; ++n)
        for (int64_t c = 0; c < source.channels; ++c) {
          int64_t sum = 0;
          for (int64_t iy = y * stride - pad; iy < y * stride - pad + kernel; ++iy)
            for (int64_t ix = x * stride - pad; ix < x * stride - pad + kernel; ++ix)
              if (iy >= 0 && iy < source.height && ix >= 0 && ix < source.width)
                sum += maps[in].at(n, c, iy, ix) - 7;
          float v = static_cast<float>(sum) * scale;
          v = std::min(std::max(v, -125.0f), 130.0f);
          result.values[((n * source.channels + c) * result.operand.height + y) * result.operand.width + x] =
              static_cast<int8_t>(static_cast<int>(rounded(v)) - 3);
        }
    }
  program.layers.push_back(std::move(layer));
  uses.push_back({in, -1, out});
  return out;
}

int SystolicNet::add(int a, int b) {
  Operand source = maps[a].operand;
  Layer layer;
  layer.name = "add" + std::to_string(program.layers.size());
  layer.reportKind = "add";
  layer.kind = LayerKind::Add;
  layer.residual = {0.4f, 0.7f, -2.5f, false, source.isUnsigned, /*zeroPoint=*/source.isUnsigned ? -128 : -5,
                    -128, 127};
  int out = newMap(source.samples, source.channels, source.height, source.width, source.isUnsigned);
  int64_t shift = source.isUnsigned ? 128 : 0;
  for (size_t i = 0; i < maps[out].values.size(); ++i) {
    float s = std::fma(float(maps[a].values[i] + shift), 0.4f, std::fma(float(maps[b].values[i] + shift), 0.7f, -2.5f));
    maps[out].values[i] = static_cast<int8_t>(
        std::clamp<int64_t>(static_cast<int64_t>(rounded(s)) + layer.residual.zeroPoint, -128, 127));
  }
  program.layers.push_back(std::move(layer));
  uses.push_back({a, b, out});
  return out;
}

int SystolicNet::lookUp(int in) {
  Operand source = maps[in].operand;
  Layer layer;
  layer.name = "table" + std::to_string(program.layers.size());
  layer.reportKind = "elementwise";
  layer.kind = LayerKind::MaxPool;
  layer.table1.emplace();
  for (int8_t &value : *layer.table1)
    value = static_cast<int8_t>(random());
  int out = newMap(source.samples, source.channels, source.height, source.width, source.isUnsigned);
  for (size_t i = 0; i < maps[out].values.size(); ++i)
    maps[out].values[i] = (*layer.table1)[maps[in].values[i] + 128];
  program.layers.push_back(std::move(layer));
  uses.push_back({in, -1, out});
  return out;
}

//===----------------------------------------------------------------------===//
// Placement, running, comparing
//===----------------------------------------------------------------------===//

int64_t SystolicNet::allocate(int64_t words) {
  int64_t base = used;
  used += words;
  return base;
}

/// Everything gets words of its own: what a network needs is the sum of its maps and rings.
void SystolicNet::place() {
  auto layOut = [&](Operand &operand, int64_t rows, int64_t channels, int64_t samples) {
    int64_t planes = operand.packed ? 1 : (channels + 15) / 16;
    operand.place.ringRows = rows;
    operand.place.pitch = operand.rowWords();
    operand.place.planePitch = rows * operand.place.pitch;
    operand.place.samplePitch = planes * operand.place.planePitch;
    operand.place.base = allocate(samples * operand.place.samplePitch);
  };
  auto dramOf = [&](const Operand &operand, DramLayout layout, int64_t channels) {
    DramPlace dram;
    dram.layout = layout;
    dram.offset = arena;
    int64_t h = operand.height, w = operand.width;
    if (layout == DramLayout::Blocked) {
      dram.rowStride = w * 16;
      dram.planeStride = h * w * 16;
      dram.sampleStride = (channels + 15) / 16 * dram.planeStride;
    } else if (layout == DramLayout::Nhwc) {
      dram.rowStride = w * channels;
      dram.sampleStride = h * dram.rowStride;
    } else {
      dram.rowStride = w;
      dram.planeStride = h * w;
      dram.sampleStride = channels * dram.planeStride;
    }
    arena = (arena + operand.samples * dram.sampleStride + 63) / 64 * 64;
    return dram;
  };
  for (size_t i = 0; i < maps.size(); ++i) {
    int index = static_cast<int>(i);
    Operand &operand = maps[i].operand;
    auto parent = parents.find(index);
    int64_t channels = concatChannels.count(index) ? concatChannels[index] : operand.channels;
    bool isInput = operand.dram.has_value();
    if (parent != parents.end() && parent->second.first != index) {
      operand.place = maps[parent->second.first].operand.place;
      operand.place.base += parent->second.second / 16 * operand.place.planePitch;
      operand.place.channelOffset = parent->second.second % 16;
    } else if (!streamed.count(index)) {
      layOut(operand, rings.count(index) ? rings[index] : operand.height, channels, operand.samples);
    }
    if (isInput || streamed.count(index) || std::count(outputs.begin(), outputs.end(), index))
      operand.dram = dramOf(operand, isInput ? operand.dram->layout : DramLayout::Blocked, operand.channels);
  }
  std::vector<bool> loaded(maps.size(), false);
  for (size_t i = 0; i < program.layers.size(); ++i) {
    Layer &layer = program.layers[i];
    Use use = uses[i];
    auto bind = [&](int map, Operand &operand) {
      operand = maps[map].operand;
      bool isInput = map < static_cast<int>(maps.size()) && operand.dram &&
                     std::none_of(uses.begin(), uses.end(), [&](const Use &u) { return u.out == map; });
      if (streamed.count(map)) {
        int64_t samples = layer.tileSamples ? layer.tileSamples : operand.samples;
        layOut(operand, std::min(streamed[map], operand.height), operand.channels, samples);
        operand.isStaged = true;
      } else if (isInput && !loaded[map]) {
        loaded[map] = true;
      } else {
        operand.dram.reset(); // in the scratchpad already
      }
      for (size_t j = 0; j < i; ++j)
        if (uses[j].out == map && program.layers[j].group == layer.group && layer.group >= 0)
          operand.producer = static_cast<int>(j);
    };
    bind(use.in, layer.in);
    // A reader of a concatenation sees all of its channels.
    if (auto whole = concatChannels.find(use.in); whole != concatChannels.end())
      layer.in.channels = whole->second;
    if (use.second >= 0)
      bind(use.second, layer.second);
    layer.out = maps[use.out].operand;
    if (streamed.count(use.out)) {
      int64_t samples = layer.tileSamples ? layer.tileSamples : layer.out.samples;
      layOut(layer.out, std::min(streamed[use.out], layer.out.height), layer.out.channels, samples);
      layer.out.isStaged = true;
    }
  }
  program.arenaBytes = arena;
}

static int64_t dramIndex(const Operand &operand, int64_t n, int64_t c, int64_t y, int64_t x) {
  const DramPlace &d = *operand.dram;
  int64_t at = d.offset + n * d.sampleStride + y * d.rowStride;
  switch (d.layout) {
  case DramLayout::Blocked:
    return at + c / 16 * d.planeStride + x * 16 + c % 16;
  case DramLayout::Nhwc:
    return at + x * operand.channels + c;
  case DramLayout::Nchw:
    return at + c * d.planeStride + x;
  }
  return 0;
}

/// Another order in which the hardware could run the same jobs: each queue in order, waits and ring obeyed, otherwise
/// by chance. A missing wait shows as a different result.
static std::vector<isa::Descriptor> shuffled(const std::vector<isa::Descriptor> &program, const ArrayConfig &array,
                                             std::mt19937 &random) {
  std::array<std::vector<const isa::Descriptor *>, 5> queues;
  for (const isa::Descriptor &d : program)
    if (isa::opcode(d) != isa::Opcode::Sync)
      queues[static_cast<int>(isa::opcode(d)) - 1].push_back(&d);
  std::array<size_t, 5> done = {};
  int64_t appended = 0, freed = 0;
  std::vector<isa::Descriptor> order;
  while (order.size() + 1 < program.size()) {
    // Queues differ in speed for a while, so that one runs far ahead of the others.
    size_t q = random() % 5;
    for (int64_t burst = random() % 6; burst >= 0 && done[q] < queues[q].size(); --burst) {
      const isa::Descriptor &d = *queues[q][done[q]];
      const isa::Header &h = isa::header(d);
      if (int64_t(done[0]) < h.waitLoad || int64_t(done[1]) < h.waitWeights || int64_t(done[2]) < h.waitExecute ||
          int64_t(done[3]) < h.waitVector || int64_t(done[4]) < h.waitStore)
        break;
      if (const auto *w = std::get_if<isa::Weights>(&d); w && w->destination == isa::WeightsDestination::Ring) {
        if (appended + w->byteCount / array.ringWordBytes() - freed > array.ringWords())
          break;
        appended += w->byteCount / array.ringWordBytes();
      }
      if (const auto *e = std::get_if<isa::Execute>(&d)) {
        int64_t words = isa::blockWords(*e, array) * isa::channelBlocks(*e, array);
        if (freed + e->ringOffset + words > appended)
          break;
        if (e->release != isa::Release::Keep)
          freed += words;
      }
      order.push_back(d);
      ++done[q];
    }
  }
  order.push_back(program.back());
  return order;
}

std::string SystolicNet::check() {
  place();
  scheduled = schedulePrograms(array, {program}).front();
  isa::verifyProgram(scheduled.descriptors, array, scheduled.dramBytes);
  DeviceProgram device = encodeProgram(scheduled);
  for (int attempt = 0; attempt < 4; ++attempt) {
    if (attempt > 0)
      device.descriptors = isa::encode(shuffled(scheduled.descriptors, array, random));
    if (std::string problem = runOnGolden(device); !problem.empty())
      return (attempt ? "in another order of jobs: " : "") + problem;
  }
  return {};
}

std::string SystolicNet::runOnGolden(const DeviceProgram &device) {
  std::vector<uint8_t> memory(device.dramBytes, 0xA5);
  for (const Segment &segment : device.constants)
    std::copy(segment.bytes.begin(), segment.bytes.end(), memory.begin() + segment.address);
  std::copy(device.descriptors.begin(), device.descriptors.end(), memory.begin() + device.programAddress);
  auto forEach = [](const Operand &o, auto visit) {
    for (int64_t n = 0; n < o.samples; ++n)
      for (int64_t c = 0; c < o.channels; ++c)
        for (int64_t y = 0; y < o.height; ++y)
          for (int64_t x = 0; x < o.width; ++x)
            visit(n, c, y, x);
  };
  for (size_t i = 0; i < maps.size(); ++i) {
    const NetMap &map = maps[i];
    bool computed =
        std::any_of(uses.begin(), uses.end(), [&](const Use &use) { return use.out == static_cast<int>(i); });
    if (!computed)
      forEach(map.operand, [&](int64_t n, int64_t c, int64_t y, int64_t x) {
        memory[dramIndex(map.operand, n, c, y, x)] = map.at(n, c, y, x) ^ (map.operand.isUnsigned ? 0x80 : 0);
      });
  }
  sim::RunOptions options;
  options.strict = true;
  options.fill = 0x5A;
  std::unique_ptr<sim::Executor> golden = sim::makeGoldenExecutor();
  if (std::getenv("TILEWRIGHT_TEST_RTL")) {
    options.collectWrites = true;
    options.fill = 0;
    std::vector<uint8_t> before = memory, other = memory;
    std::unique_ptr<sim::Executor> rtl = sim::makeRtlExecutor();
    sim::RunResult expected = golden->run(array, memory, device.programAddress, options);
    sim::RunResult actual = rtl->run(array, other, device.programAddress, options);
    std::printf("%llu cycles, %llu steps, %lld expected\n", static_cast<unsigned long long>(actual.cycles),
                static_cast<unsigned long long>(actual.steps()), static_cast<long long>(scheduled.expectedCycles));
    std::string difference =
        sim::compareWrites(array, before, device.programAddress, *golden, expected, *rtl, actual, options);
    if (!difference.empty())
      return difference;
  } else {
    golden->run(array, memory, device.programAddress, options);
  }
  std::string problem;
  for (int index : outputs) {
    const NetMap &map = maps[index];
    forEach(map.operand, [&](int64_t n, int64_t c, int64_t y, int64_t x) {
      int8_t got = memory[dramIndex(map.operand, n, c, y, x)] ^ (map.operand.isUnsigned ? 0x80 : 0);
      if (problem.empty() && got != map.at(n, c, y, x))
        problem = "map " + std::to_string(index) + " [" + std::to_string(n) + ", " + std::to_string(c) + ", " +
                  std::to_string(y) + ", " + std::to_string(x) + "]: " + std::to_string(got) + " instead of " +
                  std::to_string(map.at(n, c, y, x));
    });
  }
  return problem;
}
