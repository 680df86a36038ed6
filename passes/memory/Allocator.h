//===- Allocator.h - addresses for buffers with lifetimes -------*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_MEMORY_ALLOCATOR_H
#define TILEWRIGHT_PASSES_MEMORY_ALLOCATOR_H

#include "mlir/Support/LLVM.h"

#include <cstdint>

namespace tilewright::memory {

/// A buffer that is alive in steps [first, last]. Sizes and offsets in bytes.
struct Buffer {
  int64_t size = 0, first = 0, last = 0;
  int64_t offset = -1;
};

/// Gives every buffer an offset so that no two that are alive together overlap; largest first, each at the lowest free
/// place. Returns the bytes used (the caller compares with its capacity). `alignment` divides every offset.
int64_t allocate(llvm::MutableArrayRef<Buffer> buffers, int64_t alignment);

} // namespace tilewright::memory

#endif
