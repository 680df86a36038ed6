//===- Stages.h - a kernel as a list of stages ------------------*- C++ -*-===//
//
// A kernel's body, as KernelBuilder leaves it, is a list of operations on its buffers. Here each loop marked parallel
// becomes a function over a range of its iterations, and what lies between two such loops another function. After the
// conversion to the LLVM dialect the exported entry is written: it calls the stages in order, parallel ones through
// TwHostContext::parallel_for. Stage functions take the buffers as bare pointers that do not alias, which is what lets
// LLVM vectorize their loops without checks at run time.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CPU_STAGES_H
#define TILEWRIGHT_BACKENDS_CPU_STAGES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace tilewright::cpu {

struct Stage {
  std::string function;
  /// Arguments of the kernel that the stage takes, in order; a parallel stage takes begin and end after them.
  llvm::SmallVector<unsigned> arguments;
  /// Iterations of a parallel stage; 0: the stage runs once.
  int64_t count = 0;
};

/// Where the pointer of a kernel argument comes from: buffers[buffer] + offset bytes.
struct PointerSource {
  int64_t buffer;
  int64_t offset;
};

/// Turns linalg operations into loops; a parallel mark moves to the outermost parallel loop.
mlir::LogicalResult lowerLinalgToLoops(mlir::func::FuncOp kernel);
/// Moves the body of `kernel` into stage functions beside it and erases it.
mlir::FailureOr<std::vector<Stage>> outlineStages(mlir::func::FuncOp kernel);
/// Writes the exported function `symbol` into a module that is in the LLVM dialect.
void emitEntry(mlir::ModuleOp module, llvm::StringRef symbol, llvm::ArrayRef<Stage> stages,
               llvm::ArrayRef<PointerSource> sources);

} // namespace tilewright::cpu

#endif
