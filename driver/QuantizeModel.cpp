//===- QuantizeModel.cpp - post-training quantization ---------------------===//
//
// Calibration has its own copy of the model, for the shapes of the samples; a tensor is known in all copies by its key.
//
//===----------------------------------------------------------------------===//

#include "driver/QuantizeModel.h"

#include "frontend/OnnxImporter.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/Format.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

/// Each takes a float and an integer run; more samples change decibels little.
static constexpr size_t kAccuracySamples = 4;

static bool isQuantized(func::FuncOp main) {
  return main
      .walk([](onnx::NodeOp node) {
        return node.is("QuantizeLinear") || node.is("DequantizeLinear") ? WalkResult::interrupt()
                                                                        : WalkResult::advance();
      })
      .wasInterrupted();
}

/// What turns a float function into the form in which calibration and quantization see it.
static void foldAffine(PassManager &passes) {
  passes.addNestedPass<func::FuncOp>(createFoldAffinePass());
  passes.addNestedPass<func::FuncOp>(createCanonicalizerPass());
}

static void insertQdq(PassManager &passes, std::shared_ptr<const RangeTable> table, bool isUnsigned) {
  passes.addNestedPass<func::FuncOp>(createInsertQdqPass(std::move(table), isUnsigned));
  passes.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  passes.addNestedPass<func::FuncOp>(createCSEPass());
}

QuantizationResult tilewright::quantizeModel(MLIRContext &context, std::shared_ptr<const MappedFile> model,
                                             const CompileOptions &options,
                                             llvm::MutableArrayRef<Specialisation> specialisations,
                                             const DiagnosticCollector &diagnostics) {
  QuantizationResult result;
  result.wasQuantized = isQuantized(specialisations.front().main);
  if (result.wasQuantized)
    return result;

  RangeMethod method = RangeMethod::parse(options.calibrationRange);
  CalibrationData data(options.calibration);
  result.uncalibrated = data.isRandom();
  OwningOpRef<ModuleOp> declared = importOnnx(context, model, {});
  InputShapeMap shapes =
      data.sampleShapes(declared->lookupSymbol<func::FuncOp>("main"), parseInputShapes(options.inputShapes).front());
  Specialisation calibrated = importSpecialisation(context, model, shapes, 1, diagnostics);
  PassManager fold(&context);
  foldAffine(fold);
  diagnostics.raiseIf(failed(fold.run(*calibrated.module)), "preparing for calibration");
  auto table = std::make_shared<const RangeTable>(calibrate(calibrated.main, data, method));
  diagnostics.raiseIfAny();

  const bool isUnsigned = options.activations == "uint8";
  for (Specialisation &specialisation : specialisations) {
    PassManager passes(&context);
    foldAffine(passes);
    insertQdq(passes, table, isUnsigned);
    diagnostics.raiseIf(failed(passes.run(*specialisation.module)), "quantizing");
  }
  if (options.explain) {
    OwningOpRef<ModuleOp> quantized = calibrated.module->clone();
    PassManager passes(&context);
    insertQdq(passes, table, isUnsigned);
    diagnostics.raiseIf(failed(passes.run(*quantized)), "quantizing");
    result.accuracy =
        compareQuantized(calibrated.main, quantized->lookupSymbol<func::FuncOp>("main"), data, kAccuracySamples);
  }
  return result;
}

std::string tilewright::explainAccuracy(const QuantizationResult &result) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  if (result.wasQuantized) {
    stream << "quantization: the model is quantized already and was taken as it is\n";
    return text;
  }
  if (result.uncalibrated)
    stream << "quantization: uncalibrated (ranges from random data)\n";
  if (result.accuracy.empty())
    return text;
  stream << "signal to quantization noise of each 8-bit tensor against float, on calibration samples:\n";
  for (const LayerAccuracy &layer : result.accuracy)
    if (std::isinf(layer.signalToNoiseDb))
      stream << "     exact  " << layer.tensor << "\n";
    else
      stream << llvm::format("  %5.1f dB  ", layer.signalToNoiseDb) << layer.tensor << "\n";
  return text;
}
