//===- BatchAnalysis.h - are samples of a batch independent -----*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_BATCHANALYSIS_H
#define TILEWRIGHT_DRIVER_BATCHANALYSIS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <string>
#include <vector>

namespace tilewright {

struct BatchAnalysis {
  /// By argument and result: axis 0 is the batch.
  std::vector<bool> inputs, outputs;
  /// Why other numbers of samples than the compiled one cannot be served in passes; empty when they can.
  std::string obstacle;
};

/// `main`: after shape inference with the first sizes of the inputs open. Samples are independent when the batch symbol
/// is the first dimension of every tensor it occurs in, no number is computed from it, and each node treats samples
/// alone (BatchRules.h).
BatchAnalysis analyseBatch(mlir::func::FuncOp main);

} // namespace tilewright

#endif
