//===- Allocator.cpp - addresses for buffers with lifetimes ---------------===//

#include "passes/memory/Allocator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace tilewright::memory;

int64_t tilewright::memory::allocate(llvm::MutableArrayRef<Buffer> buffers, int64_t alignment) {
  llvm::SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers) {
    buffer.offset = -1;
    order.push_back(&buffer);
  }
  // Equal sizes in the order given: pointers into one array.
  llvm::sort(order, [](const Buffer *a, const Buffer *b) { return a->size != b->size ? a->size > b->size : a < b; });
  int64_t used = 0;
  llvm::SmallVector<Buffer *> placed; // sorted by offset
  for (Buffer *buffer : order) {
    int64_t at = 0;
    for (Buffer *other : placed) {
      if (other->last < buffer->first || buffer->last < other->first)
        continue;
      if (at + buffer->size <= other->offset)
        break;
      at = std::max(at, (other->offset + other->size + alignment - 1) / alignment * alignment);
    }
    buffer->offset = at;
    used = std::max(used, at + buffer->size);
    placed.insert(llvm::lower_bound(placed, buffer, [](Buffer *a, Buffer *b) { return a->offset < b->offset; }),
                  buffer);
  }
  return used;
}
