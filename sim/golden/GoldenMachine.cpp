//===- GoldenMachine.cpp - memories, and the jobs that only move bytes ----===//

#include "sim/golden/GoldenMachine.h"
#include "sim/WriteDigest.h"
#include <sstream>

namespace tilewright::sim {

using namespace isa;

GoldenMachine::GoldenMachine(const ArrayConfig &config, std::span<uint8_t> memory, const RunOptions &options,
                             RunResult &result)
    : config(config), memory(memory), options(options), result(result),
      scratchpad(size_t(config.scratchpadBytes), options.fill) {
  if (options.strict)
    written.resize(size_t(config.scratchpadWords()));
  if (options.collectWrites) {
    result.scratchpadWrites = WriteDigest(uint64_t(config.scratchpadWords()));
    result.dramWrites = WriteDigest((memory.size() + 15) / 16);
  }
}

void GoldenMachine::run(const Descriptor &descriptor, uint32_t index) {
  current = index;
  currentKind = opcode(descriptor);
  std::visit([&](const auto &job) { run(job); }, descriptor);
}

int64_t GoldenMachine::rowAddress(const Map &map, int64_t sample, int64_t plane, int64_t y) const {
  int64_t row = y - map.ringStart;
  if (row >= map.ringRows)
    row -= map.ringRows;
  if (row < 0 || row >= map.ringRows) {
    std::ostringstream message;
    message << "row " << y << " is not in the ring's span, " << map.ringStart << " to "
            << map.ringStart + 2 * map.ringRows - 1;
    throw Error(message.str());
  }
  return map.base + sample * map.samplePitch + plane * map.planePitch + row * map.pitch;
}

void GoldenMachine::checkRead(int64_t address, int64_t words) const {
  if (address < 0 || address + words > config.scratchpadWords())
    throw Error("reads word " + std::to_string(address + words - 1) + " of a scratchpad of " +
                std::to_string(config.scratchpadWords()) + " words");
  if (options.strict)
    for (int64_t i = address; i < address + words; ++i)
      if (!written[size_t(i)])
        throw Error("reads scratchpad word " + std::to_string(i) + ", which no job before it has written");
}

void GoldenMachine::write(int64_t address, const uint8_t *data, uint32_t mask) {
  if (address < 0 || address >= config.scratchpadWords())
    throw Error("writes word " + std::to_string(address) + " of a scratchpad of " +
                std::to_string(config.scratchpadWords()) + " words");
  uint8_t *word = scratchpad.data() + 16 * address;
  if (mask == 0xffff) {
    std::memcpy(word, data, 16);
  } else {
    for (unsigned b = 0; b < 16; ++b)
      if (mask >> b & 1)
        word[b] = data[b];
  }
  if (options.strict)
    written[size_t(address)] = 1;
  if (options.collectWrites)
    digestWrite(result.scratchpadWrites.word(uint64_t(address)), data, mask);
  if (uint64_t(address) == options.watchScratchpad) {
    TilewrightWrite record{0, uint32_t(currentKind), current, {}, uint16_t(mask)};
    std::memcpy(record.data, data, 16);
    result.watched.push_back(record);
  }
}

uint8_t *GoldenMachine::dram(uint64_t address, uint64_t bytes) const {
  if (address > memory.size() || memory.size() - address < bytes)
    throw Error("DRAM bytes " + std::to_string(address) + " to " + std::to_string(address + bytes - 1) +
                " are outside the memory of " + std::to_string(memory.size()) + " bytes");
  return memory.data() + address;
}

void GoldenMachine::writeDram(uint64_t address, const uint8_t *data) {
  std::memcpy(dram(address, 16), data, 16);
  if (options.collectWrites)
    digestWrite(result.dramWrites.word(address / 16), data, 0xffff);
  if (address / 16 == options.watchDram) {
    TilewrightWrite record{0, uint32_t(currentKind), current, {}, 0xffff};
    std::memcpy(record.data, data, 16);
    result.watched.push_back(record);
  }
}

void GoldenMachine::writeChannels(int64_t pixel, const Map &map, int64_t channel, int64_t count, int64_t offset,
                                  const int8_t *values) {
  uint8_t bytes[32] = {};
  int64_t first = offset + channel, byte = first % 16, address = pixel + first / 16 * map.planePitch;
  std::memcpy(bytes + byte, values, 16);
  uint32_t mask = ((1u << count) - 1) << byte;
  write(address, bytes, mask & 0xffff);
  if (mask >> 16)
    write(address + map.planePitch, bytes + 16, mask >> 16);
}

void GoldenMachine::run(const Load &job) {
  uint8_t flip = job.flipSign ? 0x80 : 0;
  for (int64_t n = 0; n < job.samples; ++n)
    for (int64_t p = 0; p < (job.mode == LoadMode::Words ? job.planes : 1); ++p)
      for (int64_t r = 0; r < job.rowCount; ++r) {
        int64_t to = rowAddress(job.out, n, p, job.rowStart + r);
        int64_t from = job.dramAddress + n * job.dramSampleStride + p * job.dramPlaneStride + r * job.dramRowStride;
        int64_t channels = job.mode == LoadMode::Planar ? job.planes : 1;
        int64_t rowBytes = job.mode == LoadMode::Words ? 16 * job.width : channels * job.width;
        for (int64_t c = 0; c < channels; ++c)
          dram(uint64_t(from + c * job.dramPlaneStride), uint64_t(rowBytes / channels));
        for (int64_t word = 0; 16 * word < rowBytes; ++word) {
          uint8_t data[16] = {};
          int64_t count = std::min<int64_t>(16, rowBytes - 16 * word);
          for (int64_t b = 0; b < count; ++b) {
            int64_t byte = 16 * word + b;
            int64_t address = channels == 1 ? byte : byte / channels + byte % channels * job.dramPlaneStride;
            data[b] = memory[size_t(from + address)] ^ flip;
          }
          write(to + word, data, 0xffff);
        }
        result.dramBytes[TilewrightDramLoad] += uint64_t(rowBytes);
      }
}

void GoldenMachine::run(const Weights &job) {
  const uint8_t *bytes = dram(uint64_t(job.dramAddress), uint64_t(job.byteCount));
  result.dramBytes[TilewrightDramWeights] += uint64_t(job.byteCount);
  if (job.destination == WeightsDestination::Table) {
    std::memcpy(tables[size_t(job.table)].data(), bytes, 256);
    return;
  }
  if (ringTail > ring.size() / 2) {
    ring.erase(ring.begin(), ring.begin() + ptrdiff_t(ringTail));
    ringTail = 0;
  }
  ring.insert(ring.end(), bytes, bytes + job.byteCount);
}

void GoldenMachine::run(const Store &job) {
  uint8_t flip = job.flipSign ? 0x80 : 0;
  for (int64_t n = 0; n < job.samples; ++n)
    for (int64_t p = 0; p < job.planes; ++p)
      for (int64_t r = 0; r < job.rowCount; ++r) {
        int64_t from = rowAddress(job.in, n, p, job.rowStart + r);
        int64_t to = job.dramAddress + n * job.dramSampleStride + p * job.dramPlaneStride + r * job.dramRowStride;
        for (int64_t x = 0; x < job.width; ++x) {
          uint8_t data[16];
          const uint8_t *word = read(from + x);
          for (unsigned b = 0; b < 16; ++b)
            data[b] = word[b] ^ flip;
          writeDram(uint64_t(to + 16 * x), data);
        }
        result.dramBytes[TilewrightDramStore] += uint64_t(16 * job.width);
      }
}

} // namespace tilewright::sim
