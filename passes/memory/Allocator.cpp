//===- Allocator.cpp - addresses for buffers with lifetimes ---------------===//

#include "passes/memory/Allocator.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

#include <vector>

using namespace tilewright::memory;

int64_t tilewright::memory::allocate(llvm::MutableArrayRef<Buffer> buffers, int64_t alignment) {
  llvm::SmallVector<Buffer *> order;
  int64_t steps = 0;
  for (Buffer &buffer : buffers) {
    buffer.offset = -1;
    order.push_back(&buffer);
    steps = std::max(steps, buffer.last + 1);
  }
  // Equal sizes in the order given: pointers into one array.
  llvm::sort(order, [](const Buffer *a, const Buffer *b) { return a->size != b->size ? a->size > b->size : a < b; });
  int64_t used = 0;
  std::vector<llvm::SmallVector<Buffer *>> placed(steps); // by step
  for (Buffer *buffer : order) {
    llvm::SmallVector<Buffer *> others;
    for (int64_t step = buffer->first; step <= buffer->last; ++step)
      for (Buffer *other : placed[step])
        if (step == std::max(buffer->first, other->first)) // once
          others.push_back(other);
    llvm::sort(others, [](const Buffer *a, const Buffer *b) {
      return a->offset != b->offset ? a->offset < b->offset : a < b; // sizes may be 0
    });
    int64_t at = 0;
    for (Buffer *other : others) {
      if (at + buffer->size <= other->offset)
        break;
      at = std::max(at, (other->offset + other->size + alignment - 1) / alignment * alignment);
    }
    buffer->offset = at;
    used = std::max(used, at + buffer->size);
    for (int64_t step = buffer->first; step <= buffer->last; ++step)
      placed[step].push_back(buffer);
  }
  return used;
}
