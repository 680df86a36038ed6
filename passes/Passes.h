//===- Passes.h - Tilewright's passes ---------------------------*- C++ -*-===//
//
// One `create<Name>Pass()` per pass of Passes.td, and their options.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_PASSES_H
#define TILEWRIGHT_PASSES_PASSES_H

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {

#define GEN_PASS_DECL
#include "passes/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "passes/Passes.h.inc"

} // namespace tilewright

#endif
