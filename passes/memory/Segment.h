//===- Segment.h - the layers between two host operators --------*- C++ -*-===//
//
// choose-tiles and place-buffers work on one segment at a time: the device operations that run as one program. Its
// steps are layers and groups in order; its storages are what the values live in. Concatenations and slices are no
// steps: their values share storages.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_MEMORY_SEGMENT_H
#define TILEWRIGHT_PASSES_MEMORY_SEGMENT_H

#include "passes/TargetDescription.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace tilewright::memory {

/// A layer, or a group of layers that run tile by tile.
struct Step {
  mlir::Operation *op;
  llvm::SmallVector<tile::TileRootInterface, 2> layers; ///< the last one drives
};

/// Memory for one map, or for a concatenation and its parts.
struct Storage {
  llvm::SmallVector<int64_t, 4> shape; ///< of the whole
  mlir::Type element;
  int64_t first = 0, last = 0;           ///< steps in which it is alive
  bool streamed = false;                 ///< lives in DRAM; each step that touches it has a ring
  bool pinned = false;                   ///< may not be streamed
  bool enters = false, leaves = false;   ///< read from or written to the host
  llvm::SmallVector<int64_t, 4> touches; ///< steps that read or write it
};

/// Where a value lies within a storage.
struct Residence {
  int storage = -1;
  int64_t channel = 0, row = 0, column = 0; ///< of the storage, at which the value begins
};

class Segment {
public:
  Segment(llvm::ArrayRef<mlir::Operation *> deviceOps, const TargetDescription &target);

  llvm::SmallVector<Step> steps;
  llvm::SmallVector<Storage> storages;
  llvm::MapVector<mlir::Value, Residence> residences; ///< in an order that does not depend on addresses
  llvm::SmallVector<tile::ToMapOp> inputs;
  llvm::SmallVector<tile::FromMapOp> outputs;
  llvm::SmallVector<tile::MoveOp> moves; ///< that nothing runs for

  /// Emits an error at a layer that reads something that neither a layer nor a to_map of the segment gives.
  llvm::LogicalResult verify() const;
  /// True for a value that passes between two layers of one step.
  bool isInternal(mlir::Value value) const;
  const TargetDescription &target;

private:
  int newStorage(mlir::Value value, int step);
  void touch(mlir::Value value, int step);
  void place(tile::MoveOp move);
};

/// The stage of each operation of a block: layers of stage s make program s, host operators of stage s run before it.
/// What enters the device (to_map) belongs to its first reader's stage.
llvm::DenseMap<mlir::Operation *, unsigned> stagesOf(mlir::Block &block);

/// The segments of a function: runs of device operations that no host operator interrupts (constants do not count).
llvm::SmallVector<llvm::SmallVector<mlir::Operation *>> deviceRuns(mlir::func::FuncOp function);
bool isDeviceOp(mlir::Operation *op);

/// Scratchpad bytes of `rows` rows of a map of this shape, for `samples` samples; packed rows for a packed image.
int64_t ringBytes(const TargetDescription &target, llvm::ArrayRef<int64_t> shape, mlir::Type element, int64_t rows,
                  int64_t samples, bool packed);
/// Rows of map operand `index` that `rows` output rows need, at most its height.
int64_t rowsOf(tile::TileRootInterface root, unsigned index, int64_t rows);
/// Bytes that the layer needs at least, everything else being in DRAM: one row of everything, single-buffered.
int64_t minimalFootprint(const TargetDescription &target, tile::TileRootInterface root);

} // namespace tilewright::memory

#endif
