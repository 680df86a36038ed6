//===- Diagnostics.h - the compiler's errors as one message -----*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_DIAGNOSTICS_H
#define TILEWRIGHT_DRIVER_DIAGNOSTICS_H

#include "mlir/IR/Diagnostics.h"

#include <string>
#include <vector>

namespace tilewright {

/// Collects what passes report while it lives.
class DiagnosticCollector {
public:
  /// `file`: the model, first in every message.
  DiagnosticCollector(mlir::MLIRContext &context, std::string file);
  /// Throws Error with everything reported so far; `stage` says what failed if nothing was.
  [[noreturn]] void raise(const std::string &stage) const;
  /// The same, if `failed`.
  void raiseIf(bool failed, const std::string &stage) const {
    if (failed)
      raise(stage);
  }
  void raiseIfAny() const { raiseIf(!errors.empty(), ""); }

private:
  std::string file;
  std::vector<std::string> errors;
  mlir::ScopedDiagnosticHandler handler;
};

} // namespace tilewright

#endif
