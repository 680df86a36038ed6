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
  std::unique_ptr<sim::Executor> executor;
};

static std::unique_ptr<sim::Executor> makeExecutor(const RunOptions &options) {
  switch (options.executor) {
  case ExecutorKind::Golden:
    return sim::makeGoldenExecutor();
  case ExecutorKind::Model:
    return sim::makeModelExecutor();
  case ExecutorKind::Rtl:
    break;
  }
  return sim::makeRtlExecutor({{}, options.progress});
}

Device::Device(const std::string &name, const std::string &configText, const RunOptions &options)
    : state(std::make_unique<State>()) {
  state->config = ArrayConfig::parse(configText, name);
  if (options.dramBytesPerCycle) {
    state->config.dramBytesPerCycle = options.dramBytesPerCycle;
    state->config.validate("--dram-bytes-per-cycle=" + std::to_string(options.dramBytesPerCycle));
  }
  if (!options.waveFile.empty() && options.executor != ExecutorKind::Rtl)
    throw Error("a wave file is written by the RTL only: choose the executor rtl");
  state->executor = makeExecutor(options);
}

Device::~Device() = default;
const ArrayConfig &Device::config() const { return state->config; }

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

DeviceRun Device::run(std::span<uint8_t> memory, uint64_t programAddress, uint32_t descriptorCount,
                      const std::vector<std::string> &layerNames, const RunOptions &options) {
  sim::RunOptions simOptions;
  simOptions.waveFile = options.waveFile;
  if (options.progress)
    simOptions.progress = [&](const sim::Progress &progress) {
      std::string line = "cycle " + std::to_string(progress.cycles) + ", descriptor " +
                         std::to_string(progress.descriptor) + " of " + std::to_string(descriptorCount);
      if (progress.layer < layerNames.size())
        line += ", " + layerNames[progress.layer];
      if (progress.descriptor && progress.cycles)
        line += ", about " + std::to_string(progress.cycles * descriptorCount / progress.descriptor) + " cycles in all";
      options.progress(line);
      return true;
    };

  auto start = std::chrono::steady_clock::now();
  sim::RunResult result = state->executor->run(state->config, memory, programAddress, simOptions);
  DeviceRun run;
  run.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
  for (const sim::JobRecord &job : result.jobs) {
    if (job.layer >= layerNames.size())
      throw std::logic_error("descriptor " + std::to_string(job.descriptor) + " names layer " +
                             std::to_string(job.layer) + " of " + std::to_string(layerNames.size()));
    // Only execute jobs carry steps or losses; a layer of other jobs (pooling) runs beside them.
    uint64_t charged = job.steps;
    for (uint64_t count : job.lost)
      charged += count;
    if (charged)
      charge(run.layers[job.layer], job);
  }
  for (size_t i = 0; i < sim::dramClassNames.size(); ++i)
    run.dramBytes.emplace_back(sim::dramClassNames[i], result.dramBytes[i]);
  return run;
}

} // namespace tilewright::runtime
