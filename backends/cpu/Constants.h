//===- Constants.h - operands known at compile time -------------*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_CPU_CONSTANTS_H
#define TILEWRIGHT_BACKENDS_CPU_CONSTANTS_H

#include "dialects/onnx/OnnxDialect.h"

#include <optional>

namespace tilewright::cpu {

/// The elements behind a constant integer or bool tensor; nothing when `value` is no constant.
std::optional<llvm::SmallVector<int64_t>> constantInts(mlir::Value value);
/// The same for a float tensor.
std::optional<llvm::SmallVector<double>> constantFloats(mlir::Value value);
/// The element of a constant whose elements are all the same (or the only one), as an attribute of the type that
/// KernelBuilder computes with; null when there is none. Only tensors of up to 1 KiB are looked at.
mlir::TypedAttr constantScalar(mlir::Value value);
/// The dense bytes of a constant in ONNX's layout (bools one byte each); empty when `value` is no constant. `storage`
/// holds them where they have to be unpacked.
llvm::ArrayRef<char> constantBytes(mlir::Value value, std::vector<char> &storage);

} // namespace tilewright::cpu

#endif
