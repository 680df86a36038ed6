//===- ProgramFuzzer.h - random legal programs ------------------*- C++ -*-===//
//
// Random programs over every kind of descriptor, mode and flag, with odd shapes,
// row rings, unaligned loads and waits that are only just sufficient, for comparing
// executors on every write. What a program reads, it or the fuzzer has written
// before: its result depends on nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_FUZZ_PROGRAMFUZZER_H
#define TILEWRIGHT_SIM_FUZZ_PROGRAMFUZZER_H

#include "backends/systolic/isa/Descriptor.h"
#include "config/ArrayConfig.h"
#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tilewright::sim {

struct FuzzedProgram {
  std::vector<isa::Descriptor> descriptors;
  std::vector<uint8_t> memory; ///< DRAM image, the encoded program in it
  uint64_t programAddress = 0;
  /// How often each path was taken: "execute dense", "row ring", "ring wrap", ... The keys of fuzzPaths().
  std::map<std::string, int> paths;
};

/// The same seed gives the same program. `jobs`: about how many descriptors beside the loads that fill the memories.
FuzzedProgram fuzzProgram(const ArrayConfig &config, uint64_t seed, int jobs = 24);

/// Every path that fuzzProgram can take on this configuration; a run over many seeds must see each.
std::vector<std::string> fuzzPaths(const ArrayConfig &config);

} // namespace tilewright::sim

#endif
