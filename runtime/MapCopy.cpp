//===- MapCopy.cpp --------------------------------------------------------===//

#include "runtime/MapCopy.h"

#include <algorithm>
#include <cstring>

namespace tilewright::runtime {

namespace {
/// Calls body(word of the blocked map, dense offset of its first channel, channels in it).
template <typename Body> void forEachWord(const package::MapView &view, Body body) {
  uint64_t word = 0;
  for (uint64_t n = 0; n < view.samples(); ++n)
    for (uint64_t c = 0; c < view.channels(); c += kWordChannels)
      for (uint64_t y = 0; y < view.height(); ++y)
        for (uint64_t x = 0; x < view.width(); ++x)
          body(word++,
               n * view.sample_stride() + c * view.channel_stride() + y * view.row_stride() + x * view.column_stride(),
               std::min(kWordChannels, view.channels() - c));
}
} // namespace

void denseToBlocked(const package::MapView &view, const uint8_t *dense, uint8_t *blocked) {
  uint64_t stride = view.channel_stride();
  forEachWord(view, [=](uint64_t word, uint64_t offset, uint64_t channels) {
    uint8_t bytes[kWordChannels] = {};
    for (uint64_t i = 0; i < channels; ++i)
      bytes[i] = dense[offset + i * stride];
    std::memcpy(blocked + word * kWordChannels, bytes, kWordChannels);
  });
}

void blockedToDense(const package::MapView &view, const uint8_t *blocked, uint8_t *dense) {
  uint64_t stride = view.channel_stride();
  forEachWord(view, [=](uint64_t word, uint64_t offset, uint64_t channels) {
    for (uint64_t i = 0; i < channels; ++i)
      dense[offset + i * stride] = blocked[word * kWordChannels + i];
  });
}

} // namespace tilewright::runtime
