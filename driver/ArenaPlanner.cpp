//===- ArenaPlanner.cpp ---------------------------------------------------===//

#include "driver/ArenaPlanner.h"

#include <algorithm>
#include <numeric>

namespace tilewright {

uint64_t planArena(std::vector<ArenaBuffer> &buffers) {
  constexpr uint64_t alignment = 64;
  std::vector<size_t> order(buffers.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(),
            [&](size_t a, size_t b) { return std::pair(buffers[b].bytes, a) < std::pair(buffers[a].bytes, b); });

  uint64_t size = 0;
  std::vector<const ArenaBuffer *> placed; // by offset
  for (size_t index : order) {
    ArenaBuffer &buffer = buffers[index];
    uint64_t bytes = (buffer.bytes + alignment - 1) / alignment * alignment;
    uint64_t offset = 0;
    for (const ArenaBuffer *other : placed) {
      bool meets = other->firstStep <= buffer.lastStep && buffer.firstStep <= other->lastStep;
      if (!meets || other->offset + other->bytes <= offset)
        continue;
      if (other->offset >= offset + bytes)
        break;
      offset = (other->offset + other->bytes + alignment - 1) / alignment * alignment;
    }
    buffer.offset = offset;
    size = std::max(size, offset + bytes);
    placed.insert(std::upper_bound(placed.begin(), placed.end(), offset,
                                   [](uint64_t at, const ArenaBuffer *other) { return at < other->offset; }),
                  &buffer);
  }
  return size;
}

} // namespace tilewright
