//===- CudaTarget.cpp - a GPU as tiling and fusion see it -----------------===//
//
// A block of threads computes one tile: its operands pass through shared memory, its sums stay in registers. Capacities
// and rates are those of one streaming multiprocessor and its share of the memory bandwidth (vendor's data sheet,
// sm_90).
//
//===----------------------------------------------------------------------===//

#include "backends/cuda/CudaTarget.h"

#include "common/CeilDiv.h"
#include "common/Error.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {
constexpr int64_t multiprocessors = 132;
constexpr int64_t sharedBytes = 227 * 1024;
constexpr double memoryBytesPerSecond = 4.8e12, clock = 1.83e9;
/// Tensor-core MACs per cycle and multiprocessor for f16; int8 has twice as many.
constexpr int64_t halfMacs = 2048;

class CudaTarget final : public TargetDescription {
public:
  std::string name() const override { return "cuda:h200"; }
  Brick brick(StringRef unit, Type element) const override {
    if (unit == "simt")
      return {32, 4, 1};
    return {64, 64, element.getIntOrFloatBitWidth() == 8 ? 32 : 16};
  }
  int64_t peakMacs(Type element) const override {
    if (element.isInteger(8))
      return 2 * halfMacs * multiprocessors;
    if (element.isF16() || element.isBF16())
      return halfMacs * multiprocessors;
    return element.isF32() ? 128 * multiprocessors : 0;
  }
  int64_t mapCapacity() const override { return sharedBytes; }
  int64_t weightCapacity() const override { return 0; }
  double bytesPerCycle() const override { return memoryBytesPerSecond / clock; }
  double clockHz() const override { return clock; }

  std::optional<std::string> refusal(TileRootInterface root) const override {
    if (peakMacs(root.getOperandType(0).getElementType()) == 0)
      return std::string("no arithmetic for this element type");
    return std::nullopt;
  }
  // Epilogues are code: anything elementwise can follow.
  bool canAppend(TileRootInterface root, Operation *) const override { return !isa<MoveOp>(root.getOperation()); }
  bool canInterleave(TileRootInterface, TileRootInterface) const override { return true; }
  std::string unit(TileRootInterface root) const override {
    return isa<ContractionOp>(root.getOperation()) && !root.getOperandType(0).getElementType().isF32() ? "tensor_core"
                                                                                                       : "simt";
  }
  /// Two slices of four bricks each: one is used while the other one arrives.
  int64_t stagedReduction(TileRootInterface root) const override {
    return 2 * 4 * brick(unit(root), root.getOperandType(0).getElementType()).reduction;
  }
  int64_t weightBytes(TileRootInterface root, int64_t channels) const override {
    if (!root.getWeightsOperand())
      return 0;
    Type element = root.getOperandType(0).getElementType();
    return channels * stagedReduction(root) * ceilDiv(element.getIntOrFloatBitWidth(), 8);
  }
  int64_t mapBytes(ArrayRef<int64_t> shape, Type element) const override {
    int64_t bytes = ceilDiv(element.getIntOrFloatBitWidth(), 8);
    for (int64_t extent : shape)
      bytes *= extent;
    return bytes;
  }
  bool placesBuffers() const override { return false; }
  /// Half of the register file: 64 K registers of a multiprocessor.
  int64_t maxSums() const override { return 32768; }
  int64_t channelGranule(TileRootInterface root) const override {
    if (isa<NormalizeOp>(root.getOperation())) // one block of threads sees a whole row
      return root.getIterationSpace().channels;
    return brick(unit(root), root.getOperandType(0).getElementType()).channels;
  }
  CostEstimate estimate(TileRootInterface root, const TileChoice &choice) const override;
};

CostEstimate CudaTarget::estimate(TileRootInterface root, const TileChoice &choice) const {
  CostEstimate cost;
  IterationSpace space = root.getIterationSpace();
  Type element = root.getOperandType(0).getElementType();
  Brick native = brick(choice.unit, element);
  int64_t tiles = 1;
  for (auto [extent, size] : llvm::zip_equal(space.parallel(), choice.sizes))
    tiles *= ceilDiv(extent, size);
  int64_t pixels = choice.sizes[0] * choice.sizes[3] * choice.sizes[4], channels = choice.sizes[1] * choice.sizes[2];
  int64_t padded =
      ceilDiv(pixels, native.pixels) * native.pixels * ceilDiv(channels, native.channels) * native.channels;
  int64_t reduction = ceilDiv(std::max<int64_t>(space.reductionSize(), 1), native.reduction) * native.reduction;
  int64_t perTile = ceilDiv(padded * reduction, std::max<int64_t>(peakMacs(element) / multiprocessors, 1));
  cost.computeCycles = ceilDiv(tiles, multiprocessors) * perTile;
  cost.idealCycles = root.getMacs() ? ceilDiv(root.getMacs(), peakMacs(element)) : 0;
  int64_t weights = 0;
  if (auto index = root.getWeightsOperand())
    weights = mapBytes(root.getOperandType(*index).getShape(), element);
  cost.dramBytes = choice.mapBytes + weights;
  int64_t memory = static_cast<int64_t>(std::ceil(static_cast<double>(cost.dramBytes) / bytesPerCycle()));
  cost.cycles = std::max(cost.computeCycles, memory);
  cost.bound = memory > cost.computeCycles                       ? "memory"
               : cost.idealCycles * 10 >= cost.computeCycles * 9 ? "compute"
                                                                 : "mapping";
  return cost;
}
} // namespace

void cuda::registerCudaTarget() {
  registerTarget("cuda", [](llvm::StringRef configuration) -> std::unique_ptr<TargetDescription> {
    if (!configuration.empty() && configuration != "h200")
      throw Error("unknown GPU '" + configuration.str() + "'; known: h200");
    return std::make_unique<CudaTarget>();
  });
}
