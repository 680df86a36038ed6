//===- FormMatMul.cpp - MatMul and Gemm with constant weights to layers ---===//
//
// [.., K] x [K, O] + bias. When the activation comes from the device, the matrix product is taken on its map as it
// lies: K over the channels is a 1x1 window, K over channels and rows or columns (Flatten, also behind a Transpose) a
// window as large as the map, with the weights' rows in the map's order. No data moves.
//
//===----------------------------------------------------------------------===//

#include "passes/layers/Contraction.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layers;

/// The weights as [K, O] (or [O, K] with `transposed`), also behind a Transpose.
static std::optional<QuantizedConstant> matrix(Value value, bool &transposed) {
  if (auto node = value.getDefiningOp<onnx::NodeOp>(); node && node.is("Transpose")) {
    SmallVector<int64_t> permutation = node.intsAttr("perm");
    if (!permutation.empty() && permutation != SmallVector<int64_t>{1, 0})
      return std::nullopt;
    transposed = !transposed;
    value = node.input(0);
  }
  std::optional<QuantizedConstant> constant = quantizedConstant(value);
  if (!constant || constant->type.getRank() != 2 || !constant->type.getElementType().isInteger(8))
    return std::nullopt;
  return constant;
}

namespace {
/// The activation as a map, which of the map's dimensions K runs over and which make up the rows, outermost first.
struct Operand {
  Value map;
  SmallVector<unsigned> reduced, rows;
};
} // namespace

static std::optional<Operand> readOperand(LayerFormer &former, const Activation &input, int64_t outChannels) {
  const Axis &reduced = input.view.axes.back();
  View rowsView = input.view;
  rowsView.axes.pop_back();
  Axis rows = rowsView.flat();
  if (tile::FromMapOp from = former.deviceSource(input)) {
    ArrayRef<int64_t> shape = from.getMap().getType().getShape();
    auto k = asMapDims(reduced, shape, from.getStrides()), m = asMapDims(rows, shape, from.getStrides());
    if (k && m && !llvm::is_contained(*m, 1u) && !llvm::is_contained(*k, 0u))
      return Operand{from.getMap(), *k, *m};
  }
  if (reduced.size() > 1 || rows.size() > 3)
    return std::nullopt;
  // Rows lie along the width; along the height, where they can be cut into tiles, when operand and result, or result
  // and what an activation makes of it, do not fit on chip together.
  int64_t count = 1;
  for (Factor factor : rows)
    count *= factor.extent;
  int64_t depth = reduced.empty() ? 1 : reduced[0].extent;
  int64_t result = former.target.mapBytes({1, outChannels, 1, count}, input.element());
  bool large = std::max(former.target.mapBytes({1, depth, 1, count}, input.element()), result) + result >
               former.target.mapCapacity();
  unsigned last = large ? 2 : 3;
  unsigned dims[4][3] = {{}, {last}, {0, last}, {0, 2, 3}};
  SmallVector<int64_t> shape(4, 1);
  SmallVector<Factor> factors(4);
  Operand operand;
  if (!reduced.empty()) {
    shape[1] = reduced[0].extent;
    factors[1] = reduced[0];
  }
  operand.reduced = {1};
  for (auto [i, factor] : llvm::enumerate(rows)) {
    unsigned d = dims[rows.size()][i];
    shape[d] = factor.extent;
    factors[d] = factor;
    operand.rows.push_back(d);
  }
  operand.map = former.toMap(input, shape, factors);
  return operand;
}

Formed layers::formMatMul(LayerFormer &former, const LayerPattern &pattern) {
  onnx::NodeOp node = pattern.root;
  bool gemm = node.is("Gemm"), transposed = gemm && node.intAttr("transB", 0) != 0;
  if (gemm && (node.floatAttr("alpha", 1) != 1 || (node.input(2) && node.floatAttr("beta", 1) != 1)))
    return refuse("alpha and beta other than 1");
  if (gemm && node.intAttr("transA", 0) != 0)
    return refuse("transA");
  std::optional<Activation> input = activation(node.input(0));
  if (activation(node.input(1)))
    return refuse("product of two activations: weights from the scratchpad are not built yet");
  if (!input)
    return refuse("its first operand is not quantized to 8 bits with one constant scale");
  std::optional<QuantizedConstant> weights = matrix(node.input(1), transposed);
  if (!weights)
    return refuse("its second operand is not a constant matrix of 8-bit integers");
  int64_t depth = weights->type.getDimSize(transposed ? 1 : 0), channels = weights->type.getDimSize(transposed ? 0 : 1);
  if ((weights->scales.size() > 1 || weights->zeroPoints.size() > 1) && weights->axis != (transposed ? 0 : 1))
    return refuse("weights quantized along the reduction");
  if (input->view.axes.size() < 2)
    return refuse("its first operand is a vector");
  std::optional<Operand> operand = readOperand(former, *input, channels);
  if (!operand)
    return refuse("its input's layout cannot be read with strides");

  ArrayRef<int64_t> shape = cast<RankedTensorType>(operand->map.getType()).getShape();
  ContractionParts parts(*input);
  parts.input = operand->map;
  auto isReduced = [&](unsigned d) { return llvm::is_contained(operand->reduced, d); };
  parts.weightShape = {channels, shape[1], isReduced(2) ? shape[2] : 1, isReduced(3) ? shape[3] : 1};
  parts.outHeight = isReduced(2) ? 1 : shape[2];
  parts.outWidth = isReduced(3) ? 1 : shape[3];
  parts.order = operand->rows;
  parts.order.push_back(1);
  parts.channelAxis = pattern.rootType().getRank() - 1;

  // Row r of the weights is position (channel, row, column) of the window.
  SmallVector<int64_t> position(depth);
  for (int64_t r = 0; r < depth; ++r) {
    int64_t rest = r, at[4] = {0, 0, 0, 0};
    for (unsigned d : llvm::reverse(operand->reduced)) {
      at[d] = rest % shape[d];
      rest /= shape[d];
    }
    position[r] = (at[1] * parts.weightShape[2] + at[2]) * parts.weightShape[3] + at[3];
  }
  parts.weights.resize(depth * channels);
  for (int64_t r = 0; r < depth; ++r)
    for (int64_t k = 0; k < channels; ++k) {
      int64_t value = weights->at(transposed ? k * depth + r : r * channels + k) - weights->zeroPoint(k);
      parts.weights[k * depth + position[r]] = static_cast<int16_t>(value);
    }
  parts.weightScales = weights->scales;

  parts.bias.resize(channels, 0);
  for (Value bias : {gemm ? node.input(2) : Value(), pattern.biasValue}) {
    if (!bias)
      continue;
    auto type = dyn_cast<RankedTensorType>(bias.getType());
    if (!type || (type.getNumElements() != 1 && (type.getShape().back() != type.getNumElements())))
      return refuse("adds a constant that is not one per column");
    SmallVector<int64_t> added;
    if (std::string problem = biasIntegers(bias, channels, input->scale(), parts.weightScales, added); !problem.empty())
      return refuse(problem);
    for (auto [sum, value] : llvm::zip_equal(parts.bias, added))
      sum += value;
  }
  return buildContraction(former, pattern, parts);
}
