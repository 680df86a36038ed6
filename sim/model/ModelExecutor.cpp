//===- ModelExecutor.cpp - the cycle model as an executor -----------------===//

#include "backends/systolic/isa/ProgramVerifier.h"
#include "common/Error.h"
#include "sim/model/ExecuteUnit.h"
#include "sim/model/MemoryUnits.h"
#include "sim/model/VectorUnit.h"

namespace tilewright::sim {
namespace model {

namespace {
double beatInterval(const ArrayConfig &config, const RunOptions &options) {
  double rate = double(options.dramBytesPerCycle ? options.dramBytesPerCycle : uint32_t(config.dramBytesPerCycle));
  double interval = double(config.busBytes) / rate;
  if (config.dramRefuseEvery)
    interval *= double(config.dramRefuseEvery) / double(config.dramRefuseEvery - 1);
  // The core hands on 16 bytes per cycle, however wide a beat is.
  return std::max(interval, double(config.busBytes) / 16);
}
} // namespace

Machine::Machine(const ArrayConfig &config, std::span<const isa::Descriptor> program, const RunOptions &options,
                 RunResult &result)
    : config(config), program(program), result(result),
      dram(beatInterval(config, options), Time(config.dramLatencyCycles)), busWords(config.busBytes / 16) {}

Time Machine::waitsHold(const isa::Header &job) const {
  return std::max({waitHolds(0, job.waitLoad), waitHolds(1, job.waitWeights), waitHolds(2, job.waitExecute),
                   waitHolds(3, job.waitVector), waitHolds(4, job.waitStore)});
}

Time Machine::offered(size_t queue, Time previousTake) const {
  if (queues[queue].empty())
    return never;
  const QueuedJob &front = queues[queue].front();
  Time hold = waitsHold(isa::header(program[front.descriptor]));
  return hold == never ? never : std::max({front.pushed, previousTake + 2, hold});
}

void Machine::complete(size_t queue, uint32_t descriptor, Time start, Time end, Time visible) {
  JobRecord record{};
  record.opcode = uint32_t(isa::opcode(program[descriptor]));
  record.layer = uint32_t(isa::header(program[descriptor]).layer);
  record.descriptor = descriptor;
  record.start = start;
  record.end = end;
  result.jobs.push_back(record);
  // Jobs of a queue complete in order.
  std::vector<Time> &times = completed[queue];
  times.push_back(times.empty() ? visible : std::max(times.back(), visible));
}

} // namespace model

namespace {

class ModelExecutor final : public Executor {
public:
  const char *name() const override { return "model"; }

  RunResult run(const ArrayConfig &config, std::span<uint8_t> memory, uint64_t programAddress,
                const RunOptions &options) override {
    if (programAddress % 16 || programAddress > memory.size())
      throw Error("program address " + std::to_string(programAddress) + " is not a multiple of 16 inside the memory");
    std::vector<isa::Descriptor> program = isa::decodeProgram(memory.subspan(programAddress));
    isa::verifyProgram(program, config, memory.size());
    RunResult result;
    if (!options.cyclesOnly) {
      result = makeGoldenExecutor()->run(config, memory, programAddress, options);
      result.jobs.clear();
      result.dramBytes = {};
    }
    modelCycles(config, program, programAddress, options, result);
    return result;
  }
};

} // namespace

void modelCycles(const ArrayConfig &config, std::span<const isa::Descriptor> program, uint64_t programAddress,
                 const RunOptions &options, RunResult &result) {
  using namespace model;
  Machine machine(config, program, options, result);
  FetchUnit fetch(machine, programAddress);
  LoadUnit load(machine);
  WeightsUnit weights(machine);
  ExecuteUnit execute(machine);
  VectorUnit vector(machine);
  StoreUnit store(machine);
  DramUnit dram(machine);
  // In the order of priority on the address channel, where times are equal.
  Unit *units[] = {&dram, &fetch, &load, &weights, &execute, &vector, &store};
  while (!fetch.ended()) {
    Unit *first = nullptr;
    Time soonest = never;
    for (Unit *unit : units)
      if (Time time = unit->next(); time < soonest) {
        soonest = time;
        first = unit;
      }
    if (!first)
      throw Error("cycle model: no unit can go on");
    first->act(soonest);
  }
  result.cycles = fetch.end();
  result.tail = result.cycles - std::min<Time>(result.cycles, execute.lastStep());
}

std::unique_ptr<Executor> makeModelExecutor() { return std::make_unique<ModelExecutor>(); }

} // namespace tilewright::sim
