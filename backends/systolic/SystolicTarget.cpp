//===- SystolicTarget.cpp - the array as tiling and fusion see it ---------===//
//
// Capacities, units and the cost model follow docs/accelerator.md; all parameters come from the array's configuration.
//
//===----------------------------------------------------------------------===//

#include "backends/systolic/SystolicTarget.h"

#include "common/CeilDiv.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

namespace {
/// Largest value of a field of n bits in the descriptor table.
constexpr int64_t maxField(unsigned bits) { return (int64_t(1) << bits) - 1; }
/// Dead cycles between output-channel blocks of a job (header, address set-up), and of a job.
constexpr int64_t blockOverhead = 20, jobOverhead = 40;
/// Bursts that the DRAM has under way at once; a burst does not span rows of a map.
constexpr int64_t burstsInFlight = 16;
/// Bytes buffered per pixel lane in packed mode (docs/accelerator.md).
constexpr int64_t packedRowBuffer = 128;

/// Kernel, strides and so on of roots with a window, read from the op's attributes: absent for the others.
struct Window {
  int64_t kernel[2] = {1, 1}, stride[2] = {1, 1}, dilation[2] = {1, 1};
};

template <typename OpTy> Window windowOf(OpTy op, ArrayRef<int64_t> kernel) {
  Window window;
  for (unsigned axis : {0u, 1u}) {
    window.kernel[axis] = kernel[axis];
    window.stride[axis] = op.getStrides()[axis];
    window.dilation[axis] = op.getDilations()[axis];
  }
  return window;
}

Window windowOf(TileRootInterface root) {
  Operation *op = root;
  if (auto contraction = dyn_cast<ContractionOp>(op))
    return windowOf(contraction, ArrayRef(contraction.getIterationSpace().reduction).take_back(2));
  if (auto depthwise = dyn_cast<DepthwiseOp>(op))
    return windowOf(depthwise, ArrayRef(depthwise.getIterationSpace().reduction).take_back(2));
  if (auto pooling = dyn_cast<PoolingOp>(op))
    return windowOf(pooling, pooling.getKernel());
  Window window;
  if (auto reduction = dyn_cast<ReductionOp>(op))
    for (auto [i, dim] : llvm::enumerate(reduction.getDims()))
      if (dim >= 2)
        window.kernel[dim - 2] = root.getIterationSpace().reduction[i];
  return window;
}

class SystolicTarget final : public TargetDescription {
public:
  explicit SystolicTarget(const ArrayConfig &config) : config(config) {}

  std::string name() const override { return "systolic:" + config.name; }
  Brick brick(StringRef unit, Type) const override {
    if (unit == "vector")
      return {1, 16, 1};
    return {config.pixels, config.channels, config.reduction};
  }
  int64_t peakMacs(Type element) const override { return element.isInteger(8) ? config.macsPerCycle() : 0; }
  int64_t mapCapacity() const override { return config.scratchpadBytes; }
  int64_t weightCapacity() const override { return config.weightRingBytes; }
  double bytesPerCycle() const override { return config.effectiveDramBytesPerCycle(); }
  int64_t burstBytes() const override {
    return static_cast<int64_t>(static_cast<double>(config.dramLatencyCycles) / burstsInFlight * bytesPerCycle());
  }
  double clockHz() const override { return config.nominalMhz * 1e6; }

  std::optional<std::string> refusal(TileRootInterface root) const override;
  bool canAppend(TileRootInterface root, Operation *next) const override;
  bool canInterleave(TileRootInterface producer, TileRootInterface consumer) const override;
  std::string unit(TileRootInterface root) const override;
  std::string unitRemark(TileRootInterface root) const override;
  bool packsOperand(TileRootInterface root, unsigned index) const override {
    return index == 0 && unit(root) == "packed";
  }

  int64_t weightBytes(TileRootInterface root, int64_t channels) const override {
    if (!root.getWeightsOperand())
      return 0;
    return ceilDiv(channels, config.channels) * (config.headerWords() + blockSteps(root)) * config.ringWordBytes();
  }
  int64_t mapBytes(ArrayRef<int64_t> shape, Type) const override {
    return shape[0] * ceilDiv(shape[1], 16) * shape[2] * shape[3] * 16;
  }
  bool placesBuffers() const override { return true; }
  int64_t channelWord() const override { return 16; }
  int64_t wordBytes() const override { return 16; }
  int64_t packedRowBytes(int64_t width, int64_t channels) const override { return ceilDiv(width * channels, 16) * 16; }
  int64_t channelGranule(TileRootInterface root) const override {
    // Channel tiles of results begin at whole words.
    return root.getWeightsOperand() ? std::max<int64_t>(config.channels, 16) : 16;
  }
  CostEstimate estimate(TileRootInterface root, const TileChoice &choice) const override;

private:
  /// Reduction steps of one output-channel block; also its ring words without the header.
  int64_t blockSteps(TileRootInterface root) const;
  bool depthwiseFits(TileRootInterface root) const;
  bool packs(ContractionOp contraction) const;

  ArrayConfig config;
};

bool SystolicTarget::depthwiseFits(TileRootInterface root) const {
  Window window = windowOf(root);
  for (unsigned axis : {0u, 1u})
    if (window.kernel[axis] > 7 || window.stride[axis] > 2 || window.dilation[axis] != 1)
      return false;
  return config.channels <= 16;
}

/// Packed mode: an image straight from DRAM with few channels, all of whose readers take it so.
bool SystolicTarget::packs(ContractionOp contraction) const {
  auto image = contraction.getInput().getDefiningOp<ToMapOp>();
  if (!image)
    return false;
  return llvm::all_of(image.getResult().getUses(), [&](OpOperand &use) {
    auto reader = dyn_cast<ContractionOp>(use.getOwner());
    if (!reader || use.getOperandNumber() != 0 || reader.getGroup() != 1 || reader.getDilations()[1] != 1)
      return false;
    int64_t channels = reader.getInput().getType().getDimSize(1);
    // A kernel row has to fit the byte buffers of a pixel lane.
    int64_t rowBytes = reader.getIterationSpace().reduction[2] * channels + config.reduction;
    return channels <= 4 && rowBytes <= packedRowBuffer;
  });
}

std::string SystolicTarget::unit(TileRootInterface root) const {
  Operation *op = root;
  if (isa<DepthwiseOp>(op))
    return depthwiseFits(root) ? "depthwise" : "dense";
  if (auto contraction = dyn_cast<ContractionOp>(op))
    return packs(contraction) ? "packed" : "dense";
  return "vector";
}

std::string SystolicTarget::unitRemark(TileRootInterface root) const {
  Operation *op = root;
  if (isa<DepthwiseOp>(op) && !depthwiseFits(root))
    return "depthwise kernel outside the native mode (up to 7x7, stride 1 or 2, dilation 1, K <= 16): dense, with "
           "block-diagonal weights";
  if (auto contraction = dyn_cast<ContractionOp>(op)) {
    if (contraction.getGroup() > 1)
      return "grouped convolution: dense, with block-diagonal weights";
    if (cast<RankedTensorType>(contraction.getWeights().getType()).getElementType().isInteger(16))
      return "weights minus their zero point exceed int8: added as two or three terms, extra reduction steps";
  }
  return {};
}

int64_t SystolicTarget::blockSteps(TileRootInterface root) const {
  IterationSpace space = root.getIterationSpace();
  Operation *op = root;
  std::string where = unit(root);
  if (where == "depthwise")
    return space.reduction[0] * ceilDiv(space.reduction[1], config.reduction);
  if (auto contraction = dyn_cast<ContractionOp>(op)) {
    if (where == "packed")
      return ceilDiv(space.reductionSize(), config.reduction);
    // Groups are one dense reduction over the channels that a block of outputs needs.
    int64_t channels = space.reduction[0];
    if (space.group > 1)
      channels = std::min(space.reduction[0] * space.group,
                          space.reduction[0] * (ceilDiv(config.channels, space.channels) + 1) + 15);
    int64_t terms = cast<RankedTensorType>(contraction.getWeights().getType()).getElementType().isInteger(16) ? 2 : 1;
    return terms * space.reduction[1] * space.reduction[2] * ceilDiv(channels, config.reduction);
  }
  if (isa<DepthwiseOp>(op)) // block-diagonal: every block reads its own channels
    return space.reductionSize() * ceilDiv(std::max<int64_t>(config.channels, 16), config.reduction);
  return 0;
}

std::optional<std::string> SystolicTarget::refusal(TileRootInterface root) const {
  Operation *op = root;
  auto says = [](const Twine &text) { return std::optional<std::string>(text.str()); };
  if (isa<NormalizeOp>(op))
    return says("the array has no unit for softmax and normalization");
  for (unsigned index : root.getMapOperands())
    if (!root.getOperandType(index).getElementType().isInteger(8))
      return says("the array takes 8-bit activations only");
  if (!root.getResultType().getElementType().isInteger(8))
    return says("the array gives 8-bit activations only");
  if (auto contraction = dyn_cast<ContractionOp>(op)) {
    if (contraction.getWeightsOrder() != WeightsOrder::Constant)
      return says("product of two activations: weights from the scratchpad are not built yet");
    if (!contraction.getWeights().getDefiningOp() ||
        !contraction.getWeights().getDefiningOp()->hasTrait<OpTrait::ConstantLike>())
      return says("the weights are not constant");
  }
  if (auto depthwise = dyn_cast<DepthwiseOp>(op))
    if (!depthwise.getWeights().getDefiningOp() ||
        !depthwise.getWeights().getDefiningOp()->hasTrait<OpTrait::ConstantLike>())
      return says("the weights are not constant");
  if (auto move = dyn_cast<MoveOp>(op))
    if (move.getKind() != MoveKind::Concat && move.getKind() != MoveKind::Slice && move.getKind() != MoveKind::Gather)
      return says(Twine("the array has no ") + stringifyMoveKind(move.getKind()));
  if (auto reduction = dyn_cast<ReductionOp>(op))
    for (int64_t dim : reduction.getDims())
      if (dim == 1)
        return says("reduction over channels");
  // What the descriptor's fields hold.
  Window window = windowOf(root);
  for (unsigned axis : {0u, 1u}) {
    StringRef direction = axis ? "width" : "height";
    if (window.stride[axis] > maxField(8))
      return says("stride " + Twine(window.stride[axis]) + " in " + direction + " exceeds 255");
    if (window.dilation[axis] > maxField(8))
      return says("dilation " + Twine(window.dilation[axis]) + " in " + direction + " exceeds 255");
    if (window.kernel[axis] > maxField(16))
      return says("kernel " + direction + " " + Twine(window.kernel[axis]) + " exceeds 65535");
  }
  for (RankedTensorType type : {root.getOperandType(root.getMapOperands()[0]), root.getResultType()})
    for (auto [i, extent] : llvm::enumerate(type.getShape()))
      if (extent > maxField(16))
        return says(Twine(stringifyLoopDim(i == 0 ? LoopDim::Batch : static_cast<LoopDim>(i + 1))) + " of " +
                    Twine(extent) + " exceeds 65535");
  return std::nullopt;
}

bool SystolicTarget::canAppend(TileRootInterface root, Operation *next) const {
  // The hardware's order: requantize, table 1, residual, table 2. Vector jobs: requantize or add, then one table.
  bool vector = unit(root) == "vector", added = false, tabled = false;
  // A job with a residual covers whole words of 16 channels: with K < 16 the weights of several blocks at once.
  if (isa<ResidualAddOp>(next) && root.getWeightsOperand() && config.channels < 16) {
    int64_t words = 16 / config.channels * (config.headerWords() + blockSteps(root));
    auto weights = cast<RankedTensorType>(root->getOperand(*root.getWeightsOperand()).getType());
    if (words > config.ringWords() || weights.getElementType().isInteger(16))
      return false;
  }
  unsigned count = 0;
  for (Operation &op : root.getEpilogueBlock()) {
    count += !isa<YieldOp>(op);
    if (isa<ResidualAddOp>(op)) {
      added = true;
      tabled = false;
    }
    tabled |= isa<TableOp>(op);
  }
  if (isa<MoveOp>(root.getOperation()))
    return false;
  if (isa<TableOp>(next))
    return !tabled;
  if (isa<ResidualAddOp>(next))
    return !added && (!vector || (count == 0 && isa<ElementwiseOp>(root.getOperation())));
  return false;
}

bool SystolicTarget::canInterleave(TileRootInterface producer, TileRootInterface consumer) const {
  // A group keeps its weights in the ring; weights of several terms may need jobs of one brick, which do not.
  for (TileRootInterface root : {producer, consumer})
    if (auto weights = root.getWeightsOperand();
        weights && cast<RankedTensorType>(root->getOperand(*weights).getType()).getElementType().isInteger(16))
      return false;
  return !isa<MoveOp>(producer.getOperation()) && !isa<MoveOp>(consumer.getOperation());
}

CostEstimate SystolicTarget::estimate(TileRootInterface root, const TileChoice &choice) const {
  CostEstimate cost;
  IterationSpace space = root.getIterationSpace();
  cost.idealCycles = ceilDiv(root.getMacs(), config.macsPerCycle());
  auto tiles = [&](LoopDim dim) {
    unsigned i = static_cast<unsigned>(dim);
    return ceilDiv(space.parallel()[i], choice.sizes[i]);
  };
  int64_t rowTiles = tiles(LoopDim::Height) * tiles(LoopDim::Batch);
  int64_t channels = space.channels * space.group;
  int64_t weights = weightBytes(root, channels);
  int64_t pixelGroups = 1;
  if (choice.unit == "vector") {
    int64_t taps =
        isa<ElementwiseOp>(root.getOperation()) ? 1 + (root.getMapOperands().size() > 1) : space.reductionSize();
    cost.computeCycles = space.batch * ceilDiv(channels, 16) * space.height * space.width * std::max<int64_t>(taps, 1) +
                         rowTiles * jobOverhead;
  } else {
    int64_t steps = blockSteps(root), blocks = ceilDiv(channels, config.channels);
    int64_t rows = choice.sizes[3], perTile = choice.sizes[0] * rows * space.width;
    pixelGroups = choice.unit == "depthwise" ? choice.sizes[0] * rows * ceilDiv(space.width, config.pixels)
                                             : ceilDiv(perTile, config.pixels);
    // A brick takes its steps, or the drain of the one before it: P·K outputs through K lanes.
    int64_t brickCycles = std::max(steps, config.pixels);
    cost.computeCycles =
        rowTiles * (blocks * (pixelGroups * brickCycles + blockOverhead) + jobOverhead * tiles(LoopDim::Channels));
  }
  int64_t passes = 1;
  if (choice.weights == WeightsPolicy::Reloaded)
    passes = rowTiles;
  else if (choice.weights == WeightsPolicy::Streamed)
    passes = rowTiles * pixelGroups;
  cost.dramBytes = choice.mapBytes + weights * passes;
  int64_t memory =
      static_cast<int64_t>(std::ceil(static_cast<double>(choice.mapTransfer + weights * passes) / bytesPerCycle()));
  cost.cycles = std::max(cost.computeCycles, memory);
  if (memory > cost.computeCycles)
    cost.bound = "memory";
  else if (cost.idealCycles * 10 >= cost.computeCycles * 9)
    cost.bound = "compute";
  else
    cost.bound = "mapping";
  return cost;
}
} // namespace

std::unique_ptr<TargetDescription> systolic::createSystolicTarget(const ArrayConfig &config) {
  return std::make_unique<SystolicTarget>(config);
}

void systolic::registerSystolicTarget() {
  registerTarget("systolic", [](llvm::StringRef configuration) {
    return createSystolicTarget(
        ArrayConfig::load(configuration.empty() ? std::string(ArrayConfig::defaultName) : configuration.str()));
  });
}
