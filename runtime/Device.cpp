//===- Device.cpp - a program on a simulated array ------------------------===//

#include "runtime/Device.h"

#include "common/Error.h"
#include "config/ArrayConfig.h"
#include "sim/Executor.h"
#include "sim/RtlExecutor.h"

#include <chrono>

namespace tilewright::runtime {

struct Device::State {
  ArrayConfig config;
  ExecutorKind kind;
  std::unique_ptr<sim::Executor> executor;
  /// Of the run that is going on.
  std::function<void(const std::string &)> notice;
  std::chrono::steady_clock::time_point lastProgress{};
};

static std::string progressText(const sim::Progress &progress, const package::DeviceJob &job,
                                const std::vector<std::string> &layerNames) {
  std::string line;
  // What the compiler expected is no bound.
  if (progress.cycles)
    line = "cycle " + std::to_string(progress.cycles) +
           (job.expected_cycles() > progress.cycles ? " of about " + std::to_string(job.expected_cycles()) : "") + ", ";
  line += "descriptor " + std::to_string(progress.descriptor) + " of " + std::to_string(job.descriptor_count());
  if (progress.layer < layerNames.size())
    line += ", " + layerNames[progress.layer];
  return line;
}

Device::Device(const std::string &name, const std::string &text, ExecutorKind executor)
    : state(std::make_unique<State>()) {
  state->config = ArrayConfig::parse(text, name);
  state->kind = executor;
  switch (executor) {
  case ExecutorKind::Golden:
    state->executor = sim::makeGoldenExecutor();
    break;
  case ExecutorKind::Model:
    state->executor = sim::makeModelExecutor();
    break;
  case ExecutorKind::Rtl:
    sim::RtlOptions rtl;
    rtl.notice = [state = state.get()](const std::string &line) {
      if (state->notice)
        state->notice(line);
    };
    state->executor = sim::makeRtlExecutor(rtl);
    break;
  }
}

Device::~Device() = default;

ArrayConfig Device::config(const RunOptions &options) const {
  ArrayConfig config = state->config;
  if (options.dramBytesPerCycle) {
    config.dramBytesPerCycle = options.dramBytesPerCycle;
    config.validate("--dram-bytes-per-cycle=" + std::to_string(options.dramBytesPerCycle));
  }
  return config;
}

/// Adds a job's cycles to those of its layer.
static void charge(ArrayCycles &layer, const sim::JobRecord &job) {
  if (layer.lost.empty())
    for (const char *cause : sim::causeNames)
      layer.lost.emplace_back(cause, 0);
  layer.steps += job.steps;
  layer.cycles += job.steps;
  for (size_t cause = 0; cause < sim::causeNames.size(); ++cause) {
    layer.lost[cause].second += job.lost[cause];
    layer.cycles += job.lost[cause];
  }
}

/// Throws Error unless golden writes what `result` wrote. `before` is the memory as it was before that run.
static void checkAgainstGolden(const ArrayConfig &config, const std::vector<uint8_t> &before, uint64_t programAddress,
                               sim::Executor &executor, const sim::RunResult &result, sim::RunOptions options) {
  options.waveFile.clear();
  std::vector<uint8_t> memory = before;
  std::unique_ptr<sim::Executor> golden = sim::makeGoldenExecutor();
  sim::RunResult expected = golden->run(config, memory, programAddress, options);
  std::string difference =
      sim::compareWrites(config, before, programAddress, *golden, expected, executor, result, options);
  if (!difference.empty())
    throw Error("golden and " + std::string(executor.name()) + " differ: " + difference);
}

void Device::prepare(const RunOptions &options) {
  if (!options.waveFile.empty() && state->kind != ExecutorKind::Rtl)
    throw Error("a wave file is written by the RTL only: choose the executor rtl");
  sim::RunOptions simOptions;
  simOptions.waveFile = options.waveFile;
  state->notice = options.progress;
  state->executor->prepare(config(options), simOptions);
}

DeviceRun Device::run(std::span<uint8_t> memory, const package::DeviceJob &job,
                      const std::vector<std::string> &layerNames, const RunOptions &options) {
  prepare(options);
  ArrayConfig config = this->config(options);
  uint64_t programAddress = job.program_address();
  sim::RunOptions simOptions;
  simOptions.waveFile = options.waveFile;
  if (options.progress)
    simOptions.progress = [&](const sim::Progress &progress) {
      auto now = std::chrono::steady_clock::now();
      if (now - state->lastProgress < std::chrono::duration<double>(options.progressInterval))
        return true;
      state->lastProgress = now;
      options.progress(progressText(progress, job, layerNames));
      return true;
    };

  std::vector<uint8_t> before;
  if (options.check) {
    before.assign(memory.begin(), memory.end());
    simOptions.collectWrites = true;
  }
  auto start = std::chrono::steady_clock::now();
  sim::RunResult result = state->executor->run(config, memory, programAddress, simOptions);
  DeviceRun run;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  if (options.check)
    checkAgainstGolden(config, before, programAddress, *state->executor, result, simOptions);
  if (result.cycles == 0)
    return run;

  ArrayCycles total;
  total.cycles = result.cycles;
  total.steps = result.steps();
  auto lost = result.lost();
  for (size_t cause = 0; cause < sim::causeNames.size(); ++cause)
    total.lost.emplace_back(sim::causeNames[cause], lost[cause]);
  run.total = std::move(total);
  run.outsideLayers = result.tail;
  for (const sim::JobRecord &record : result.jobs) {
    if (record.layer >= layerNames.size())
      throw std::logic_error("descriptor " + std::to_string(record.descriptor) + " names layer " +
                             std::to_string(record.layer) + " of " + std::to_string(layerNames.size()));
    // Only execute jobs carry steps or losses; a layer of other jobs (pooling) runs beside them.
    uint64_t charged = record.steps;
    for (uint64_t count : record.lost)
      charged += count;
    if (charged)
      charge(run.layers[record.layer], record);
  }
  for (size_t i = 0; i < sim::dramClassNames.size(); ++i)
    run.dramBytes.emplace_back(sim::dramClassNames[i], result.dramBytes[i]);
  return run;
}

} // namespace tilewright::runtime
