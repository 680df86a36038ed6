//===- MapCopy.h - dense tensors to blocked maps and back -------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_MAPCOPY_H
#define TILEWRIGHT_RUNTIME_MAPCOPY_H

#include "runtime/package_generated.h"

#include <cstdint>

namespace tilewright::runtime {

/// Channels in a word of the array's blocked layout, [sample][channel / 16][row][column][16].
inline constexpr uint64_t kWordChannels = 16;

/// Elements are single bytes. Bytes of a last word that belong to no channel become 0.
void denseToBlocked(const package::MapView &view, const uint8_t *dense, uint8_t *blocked);
void blockedToDense(const package::MapView &view, const uint8_t *blocked, uint8_t *dense);

} // namespace tilewright::runtime

#endif
