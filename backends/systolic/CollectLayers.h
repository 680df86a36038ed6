//===- CollectLayers.h - tile IR read into layers ---------------*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_COLLECTLAYERS_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_COLLECTLAYERS_H

#include "backends/systolic/Layers.h"
#include "dialects/tile/TileDialect.h"

#include <deque>

namespace tilewright::systolic {

/// Reads decided tile layers (tiling and placements set) of one device program into Layers.h's structures. Weights are
/// referenced where the IR holds them; what had to be converted is owned by this object, which must outlive the
/// program's compilation.
class LayerCollector {
public:
  /// Appends the layer `op`, or those of a tile.group. Emits an error at the op and fails for what the array does not
  /// run.
  llvm::LogicalResult add(mlir::Operation *op);

  LayerProgram program;

private:
  llvm::LogicalResult addRoot(tile::TileRootInterface root, int group, tile::TilingAttr tiling);
  llvm::LogicalResult readEpilogue(tile::TileRootInterface root, Layer &layer);
  llvm::LogicalResult readRoot(tile::TileRootInterface root, Layer &layer);
  llvm::LogicalResult readWeights(tile::TileRootInterface root, mlir::Value weights, Layer &layer);
  llvm::LogicalResult readOperand(tile::TileRootInterface root, unsigned index, Operand &operand);
  void noteArena(const Operand &operand);

  llvm::DenseMap<mlir::Value, int> producers;
  std::deque<std::vector<int8_t>> byteStorage;
  std::deque<std::vector<int16_t>> wideStorage;
  int groups = 0;
};

/// A place in the arena as layers and device tensors use it.
DramPlace dramPlace(tile::DramAttr attr);

} // namespace tilewright::systolic

#endif
