//===- BatchRules.h - which operators treat samples alone -------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_BATCHRULES_H
#define TILEWRIGHT_DRIVER_BATCHRULES_H

#include "dialects/onnx/OnnxDialect.h"

#include <string>

namespace tilewright {

/// Why `node` may not be run on some samples at a time; empty when the results for samples i to j are always those of
/// its batched operands' samples i to j. `batched`: by operand, its axis 0 is the batch; the node's results in use have
/// the batch as their axis 0 and at no other axis. An operator without a rule is not run so.
std::string mixesSamples(onnx::NodeOp node, llvm::ArrayRef<bool> batched);

/// Operand `index` gives `node` a shape, so that it may hold the number of samples.
bool takesSampleCount(onnx::NodeOp node, unsigned index);

} // namespace tilewright

#endif
