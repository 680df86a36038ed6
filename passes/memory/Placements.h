//===- Placements.h - placement attributes of a segment's maps --*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_MEMORY_PLACEMENTS_H
#define TILEWRIGHT_PASSES_MEMORY_PLACEMENTS_H

#include "passes/memory/BufferPlan.h"

namespace tilewright::memory {

/// On the operation that owns a storage: it lives in DRAM.
inline constexpr llvm::StringLiteral kStreamedAttr = "streamed";

/// What the attributes say of a step: its rings, parallel to usesOf().
llvm::SmallVector<Ring> readRings(const Segment &segment, int step);
/// Reads Storage::streamed back from the attributes.
void readStreamed(Segment &segment);
void writeStreamed(const Segment &segment);

/// Sets operand_placements and result_placement of the step's layers. `offsets` (bytes on chip, parallel to usesOf) and
/// `dramOffsets` (bytes, by storage) are -1 while they are not known.
void writePlacements(const Segment &segment, int step, llvm::ArrayRef<Ring> rings, llvm::ArrayRef<int64_t> offsets,
                     llvm::ArrayRef<int64_t> dramOffsets);
/// Sets the placements of to_map and from_map.
void writeBoundaries(const Segment &segment, llvm::ArrayRef<int64_t> dramOffsets);
/// Bytes in DRAM of a storage; 0 for one that has none.
int64_t dramBytes(const Segment &segment, int storage);

} // namespace tilewright::memory

#endif
