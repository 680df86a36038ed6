//===- Executor.cpp - results of a run, and their comparison --------------===//

#include "sim/Executor.h"
#include "backends/systolic/isa/Descriptor.h"
#include <cstring>
#include <iomanip>
#include <sstream>

namespace tilewright::sim {

uint64_t RunResult::steps() const {
  uint64_t sum = 0;
  for (const JobRecord &job : jobs)
    sum += job.steps;
  return sum;
}

std::array<uint64_t, TilewrightCauseCount> RunResult::lost() const {
  std::array<uint64_t, TilewrightCauseCount> sum{};
  for (const JobRecord &job : jobs)
    for (size_t cause = 0; cause < sum.size(); ++cause)
      sum[cause] += job.lost[cause];
  sum[TilewrightCauseNoJob] += tail;
  return sum;
}

namespace {

/// Words whose digests differ.
std::vector<uint64_t> differences(const WriteDigest &a, const WriteDigest &b) {
  std::vector<uint64_t> words;
  for (uint64_t i = 0; i < a.size(); ++i)
    if (std::memcmp(a.word(i), b.word(i), 16 * sizeof(uint32_t)) != 0)
      words.push_back(i);
  return words;
}

std::string hex(const uint8_t *bytes, uint32_t mask) {
  std::ostringstream text;
  text << std::hex << std::setfill('0');
  for (unsigned b = 0; b < 16; ++b) {
    if (mask >> b & 1)
      text << std::setw(2) << unsigned(bytes[b]);
    else
      text << "--";
    text << (b == 7 ? " " : "");
  }
  return text.str();
}

/// One byte's writes in order: who wrote what.
struct ByteWrite {
  const TilewrightWrite *write;
  uint8_t value;
};
std::vector<ByteWrite> byteWrites(const std::vector<TilewrightWrite> &writes, unsigned byte) {
  std::vector<ByteWrite> result;
  for (const TilewrightWrite &write : writes)
    if (write.mask >> byte & 1)
      result.push_back({&write, write.data[byte]});
  return result;
}

std::string describe(const TilewrightWrite &write, const std::vector<isa::Descriptor> &program) {
  std::ostringstream text;
  text << "by " << isa::name(isa::Opcode(write.opcode));
  if (write.descriptor < program.size())
    text << " descriptor " << write.descriptor << " (layer " << isa::header(program[write.descriptor]).layer << ")";
  if (write.cycle)
    text << " in cycle " << write.cycle;
  text << ": " << hex(write.data, write.mask);
  return text.str();
}

} // namespace

std::string compareWrites(const ArrayConfig &config, std::span<const uint8_t> memory, uint64_t programAddress,
                          Executor &golden, const RunResult &goldenResult, Executor &other,
                          const RunResult &otherResult, const RunOptions &options) {
  if (goldenResult.scratchpadWrites.size() != otherResult.scratchpadWrites.size() ||
      goldenResult.dramWrites.size() != otherResult.dramWrites.size())
    return "the runs did not collect writes of the same memories";
  std::vector<uint64_t> scratchpad = differences(goldenResult.scratchpadWrites, otherResult.scratchpadWrites);
  std::vector<uint64_t> dram = differences(goldenResult.dramWrites, otherResult.dramWrites);
  if (scratchpad.empty() && dram.empty())
    return "";
  std::vector<isa::Descriptor> program = isa::decodeProgram(memory.subspan(programAddress));

  struct Finding {
    uint32_t descriptor = UINT32_MAX;
    std::string text;
  };
  auto inspect = [&](const char *space, uint64_t word, uint64_t RunOptions::*watch) {
    RunOptions watching = options;
    watching.collectWrites = false;
    watching.waveFile.clear();
    watching.*watch = word;
    std::vector<uint8_t> image(memory.begin(), memory.end());
    RunResult expected = golden.run(config, image, programAddress, watching);
    image.assign(memory.begin(), memory.end());
    RunResult actual = other.run(config, image, programAddress, watching);
    Finding finding;
    for (unsigned byte = 0; byte < 16; ++byte) {
      std::vector<ByteWrite> want = byteWrites(expected.watched, byte), got = byteWrites(actual.watched, byte);
      size_t i = 0;
      while (i < want.size() && i < got.size() && want[i].value == got[i].value)
        ++i;
      if (i == want.size() && i == got.size())
        continue;
      const TilewrightWrite *blame = i < want.size() ? want[i].write : got[i].write;
      if (!finding.text.empty() && blame->descriptor >= finding.descriptor)
        continue;
      std::ostringstream text;
      text << space << " word " << word << ", byte " << byte << ", write " << i << ": " << golden.name() << ' '
           << (i < want.size() ? describe(*want[i].write, program) : "does not write it") << "; " << other.name() << ' '
           << (i < got.size() ? describe(*got[i].write, program) : "does not write it");
      finding = {blame->descriptor, text.str()};
    }
    return finding;
  };
  // A wrong value spreads through later jobs; of a sample of the differing words the one written earliest is shown.
  Finding first;
  auto sample = [&](const char *space, const std::vector<uint64_t> &words, uint64_t RunOptions::*watch) {
    constexpr size_t most = 6;
    for (size_t i = 0; i < std::min(words.size(), most); ++i) {
      Finding finding = inspect(space, words[i * words.size() / std::min(words.size(), most)], watch);
      if (!finding.text.empty() && (first.text.empty() || finding.descriptor < first.descriptor))
        first = finding;
    }
  };
  sample("scratchpad", scratchpad, &RunOptions::watchScratchpad);
  sample("DRAM", dram, &RunOptions::watchDram);
  std::ostringstream text;
  text << scratchpad.size() << " scratchpad words and " << dram.size() << " DRAM words are written differently by "
       << golden.name() << " and " << other.name() << ". " << first.text;
  if (first.descriptor < program.size())
    text << "\n  " << isa::disassemble(program[first.descriptor]);
  return text.str();
}

} // namespace tilewright::sim
