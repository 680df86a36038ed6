//===- ContractionStore.cpp - what happens to finished sums ---------------===//

#include "backends/cpu/ContractionStore.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

/// Numpy broadcasting: strides of `shape` over `result`.
static Shape broadcastStrides(ArrayRef<int64_t> shape, ArrayRef<int64_t> result) {
  Shape strides(result.size(), 0), own = stridesOf(shape);
  size_t shift = result.size() - shape.size();
  for (size_t i = 0; i < shape.size(); ++i)
    if (shape[i] != 1 || result[shift + i] == 1)
      strides[shift + i] = own[i];
  return strides;
}

ResultLayout matrixLayout(ArrayRef<int64_t> result) {
  Shape dims(result);
  return {dims, [dims](ArrayRef<int64_t> shape) -> std::optional<Shape> {
            if (shape.size() > dims.size())
              return std::nullopt;
            return broadcastStrides(shape, dims);
          }};
}

ResultLayout imageLayout(ArrayRef<int64_t> result, int64_t groups) {
  Shape full(result);
  int64_t channels = result[1] / groups;
  Shape dims{result[0], groups, channels, product(result.drop_front(2))};
  return {dims, [full, channels](ArrayRef<int64_t> shape) -> std::optional<Shape> {
            if (shape.size() > full.size())
              return std::nullopt;
            Shape padded(full.size() - shape.size(), 1);
            padded.append(shape.begin(), shape.end());
            ArrayRef<int64_t> spatial = ArrayRef(padded).drop_front(2);
            int64_t pixels;
            if (product(spatial) == 1)
              pixels = 0;
            else if (spatial == ArrayRef(full).drop_front(2))
              pixels = 1;
            else
              return std::nullopt;
            Shape strides = broadcastStrides(padded, full);
            return Shape{strides[0], strides[1] * channels, strides[1], pixels};
          }};
}

Num loadVectorAt(KernelBuilder &k, Buffer buffer, Value at, int64_t width) {
  auto type = VectorType::get({width}, storageType(buffer.type));
  return k.fromStorage(vector::LoadOp::create(k.b, k.loc, type, k.flat(buffer), ValueRange{at}), buffer.type);
}

void storeVectorAt(KernelBuilder &k, Num value, Buffer buffer, Value at, Value valid) {
  Value stored = k.toStorage(value, buffer.type);
  auto vector = dyn_cast<VectorType>(stored.getType());
  if (!vector) {
    memref::StoreOp::create(k.b, k.loc, stored, k.flat(buffer), at);
  } else if (valid) {
    auto type = VectorType::get(vector.getShape(), k.b.getI1Type());
    Value mask = vector::CreateMaskOp::create(k.b, k.loc, type, valid);
    vector::MaskedStoreOp::create(k.b, k.loc, k.flat(buffer), ValueRange{at}, mask, stored);
  } else {
    vector::StoreOp::create(k.b, k.loc, stored, k.flat(buffer), ValueRange{at});
  }
}

std::function<void(Value, Value, Value, Num, Value)> storeContraction(KernelBuilder &k, ArrayRef<NodeOp> nodes,
                                                                      ResultLayout layout, FinishFn finish) {
  // All buffers exist before the loops do.
  for (auto &[value, shape] : epilogueOperands(nodes))
    k.input(value);
  Buffer out = k.output(groupResult(nodes));
  SmallVector<NodeOp> group(nodes);
  return [&k, group, layout, finish, out](Value batch, Value m, Value n, Num sums, Value valid) {
    SmallVector<Value> outer = k.delinearize(batch, ArrayRef(layout.dims).drop_back(2));
    outer.push_back(m);
    auto vector = dyn_cast<VectorType>(sums.type());
    int64_t width = vector ? vector.getNumElements() : 1;
    Value mask;
    if (vector && valid)
      mask = vector::CreateMaskOp::create(k.b, k.loc, VectorType::get({width}, k.b.getI1Type()), valid);

    auto load = [&](Value value, ArrayRef<int64_t> shape) -> Num {
      Buffer buffer = k.input(value);
      Shape strides = *layout.strides(shape);
      bool along = strides.back() != 0;
      strides.pop_back();
      Value at = k.linear(outer, strides);
      if (!along || !vector) {
        Num scalar = k.loadFlat(buffer, along ? k.add(at, n) : at);
        if (!vector)
          return scalar;
        auto type = VectorType::get({width}, scalar.type());
        return scalar.with(vector::BroadcastOp::create(k.b, k.loc, type, scalar.v));
      }
      at = k.add(at, n);
      if (!mask)
        return loadVectorAt(k, buffer, at, width);
      auto type = VectorType::get({width}, storageType(buffer.type));
      Value nothing = arith::ConstantOp::create(k.b, k.loc, cast<TypedAttr>(k.b.getZeroAttr(type)));
      return k.fromStorage(
          vector::MaskedLoadOp::create(k.b, k.loc, type, k.flat(buffer), ValueRange{at}, mask, nothing), buffer.type);
    };

    Num value = finish(sums, load);
    NodeOp root = group.front();
    Type rootType = elementOf(root->getResult(0));
    value.isUnsigned = isUnsignedType(rootType);
    if (group.size() > 1 && computeType(rootType) != rootType && isa<FloatType>(rootType))
      value = convert(convert(value, rootType), computeType(rootType));
    value = applyEpilogue(k, group, value, load);

    Shape strides = stridesOf(layout.dims);
    strides.pop_back();
    Value at = k.add(k.linear(outer, strides), n);
    storeVectorAt(k, value, out, at, valid);
  };
}

} // namespace tilewright::cpu
