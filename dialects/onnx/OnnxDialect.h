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

#define GET_ATTRDEF_CLASSES
#include "dialects/onnx/OnnxAttributes.h.inc"

#define GET_OP_CLASSES
#include "dialects/onnx/OnnxOps.h.inc"

namespace tilewright::onnx {

/// Attribute of function arguments and results: the tensor's name in the model, any string.
inline constexpr llvm::StringLiteral kNameAttr = "onnx.name";
/// Attribute of function arguments: an array of strings, the symbol of each dimension ("" for a fixed or unnamed one).
inline constexpr llvm::StringLiteral kDimSymbolsAttr = "onnx.dim_symbols";
/// Attribute of nodes: the name in the model of each result, an array of strings.
inline constexpr llvm::StringLiteral kOutputNamesAttr = "onnx.output_names";

/// Attribute of function arguments that a caller may leave out: the tensor's own value (an initializer that is also a
/// graph input; from IR version 4 on callers may override it, so it is no constant).
inline constexpr llvm::StringLiteral kDefaultValueAttr = "onnx.default_value";
/// Attributes of the module: the model's IR version (i64), and the opset imports, a dictionary domain → i64 in which
/// ai.onnx is spelled out.
inline constexpr llvm::StringLiteral kIrVersionAttr = "onnx.ir_version";
inline constexpr llvm::StringLiteral kOpsetsAttr = "onnx.opset_imports";
/// Attributes of a private function that is a model-local function: its domain, name and overload, joined as in calls;
/// the attributes that it takes, an array of names; and the values of those that have a default.
inline constexpr llvm::StringLiteral kFunctionAttr = "onnx.function";
inline constexpr llvm::StringLiteral kFunctionAttributesAttr = "onnx.function_attributes";
inline constexpr llvm::StringLiteral kFunctionDefaultsAttr = "onnx.function_defaults";

/// Attributes that shape inference leaves where dimensions are open: on functions, the names of the symbols; on
/// function results an affine map from these symbols to the dimensions, on nodes an array with one map (or unit) per
/// result.
inline constexpr llvm::StringLiteral kSymbolsAttr = "onnx.symbols";
inline constexpr llvm::StringLiteral kShapeAttr = "onnx.shape";

/// Attribute of QuantizeLinear nodes that stand for QLinearAdd's: they round after the zero point is added. ONNX's own
/// round before, which is another number at a tie when the zero point is odd.
inline constexpr llvm::StringLiteral kRoundsWithZeroPointAttr = "onnx.rounds_with_zero_point";

/// True when `value` is the result of `onnx.none` (or null).
bool isAbsent(mlir::Value value);
/// The constant elements behind `value`, or null.
mlir::ElementsAttr constantValue(mlir::Value value);
/// The node that gives `value` when it is an `op`, else null. `value` may be null.
NodeOp producer(mlir::Value value, llvm::StringRef op);

} // namespace tilewright::onnx

#endif
