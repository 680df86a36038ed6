//===- PlanRunner.cpp -----------------------------------------------------===//

#include "runtime/PlanRunner.h"

#include "common/Error.h"
#include "runtime/MapCopy.h"

#include <algorithm>
#include <chrono>
#include <cstring>

namespace tilewright::runtime {

namespace {
std::string text(const flatbuffers::String *string) { return string ? string->str() : std::string(); }
} // namespace

PlanRunner::PlanRunner(const PackageFile &file, const package::Plan &plan, const HostCode *hostCode,
                       ThreadPool &threads)
    : file(file), plan_(plan), threads(threads), arena(allocateAligned(plan.arena_bytes())),
      dram(allocateAligned(plan.dram_bytes())), addresses(plan.buffers()->size()) {
  for (const package::Step *step : *plan.steps()) {
    const package::HostCall *call = step->action_as_HostCall();
    kernels.push_back(call ? hostCode->kernel(call->symbol()->str()) : nullptr);
  }
  if (plan.preload())
    for (const package::Preload *preload : *plan.preload()) {
      std::span<const std::byte> bytes = file.segment(preload->segment());
      std::memcpy(dram.get() + preload->address(), bytes.data(), bytes.size());
    }
}

void PlanRunner::describe(Report &report) const {
  for (const package::Layer *layer : *plan_.layers()) {
    LayerReport &row = report.layers.emplace_back();
    row.name = text(layer->name());
    row.kind = text(layer->kind());
    row.unit = text(layer->unit());
    row.shape = text(layer->shape());
    row.tile = text(layer->tile());
    row.reason = text(layer->reason());
    if (layer->sqnr_db())
      row.sqnrDb = *layer->sqnr_db();
    if (layer->sqnr_alone_db())
      row.sqnrAloneDb = *layer->sqnr_alone_db();
    if (layer->nodes())
      for (const flatbuffers::String *node : *layer->nodes())
        row.nodes.push_back(node->str());
  }
}

bool PlanRunner::usesArray() const {
  return std::any_of(plan_.steps()->begin(), plan_.steps()->end(),
                     [](const package::Step *step) { return step->action_as_DeviceJob() != nullptr; });
}

std::byte *PlanRunner::address(uint32_t buffer) const { return addresses[buffer]; }

void PlanRunner::run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs, uint64_t samples,
                     const RunOptions &options, Device *device, Report &report) {
  for (uint32_t i = 0; i < addresses.size(); ++i) {
    const package::Buffer *buffer = plan_.buffers()->Get(i);
    uint64_t place = buffer->place();
    switch (buffer->storage()) {
    case package::Storage::Arena:
      addresses[i] = arena.get() + place;
      break;
    // Kernels and copies only read inputs and weights: the verifier and the compiler see to that.
    case package::Storage::Input:
      addresses[i] = static_cast<std::byte *>(const_cast<void *>(inputs[place]));
      break;
    case package::Storage::Output:
      addresses[i] = static_cast<std::byte *>(outputs[place]);
      break;
    case package::Storage::Weight:
      addresses[i] = const_cast<std::byte *>(file.segment(place).data());
      break;
    case package::Storage::Dram:
      addresses[i] = dram.get() + place;
      break;
    }
  }

  uint64_t batch = plan_.batch() ? plan_.batch() : 1;
  for (uint32_t i = 0; i < plan_.layers()->size(); ++i) {
    const package::Layer *layer = plan_.layers()->Get(i);
    LayerReport &row = report.layers[i];
    row.macs += layer->macs() * samples / batch;
    row.idealCycles += layer->ideal_cycles() * samples / batch;
    row.predictedCycles += layer->predicted_cycles();
    row.bytesWeights += layer->bytes_weights();
    row.bytesIn += layer->bytes_in();
    row.bytesOut += layer->bytes_out();
    row.bytesResidual += layer->bytes_residual();
  }

  TwHostContext context = threads.hostContext();
  std::vector<void *> arguments;
  for (uint32_t i = 0; i < plan_.steps()->size(); ++i) {
    const package::Step *step = plan_.steps()->Get(i);
    auto start = std::chrono::steady_clock::now();
    if (const package::HostCall *call = step->action_as_HostCall()) {
      arguments.clear();
      for (uint32_t buffer : *call->buffers())
        arguments.push_back(address(buffer));
      arguments.push_back(call->scratch() >= 0 ? address(static_cast<uint32_t>(call->scratch())) : nullptr);
      kernels[i](arguments.data(), &context);
    } else if (const package::Copy *transfer = step->action_as_Copy()) {
      copy(*transfer);
    } else if (const package::DeviceJob *job = step->action_as_DeviceJob()) {
      runJob(*job, options, *device, report);
    }
    if (step->layer() >= 0)
      report.layers[static_cast<size_t>(step->layer())].hostMicroseconds +=
          std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count();
  }
}

void PlanRunner::copy(const package::Copy &copy) {
  const std::byte *source = address(copy.source());
  std::byte *target = address(copy.target());
  switch (copy.kind()) {
  case package::CopyKind::Bytes:
    std::memcpy(target, source, plan_.buffers()->Get(copy.source())->bytes());
    break;
  case package::CopyKind::ToDevice:
    copyToDevice(*copy.view(), copy.layout(), reinterpret_cast<const uint8_t *>(source),
                 reinterpret_cast<uint8_t *>(target));
    break;
  case package::CopyKind::FromDevice:
    copyFromDevice(*copy.view(), copy.layout(), reinterpret_cast<const uint8_t *>(source),
                   reinterpret_cast<uint8_t *>(target));
    break;
  }
}

/// sum += part, cause by cause.
static void add(std::optional<ArrayCycles> &sum, const ArrayCycles &part) {
  if (!sum) {
    sum = part;
    return;
  }
  sum->cycles += part.cycles;
  sum->steps += part.steps;
  for (size_t i = 0; i < part.lost.size(); ++i)
    sum->lost[i].second += part.lost[i].second;
}

void PlanRunner::runJob(const package::DeviceJob &job, const RunOptions &options, Device &device, Report &report) {
  std::vector<std::string> names;
  for (uint32_t i = 0; i < job.layer_count(); ++i)
    names.push_back(report.layers[job.first_layer() + i].name);
  std::span<uint8_t> memory(reinterpret_cast<uint8_t *>(dram.get()), plan_.dram_bytes());
  DeviceRun run = device.run(memory, job, names, options);
  report.deviceSeconds += run.seconds;
  report.checked = options.check;
  if (!run.total)
    return;
  add(report.total, *run.total);
  report.outsideLayers += run.outsideLayers;
  for (size_t i = 0; i < run.dramBytes.size(); ++i) {
    if (report.dramBytes.size() <= i)
      report.dramBytes.emplace_back(run.dramBytes[i].first, 0);
    report.dramBytes[i].second += run.dramBytes[i].second;
  }
  for (const auto &[layer, cycles] : run.layers)
    add(report.layers.at(job.first_layer() + layer).array, cycles);
}

} // namespace tilewright::runtime
