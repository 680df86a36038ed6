//===- Types.h - MLIR types and attributes as ONNX writes them --*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_ONNX_TYPES_H
#define TILEWRIGHT_BACKENDS_ONNX_TYPES_H

#include "frontend/OnnxWriter.h"

#include "mlir/IR/BuiltinTypes.h"

namespace tilewright {

/// Throws Error for a type that ONNX does not have.
onnxfile::DataType onnxDataType(mlir::Type element);
/// Dynamic dimensions get the symbols given, or none.
std::vector<onnxfile::Writer::Dim> onnxDims(mlir::RankedTensorType type, llvm::ArrayRef<std::string> symbols = {});

} // namespace tilewright

#endif
