//===- ProgramVerifier.h - what a program must never do ---------*- C++ -*-===//
//
// The compiler runs it on what it emits, the runtime on what it loads. It knows
// each descriptor's rules (values that are reserved or that the hardware does not
// take, alignment, row rings, addresses inside the memories) and those between
// descriptors (waits, ring accounting, tables, deadlock).
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_ISA_PROGRAMVERIFIER_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_ISA_PROGRAMVERIFIER_H

#include "backends/systolic/isa/Descriptor.h"
#include "config/ArrayConfig.h"
#include <cstdint>
#include <span>

namespace tilewright::isa {

/// Throws Error: "descriptor 12 (execute, layer 3): window_stride_width = 0 ..." for the first rule that is broken.
/// `memoryBytes`: size of the DRAM image, for the addresses of load, weights and store.
void verifyProgram(std::span<const Descriptor> program, const ArrayConfig &config, uint64_t memoryBytes);

/// The rules of one descriptor alone.
void verifyDescriptor(const Descriptor &descriptor, const ArrayConfig &config, uint64_t memoryBytes);

/// Throws Error if the queues, each playing its jobs in order behind an in-order fetch, cannot all run to their end.
/// Part of verifyProgram; `program` must obey the other rules.
void verifyProgress(std::span<const Descriptor> program, const ArrayConfig &config);

} // namespace tilewright::isa

#endif
