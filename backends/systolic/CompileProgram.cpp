//===- CompileProgram.cpp - layers to device programs ---------------------===//

#include "backends/systolic/CompileProgram.h"
#include "backends/systolic/Schedule.h"
#include "backends/systolic/isa/ProgramVerifier.h"
#include <algorithm>

using namespace tilewright;
using namespace tilewright::systolic;

static uint64_t alignTo(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

static std::string shapeOf(const Operand &operand) {
  return std::to_string(operand.samples) + "x" + std::to_string(operand.channels) + "x" +
         std::to_string(operand.height) + "x" + std::to_string(operand.width);
}

static void describe(const ArrayConfig &array, const Layer &layer, LayerInfo &info) {
  info.name = layer.name;
  info.onnxNodes = layer.onnxNodes;
  info.kind = layer.reportKind;
  info.shape = shapeOf(layer.in) + " -> " + shapeOf(layer.out);
  int64_t rows = layer.tileRows ? std::min(layer.tileRows, layer.out.height) : layer.out.height;
  int64_t channels = layer.tileChannels ? std::min(layer.tileChannels, layer.out.channels) : layer.out.channels;
  info.tile = std::to_string(rows) + " rows x " + std::to_string(channels) + " channels";
  info.macs = layer.macs;
  info.idealCycles = (layer.macs + array.macsPerCycle() - 1) / array.macsPerCycle();
  info.predictedCycles = layer.predictedCycles;
}

/// What the scheduler emits obeys every rule that the simulators and the runtime rely on, or is not emitted.
static void verify(const ArrayConfig &array, const ScheduledProgram &program) {
  for (const isa::Descriptor &descriptor : program.descriptors)
    try {
      isa::verifyDescriptor(descriptor, array, program.dramBytes);
    } catch (const Error &error) {
      size_t layer = isa::header(descriptor).layer;
      throw Error("layer '" + (layer < program.layers.size() ? program.layers[layer].name : "?") +
                  "': " + isa::name(isa::opcode(descriptor)) + ": " + error.what());
    }
  isa::verifyProgram(program.descriptors, array, program.dramBytes);
}

std::vector<ScheduledProgram> systolic::schedulePrograms(const ArrayConfig &array,
                                                         const std::vector<LayerProgram> &programs) {
  uint64_t address = 0;
  for (const LayerProgram &program : programs)
    address = std::max<uint64_t>(address, program.arenaBytes);
  std::vector<ScheduledProgram> scheduled;
  for (const LayerProgram &program : programs) {
    JobList jobs = generateJobs(array, program);
    Schedule schedule = merge(array, jobs);
    ScheduledProgram &result = scheduled.emplace_back();
    result.name = program.name;
    result.inputs = program.inputs;
    result.outputs = program.outputs;
    result.constantsAddress = alignTo(address, 4096);
    result.programAddress = alignTo(result.constantsAddress + jobs.constants.size(), 4096);
    // The fetch unit may read up to 1 KiB beyond the last descriptor.
    address = result.programAddress + schedule.program.size() * isa::descriptorBytes + 1024;
    for (isa::Descriptor &descriptor : schedule.program)
      if (auto *weights = std::get_if<isa::Weights>(&descriptor))
        weights->dramAddress += result.constantsAddress;
    result.descriptors = std::move(schedule.program);
    result.constants = std::move(jobs.constants);
    result.layers = std::move(jobs.layers);
    for (size_t i = 0; i < program.layers.size(); ++i)
      describe(array, program.layers[i], result.layers[i]);
    result.expectedCycles = schedule.expectedCycles;
  }
  for (ScheduledProgram &program : scheduled) {
    program.dramBytes = alignTo(address, 4096);
    verify(array, program);
  }
  return scheduled;
}

DeviceProgram systolic::encodeProgram(ScheduledProgram program) {
  DeviceProgram device;
  device.name = program.name;
  device.descriptors.resize(program.descriptors.size() * isa::descriptorBytes);
  for (size_t i = 0; i < program.descriptors.size(); ++i) {
    std::span<uint8_t, isa::descriptorBytes> bytes(device.descriptors.data() + i * isa::descriptorBytes,
                                                   isa::descriptorBytes);
    try {
      isa::encode(program.descriptors[i], bytes);
    } catch (const Error &error) {
      size_t layer = isa::header(program.descriptors[i]).layer;
      throw Error("layer '" + (layer < program.layers.size() ? program.layers[layer].name : "?") +
                  "': " + error.what());
    }
  }
  device.programAddress = program.programAddress;
  device.constants.push_back({program.constantsAddress, std::move(program.constants)}); // the weights: not copied
  device.inputs = program.inputs;
  device.outputs = program.outputs;
  device.dramBytes = program.dramBytes;
  device.expectedCycles = static_cast<uint64_t>(program.expectedCycles);
  device.layers = program.layers;
  return device;
}
