//===- TileRoots.cpp - each root's iteration space and access maps --------===//

#include "dialects/tile/TileDialect.h"

#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
/// Dimensions of every iteration space; reduction dimensions follow.
enum : unsigned { B, G, C, H, W, R0 };

AffineExpr dim(MLIRContext *context, unsigned i) { return getAffineDimExpr(i, context); }

IterationSpace outputSpace(RankedTensorType result, int64_t group = 1) {
  ArrayRef<int64_t> shape = result.getShape();
  IterationSpace space;
  space.batch = shape[0];
  space.group = group;
  space.channels = shape[1] / group;
  space.height = shape[2];
  space.width = shape[3];
  return space;
}

AffineMap mapOf(MLIRContext *context, unsigned reductions, ArrayRef<AffineExpr> results) {
  return AffineMap::get(R0 + reductions, 0, results, context);
}

/// Where the result, and so a residual, lies: one element per point of the parallel dimensions.
AffineMap identityMap(MLIRContext *context, const IterationSpace &space) {
  return mapOf(context, space.reduction.size(),
               {dim(context, B), dim(context, G) * space.channels + dim(context, C), dim(context, H), dim(context, W)});
}

/// Input coordinate of a window: out * stride + tap * dilation - pad.
template <typename OpTy> AffineExpr window(OpTy op, unsigned axis, unsigned tap) {
  MLIRContext *context = op->getContext();
  return dim(context, axis == 0 ? H : W) * op.getStrides()[axis] + dim(context, tap) * op.getDilations()[axis] -
         op.getPads()[axis];
}

SmallVector<unsigned> indices(unsigned from, unsigned to) {
  SmallVector<unsigned> all;
  for (unsigned i = from; i < to; ++i)
    all.push_back(i);
  return all;
}

Type sumType(Type element) {
  Builder builder(element.getContext());
  return isa<IntegerType>(element) ? Type(builder.getI32Type()) : Type(builder.getF32Type());
}

/// Integer epilogues follow integer roots, float ones float roots.
bool fitsDomain(Operation *op, Type element) {
  bool isInteger = isa<IntegerType>(element);
  if (isa<RequantizeOp, TableOp, ResidualAddOp>(op))
    return isInteger;
  if (isa<AffineOp, ActivationOp, AddOp>(op))
    return !isInteger;
  return isa<YieldOp>(op);
}
} // namespace

//===----------------------------------------------------------------------===//
// contraction: reduction dimensions are (channels in per group, kernel height, kernel width)
//===----------------------------------------------------------------------===//

IterationSpace ContractionOp::getIterationSpace() {
  IterationSpace space = outputSpace(getResult().getType(), getGroup());
  ArrayRef<int64_t> weights = cast<RankedTensorType>(getWeights().getType()).getShape();
  switch (getWeightsOrder()) {
  case WeightsOrder::Constant:
    space.reduction = {weights[1], weights[2], weights[3]};
    break;
  case WeightsOrder::TokenMajor:
    space.reduction = {weights[1], 1, 1};
    break;
  case WeightsOrder::ChannelMajor:
    space.reduction = {weights[3], 1, 1};
    break;
  }
  return space;
}

AffineMap ContractionOp::getAccessMap(unsigned index) {
  MLIRContext *context = getContext();
  IterationSpace space = getIterationSpace();
  AffineExpr zero = getAffineConstantExpr(0, context);
  AffineExpr in = dim(context, R0), out = dim(context, G) * space.channels + dim(context, C);
  if (index == 0)
    return mapOf(context, 3,
                 {dim(context, B), dim(context, G) * space.reduction[0] + in, window(*this, 0, R0 + 1),
                  window(*this, 1, R0 + 2)});
  if (index > 1)
    return identityMap(context, space);
  switch (getWeightsOrder()) {
  case WeightsOrder::Constant:
    return mapOf(context, 3, {out, in, dim(context, R0 + 1), dim(context, R0 + 2)});
  case WeightsOrder::TokenMajor:
    return mapOf(context, 3, {dim(context, B), in, zero, out});
  case WeightsOrder::ChannelMajor:
    return mapOf(context, 3, {dim(context, B), out, zero, in});
  }
  llvm_unreachable("covered switch");
}

SmallVector<unsigned> ContractionOp::getMapOperands() {
  SmallVector<unsigned> maps{0};
  if (getWeightsOrder() != WeightsOrder::Constant)
    maps.push_back(1);
  llvm::append_range(maps, indices(2, getNumOperands()));
  return maps;
}
std::optional<unsigned> ContractionOp::getWeightsOperand() { return 1; }
unsigned ContractionOp::getFirstResidual() { return 2; }
Type ContractionOp::getAccumulatorType() { return sumType(getInput().getType().getElementType()); }
bool ContractionOp::isLegalEpilogue(Operation *op) { return fitsDomain(op, getInput().getType().getElementType()); }
int64_t ContractionOp::getMacs() {
  IterationSpace space = getIterationSpace();
  return space.outputs() * space.reductionSize();
}

//===----------------------------------------------------------------------===//
// depthwise: reduction dimensions are (kernel height, kernel width)
//===----------------------------------------------------------------------===//

IterationSpace DepthwiseOp::getIterationSpace() {
  IterationSpace space = outputSpace(getResult().getType());
  ArrayRef<int64_t> weights = cast<RankedTensorType>(getWeights().getType()).getShape();
  space.reduction = {weights[2], weights[3]};
  return space;
}

AffineMap DepthwiseOp::getAccessMap(unsigned index) {
  MLIRContext *context = getContext();
  if (index == 0)
    return mapOf(context, 2, {dim(context, B), dim(context, C), window(*this, 0, R0), window(*this, 1, R0 + 1)});
  if (index == 1)
    return mapOf(context, 2,
                 {dim(context, C), getAffineConstantExpr(0, context), dim(context, R0), dim(context, R0 + 1)});
  return identityMap(context, getIterationSpace());
}

SmallVector<unsigned> DepthwiseOp::getMapOperands() {
  SmallVector<unsigned> maps{0};
  llvm::append_range(maps, indices(2, getNumOperands()));
  return maps;
}
std::optional<unsigned> DepthwiseOp::getWeightsOperand() { return 1; }
unsigned DepthwiseOp::getFirstResidual() { return 2; }
Type DepthwiseOp::getAccumulatorType() { return sumType(getInput().getType().getElementType()); }
bool DepthwiseOp::isLegalEpilogue(Operation *op) { return fitsDomain(op, getInput().getType().getElementType()); }
int64_t DepthwiseOp::getMacs() {
  IterationSpace space = getIterationSpace();
  return space.outputs() * space.reductionSize();
}

//===----------------------------------------------------------------------===//
// pooling: reduction dimensions are (kernel height, kernel width)
//===----------------------------------------------------------------------===//

IterationSpace PoolingOp::getIterationSpace() {
  IterationSpace space = outputSpace(getResult().getType());
  space.reduction = {getKernel()[0], getKernel()[1]};
  return space;
}

AffineMap PoolingOp::getAccessMap(unsigned index) {
  MLIRContext *context = getContext();
  if (index == 0)
    return mapOf(context, 2, {dim(context, B), dim(context, C), window(*this, 0, R0), window(*this, 1, R0 + 1)});
  return identityMap(context, getIterationSpace());
}

SmallVector<unsigned> PoolingOp::getMapOperands() { return indices(0, getNumOperands()); }
std::optional<unsigned> PoolingOp::getWeightsOperand() { return std::nullopt; }
unsigned PoolingOp::getFirstResidual() { return 1; }
Type PoolingOp::getAccumulatorType() {
  Type element = getInput().getType().getElementType();
  return getKind() == PoolKind::Sum ? sumType(element) : element;
}
bool PoolingOp::isLegalEpilogue(Operation *op) { return fitsDomain(op, getInput().getType().getElementType()); }
int64_t PoolingOp::getMacs() { return 0; }

namespace {
/// Taps of a window at `out` that lie inside [0, extent).
int64_t tapsInside(int64_t out, int64_t stride, int64_t dilation, int64_t pad, int64_t kernel, int64_t extent) {
  int64_t inside = 0;
  for (int64_t tap = 0; tap < kernel; ++tap) {
    int64_t position = out * stride + tap * dilation - pad;
    inside += position >= 0 && position < extent;
  }
  return inside;
}
} // namespace

SmallVector<PoolingOp::Region> PoolingOp::getRegions() {
  ArrayRef<int64_t> in = getInput().getType().getShape(), out = getResult().getType().getShape();
  if (!getExcludePad())
    return {{0, out[2], 0, out[3], getKernel()[0] * getKernel()[1]}};
  // The count is a product of one factor per axis: runs of equal factors on each axis give the rectangles.
  struct Run {
    int64_t start, size, count;
  };
  SmallVector<Run> runs[2];
  for (unsigned axis : {0u, 1u})
    for (int64_t o = 0; o < out[2 + axis]; ++o) {
      int64_t count =
          tapsInside(o, getStrides()[axis], getDilations()[axis], getPads()[axis], getKernel()[axis], in[2 + axis]);
      if (!runs[axis].empty() && runs[axis].back().count == count)
        ++runs[axis].back().size;
      else
        runs[axis].push_back({o, 1, count});
    }
  SmallVector<Region> regions;
  for (const Run &row : runs[0])
    for (const Run &column : runs[1])
      regions.push_back({row.start, row.size, column.start, column.size, row.count * column.count});
  return regions;
}

float PoolingOp::scaleForCount(int64_t count) {
  RequantizeOp requantize = epilogueOp<RequantizeOp>(*this);
  if (!requantize || !requantize.getQuant() || !getInputQuants() || count == 0)
    return 0;
  double x = cast<QuantAttr>((*getInputQuants())[0]).scaleValue(), y = requantize.getQuant()->scaleValue();
  return static_cast<float>(x / (y * static_cast<double>(count)));
}

//===----------------------------------------------------------------------===//
// elementwise: no reduction
//===----------------------------------------------------------------------===//

IterationSpace ElementwiseOp::getIterationSpace() { return outputSpace(getResult().getType()); }
AffineMap ElementwiseOp::getAccessMap(unsigned) { return identityMap(getContext(), getIterationSpace()); }
SmallVector<unsigned> ElementwiseOp::getMapOperands() { return indices(0, getNumOperands()); }
std::optional<unsigned> ElementwiseOp::getWeightsOperand() { return std::nullopt; }
unsigned ElementwiseOp::getFirstResidual() { return 1; }
Type ElementwiseOp::getAccumulatorType() { return getInput().getType().getElementType(); }
bool ElementwiseOp::isLegalEpilogue(Operation *op) { return fitsDomain(op, getInput().getType().getElementType()); }
int64_t ElementwiseOp::getMacs() { return 0; }

//===----------------------------------------------------------------------===//
// reduction: one reduction dimension per entry of `dims` (1 channels, 2 height, 3 width)
//===----------------------------------------------------------------------===//

IterationSpace ReductionOp::getIterationSpace() {
  IterationSpace space = outputSpace(getResult().getType());
  for (int64_t reduced : getDims())
    space.reduction.push_back(getInput().getType().getDimSize(reduced));
  return space;
}

AffineMap ReductionOp::getAccessMap(unsigned index) {
  MLIRContext *context = getContext();
  IterationSpace space = getIterationSpace();
  if (index > 0)
    return identityMap(context, space);
  SmallVector<AffineExpr> exprs{dim(context, B), dim(context, C), dim(context, H), dim(context, W)};
  for (auto [i, reduced] : llvm::enumerate(getDims()))
    exprs[reduced] = dim(context, R0 + i);
  return mapOf(context, space.reduction.size(), exprs);
}

SmallVector<unsigned> ReductionOp::getMapOperands() { return indices(0, getNumOperands()); }
std::optional<unsigned> ReductionOp::getWeightsOperand() { return std::nullopt; }
unsigned ReductionOp::getFirstResidual() { return 1; }
Type ReductionOp::getAccumulatorType() {
  Type element = getInput().getType().getElementType();
  return getKind() == PoolKind::Sum ? sumType(element) : element;
}
bool ReductionOp::isLegalEpilogue(Operation *op) { return fitsDomain(op, getInput().getType().getElementType()); }
int64_t ReductionOp::getMacs() { return 0; }

//===----------------------------------------------------------------------===//
// normalize: the channels are reduced and produced by the same unit
//===----------------------------------------------------------------------===//

IterationSpace NormalizeOp::getIterationSpace() {
  IterationSpace space = outputSpace(getResult().getType());
  space.reduction = {space.channels};
  return space;
}

AffineMap NormalizeOp::getAccessMap(unsigned index) {
  MLIRContext *context = getContext();
  if (index > 0)
    return identityMap(context, getIterationSpace());
  return mapOf(context, 1, {dim(context, B), dim(context, R0), dim(context, H), dim(context, W)});
}

SmallVector<unsigned> NormalizeOp::getMapOperands() { return indices(0, getNumOperands()); }
std::optional<unsigned> NormalizeOp::getWeightsOperand() { return std::nullopt; }
unsigned NormalizeOp::getFirstResidual() { return 1; }
Type NormalizeOp::getAccumulatorType() { return Builder(getContext()).getF32Type(); }
bool NormalizeOp::isLegalEpilogue(Operation *op) { return isa<AffineOp, ActivationOp, AddOp, YieldOp>(op); }
int64_t NormalizeOp::getMacs() { return 0; }

//===----------------------------------------------------------------------===//
// move
//===----------------------------------------------------------------------===//

IterationSpace MoveOp::getIterationSpace() { return outputSpace(getResult().getType()); }

AffineMap MoveOp::getAccessMap(unsigned index) {
  MLIRContext *context = getContext();
  SmallVector<AffineExpr> exprs{dim(context, B), dim(context, C), dim(context, H), dim(context, W)};
  switch (getKind()) {
  case MoveKind::Concat: {
    int64_t before = 0;
    for (unsigned i = 0; i < index; ++i)
      before += cast<RankedTensorType>(getInputs()[i].getType()).getDimSize(1);
    exprs[1] = exprs[1] - before;
    break;
  }
  case MoveKind::Slice:
  case MoveKind::Pad:
    for (auto [i, offset] : llvm::enumerate(*getOffsets()))
      exprs[i] = getKind() == MoveKind::Slice ? exprs[i] + offset : exprs[i] - offset;
    break;
  case MoveKind::Transpose: {
    SmallVector<AffineExpr> source(4);
    for (auto [i, from] : llvm::enumerate(*getPermutation()))
      source[from] = exprs[i];
    exprs = source;
    break;
  }
  case MoveKind::Resize:
    exprs[2] = exprs[2].floorDiv((*getStrides())[0]);
    exprs[3] = exprs[3].floorDiv((*getStrides())[1]);
    break;
  case MoveKind::Gather: // any channel: the whole dimension, as a reduction would read it
    exprs[1] = getAffineConstantExpr(0, context);
    break;
  }
  return mapOf(context, 0, exprs);
}

SmallVector<unsigned> MoveOp::getMapOperands() { return indices(0, getNumOperands()); }
std::optional<unsigned> MoveOp::getWeightsOperand() { return std::nullopt; }
unsigned MoveOp::getFirstResidual() { return getNumOperands(); }
Type MoveOp::getAccumulatorType() { return getResult().getType().getElementType(); }
bool MoveOp::isLegalEpilogue(Operation *op) { return isa<YieldOp>(op); }
int64_t MoveOp::getMacs() { return 0; }

//===----------------------------------------------------------------------===//
// Tiles of operands
//===----------------------------------------------------------------------===//

namespace {
/// Smallest and largest value of `expr` over the box of dimensions [low, high].
std::pair<int64_t, int64_t> bounds(AffineExpr expr, ArrayRef<std::pair<int64_t, int64_t>> box) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return {constant.getValue(), constant.getValue()};
  if (auto position = dyn_cast<AffineDimExpr>(expr))
    return box[position.getPosition()];
  auto binary = cast<AffineBinaryOpExpr>(expr);
  auto [a, b] = bounds(binary.getLHS(), box);
  auto [c, d] = bounds(binary.getRHS(), box);
  if (expr.getKind() == AffineExprKind::Add)
    return {a + c, b + d};
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return {a / c, b / c};
  int64_t products[] = {a * c, a * d, b * c, b * d};
  return {*llvm::min_element(products), *llvm::max_element(products)};
}
} // namespace

SmallVector<OperandSlice> tilewright::tile::operandSlices(TileRootInterface root, unsigned index,
                                                          ArrayRef<int64_t> offsets, ArrayRef<int64_t> sizes) {
  IterationSpace space = root.getIterationSpace();
  SmallVector<std::pair<int64_t, int64_t>> box;
  for (auto [offset, size] : llvm::zip_equal(offsets, sizes))
    box.push_back({offset, offset + size - 1});
  for (int64_t extent : space.reduction)
    box.push_back({0, extent - 1});
  SmallVector<OperandSlice> ranges;
  for (AffineExpr expr : root.getAccessMap(index).getResults()) {
    auto [low, high] = bounds(expr, box);
    ranges.push_back({low, high - low + 1});
  }
  return ranges;
}

SmallVector<int64_t> tilewright::tile::mapStrides(ArrayRef<int64_t> mapShape, ArrayRef<unsigned> dims) {
  SmallVector<int64_t> strides(mapShape.size(), 0);
  int64_t step = 1;
  for (unsigned d : llvm::reverse(dims)) {
    strides[d] = mapShape[d] == 1 ? 0 : step;
    step *= mapShape[d];
  }
  return strides;
}
