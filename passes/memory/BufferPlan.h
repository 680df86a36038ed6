//===- BufferPlan.h - scratchpad buffers of a segment -----------*- C++ -*-===//
//
// A buffer for each storage that stays on chip, and one for each ring of a step. Built from the decisions that
// choose-tiles took (which storages are streamed, ring rows); allocated by both passes with the same result.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_MEMORY_BUFFERPLAN_H
#define TILEWRIGHT_PASSES_MEMORY_BUFFERPLAN_H

#include "passes/memory/Allocator.h"
#include "passes/memory/Segment.h"

namespace tilewright::memory {

/// A use of a map by a step: operand `index` of `layer`, or its result (index -1).
struct MapUse {
  tile::TileRootInterface layer;
  int index = -1;

  mlir::Value value() const;
  mlir::RankedTensorType type() const;
};

/// Ring of a use: how many rows and samples it holds. Whole maps have ring rows = height.
struct Ring {
  int64_t rows = 0, samples = 1;
  bool packed = false;
};

/// The maps that a step uses, in the order in which they get placements: each layer's map operands, then its result.
llvm::SmallVector<MapUse> usesOf(const Step &step);

class BufferPlan {
public:
  BufferPlan(const Segment &segment) : segment(segment) {}

  /// A ring of a step's own, for a use whose storage is streamed or whose value is internal to the step.
  void addRing(int step, const MapUse &use, const Ring &ring);
  /// Storages that stay on chip, results written over residuals that die where that is safe.
  void addStorages();
  /// Gives every buffer a place that nobody else has while it is alive; returns the bytes needed.
  int64_t allocate();
  /// As allocate(), which must fit the target, then keeps places apart for longer as far as they still fit: a buffer
  /// that gets the place of another waits until that one's last reader or store has finished, and transfers run ahead
  /// of and behind the steps that they belong to.
  void allocateApart();
  /// Byte offset of the buffer behind a use.
  int64_t offsetOf(int step, const MapUse &use) const;
  bool hasRing(int step, const MapUse &use) const { return rings.count({step, keyOf(use)}); }

private:
  /// Rings are told apart by value, and by operand where a step reads a value twice.
  std::pair<void *, int> keyOf(const MapUse &use) const;
  /// Makes lives longer by so many steps: of all `chosen` if that fits, else of as many as `attempts` find.
  void lengthen(llvm::ArrayRef<int> chosen, int64_t before, int64_t after, int &attempts);

  const Segment &segment;
  llvm::SmallVector<Buffer> buffers;
  llvm::DenseMap<std::pair<int, std::pair<void *, int>>, int> rings;
  llvm::DenseMap<int, int> storageBuffers;
  llvm::SmallVector<int> loaded, stored; ///< buffers that load jobs fill and that store jobs empty
};

} // namespace tilewright::memory

#endif
