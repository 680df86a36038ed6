//===- RangeTable.h - what calibration saw ----------------------*- C++ -*-===//
//
// The range of values of each float tensor over the calibration samples. A table is made by running the network, or
// read from a JSON file `{"<tensor>": [min, max], ...}`.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_QUANTIZATION_RANGETABLE_H
#define TILEWRIGHT_PASSES_QUANTIZATION_RANGETABLE_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

#include <optional>
#include <string>

namespace tilewright {

/// Smallest and largest value; min ≤ max, both finite.
struct CalibratedRange {
  float min = 0, max = 0;
  void include(CalibratedRange other) {
    min = std::min(min, other.min);
    max = std::max(max, other.max);
  }
};

using RangeTable = llvm::StringMap<CalibratedRange>;

/// Reads a table from a JSON file. Throws Error naming the file and the entry that is wrong.
RangeTable readRangeTable(const std::string &path);

/// A key for each tensor that nodes of `function` make or that is an argument: its name in the model, or, where a
/// rewrite made it and it has none, the operator and the keys of its operands. No key depends on where a node stands or
/// on sizes: what calibration saw at one size holds at another, where rewrites may differ. Tensors may share a key; the
/// key's range is then that of all of them.
llvm::DenseMap<mlir::Value, std::string> calibrationKeys(mlir::func::FuncOp function);

/// The pass insert-qdq with a table that is at hand.
std::unique_ptr<mlir::Pass> createInsertQdqPass(std::shared_ptr<const RangeTable> table, bool isUnsigned);

} // namespace tilewright

#endif
