//===- Operators.h - operators as quantization sees them --------*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_QUANTIZATION_OPERATORS_H
#define TILEWRIGHT_PASSES_QUANTIZATION_OPERATORS_H

#include "dialects/onnx/OnnxDialect.h"

namespace tilewright {

/// The newest version of an ai.onnx operator: what normalize-opsets has made of the nodes around.
int64_t newestVersion(llvm::StringRef opType);

/// True for float32 tensors of known rank.
bool isFloatTensor(mlir::Value value);
/// True for a float32 constant of `elements` elements (any number if negative).
bool isFloatConstant(mlir::Value value, int64_t elements = -1);

/// Conv, Gemm or MatMul whose weights, and bias if any, are constants.
bool isContraction(onnx::NodeOp node);
/// Add of two float tensors of one shape, neither constant.
bool isTensorAddition(onnx::NodeOp node);
/// Average pools, and means over height and width.
bool isAveragePool(onnx::NodeOp node);
/// Nodes whose result holds values of operand 0 (Concat: of all operands), or zeros, and nothing else.
bool keepsScale(onnx::NodeOp node);
/// An activation that the requantization itself can do: a narrower clamp, or another factor for negative sums.
bool isFusedActivation(onnx::NodeOp node);
/// A function of one tensor's element: a unary operator, or a binary one whose other operands are scalar constants or,
/// through `others`, the same element again.
bool isElementwise(onnx::NodeOp node);
/// Any of the above: what could be an 8-bit layer if its operands and its result were.
bool hasQuantizedForm(onnx::NodeOp node);

} // namespace tilewright

#endif
