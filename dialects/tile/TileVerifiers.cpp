//===- TileVerifiers.cpp - what a layer must satisfy ----------------------===//

#include "dialects/tile/TileDialect.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
/// Checks that every root shares: epilogue arguments, legality, residual shapes, sizes of tiling and placements.
LogicalResult verifyRoot(TileRootInterface root) {
  Operation *op = root;
  RankedTensorType result = root.getResultType();
  Block &block = root.getEpilogueBlock();
  SmallVector<Type> expected{root.getAccumulatorType()};
  for (unsigned i = root.getFirstResidual(); i < op->getNumOperands(); ++i) {
    RankedTensorType residual = root.getOperandType(i);
    if (residual.getShape() != result.getShape())
      return op->emitOpError("residual ") << residual << " does not have the result's shape " << result;
    expected.push_back(residual.getElementType());
  }
  if (block.getArgumentTypes() != TypeRange(expected))
    return op->emitOpError("epilogue takes (")
           << block.getArgumentTypes() << "); the root gives (" << TypeRange(expected) << ")";
  for (Operation &inner : block)
    if (!root.isLegalEpilogue(&inner))
      return inner.emitOpError("cannot follow ") << op->getName() << " of this element type";
  auto yield = dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield || yield.getValues().size() != 1 || yield.getValues()[0].getType() != result.getElementType())
    return op->emitOpError("epilogue must yield one ") << result.getElementType();
  if (TilingAttr tiling = root.getTilingAttr()) {
    IterationSpace space = root.getIterationSpace();
    for (auto [i, size, extent] : llvm::enumerate(tiling.getSizes(), space.parallel()))
      if (size > extent)
        return op->emitOpError("tile of ")
               << size << " in " << stringifyLoopDim(static_cast<LoopDim>(i)) << " exceeds the extent " << extent;
    if (!tiling.getReduction().empty() && tiling.getReduction().size() != space.reduction.size())
      return op->emitOpError("tiling cuts ")
             << tiling.getReduction().size() << " reduction dimensions, the root has " << space.reduction.size();
  }
  size_t maps = root.getMapOperands().size();
  for (StringRef name : {"operand_placements", "input_quants"})
    if (auto array = op->getAttrOfType<ArrayAttr>(name); array && array.size() != maps)
      return op->emitOpError("has ") << array.size() << " " << name << " for " << maps << " map operands";
  return success();
}

int64_t windowExtent(int64_t in, int64_t padBefore, int64_t padAfter, int64_t kernel, int64_t dilation,
                     int64_t stride) {
  int64_t span = in + padBefore + padAfter - dilation * (kernel - 1) - 1;
  return span < 0 ? 0 : span / stride + 1;
}

template <typename OpTy> LogicalResult verifyWindow(OpTy op, ArrayRef<int64_t> kernel) {
  if (op.getStrides().size() != 2 || op.getDilations().size() != 2 || op.getPads().size() != 4)
    return op.emitOpError("strides and dilations have 2 entries, pads 4 (top, left, bottom, right)");
  for (int64_t value : op.getStrides())
    if (value < 1)
      return op.emitOpError("stride ") << value << " is not positive";
  for (int64_t value : op.getDilations())
    if (value < 1)
      return op.emitOpError("dilation ") << value << " is not positive";
  ArrayRef<int64_t> in = op.getInput().getType().getShape(), out = op.getResult().getType().getShape();
  for (unsigned axis : {0u, 1u}) {
    int64_t extent = windowExtent(in[2 + axis], op.getPads()[axis], op.getPads()[2 + axis], kernel[axis],
                                  op.getDilations()[axis], op.getStrides()[axis]);
    if (extent != out[2 + axis])
      return op.emitOpError("result has ")
             << (axis ? "width " : "height ") << out[2 + axis] << "; window and padding give " << extent;
  }
  if (in[0] != out[0])
    return op.emitOpError("input has ") << in[0] << " samples, the result " << out[0];
  return success();
}

LogicalResult sameChannels(Operation *op, int64_t in, int64_t out) {
  if (in != out)
    return op->emitOpError("input has ") << in << " channels, the result " << out;
  return success();
}
} // namespace

LogicalResult ContractionOp::verify() {
  auto weights = cast<RankedTensorType>(getWeights().getType());
  if (weights.getRank() != 4)
    return emitOpError("weights ") << weights << " are not of rank 4";
  int64_t in = getInput().getType().getDimSize(1), out = getResult().getType().getDimSize(1);
  ArrayRef<int64_t> shape = weights.getShape();
  if (getGroup() < 1 || in % getGroup() != 0 || out % getGroup() != 0)
    return emitOpError("group ") << getGroup() << " does not divide " << in << " input and " << out
                                 << " output channels";
  int64_t weightsOut = shape[0], weightsIn = shape[1];
  SmallVector<int64_t> kernel{shape[2], shape[3]};
  if (getWeightsOrder() != WeightsOrder::Constant) {
    bool token = getWeightsOrder() == WeightsOrder::TokenMajor;
    weightsOut = token ? shape[3] : shape[1];
    weightsIn = token ? shape[1] : shape[3];
    if (shape[0] != getInput().getType().getDimSize(0) || shape[2] != 1)
      return emitOpError("second map ") << weights << " must have the input's samples and height 1";
    kernel = {1, 1};
  }
  if (weightsOut != out || weightsIn * getGroup() != in)
    return emitOpError("weights ") << weights << " do not fit " << in << " input channels in " << getGroup()
                                   << " groups and " << out << " output channels";
  if (failed(verifyWindow(*this, kernel)))
    return failure();
  return verifyRoot(*this);
}

LogicalResult DepthwiseOp::verify() {
  auto weights = cast<RankedTensorType>(getWeights().getType());
  int64_t channels = getResult().getType().getDimSize(1);
  if (weights.getRank() != 4 || weights.getDimSize(0) != channels || weights.getDimSize(1) != 1)
    return emitOpError("weights ") << weights << " are not [" << channels << ", 1, kernel height, kernel width]";
  if (failed(sameChannels(*this, getInput().getType().getDimSize(1), channels)) ||
      failed(verifyWindow(*this, weights.getShape().drop_front(2))))
    return failure();
  return verifyRoot(*this);
}

LogicalResult PoolingOp::verify() {
  if (getKernel().size() != 2 || getKernel()[0] < 1 || getKernel()[1] < 1)
    return emitOpError("kernel has two positive extents");
  if (failed(sameChannels(*this, getInput().getType().getDimSize(1), getResult().getType().getDimSize(1))) ||
      failed(verifyWindow(*this, getKernel())))
    return failure();
  return verifyRoot(*this);
}

LogicalResult ElementwiseOp::verify() {
  if (getInput().getType().getShape() != getResult().getType().getShape())
    return emitOpError("input and result differ in shape");
  return verifyRoot(*this);
}

LogicalResult ReductionOp::verify() {
  SmallVector<int64_t> expected(getInput().getType().getShape());
  for (int64_t reduced : getDims()) {
    if (reduced < 1 || reduced > 3)
      return emitOpError("reduces dimension ") << reduced << "; channels (1), height (2) and width (3) can be reduced";
    expected[reduced] = 1;
  }
  if (getResult().getType().getShape() != ArrayRef(expected))
    return emitOpError("result must have extent 1 in the reduced dimensions and the input's elsewhere");
  return verifyRoot(*this);
}

LogicalResult NormalizeOp::verify() {
  if (getInput().getType().getShape() != getResult().getType().getShape())
    return emitOpError("input and result differ in shape");
  return verifyRoot(*this);
}

LogicalResult MoveOp::verify() {
  if (getInputs().empty())
    return emitOpError("has no input");
  ArrayRef<int64_t> out = getResult().getType().getShape();
  for (Value input : getInputs())
    if (cast<RankedTensorType>(input.getType()).getElementType() != getResult().getType().getElementType())
      return emitOpError("changes the element type");
  if (getKind() != MoveKind::Concat && getInputs().size() != 1)
    return emitOpError(stringifyMoveKind(getKind())) << " has one input, not " << getInputs().size();
  SmallVector<int64_t> expected(cast<RankedTensorType>(getInputs()[0].getType()).getShape());
  auto needs = [&](StringRef name, std::optional<ArrayRef<int64_t>> values, size_t size) -> LogicalResult {
    if (!values || values->size() != size)
      return emitOpError(stringifyMoveKind(getKind())) << " needs " << size << " entries in '" << name << "'";
    return success();
  };
  switch (getKind()) {
  case MoveKind::Concat:
    for (Value input : getInputs().drop_front()) {
      auto shape = cast<RankedTensorType>(input.getType()).getShape();
      if (shape[0] != expected[0] || shape[2] != expected[2] || shape[3] != expected[3])
        return emitOpError("concat inputs differ outside the channels");
      expected[1] += shape[1];
    }
    break;
  case MoveKind::Slice:
  case MoveKind::Pad: {
    if (failed(needs("offsets", getOffsets(), 4)))
      return failure();
    bool slice = getKind() == MoveKind::Slice;
    for (unsigned i = 0; i < 4; ++i) {
      int64_t outer = slice ? expected[i] : out[i], inner = slice ? out[i] : expected[i];
      if ((*getOffsets())[i] < 0 || (*getOffsets())[i] + inner > outer)
        return emitOpError(stringifyMoveKind(getKind())) << " does not fit in dimension " << i;
    }
    return verifyRoot(*this);
  }
  case MoveKind::Transpose: {
    if (failed(needs("permutation", getPermutation(), 4)))
      return failure();
    SmallVector<int64_t> in = expected;
    SmallVector<bool> seen(4);
    for (unsigned i = 0; i < 4; ++i) {
      int64_t from = (*getPermutation())[i];
      if (from < 0 || from > 3 || seen[from])
        return emitOpError("'permutation' is not one of 0 to 3");
      seen[from] = true;
      expected[i] = in[from];
    }
    break;
  }
  case MoveKind::Gather:
    if (!getIndices())
      return emitOpError("gather needs 'indices'");
    for (int64_t index : *getIndices())
      if (index < 0 || index >= expected[1])
        return emitOpError("gather reads channel ") << index << " of " << expected[1];
    expected[1] = getIndices()->size();
    break;
  case MoveKind::Resize:
    if (failed(needs("strides", getStrides(), 2)))
      return failure();
    for (unsigned axis : {0u, 1u}) {
      if ((*getStrides())[axis] < 1)
        return emitOpError("resize by ") << (*getStrides())[axis];
      expected[2 + axis] *= (*getStrides())[axis];
    }
    break;
  }
  if (out != ArrayRef(expected))
    return emitOpError("result must be of shape ")
           << RankedTensorType::get(expected, getResult().getType().getElementType());
  return verifyRoot(*this);
}

LogicalResult GroupOp::verify() {
  auto yield = dyn_cast_or_null<YieldOp>(getBody().front().empty() ? nullptr : &getBody().front().back());
  if (!yield || yield.getOperandTypes() != getResultTypes())
    return emitOpError("must end with a yield of its results");
  for (Operation &op : getBody().front().without_terminator())
    if (!isa<TileRootInterface>(op))
      return op.emitOpError("is not a layer and cannot be in a group");
  return success();
}

//===----------------------------------------------------------------------===//
// Boundaries
//===----------------------------------------------------------------------===//

namespace {
/// Strides must enumerate every element of the tensor once: sorted, each is the product of the extents below it.
LogicalResult verifyStrides(Operation *op, RankedTensorType tensor, RankedTensorType map, ArrayRef<int64_t> strides) {
  if (tensor.getElementType() != map.getElementType())
    return op->emitOpError("changes the element type");
  if (tensor.getNumElements() != map.getNumElements())
    return op->emitOpError("has ") << tensor.getNumElements() << " elements on one side, " << map.getNumElements()
                                   << " on the other";
  if (strides.size() != 4)
    return op->emitOpError("has ") << strides.size() << " strides; a map has 4";
  SmallVector<std::pair<int64_t, int64_t>> steps;
  for (auto [stride, extent] : llvm::zip_equal(strides, map.getShape())) {
    if (extent != 1)
      steps.push_back({stride, extent});
    else if (stride != 0)
      return op->emitOpError("has stride ") << stride << " over an extent of 1; it is written 0";
  }
  llvm::sort(steps);
  int64_t expected = 1;
  for (auto [stride, extent] : steps) {
    if (stride != expected)
      return op->emitOpError("strides [") << strides << "] do not enumerate the tensor's elements once";
    expected *= extent;
  }
  return success();
}
} // namespace

LogicalResult ToMapOp::verify() {
  return verifyStrides(*this, cast<RankedTensorType>(getTensor().getType()), getResult().getType(), getStrides());
}

LogicalResult FromMapOp::verify() {
  return verifyStrides(*this, cast<RankedTensorType>(getResult().getType()), getMap().getType(), getStrides());
}
