//===- Fuzzer.h - the maker of random programs ------------------*- C++ -*-===//
//
// Inside of sim/fuzz: the maps in the scratchpad (FuzzedMaps.cpp), the jobs that use
// them (FuzzedExecute.cpp, FuzzedVector.cpp) and the program around them
// (ProgramFuzzer.cpp).
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_FUZZ_FUZZER_H
#define TILEWRIGHT_SIM_FUZZ_FUZZER_H

#include "backends/systolic/isa/JobGeometry.h"
#include "sim/fuzz/JobDependences.h"
#include "sim/fuzz/ProgramFuzzer.h"
#include <cstring>
#include <random>

namespace tilewright::sim {

using namespace isa;

/// Scratchpad words that programs use: small enough that maps are overwritten, ring rows reused and filling is quick.
inline constexpr int64_t arenaWords = 1536;
inline constexpr uint64_t dramBytes = 1 << 20;

/// A map in the scratchpad; rows [begin, end) of `height` are in it.
struct LiveMap {
  Map map;
  int64_t height = 1, width = 1, channels = 16, samples = 1;
  Range rows;
  int64_t packedChannels = 0; ///< 0: 16-channel words
  int64_t firstWord = 0, lastWord = 0;

  int64_t planes() const { return packedChannels ? 1 : ceilDiv(channels, 16); }
  int64_t rowWords() const { return packedChannels ? ceilDiv(width * packedChannels, 16) : width; }
  /// ring_start for a job whose first row is `row`.
  Map at(int64_t row) const {
    Map result = map;
    result.ringStart = row / map.ringRows * map.ringRows;
    return result;
  }
};

class Fuzzer {
public:
  Fuzzer(const ArrayConfig &config, uint64_t seed)
      : config(config), random(seed), dependences(config, dramBytes / 16),
        arenaSize(std::min(arenaWords, config.scratchpadWords())) {
    arena = below(config.scratchpadWords() - arenaSize + 1);
    program.memory.resize(dramBytes);
    for (uint64_t i = 0; i < dramBytes; i += 8) {
      uint64_t bits = random();
      std::memcpy(program.memory.data() + i, &bits, 8);
    }
  }

  FuzzedProgram make(int jobs);

private:
  // Random values.
  int64_t below(int64_t n) { return n <= 1 ? 0 : int64_t(random() % uint64_t(n)); }
  int64_t between(int64_t lowest, int64_t highest) { return lowest + below(highest - lowest + 1); }
  bool oneIn(int64_t n) { return below(n) == 0; }
  int64_t pick(std::initializer_list<int64_t> choices) { return choices.begin()[below(int64_t(choices.size()))]; }
  float uniform(float lowest, float highest) {
    return lowest + (highest - lowest) * float(random() % 65536) / 65536.0f;
  }
  void took(const char *path) { ++program.paths[path]; }

  void step();

  void issue(Descriptor descriptor);

  // DRAM.
  int64_t freshDram(int64_t bytes, int64_t alignment) {
    // Sources of loads and weights: anywhere in the lower part; the upper quarter is for stores and may be loaded too.
    return below(int64_t(dramBytes / 4 * 3 - uint64_t(bytes) - 64) / alignment) * alignment;
  }

  // Scratchpad.
  /// A place for a new map, disjoint from `keep`; maps that it overlaps die. False if it does not fit.
  bool allocate(LiveMap &live, std::initializer_list<const LiveMap *> keep);
  void enlist(const LiveMap &live);
  LiveMap *anyMap(bool packed);
  /// Sets rows and ring of a map of the given height: some rows of it, in a ring that may be shorter than the map.
  void chooseRing(LiveMap &live, Range rows);

  // Jobs.
  void fillArena();

  void fillTable(int64_t slot);

  void sync();

  void load();

  void store();

  /// Output rows whose input rows are all in the map (or padding): a random run of them. False if there is none.
  bool chooseRows(const LiveMap &in, const Window &w, int64_t &start, int64_t &count, int64_t most);

  /// An output map for rows [start, start + count), or an existing one to write into at a channel offset.
  bool chooseOutput(LiveMap &out, int64_t offset, std::initializer_list<const LiveMap *> keep, Range rows);

  void execute();

  bool chooseRelease(Execute &job, bool split);

  void chooseEpilogue(Execute &job);

  void countPaths(const Execute &job, const LiveMap &in, bool inPlace);
  static bool packedMode(const Execute &job) { return job.mode == ExecuteMode::Packed; }

  /// Weights of one block: header and steps. Scales are chosen so that results spread over int8.
  void appendBlock(std::vector<uint8_t> &bytes, const Execute &job, int64_t block, int parts);

  /// Puts bytes where no load, store or earlier weights job touches and returns the address.
  int64_t placeWeights(const std::vector<uint8_t> &bytes);

  void emitWeights(const std::vector<uint8_t> &bytes);
  void countWeights();

  void emitExecute(Execute job, bool split);

  void vector();

  /// Moves some weights jobs ahead (prefetch), adds the program to the image.
  void place();

  const ArrayConfig &config;
  std::mt19937_64 random;
  FuzzedProgram program;
  JobDependences dependences;
  std::vector<LiveMap> maps;
  std::vector<size_t> weightJobs;
  int64_t arena = 0, arenaSize, layer = 0, repeat = 1, ringFill = 0;
};

} // namespace tilewright::sim

#endif
