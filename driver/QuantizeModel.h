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
  /// Against float, on calibration samples. Of made-up data only with --explain: it says little.
  NetworkAccuracy accuracy;
  std::vector<std::string> outputNames;
};

/// The model came with quantization operators, or has them by now.
bool isQuantized(mlir::func::FuncOp main);

/// Calibrates `model` once, as `options` say, and quantizes every specialisation with the same parameters. Throws
/// Error.
QuantizationResult quantizeModel(mlir::MLIRContext &context, std::shared_ptr<const MappedFile> model,
                                 const CompileOptions &options, llvm::MutableArrayRef<Specialisation> specialisations,
                                 const DiagnosticCollector &diagnostics);

/// Lines for --explain.
std::string explainAccuracy(const QuantizationResult &result);
/// Writes the figures to the outputs and layers of a package whose plans are complete.
void recordAccuracy(const NetworkAccuracy &accuracy, package::PackageT &tables);

} // namespace tilewright

#endif
