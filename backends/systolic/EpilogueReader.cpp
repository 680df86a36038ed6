//===- EpilogueReader.cpp - an epilogue region as hardware steps ----------===//

#include "backends/systolic/EpilogueReader.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::systolic;

LogicalResult EpilogueReader::requantize(tile::RequantizeOp op) {
  if (requantized || layer.table1 || added)
    return op.emitError("the array requantizes once, first");
  requantized = true;
  layer.zeroPoint = op.getZeroPoint();
  layer.clampMin = op.getClampMin();
  layer.clampMax = op.getClampMax();
  size_t channels = layer.out.channels;
  std::vector<int32_t> bias = valuesOf<int32_t>(op.getBias(), channels);
  std::vector<float> scale = valuesOf<float>(op.getScale(), channels), negative;
  if (op.getNegativeScale())
    negative = valuesOf<float>(*op.getNegativeScale(), channels);
  if (isContraction()) {
    if (bias.size() != channels || scale.size() != channels || (!negative.empty() && negative.size() != channels))
      return op.emitError("needs one bias and one scale for each of ") << channels << " output channels";
    layer.bias = std::move(bias);
    layer.scale = std::move(scale);
    layer.scaleNeg = std::move(negative);
    return success();
  }
  // A vector job has one scale for all channels.
  if (bias.empty() || scale.empty() || !negative.empty() ||
      llvm::any_of(bias, [&](int32_t b) { return b != bias[0]; }) ||
      llvm::any_of(scale, [&](float s) { return s != scale[0]; }))
    return op.emitError("a vector job has one bias and one scale for all channels");
  if (isa<tile::ElementwiseOp>(root.getOperation())) {
    layer.kind = LayerKind::SumPool;
    layer.reportKind = "rescale";
  }
  if (layer.kind != LayerKind::SumPool)
    return op.emitError("the array requantizes sums only");
  layer.sumBias = bias[0];
  if (layer.regions.empty())
    layer.regions.push_back({0, layer.out.height, 0, layer.out.width, scale[0]});
  return success();
}

LogicalResult EpilogueReader::table(tile::TableOp op) {
  std::vector<int8_t> values = valuesOf<int8_t>(op.getTable(), 256);
  ValueTable table;
  if (values.size() != table.size())
    return op.emitError("a table has 256 entries");
  std::copy(values.begin(), values.end(), table.begin());
  if (isContraction() && added) {
    if (layer.table2)
      return op.emitError("the array applies one table after the addition");
    layer.table2 = table;
    return success();
  }
  if (layer.table1)
    return op.emitError("the array applies one table here");
  layer.table1 = table;
  return success();
}

LogicalResult EpilogueReader::residualAdd(tile::ResidualAddOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getResidual());
  if (!argument || argument.getArgNumber() == 0 || added)
    return op.emitError("the array adds one residual map");
  if (!isContraction()) {
    if (layer.table1 || requantized || !isa<tile::ElementwiseOp>(root.getOperation()))
      return op.emitError("a vector job adds two maps and does nothing before");
    layer.kind = LayerKind::Add;
    layer.reportKind = "add";
  }
  added = true;
  residualOperand = root.getFirstResidual() + argument.getArgNumber() - 1;
  layer.residual.scaleA = op.getRa().convertToFloat();
  layer.residual.scaleB = op.getRb().convertToFloat();
  layer.residual.fix = op.getFix().convertToFloat();
  layer.residual.swap = op.getSwap();
  layer.residual.isUnsigned = cast<OpResult>(op.getResult()).getType().isUnsignedInteger(8);
  // A ui8 sum whose zero point is in `fix` is that of the model: the device holds 128 less.
  layer.residual.zeroPoint = op.getZeroPoint().value_or(layer.residual.isUnsigned ? -128 : 0);
  layer.residual.clampMin = op.getClampMin();
  layer.residual.clampMax = op.getClampMax();
  return success();
}

LogicalResult EpilogueReader::read() {
  Block &block = root.getEpilogueBlock();
  Value current = block.getArgument(0);
  for (Operation &op : block.without_terminator()) {
    if (op.getOperand(0) != current)
      return op.emitError("the array's epilogue is a chain: this operation must take the value before it");
    LogicalResult done = success();
    if (auto requantizeOp = dyn_cast<tile::RequantizeOp>(op))
      done = requantize(requantizeOp);
    else if (auto tableOp = dyn_cast<tile::TableOp>(op))
      done = table(tableOp);
    else if (auto addOp = dyn_cast<tile::ResidualAddOp>(op))
      done = residualAdd(addOp);
    else
      return op.emitError("the array's epilogue has no such step");
    if (failed(done))
      return failure();
    current = op.getResult(0);
  }
  if (block.getTerminator()->getOperand(0) != current)
    return root->emitError("the epilogue must yield its last value");
  if ((isContraction() || layer.kind == LayerKind::SumPool) && !requantized)
    return root->emitError("the array stores 8-bit results: sums must be requantized");
  return success();
}
