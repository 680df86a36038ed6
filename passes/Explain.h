//===- Explain.h - the compiler's decisions in words ------------*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_EXPLAIN_H
#define TILEWRIGHT_PASSES_EXPLAIN_H

#include "passes/TargetDescription.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// One line per layer: unit, tile, where its maps live, predicted cycles, what bounds it; then what stays on the host
/// and why. For a function that has gone through place-buffers (earlier: what is known by then). All figures are
/// modelled.
std::string explain(mlir::func::FuncOp function, const TargetDescription &target);

} // namespace tilewright

#endif
