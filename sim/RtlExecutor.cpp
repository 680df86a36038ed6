//===- RtlExecutor.cpp - opens built simulators and runs them -------------===//

#include "sim/RtlExecutor.h"
#include "backends/systolic/isa/Descriptor.h"
#include "common/Error.h"
#include "config/Resources.h"
#include "sim/SimulatorAbi.h"
#include <cstdio>
#include <cstring>
#include <dlfcn.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace tilewright::sim {
namespace {

/// Runs a command without a shell; what it prints on stdout and stderr.
int runCommand(const std::vector<std::string> &command, std::string &output, std::string &errors) {
  std::FILE *out = std::tmpfile(), *err = std::tmpfile();
  if (!out || !err)
    throw Error("cannot create a temporary file");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, fileno(out), 1);
  posix_spawn_file_actions_adddup2(&actions, fileno(err), 2);
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  pid_t child;
  int failure = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  if (!failure)
    waitpid(child, &status, 0);
  auto read = [](std::FILE *file) {
    std::string text;
    std::rewind(file);
    char buffer[4096];
    while (size_t count = std::fread(buffer, 1, sizeof buffer, file))
      text.append(buffer, count);
    std::fclose(file);
    return text;
  };
  output = read(out);
  errors = read(err);
  if (failure)
    throw Error("cannot run " + command[0] + ": " + std::strerror(failure));
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

/// The Python that this was built with, or the one of PATH on a machine that has no such file.
std::string pythonProgram() { return access(TILEWRIGHT_PYTHON, X_OK) == 0 ? TILEWRIGHT_PYTHON : "python3"; }

std::string lastLines(const std::string &text, int count) {
  size_t at = text.size();
  while (count-- > 0 && at != 0 && at != std::string::npos)
    at = text.rfind('\n', at - 1);
  return at == std::string::npos || at == 0 ? text : text.substr(at + 1);
}

class Simulator {
public:
  Simulator(const std::string &path, const ArrayConfig &config) {
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      throw Error(std::string("simulator cannot be opened: ") + dlerror());
    auto *info = reinterpret_cast<TilewrightSimulatorInfoFn>(dlsym(handle, "tilewright_simulator_info"));
    simulate = reinterpret_cast<TilewrightSimulateFn>(dlsym(handle, "tilewright_simulate"));
    if (!info || !simulate)
      throw Error(path + " is not a simulator of the array");
    TilewrightSimulatorInfo is{};
    info(&is);
    if (is.abi == TILEWRIGHT_SIMULATOR_ABI && is.tableDigest != isa::tableDigest)
      throw Error("the RTL in " + (resourceFolder() / "sim" / "rtl").string() +
                  " has other descriptors than this program was built with: build it again");
    if (is.abi != TILEWRIGHT_SIMULATOR_ABI || is.pixels != config.pixels || is.channels != config.channels ||
        is.reduction != config.reduction || is.scratchpadBytes != config.scratchpadBytes ||
        is.weightRingBytes != config.weightRingBytes || is.tableSlots != config.tableSlots ||
        is.busBytes != config.busBytes)
      throw Error(path + " was built for another configuration than " + config.name);
  }
  ~Simulator() {
    if (handle)
      dlclose(handle);
  }
  Simulator(const Simulator &) = delete;

  TilewrightSimulateFn simulate = nullptr;

private:
  void *handle = nullptr;
};

struct Callbacks {
  RunResult &result;
  const RunOptions &options;
};

class RtlExecutor final : public Executor {
public:
  explicit RtlExecutor(RtlOptions options) : rtlOptions(std::move(options)) {}
  const char *name() const override { return "rtl"; }
  void prepare(const ArrayConfig &config, const RunOptions &options) override {
    open(config, !options.waveFile.empty());
  }

  RunResult run(const ArrayConfig &config, std::span<uint8_t> memory, uint64_t programAddress,
                const RunOptions &options) override {
    Simulator &simulator = open(config, !options.waveFile.empty());
    RunResult result;
    Callbacks callbacks{result, options};
    TilewrightRequest request{};
    request.abi = TILEWRIGHT_SIMULATOR_ABI;
    request.dramBytesPerCycle =
        options.dramBytesPerCycle ? options.dramBytesPerCycle : uint32_t(config.dramBytesPerCycle);
    if (request.dramBytesPerCycle > config.busBytes)
      throw Error("--dram-bytes-per-cycle = " + std::to_string(request.dramBytesPerCycle) +
                  " is above the bus width, " + std::to_string(config.busBytes) + " (dram.bus_bytes of " + config.name +
                  ")");
    request.dramRefuseEvery = uint32_t(config.dramRefuseEvery);
    request.dramLatencyCycles = uint32_t(config.dramLatencyCycles);
    request.memory = memory.data();
    request.memoryBytes = memory.size();
    request.programAddress = programAddress;
    request.maxCycles = options.maxCycles;
    request.waveFile = options.waveFile.empty() ? nullptr : options.waveFile.c_str();
    request.context = &callbacks;
    request.onJob = [](void *context, const TilewrightJob *job) {
      static_cast<Callbacks *>(context)->result.jobs.push_back(*job);
    };
    if (options.progress)
      request.onProgress = [](void *context, uint64_t cycles, uint32_t descriptor, uint32_t layer) {
        return int(!static_cast<Callbacks *>(context)->options.progress({cycles, descriptor, layer}));
      };
    if (options.collectWrites) {
      result.scratchpadWrites = WriteDigest(uint64_t(config.scratchpadWords()));
      result.dramWrites = WriteDigest((memory.size() + 15) / 16);
      request.scratchpadDigest = result.scratchpadWrites.word(0);
      request.dramDigest = result.dramWrites.word(0);
    }
    request.watchScratchpad = options.watchScratchpad;
    request.watchDram = options.watchDram;
    request.onWatchedWrite = [](void *context, const TilewrightWrite *write) {
      static_cast<Callbacks *>(context)->result.watched.push_back(*write);
    };
    TilewrightResult outcome{};
    if (simulator.simulate(&request, &outcome) != 0)
      throw Error(std::string("RTL simulation: ") + (outcome.error[0] ? outcome.error : "failed"));
    result.cycles = outcome.cycles;
    result.tail = outcome.tail;
    std::copy(std::begin(outcome.dramBytes), std::end(outcome.dramBytes), result.dramBytes.begin());
    checkSum(result);
    return result;
  }

private:
  /// Every cycle is a step or lost for one cause.
  static void checkSum(const RunResult &result) {
    uint64_t accounted = result.steps();
    for (uint64_t cycles : result.lost())
      accounted += cycles;
    if (accounted != result.cycles)
      throw Error("RTL simulation: steps and lost cycles add up to " + std::to_string(accounted) + ", not to the " +
                  std::to_string(result.cycles) + " cycles of the run: the counters are wrong");
  }

  Simulator &open(const ArrayConfig &config, bool trace) {
    for (const Opened &opened : simulators)
      if (opened.trace == trace && opened.config.sameHardware(config))
        return *opened.simulator;
    RtlOptions options = rtlOptions;
    options.trace = trace;
    simulators.push_back({config, trace, std::make_unique<Simulator>(buildSimulator(config, options), config)});
    return *simulators.back().simulator;
  }

  struct Opened {
    ArrayConfig config;
    bool trace;
    std::unique_ptr<Simulator> simulator;
  };

  RtlOptions rtlOptions;
  std::vector<Opened> simulators;
};

} // namespace

std::string buildSimulator(const ArrayConfig &config, const RtlOptions &options) {
  std::vector<std::string> command = {pythonProgram(), resourceFolder() / "sim" / "verilator" / "build_simulator.py"};
  auto add = [&](const char *flag, int64_t value) {
    command.push_back(flag);
    command.push_back(std::to_string(value));
  };
  add("--pixels", config.pixels);
  add("--channels", config.channels);
  add("--reduction", config.reduction);
  add("--scratchpad-bytes", config.scratchpadBytes);
  add("--weight-ring-bytes", config.weightRingBytes);
  add("--table-slots", config.tableSlots);
  add("--bus-bytes", config.busBytes);
  if (options.trace)
    command.push_back("--trace");
  for (const std::string &define : options.defines)
    command.insert(command.end(), {"--define", define});
  add("--parent", getpid());
  std::string output, errors;
  command.push_back("--is-cached");
  int status = runCommand(command, output, errors);
  command.pop_back();
  if (status != 0) {
    if (options.notice)
      options.notice("building the simulator of array configuration " + config.name + " (about a minute, once)");
    status = runCommand(command, output, errors);
  }
  while (!output.empty() && output.back() == '\n')
    output.pop_back();
  if (status != 0 || output.empty())
    throw Error("the RTL simulator of array configuration " + config.name + " cannot be built (" + command[1] + "):\n" +
                lastLines(errors, 12));
  return output;
}

std::unique_ptr<Executor> makeRtlExecutor(RtlOptions options) {
  return std::make_unique<RtlExecutor>(std::move(options));
}

} // namespace tilewright::sim
