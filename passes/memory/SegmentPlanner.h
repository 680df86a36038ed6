//===- SegmentPlanner.h - what stays on chip, what is streamed --*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_MEMORY_SEGMENTPLANNER_H
#define TILEWRIGHT_PASSES_MEMORY_SEGMENTPLANNER_H

#include "passes/memory/StepPlanner.h"

namespace tilewright::memory {

/// Decides for every storage of the segment whether it stays on chip (setting Storage::streamed) and plans every step
/// so that all buffers can be placed. On failure emits an error at the layer that does not fit; when that is a group,
/// sets `tooLarge` instead: its layers may fit one by one.
mlir::FailureOr<std::vector<StepPlan>> planSegment(Segment &segment, tile::GroupOp &tooLarge);

/// Buffers of a planned segment.
BufferPlan buffersOf(const Segment &segment, llvm::ArrayRef<llvm::SmallVector<Ring>> rings);

} // namespace tilewright::memory

#endif
