//===- ModelExporter.h - the onnx dialect as an ONNX file -------*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_ONNX_MODELEXPORTER_H
#define TILEWRIGHT_BACKENDS_ONNX_MODELEXPORTER_H

#include "mlir/IR/BuiltinOps.h"

#include <string>

namespace tilewright {

/// The bytes of an ONNX file with the nodes of `@main`, each of the operator version it has in the module. Throws Error
/// for what has no such file: subgraphs, element types outside ONNX, nodes of versions that no single opset selects.
std::string exportOnnx(mlir::ModuleOp module);

/// Makes the pass `export-onnx{file=...}` known: it writes the module it runs on. For tests and for looking at a model
/// between two passes with the tools that read ONNX.
void registerExportOnnxPass();

} // namespace tilewright

#endif
