//===- Specialisation.h - the model for one set of input shapes -*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_SPECIALISATION_H
#define TILEWRIGHT_DRIVER_SPECIALISATION_H

#include "driver/BatchAnalysis.h"
#include "driver/CompileOptions.h"
#include "driver/Diagnostics.h"
#include "frontend/MappedFile.h"
#include "runtime/package_generated.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace tilewright {

struct Specialisation {
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp main;
};

/// Imports the model for `shapes` and runs the onnx passes. Throws Error when an input's shape is still open then, or a
/// tensor's is not known.
Specialisation importSpecialisation(mlir::MLIRContext &context, std::shared_ptr<const MappedFile> model,
                                    const InputShapeMap &shapes, std::optional<int64_t> batch,
                                    const DiagnosticCollector &diagnostics);

/// Inputs and outputs as the model declares them, and what its batch is.
struct Signature {
  std::vector<std::unique_ptr<package::TensorT>> inputs, outputs;
  BatchAnalysis batch;
};
/// `compiled`: one of the specialisations, for outputs whose declared shapes cannot be inferred.
Signature declaredSignature(mlir::MLIRContext &context, std::shared_ptr<const MappedFile> model,
                            mlir::func::FuncOp compiled);

/// The model's name of argument or result `index`.
std::string argumentName(mlir::func::FuncOp main, unsigned index);
std::string resultName(mlir::func::FuncOp main, unsigned index);

} // namespace tilewright

#endif
