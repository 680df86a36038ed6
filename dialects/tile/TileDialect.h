//===- TileDialect.h - the tile dialect -------------------------*- C++ -*-===//
//
// See TileOps.td for what the dialect is, and docs/dialects/tile.md for why. Maps are tensors [N, C, H, W].
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DIALECTS_TILE_TILEDIALECT_H
#define TILEWRIGHT_DIALECTS_TILE_TILEDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/tile/TileDialect.h.inc"
#include "dialects/tile/TileEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/tile/TileAttributes.h.inc"

namespace tilewright::tile {

/// Extents of a layer's iteration space. `channels` counts the output channels of one group.
struct IterationSpace {
  int64_t batch = 1, group = 1, channels = 1, height = 1, width = 1;
  llvm::SmallVector<int64_t> reduction;

  /// [batch, group, channels, height, width], the order of #tile.tiling's sizes.
  llvm::SmallVector<int64_t> parallel() const { return {batch, group, channels, height, width}; }
  int64_t outputs() const { return batch * group * channels * height * width; }
  int64_t reductionSize() const {
    int64_t product = 1;
    for (int64_t extent : reduction)
      product *= extent;
    return product;
  }
};

/// The part of one dimension of an operand that a tile touches: [start, start + size); may reach outside the operand
/// (padding).
struct OperandSlice {
  int64_t start = 0, size = 0;
};

} // namespace tilewright::tile

#include "dialects/tile/TileInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/tile/TileOps.h.inc"

namespace tilewright::tile {

/// The ranges of operand `index` that a tile needs: `offsets` and `sizes` are over [batch, group, channels, height,
/// width], reduction dimensions are taken whole.
llvm::SmallVector<OperandSlice> operandSlices(TileRootInterface root, unsigned index, llvm::ArrayRef<int64_t> offsets,
                                              llvm::ArrayRef<int64_t> sizes);

/// Strides of a map [N, C, H, W] over a row-major tensor whose dimensions are N, C, H, W in the order `dims` (indices 0
/// to 3, outermost first); 0 where the extent is 1, so that equal layouts have equal strides.
llvm::SmallVector<int64_t> mapStrides(llvm::ArrayRef<int64_t> mapShape, llvm::ArrayRef<unsigned> dims);

/// Bits of the value domain: true when the element is unsigned in the model (ui8), held as value - 128 on the device.
inline bool isUnsignedStorage(mlir::Type element) { return element.isUnsignedInteger(8); }
/// An integer of the model's domain in the device's, and back.
inline int64_t toDevice(mlir::Type element, int64_t value) { return isUnsignedStorage(element) ? value - 128 : value; }
inline int64_t fromDevice(mlir::Type element, int64_t value) {
  return isUnsignedStorage(element) ? value + 128 : value;
}

/// The last operation of kind `OpTy` in a layer's epilogue, or null.
template <typename OpTy> OpTy epilogueOp(TileRootInterface root) {
  OpTy found;
  for (mlir::Operation &op : root.getEpilogueBlock())
    if (auto match = llvm::dyn_cast<OpTy>(op))
      found = match;
  return found;
}

} // namespace tilewright::tile

#endif
