//===- JobGeometry.h - what a job touches and how long it is ----*- C++ -*-===//
//
// Sizes that follow from a descriptor and the array's parameters, by the formulas
// of docs/accelerator.md. The verifier, the executors and the scheduler share them.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_ISA_JOBGEOMETRY_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_ISA_JOBGEOMETRY_H

#include "backends/systolic/isa/Descriptor.h"
#include "common/CeilDiv.h"
#include "config/ArrayConfig.h"
#include <algorithm>

namespace tilewright::isa {

/// Rows or columns [begin, end) of an input map; empty if begin >= end.
struct Range {
  int64_t begin = 0, end = 0;
  int64_t size() const { return std::max<int64_t>(end - begin, 0); }
};

/// Input positions inside [0, limit) that windows `first` .. `first + count - 1` read along one axis.
inline Range windowRange(int64_t first, int64_t count, int64_t kernel, int64_t stride, int64_t dilation, int64_t pad,
                         int64_t limit) {
  int64_t begin = first * stride - pad, end = (first + count - 1) * stride - pad + (kernel - 1) * dilation + 1;
  return {std::max<int64_t>(begin, 0), std::min(end, limit)};
}

inline Range inputRows(const Execute &job) {
  const Window &w = job.window;
  return windowRange(job.outRowStart, job.outRowCount, w.kernelHeight, w.strideHeight, w.dilationHeight, w.padTop,
                     job.inHeight);
}
inline Range inputColumns(const Execute &job) {
  const Window &w = job.window;
  return windowRange(0, job.outWidth, w.kernelWidth, w.strideWidth, w.dilationWidth, w.padLeft, job.inWidth);
}
inline Range inputRows(const Vector &job) {
  const Window &w = job.window;
  return windowRange(job.outRowStart, job.outRowCount, w.kernelHeight, w.strideHeight, w.dilationHeight, w.padTop,
                     job.inHeight);
}
inline Range inputColumns(const Vector &job) {
  const Window &w = job.window;
  return windowRange(job.outColumnStart, job.outColumnCount, w.kernelWidth, w.strideWidth, w.dilationWidth, w.padLeft,
                     job.inWidth);
}

/// Reduction steps of one brick.
inline int64_t steps(const Execute &job, const ArrayConfig &config) {
  const Window &w = job.window;
  switch (job.mode) {
  case ExecuteMode::Dense:
    return w.kernelHeight * w.kernelWidth * job.channelSteps;
  case ExecuteMode::Depthwise:
    return w.kernelHeight * ceilDiv(w.kernelWidth, config.reduction);
  case ExecuteMode::Packed:
    return ceilDiv(w.kernelHeight * w.kernelWidth * job.packedChannels, config.reduction);
  }
  return 0;
}
/// Groups of P output pixels.
inline int64_t pixelGroups(const Execute &job, const ArrayConfig &config) {
  int64_t rows = job.samples * job.outRowCount;
  return job.mode == ExecuteMode::Depthwise ? rows * ceilDiv(job.outWidth, config.pixels)
                                            : ceilDiv(rows * job.outWidth, config.pixels);
}
/// Blocks of K output channels.
inline int64_t channelBlocks(const Execute &job, const ArrayConfig &config) {
  return ceilDiv(job.outChannels, config.channels);
}
/// Ring words of one block: header and steps.
inline int64_t blockWords(const Execute &job, const ArrayConfig &config) {
  return config.headerWords() + steps(job, config);
}
inline int64_t bricks(const Execute &job, const ArrayConfig &config) {
  return pixelGroups(job, config) * channelBlocks(job, config);
}
/// Multiply-accumulates that the layer needs of this job: no idle lanes, no padded channels. `inputChannels`: of the
/// layer's input (the descriptor only knows them rounded up to C).
inline int64_t usefulMacs(const Execute &job, int64_t inputChannels) {
  int64_t depth = job.mode == ExecuteMode::Depthwise ? 1
                  : job.mode == ExecuteMode::Packed  ? job.packedChannels
                                                     : inputChannels;
  return job.samples * job.outRowCount * job.outWidth * job.outChannels * job.window.kernelHeight *
         job.window.kernelWidth * depth;
}

} // namespace tilewright::isa

#endif
