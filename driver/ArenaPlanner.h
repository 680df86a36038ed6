//===- ArenaPlanner.h - buffers whose lives do not meet share memory -*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_ARENAPLANNER_H
#define TILEWRIGHT_DRIVER_ARENAPLANNER_H

#include <cstdint>
#include <vector>

namespace tilewright {

struct ArenaBuffer {
  uint64_t bytes = 0;
  uint32_t firstStep = 0, lastStep = 0; ///< alive in all steps between, both included
  uint64_t offset = 0;                  ///< result, a multiple of 64
};

/// Gives each buffer an offset such that buffers alive in one step do not overlap. The largest are placed first, each
/// at the lowest offset that is free. Returns the arena's size.
uint64_t planArena(std::vector<ArenaBuffer> &buffers);

} // namespace tilewright

#endif
