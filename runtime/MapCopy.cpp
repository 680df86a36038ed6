//===- MapCopy.cpp --------------------------------------------------------===//

#include "runtime/MapCopy.h"

#include <algorithm>
#include <cstring>

namespace tilewright::runtime {

using package::DramLayout;
using package::MapView;

namespace {

struct Strides {
  uint64_t sample, channel, row, column;
};

/// Of the layouts that are dense.
Strides deviceStrides(const MapView &view, DramLayout layout) {
  uint64_t plane = view.height() * view.width();
  if (layout == DramLayout::Nhwc)
    return {plane * view.channels(), 1, view.width() * view.channels(), view.channels()};
  return {plane * view.channels(), plane, view.width(), 1};
}

/// The tensor lies as the device wants it. Strides of extents of 1 do not matter.
bool sameLayout(const MapView &view, const Strides &device) {
  auto same = [](uint64_t extent, uint64_t a, uint64_t b) { return extent <= 1 || a == b; };
  return same(view.samples(), view.sample_stride(), device.sample) &&
         same(view.channels(), view.channel_stride(), device.channel) &&
         same(view.height(), view.row_stride(), device.row) && same(view.width(), view.column_stride(), device.column);
}

/// Calls body(tensor offset, device offset) for every element.
template <typename Body> void forEachElement(const MapView &view, const Strides &device, Body body) {
  for (uint64_t n = 0; n < view.samples(); ++n)
    for (uint64_t c = 0; c < view.channels(); ++c)
      for (uint64_t y = 0; y < view.height(); ++y) {
        uint64_t tensorRow = n * view.sample_stride() + c * view.channel_stride() + y * view.row_stride();
        uint64_t deviceRow = n * device.sample + c * device.channel + y * device.row;
        for (uint64_t x = 0; x < view.width(); ++x)
          body(tensorRow + x * view.column_stride(), deviceRow + x * device.column);
      }
}

/// Calls body(tensor offset of the word's first channel, device offset, channels in it) for every word of a blocked
/// map.
template <typename Body> void forEachWord(const MapView &view, Body body) {
  uint64_t device = 0;
  for (uint64_t n = 0; n < view.samples(); ++n)
    for (uint64_t c = 0; c < view.channels(); c += kWordChannels)
      for (uint64_t y = 0; y < view.height(); ++y)
        for (uint64_t x = 0; x < view.width(); ++x, device += kWordChannels)
          body(n * view.sample_stride() + c * view.channel_stride() + y * view.row_stride() + x * view.column_stride(),
               device, std::min(kWordChannels, view.channels() - c));
}

} // namespace

uint64_t deviceBytes(const MapView &view, DramLayout layout) {
  uint64_t channels = view.channels();
  if (layout == DramLayout::Blocked)
    channels = (channels + kWordChannels - 1) / kWordChannels * kWordChannels;
  return view.samples() * channels * view.height() * view.width();
}

void copyToDevice(const MapView &view, DramLayout layout, const uint8_t *tensor, uint8_t *device) {
  if (layout != DramLayout::Blocked) {
    Strides strides = deviceStrides(view, layout);
    if (sameLayout(view, strides))
      std::memcpy(device, tensor, deviceBytes(view, layout));
    else
      forEachElement(view, strides, [=](uint64_t from, uint64_t to) { device[to] = tensor[from]; });
    return;
  }
  uint64_t stride = view.channel_stride();
  forEachWord(view, [=](uint64_t from, uint64_t to, uint64_t channels) {
    uint8_t bytes[kWordChannels] = {};
    for (uint64_t i = 0; i < channels; ++i)
      bytes[i] = tensor[from + i * stride];
    std::memcpy(device + to, bytes, kWordChannels);
  });
}

void copyFromDevice(const MapView &view, DramLayout layout, const uint8_t *device, uint8_t *tensor) {
  if (layout != DramLayout::Blocked) {
    Strides strides = deviceStrides(view, layout);
    if (sameLayout(view, strides))
      std::memcpy(tensor, device, deviceBytes(view, layout));
    else
      forEachElement(view, strides, [=](uint64_t to, uint64_t from) { tensor[to] = device[from]; });
    return;
  }
  uint64_t stride = view.channel_stride();
  forEachWord(view, [=](uint64_t to, uint64_t from, uint64_t channels) {
    for (uint64_t i = 0; i < channels; ++i)
      tensor[to + i * stride] = device[from + i];
  });
}

} // namespace tilewright::runtime
