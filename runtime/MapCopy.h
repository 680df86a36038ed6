//===- MapCopy.h - tensors to the device's layouts and back -------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_MAPCOPY_H
#define TILEWRIGHT_RUNTIME_MAPCOPY_H

#include "runtime/package_generated.h"

#include <cstdint>

namespace tilewright::runtime {

/// Channels in a word of the array's blocked layout.
inline constexpr uint64_t kWordChannels = 16;

/// Bytes that a map takes in the device's memory.
uint64_t deviceBytes(const package::MapView &view, package::DramLayout layout);

/// Copies a tensor of single bytes into the device's memory, or out of it. Bytes of a blocked map's last word that
/// belong to no channel become 0.
void copyToDevice(const package::MapView &view, package::DramLayout layout, const uint8_t *tensor, uint8_t *device);
void copyFromDevice(const package::MapView &view, package::DramLayout layout, const uint8_t *device, uint8_t *tensor);

} // namespace tilewright::runtime

#endif
