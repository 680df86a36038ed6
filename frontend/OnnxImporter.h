//===- OnnxImporter.h - ONNX files to the onnx dialect ----------*- C++ -*-===//
//
// The result mirrors the model: `func.func @main`, one `onnx.node` per node in topological order, weights as
// `onnx.constant` over the mapped file, model-local functions as private functions. Inner values have no types yet
// (`tensor<*x!onnx.unknown>`): the infer-shapes pass gives them theirs.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_ONNXIMPORTER_H
#define TILEWRIGHT_FRONTEND_ONNXIMPORTER_H

#include "frontend/MappedFile.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <map>
#include <optional>
#include <set>

namespace tilewright {

struct ImportOptions {
  /// Shapes to compile for, by input name; a dimension of −1 stays symbolic. An input's symbols that get a number here
  /// get it in every other input too.
  std::map<std::string, std::vector<int64_t>> inputShapes;
  /// The number for the first dimension of inputs where the model leaves it open.
  std::optional<int64_t> batch;
  /// Inputs that stay inputs although an initializer gives them a default value, besides those in `inputShapes`; all
  /// others of this kind are constants (they are weights that an exporter listed).
  std::set<std::string> overridable;
};

/// Imports the model in the file at `path`. Throws Error, one message, when it cannot be read or is malformed: cut
/// short, a cycle, a value that nothing defines or that is defined twice, an input shape that does not fit. Whether
/// its operators are supported is verifySupported's question.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, const std::filesystem::path &path,
                                             const ImportOptions &options = {});
/// The same for a model in memory: MappedFile::adopt makes one of bytes.
mlir::OwningOpRef<mlir::ModuleOp> importOnnx(mlir::MLIRContext &context, std::shared_ptr<const MappedFile> file,
                                             const ImportOptions &options = {});

} // namespace tilewright

#endif
