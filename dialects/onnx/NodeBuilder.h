//===- NodeBuilder.h - making onnx.node operations in passes ----*- C++ -*-===//

#ifndef TILEWRIGHT_DIALECTS_ONNX_NODEBUILDER_H
#define TILEWRIGHT_DIALECTS_ONNX_NODEBUILDER_H

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/IR/Builders.h"

namespace tilewright::onnx {

/// A node `opType` of ai.onnx at the builder's insertion point. `outputNames` are the results' names in the model;
/// without them the results have none. A null or absent input becomes `onnx.none`.
NodeOp createNode(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef opType, int64_t sinceVersion,
                  mlir::ValueRange inputs, mlir::TypeRange results,
                  llvm::ArrayRef<mlir::NamedAttribute> attributes = {},
                  llvm::ArrayRef<llvm::StringRef> outputNames = {});

/// A constant of `values`, row-major; T is the type as stored (float, int8_t, int32_t, int64_t ...).
template <typename T>
ConstantOp createConstant(mlir::OpBuilder &builder, mlir::Location loc, mlir::RankedTensorType type,
                          llvm::ArrayRef<T> values);

/// The name in the model of a node's result or of a function's argument; empty when it has none.
llvm::StringRef tensorName(mlir::Value value);

} // namespace tilewright::onnx

#include "dialects/onnx/ConstantData.h"

template <typename T>
tilewright::onnx::ConstantOp tilewright::onnx::createConstant(mlir::OpBuilder &builder, mlir::Location loc,
                                                              mlir::RankedTensorType type, llvm::ArrayRef<T> values) {
  llvm::ArrayRef<char> bytes(reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T));
  return ConstantOp::create(builder, loc, makeConstant(type, bytes));
}

#endif
