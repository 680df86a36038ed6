//===- QuantizeModel.h - post-training quantization -------------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_QUANTIZEMODEL_H
#define TILEWRIGHT_DRIVER_QUANTIZEMODEL_H

#include "driver/Calibration.h"
#include "driver/Specialisation.h"

namespace tilewright {

struct QuantizationResult {
  /// Ranges come from made-up data.
  bool uncalibrated = false;
  /// The model came quantized and was taken as it is.
  bool wasQuantized = false;
  /// Of each 8-bit tensor against float, on calibration samples; only if asked for.
  std::vector<LayerAccuracy> accuracy;
};

/// Calibrates `model` once, as `options` say, and quantizes every specialisation with the same parameters. Throws
/// Error.
QuantizationResult quantizeModel(mlir::MLIRContext &context, std::shared_ptr<const MappedFile> model,
                                 const CompileOptions &options, llvm::MutableArrayRef<Specialisation> specialisations,
                                 const DiagnosticCollector &diagnostics);

/// Lines for --explain.
std::string explainAccuracy(const QuantizationResult &result);

} // namespace tilewright

#endif
