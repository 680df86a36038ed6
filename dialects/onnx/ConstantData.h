//===- ConstantData.h - the bytes and numbers behind constants --*- C++ -*-===//
//
// Constants are dense attributes when small and resources over the mapped model file when large; a resource's data may
// be unaligned. These functions read both the same way.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DIALECTS_ONNX_CONSTANTDATA_H
#define TILEWRIGHT_DIALECTS_ONNX_CONSTANTDATA_H

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"

#include <memory>
#include <optional>

namespace tilewright::onnx {

/// Bytes per element of `type` as ONNX stores it (i1 takes one); 0 for strings and unknown types.
size_t elementBytes(mlir::Type type);

/// A constant's elements, row-major, little-endian, elementBytes each.
class ConstantBytes {
public:
  /// Views a resource in place; expands a dense attribute (a splat too) into own memory.
  explicit ConstantBytes(mlir::ElementsAttr elements);
  llvm::ArrayRef<char> bytes() const { return data; }
  /// Element `i`; T must be elementBytes wide.
  template <typename T> T get(size_t i) const {
    T value;
    std::memcpy(&value, data.data() + i * sizeof(T), sizeof(T));
    return value;
  }

private:
  llvm::ArrayRef<char> data;
  std::shared_ptr<std::vector<char>> owned;
};

/// False where printing left the values out (`dense_resource<__elided__>`): nothing may read them then.
bool hasValues(mlir::ElementsAttr elements);

/// A constant over `bytes` (laid out as ConstantBytes gives them): dense when it is small or when all elements are
/// equal, else a resource. `owner` keeps `bytes` alive for the resource; without one they are copied.
mlir::ElementsAttr makeConstant(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes,
                                std::shared_ptr<const void> owner = nullptr);

/// The values of an integer or bool constant, or nothing when it is null, of another type or has more than `limit`.
std::optional<llvm::SmallVector<int64_t>> integers(mlir::ElementsAttr elements, int64_t limit = 1 << 16);
/// The values of a float constant (f16, bf16, f32, f64), likewise.
std::optional<llvm::SmallVector<double>> floats(mlir::ElementsAttr elements, int64_t limit = 1 << 16);

} // namespace tilewright::onnx

#endif
