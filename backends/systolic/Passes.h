//===- Passes.h - passes of the systolic back end ---------------*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_PASSES_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_PASSES_H

#include "dialects/systolic/SystolicDialect.h"

#include "mlir/Pass/Pass.h"

namespace tilewright {
#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "backends/systolic/Passes.h.inc"
} // namespace tilewright

#endif
