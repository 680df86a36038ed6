//===- Compiler.h - from an ONNX model to a package -------------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_COMPILER_H
#define TILEWRIGHT_DRIVER_COMPILER_H

#include "driver/CompileOptions.h"
#include "frontend/MappedFile.h"

#include <memory>
#include <string>

namespace tilewright {

struct CompileResult {
  /// What --emit asked for, when it is not the package: text, or the bytes of an ONNX file (quantized).
  std::string emitted;
  /// --explain: what was decided for each layer, and why.
  std::string explanation;
};

/// Compiles `model`. A package is written to `packagePath`, which is complete or untouched; other forms are returned.
/// Throws Error, one message, when the model cannot be compiled.
CompileResult compileModel(std::shared_ptr<const MappedFile> model, const CompileOptions &options,
                           const std::string &packagePath);

/// The compiler's version, as packages record it.
const char *compilerVersion();

} // namespace tilewright

#endif
