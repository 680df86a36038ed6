//===- Structure.h - changes to layers before tiles are chosen --*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_MEMORY_STRUCTURE_H
#define TILEWRIGHT_PASSES_MEMORY_STRUCTURE_H

#include "passes/memory/Segment.h"

namespace tilewright::memory {

/// Brings concatenations and slices into a form that placement alone expresses, with copies where that needs them.
void legalizeMoves(llvm::ArrayRef<mlir::Operation *> run, const TargetDescription &target);

/// Puts pairs of layers between which a large map would pass into groups, so that only a ring of its rows exists.
void groupLayers(llvm::ArrayRef<mlir::Operation *> run, const TargetDescription &target);

/// Takes the layers of a group out of it.
void dissolve(tile::GroupOp group);

} // namespace tilewright::memory

#endif
