//===- OnnxDialect.h - the onnx dialect -------------------------*- C++ -*-===//
//
// See OnnxOps.td for what the dialect is, and docs/dialects/onnx.md for why.
//
// Types: float32 f32, float16 f16, bfloat16 bf16, float64 f64; bool i1; int8..int64 signless i8..i64; uint8..uint64
// ui8..ui64; string !onnx.string. Layout is ONNX's: row-major, NCHW for images.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DIALECTS_ONNX_ONNXDIALECT_H
#define TILEWRIGHT_DIALECTS_ONNX_ONNXDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/onnx/OnnxDialect.h.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/onnx/OnnxTypes.h.inc"

#define GET_OP_CLASSES
#include "dialects/onnx/OnnxOps.h.inc"

namespace tilewright::onnx {

/// Attribute of function arguments and results: the tensor's name in the model, any string.
inline constexpr llvm::StringLiteral kNameAttr = "onnx.name";
/// Attribute of function arguments: an array of strings, the symbol of each dimension ("" for a fixed or unnamed one).
inline constexpr llvm::StringLiteral kDimSymbolsAttr = "onnx.dim_symbols";
/// Attribute of nodes: the name in the model of each result, an array of strings.
inline constexpr llvm::StringLiteral kOutputNamesAttr = "onnx.output_names";

/// True when `value` is the result of `onnx.none` (or null).
bool isAbsent(mlir::Value value);
/// The constant elements behind `value`, or null.
mlir::ElementsAttr constantValue(mlir::Value value);

} // namespace tilewright::onnx

#endif
