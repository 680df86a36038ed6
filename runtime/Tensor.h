//===- Tensor.h - tensors as the runtime sees them --------------*- C++ -*-===//
//
// Dense, row-major, in ONNX's layout. Memory that the runtime allocates is 64-byte aligned (HostAbi.h).
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RUNTIME_TENSOR_H
#define TILEWRIGHT_RUNTIME_TENSOR_H

#include "runtime/package_generated.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tilewright::runtime {

using ElementType = package::ElementType;
using Shape = std::vector<int64_t>;

inline constexpr size_t kAlignment = 64;

/// "float32", "uint8", ...: the names numpy and ONNX use.
const char *elementTypeName(ElementType type);
size_t elementSize(ElementType type);
/// Elements of a static shape. Throws Error when that overflows or a size is negative.
uint64_t elementCount(const Shape &shape);
/// "1x3x224x224", "?" for a symbolic size without a name; "scalar" for rank 0.
std::string shapeText(const Shape &shape, const std::vector<std::string> &symbols = {});

/// Zeroed, aligned memory; never null.
using AlignedBytes = std::unique_ptr<std::byte[], void (*)(std::byte *)>;
AlignedBytes allocateAligned(size_t bytes);

/// Someone else's tensor, alive during a call.
struct TensorView {
  ElementType type = ElementType::F32;
  Shape shape;
  const void *data = nullptr;
};

/// A tensor with its memory.
struct Tensor {
  ElementType type = ElementType::F32;
  Shape shape;
  AlignedBytes data{nullptr, nullptr};

  Tensor() = default;
  Tensor(ElementType type, Shape shape);
  size_t byteSize() const { return elementCount(shape) * elementSize(type); }
  TensorView view() const { return {type, shape, data.get()}; }
};

/// A declared input or output; sizes of -1 are symbolic.
struct TensorInfo {
  std::string name;
  ElementType type = ElementType::F32;
  Shape sizes;
  std::vector<std::string> symbols;
  /// Of an output: signal to quantization noise against float, when the compiler quantized the network.
  std::optional<double> sqnrDb;
};

} // namespace tilewright::runtime

#endif
