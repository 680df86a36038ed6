//===- Passes.h - passes of the CPU back end --------------------*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_CPU_PASSES_H
#define TILEWRIGHT_BACKENDS_CPU_PASSES_H

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace tilewright {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "backends/cpu/Passes.h.inc"
} // namespace tilewright

#endif
