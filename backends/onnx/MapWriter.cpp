//===- MapWriter.cpp - the ways between tensors and maps ------------------===//
//
// A map reads a tensor through strides. Nearly always that is a Reshape and a Transpose; what is not is a Gather by
// element numbers.
//
//===----------------------------------------------------------------------===//

#include "backends/onnx/LayerWriter.h"

#include "common/Error.h"

using namespace mlir;
using namespace tilewright;
using onnxfile::DataType;

/// The map's dimensions in the order in which they lie in the tensor, outermost first, if they fill it without gaps.
static std::optional<SmallVector<int64_t>> memoryOrder(ArrayRef<int64_t> shape, ArrayRef<int64_t> strides,
                                                       int64_t elements) {
  SmallVector<int64_t> order;
  for (int64_t dim = 0; dim < 4; ++dim)
    order.push_back(dim);
  // Dimensions of one element may stand anywhere: where they are, if the others are in order already, else first.
  SmallVector<int64_t> used;
  for (int64_t dim : order)
    if (shape[dim] != 1)
      used.push_back(strides[dim]);
  if (!std::is_sorted(used.rbegin(), used.rend()))
    llvm::stable_sort(order, [&](int64_t a, int64_t b) {
      int64_t strideA = shape[a] == 1 ? INT64_MAX : strides[a], strideB = shape[b] == 1 ? INT64_MAX : strides[b];
      return strideA > strideB;
    });
  int64_t expected = 1;
  for (int64_t dim : llvm::reverse(order)) {
    if (shape[dim] != 1 && strides[dim] != expected)
      return std::nullopt;
    expected *= shape[dim];
  }
  if (expected != elements)
    return std::nullopt;
  return order;
}

static bool isIdentity(ArrayRef<int64_t> order) { return llvm::is_sorted(order); }

void LayerWriter::writeToMap(tile::ToMapOp op) {
  auto tensor = cast<RankedTensorType>(op.getTensor().getType()),
       map = cast<RankedTensorType>(op.getResult().getType());
  std::string value = graph.name(op.getTensor()), result = graph.name(op.getResult());
  layerName = result;
  ArrayRef<int64_t> shape = map.getShape(), strides = op.getStrides();
  if (auto order = memoryOrder(shape, strides, tensor.getNumElements())) {
    SmallVector<int64_t> stored, permutation(4);
    for (auto [position, dim] : llvm::enumerate(*order)) {
      stored.push_back(shape[dim]);
      permutation[dim] = position;
    }
    if (ArrayRef<int64_t>(stored) != tensor.getShape())
      value = emit("Reshape", {value, integers(stored)});
    graph.add(isIdentity(permutation) ? "Identity" : "Transpose", {value}, result,
              isIdentity(permutation)
                  ? GraphWriter::Attributes{}
                  : GraphWriter::Attributes{{"perm", std::vector<int64_t>(permutation.begin(), permutation.end())}});
    return;
  }
  std::vector<int64_t> numbers;
  numbers.reserve(map.getNumElements());
  for (int64_t n = 0; n < shape[0]; ++n)
    for (int64_t c = 0; c < shape[1]; ++c)
      for (int64_t h = 0; h < shape[2]; ++h)
        for (int64_t w = 0; w < shape[3]; ++w)
          numbers.push_back(n * strides[0] + c * strides[1] + h * strides[2] + w * strides[3]);
  std::string flat = emit("Reshape", {value, integers({-1})});
  graph.add("Gather", {flat, graph.constant<int64_t>(DataType::Int64, shape.vec(), numbers, result + "/elements")},
            result);
}

void LayerWriter::writeFromMap(tile::FromMapOp op) {
  auto tensor = cast<RankedTensorType>(op.getResult().getType()), map = cast<RankedTensorType>(op.getMap().getType());
  std::string value = graph.name(op.getMap()), result = graph.name(op.getResult());
  layerName = result;
  auto order = memoryOrder(map.getShape(), op.getStrides(), tensor.getNumElements());
  if (!order)
    throw Error("'" + result + "' leaves the array by strides that no exact spelling in ONNX has");
  SmallVector<int64_t> stored;
  for (int64_t dim : *order)
    stored.push_back(map.getDimSize(dim));
  if (!isIdentity(*order))
    value = emit("Transpose", {value}, {{"perm", std::vector<int64_t>(order->begin(), order->end())}});
  if (ArrayRef<int64_t>(stored) != tensor.getShape())
    graph.add("Reshape", {value, integers(tensor.getShape())}, result);
  else
    graph.add("Identity", {value}, result);
}
