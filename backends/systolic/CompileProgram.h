//===- CompileProgram.h - layers to device programs -------------*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_COMPILEPROGRAM_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_COMPILEPROGRAM_H

#include "backends/systolic/Layers.h"
#include "backends/systolic/isa/Descriptor.h"
#include "config/ArrayConfig.h"

namespace tilewright::systolic {

/// The descriptors of one program with everything but the bytes encoded: what the systolic dialect shows.
struct ScheduledProgram {
  std::string name;
  std::vector<isa::Descriptor> descriptors; ///< DRAM addresses final
  std::vector<uint8_t> constants;
  uint64_t constantsAddress = 0, programAddress = 0, dramBytes = 0;
  std::vector<DeviceTensor> inputs, outputs;
  std::vector<LayerInfo> layers;
  int64_t expectedCycles = 0;
};

/// Programs of one model over one DRAM: the activation arena lies at address 0, then each program's constants and
/// descriptors. Throws Error naming the layer that cannot run, or whose descriptors break a rule of the instruction
/// set.
std::vector<ScheduledProgram> schedulePrograms(const ArrayConfig &array, const std::vector<LayerProgram> &programs);

/// Encodes. Throws Error naming layer, field and range when a value does not fit its field.
DeviceProgram encodeProgram(ScheduledProgram program);

} // namespace tilewright::systolic

#endif
