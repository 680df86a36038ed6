//===- ProgramFuzzer.cpp - random legal programs --------------------------===//

#include "backends/systolic/isa/ProgramVerifier.h"
#include "sim/fuzz/Fuzzer.h"

namespace tilewright::sim {

FuzzedProgram Fuzzer::make(int jobs) {
  fillArena();
  for (int64_t slot = 0; slot < config.tableSlots; ++slot)
    fillTable(slot);
  for (int i = 0; i < 3; ++i)
    load();
  while (int(program.descriptors.size()) < jobs)
    step();
  // Each map's last state leaves through DRAM too.
  for (int i = 0; i < 2; ++i)
    store();
  Sync end;
  end.end = true;
  end.waitStore = dependences.issued(Opcode::Store);
  program.descriptors.push_back(end);
  place();
  return std::move(program);
}

void Fuzzer::step() {
  switch (below(16)) {
  case 0:
  case 1:
    return load();
  case 2:
    return store();
  case 3:
  case 4:
  case 5:
    return vector();
  case 6:
    return oneIn(2) ? fillTable(below(config.tableSlots)) : sync();
  default:
    return execute();
  }
}

void Fuzzer::issue(Descriptor descriptor) {
  header(descriptor).layer = layer;
  if (oneIn(12) && dependences.issued(Opcode::Execute)) // a wait that nothing needs is legal
    header(descriptor).waitExecute = between(0, dependences.issued(Opcode::Execute));
  dependences.issue(descriptor);
  program.descriptors.push_back(descriptor);
}

void Fuzzer::place() {
  std::vector<Descriptor> ordered = program.descriptors;
  for (size_t index : weightJobs)
    if (oneIn(3)) {
      // One place at a time past jobs of other queues; its own waits count only what stays before it.
      for (int64_t moves = between(1, 10); moves > 0 && index > 0; --moves, --index) {
        Opcode before = opcode(ordered[index - 1]);
        if (before == Opcode::Weights || before == Opcode::Sync || !std::holds_alternative<Weights>(ordered[index]) ||
            std::get<Weights>(ordered[index]).destination != WeightsDestination::Ring)
          break;
        std::swap(ordered[index - 1], ordered[index]);
      }
    }
  try {
    verifyProgress(ordered, config);
    if (!weightJobs.empty())
      program.descriptors = ordered, took("weights ahead");
  } catch (const Error &) {
    // Too far ahead for the ring or the queues: in the original order.
  }
  program.programAddress = program.memory.size();
  std::vector<uint8_t> bytes = encode(program.descriptors);
  program.memory.insert(program.memory.end(), bytes.begin(), bytes.end());
  program.memory.resize(program.memory.size() + 1024);
}

FuzzedProgram fuzzProgram(const ArrayConfig &config, uint64_t seed, int jobs) {
  return Fuzzer(config, seed).make(jobs);
}

std::vector<std::string> fuzzPaths(const ArrayConfig &config) {
  std::vector<std::string> paths = {"channel offset",
                                    "dilation",
                                    "execute dense",
                                    "execute packed",

                                    "execute reads a row ring",
                                    "load bytes",
                                    "load negative stride",
                                    "load planar",
                                    "load unaligned",
                                    "load words",
                                    "negative padding",
                                    "only padding",
                                    "partial channel block",
                                    "release block",
                                    "release keep",
                                    "release stream",
                                    "residual",
                                    "residual in place",
                                    "residual swapped",
                                    "residual unsigned",
                                    "residual zero point",
                                    "ring wrap",
                                    "row ring",
                                    "row ring moves on",
                                    "row ring wraps in a job",
                                    "samples",
                                    "several channel blocks",
                                    "split reduction",
                                    "store",
                                    "sync",
                                    "table 1",
                                    "table 2",
                                    "table load",
                                    "vector add",
                                    "vector add zero point",
                                    "vector channel offset",
                                    "vector in place",
                                    "vector max",
                                    "vector sum",
                                    "vector table",
                                    "weights ahead"};
  if (config.channels <= 16)
    paths.push_back("execute depthwise");
  return paths;
}

} // namespace tilewright::sim
