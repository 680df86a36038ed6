//===- fuzz-programs.cpp - random descriptor programs, golden against RTL -===//
//
//   fuzz-programs --config=8x8x4 --count=200 --seed=1
//
// Every word that golden writes to scratchpad and DRAM is compared with the RTL's.
// A failing program is shortened and printed; the exit code is 1.
//
//===----------------------------------------------------------------------===//

#include "backends/systolic/isa/ProgramVerifier.h"
#include "common/Error.h"
#include "common/StandardOutput.h"
#include "sim/RtlExecutor.h"
#include "sim/fuzz/ProgramFuzzer.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace tilewright;
using namespace tilewright::sim;

namespace {

struct Fuzz {
  ArrayConfig config;
  std::unique_ptr<Executor> golden = makeGoldenExecutor(), rtl;
  uint64_t cycles = 0, modelCyclesTotal = 0, modelledPrograms = 0;
  double worstModelError = 0;

  double modelError() const { return double(modelCyclesTotal) / double(cycles) - 1; }
  void printModelError() const {
    std::printf("cycle model: %+.2f %% of the RTL's cycles in sum, at most %.2f %% in a program\n", 100 * modelError(),
                100 * worstModelError);
  }

  /// Empty if golden and RTL write the same.
  std::string difference(const FuzzedProgram &program, const std::string &waveFile = "") {
    isa::verifyProgram(program.descriptors, config, program.memory.size());
    RunOptions options;
    options.collectWrites = options.strict = true;
    options.maxCycles = 3000000;
    std::vector<uint8_t> memory = program.memory;
    RunResult expected = golden->run(config, memory, program.programAddress, options);
    if (!rtl)
      return "";
    options.waveFile = waveFile;
    memory = program.memory;
    try {
      RunResult actual = rtl->run(config, memory, program.programAddress, options);
      cycles += actual.cycles;
      RunResult modelled;
      modelCycles(config, program.descriptors, program.programAddress, options, modelled);
      modelCyclesTotal += modelled.cycles;
      worstModelError = std::max(worstModelError, std::abs(double(modelled.cycles) / double(actual.cycles) - 1));
      ++modelledPrograms;
      options.waveFile.clear();
      return compareWrites(config, program.memory, program.programAddress, *golden, expected, *rtl, actual, options);
    } catch (const Error &error) {
      return error.what();
    }
  }
};

} // namespace

int main(int argc, char **argv) {
  CLI::App app("Random programs for the array: golden and RTL compared on every write.");
  std::string configName = ArrayConfig::defaultName, waveFile;
  uint64_t seed = 1;
  int count = 100, jobs = 24;
  bool small = false, noRtl = false, print = false, keepGoing = false, requirePaths = false, expectFailure = false;
  double modelWithin = 100;
  std::vector<std::string> defines;
  app.add_option("--config", configName, "array configuration: a name from configs/ or a file")->capture_default_str();
  app.add_option("--seed", seed, "first seed; programs are made from seed, seed + 1, ...")->capture_default_str();
  app.add_option("--count", count, "number of programs")->capture_default_str();
  app.add_option("--jobs", jobs, "descriptors in a program, about")->capture_default_str();
  app.add_option("--define", defines, "Verilog define for the simulator (planted faults)");
  app.add_option("--wave", waveFile, "FST of the first failing program");
  app.add_flag("--small-memories", small, "16 KB of scratchpad and a ring of some 60 words");
  app.add_flag("--no-rtl", noRtl, "golden only: checks that the programs are legal");
  app.add_flag("--print", print, "print each program");
  app.add_flag("--keep-going", keepGoing, "go on after a failing program");
  app.add_option("--model-within", modelWithin, "fail if the cycle model's sum is off by more than so many percent");
  app.add_flag("--require-paths", requirePaths, "fail if a path that programs can take was never taken");
  app.add_flag("--expect-failure", expectFailure, "succeed if a program fails (planted faults)");
  CLI11_PARSE(app, argc, argv);
  try {
    Fuzz fuzz;
    fuzz.config = ArrayConfig::load(configName);
    if (small) {
      fuzz.config.scratchpadBytes = 16384;
      fuzz.config.weightRingBytes = (fuzz.config.headerWords() + 60) * fuzz.config.ringWordBytes();
    }
    if (!noRtl)
      fuzz.rtl =
          makeRtlExecutor({defines, [](const std::string &line) { std::fprintf(stderr, "%s\n", line.c_str()); }});
    std::map<std::string, int> paths;
    int failed = 0;
    for (int i = 0; i < count; ++i) {
      FuzzedProgram program = fuzzProgram(fuzz.config, seed + uint64_t(i), jobs);
      if (print)
        std::printf("seed %llu\n%s", static_cast<unsigned long long>(seed + uint64_t(i)),
                    isa::disassemble(program.descriptors).c_str());
      for (const auto &[path, times] : program.paths)
        paths[path] += times;
      std::string difference = fuzz.difference(program);
      if (difference.empty())
        continue;
      ++failed;
      // Programs of fewer jobs from the same seed begin alike: the shortest that fails says most.
      int shortest = jobs;
      for (int fewer = 6; fewer < jobs; ++fewer) {
        std::string message = fuzz.difference(fuzzProgram(fuzz.config, seed + uint64_t(i), fewer));
        if (!message.empty()) {
          difference = message;
          shortest = fewer;
          break;
        }
      }
      program = fuzzProgram(fuzz.config, seed + uint64_t(i), shortest);
      std::printf("FAILED --config=%s%s --seed=%llu --count=1 --jobs=%d: %s\n", configName.c_str(),
                  small ? " --small-memories" : "", static_cast<unsigned long long>(seed + uint64_t(i)), shortest,
                  difference.c_str());
      if (!keepGoing) {
        std::printf("%s", isa::disassemble(program.descriptors).c_str());
        if (!waveFile.empty())
          fuzz.difference(program, waveFile);
        break;
      }
    }
    std::printf("%d programs, %llu cycles, %d failed\n", count, static_cast<unsigned long long>(fuzz.cycles), failed);
    for (const auto &[path, times] : paths)
      std::printf("  %-28s %d\n", path.c_str(), times);
    if (requirePaths)
      for (const std::string &path : fuzzPaths(fuzz.config))
        if (!paths[path]) {
          std::printf("never taken: %s\n", path.c_str());
          ++failed;
        }
    if (fuzz.modelledPrograms) {
      fuzz.printModelError();
      failed += std::abs(fuzz.modelError()) > modelWithin / 100;
    }
    flushStandardOutput();
    return bool(failed) == expectFailure ? 0 : 1;
  } catch (const Error &error) {
    std::fprintf(stderr, "fuzz-programs: %s\n", error.what());
    return 1;
  }
}
