//===- TargetDescription.h - what tiling and fusion ask of a target -*- C++ -*-===//
//
// form-layers, fuse-layers, choose-tiles and place-buffers serve every device through this interface; none of them
// names a target or a root. A back end implements it and registers a factory under its name; the passes' option
// `target=NAME[:CONFIG]` selects one ("systolic:4x16x4", "cuda:h200").
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_TARGETDESCRIPTION_H
#define TILEWRIGHT_PASSES_TARGETDESCRIPTION_H

#include "dialects/tile/TileDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tilewright {

/// The block of work that the hardware takes as one: outputs (pixels x channels) and reduction elements per step.
struct Brick {
  int64_t pixels = 1, channels = 1, reduction = 1;
};

/// A tile that choose-tiles considers. Sizes as in #tile.tiling.
struct TileChoice {
  llvm::SmallVector<int64_t, 5> sizes;
  llvm::SmallVector<tile::LoopDim, 4> order;
  tile::WeightsPolicy weights = tile::WeightsPolicy::None;
  std::string unit;
  /// Bytes that the layer moves to or from DRAM besides its weights (maps that do not stay on chip).
  int64_t mapBytes = 0;
  /// The same, short rows counted as the bytes that pass in their time (see burstBytes).
  int64_t mapTransfer = 0;
};

/// What the cost model says of a layer with a given tile.
struct CostEstimate {
  int64_t cycles = 0;        ///< of the whole layer, with DRAM traffic that compute does not hide
  int64_t computeCycles = 0; ///< of the unit alone
  int64_t idealCycles = 0;   ///< useful MACs / peak
  int64_t dramBytes = 0;     ///< read and written: maps that are not on chip, and weights as often as they pass
  std::string bound;         ///< compute, memory, mapping or latency
};

class TargetDescription {
public:
  virtual ~TargetDescription() = default;

  /// "systolic:4x16x4": as given in the pass option.
  virtual std::string name() const = 0;
  /// The brick of a unit for operands of `element`.
  virtual Brick brick(llvm::StringRef unit, mlir::Type element) const = 0;
  /// Multiply-accumulates per cycle at best; 0 for a type that the device does not take.
  virtual int64_t peakMacs(mlir::Type element) const = 0;
  /// Bytes on chip for feature maps.
  virtual int64_t mapCapacity() const = 0;
  /// Bytes on chip for weights; 0 when they share the maps' memory.
  virtual int64_t weightCapacity() const = 0;
  /// DRAM bytes per cycle, reads plus writes, as sustained.
  virtual double bytesPerCycle() const = 0;
  /// Contiguous bytes (a row of a map's words) below which a transfer takes no less time.
  virtual int64_t burstBytes() const { return 1; }
  /// Cycles per second, to compare with the host.
  virtual double clockHz() const = 0;

  /// Why the device does not take this layer (in words: operator, attribute or type), or nothing when it does.
  virtual std::optional<std::string> refusal(tile::TileRootInterface root) const = 0;
  /// Whether `next` (an operation of another layer's epilogue) may be appended to `root`'s epilogue.
  virtual bool canAppend(tile::TileRootInterface root, mlir::Operation *next) const = 0;
  /// Whether two layers may run tile by tile with only a ring of rows between them.
  virtual bool canInterleave(tile::TileRootInterface producer, tile::TileRootInterface consumer) const = 0;
  /// What executes the layer ("dense", "depthwise", "packed", "vector", ...).
  virtual std::string unit(tile::TileRootInterface root) const = 0;
  /// What the report should say about the choice of unit, when it costs something; else empty.
  virtual std::string unitRemark(tile::TileRootInterface root) const { return {}; }
  /// True when operand `index` must be read as a packed image.
  virtual bool packsOperand(tile::TileRootInterface root, unsigned index) const { return false; }

  /// Bytes that `channels` output channels' weights take on chip (headers included); 0 for roots without weights.
  virtual int64_t weightBytes(tile::TileRootInterface root, int64_t channels) const = 0;
  /// Bytes of a map of this shape [n, c, h, w] on chip.
  virtual int64_t mapBytes(llvm::ArrayRef<int64_t> shape, mlir::Type element) const = 0;
  /// True when place-buffers gives every map an address on chip; otherwise tiles alone are chosen, and the back end
  /// stages them itself.
  virtual bool placesBuffers() const = 0;
  /// Channels that share one word of the maps' memory, and that word's bytes: the unit of #tile.placement's addresses.
  virtual int64_t channelWord() const { return 1; }
  virtual int64_t wordBytes() const { return 1; }
  /// Bytes of a row of a packed image.
  virtual int64_t packedRowBytes(int64_t width, int64_t channels) const { return width * channels; }
  /// Elements of a contraction's reduction whose operands lie on chip at once, where the back end stages them: the
  /// reduction passes through in slices.
  virtual int64_t stagedReduction(tile::TileRootInterface root) const { return INT64_MAX; }
  /// Outputs of one tile whose sums the device can hold at once.
  virtual int64_t maxSums() const { return INT64_MAX; }
  /// Channels that a channel tile must be a multiple of.
  virtual int64_t channelGranule(tile::TileRootInterface root) const = 0;
  virtual CostEstimate estimate(tile::TileRootInterface root, const TileChoice &choice) const = 0;
};

using TargetFactory = std::function<std::unique_ptr<TargetDescription>(llvm::StringRef configuration)>;
/// Registers (or replaces) the target `name`; called once by the back end's register function.
void registerTarget(llvm::StringRef name, TargetFactory factory);
/// The target "NAME" or "NAME:CONFIG". Throws Error for an unknown name, listing the known ones, or what the target
/// says about its configuration.
std::unique_ptr<TargetDescription> createTarget(llvm::StringRef spec);
/// What passes over functions have in common that ask a target: `work` on a function of one block, nothing on others. A
/// target that does not exist is an error at the function.
mlir::LogicalResult withTarget(mlir::func::FuncOp function, llvm::StringRef spec,
                               llvm::function_ref<mlir::LogicalResult(const TargetDescription &)> work);

} // namespace tilewright

#endif
