//===- QuantizeModel.cpp - post-training quantization ---------------------===//
//
// Calibration has its own copy of the model, for the shapes of the samples; a tensor is known in all copies by its key.
//
//===----------------------------------------------------------------------===//

#include "driver/QuantizeModel.h"

#include "common/Error.h"
#include "frontend/OnnxImporter.h"
#include "passes/Passes.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

/// More samples change decibels little.
static constexpr size_t kAccuracySamples = 4;
static constexpr size_t kWorstShown = 5;

bool tilewright::isQuantized(func::FuncOp main) {
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

/// One sample at a time, where the model leaves the number of samples open.
static std::optional<int64_t> openBatch(func::FuncOp declared) {
  bool isOpen = llvm::any_of(declared.getArgumentTypes(), [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getRank() > 0 && tensor.isDynamicDim(0);
  });
  return isOpen ? std::optional<int64_t>(1) : std::nullopt;
}

QuantizationResult tilewright::quantizeModel(MLIRContext &context, std::shared_ptr<const MappedFile> model,
                                             const CompileOptions &options,
                                             llvm::MutableArrayRef<Specialisation> specialisations,
                                             const DiagnosticCollector &diagnostics) {
  QuantizationResult result;
  result.wasQuantized = isQuantized(specialisations.front().main);
  if (result.wasQuantized) {
    if (!options.calibration.empty()) {
      CalibrationData checked(options.calibration); // a path that is wrong is a mistake all the same
      if (options.note)
        options.note("the model is quantized already: --calibration is not used");
    }
    return result;
  }
  if (options.calibration.empty())
    throw Error(
        "--quantize=int8 needs to know the ranges of activations: give --calibration=DIR_OR_NPZ, a folder of .npz "
        "files or one .npz with an array for each model input (first axis: samples). For performance work only, "
        "--calibration=random:SEED makes up data and marks the package \"uncalibrated\"");

  RangeMethod method = RangeMethod::parse(options.calibrationRange);
  CalibrationData data(options.calibration);
  result.uncalibrated = data.isRandom();
  const InputShapeMap wanted = parseInputShapes(options.inputShapes).front();
  ImportOptions asDeclared;
  for (const auto &[name, shape] : wanted)
    asDeclared.overridable.insert(name);
  OwningOpRef<ModuleOp> declared = importOnnx(context, model, asDeclared);
  auto declaredMain = declared->lookupSymbol<func::FuncOp>("main");
  InputShapeMap shapes = data.sampleShapes(declaredMain, wanted);
  Specialisation calibrated = importSpecialisation(context, model, shapes, openBatch(declaredMain), diagnostics);
  PassManager fold(&context);
  foldAffine(fold);
  diagnostics.raiseIf(failed(fold.run(*calibrated.module)), "preparing for calibration");
  Calibration calibration(calibrated.main, data);
  auto table = std::make_shared<const RangeTable>(calibration.ranges(method));
  diagnostics.raiseIfAny();

  const bool isUnsigned = options.activations == "uint8";
  for (Specialisation &specialisation : specialisations) {
    PassManager passes(&context);
    foldAffine(passes);
    insertQdq(passes, table, isUnsigned);
    diagnostics.raiseIf(failed(passes.run(*specialisation.module)), "quantizing");
  }
  if (!data.isRandom() || options.explain)
    result.accuracy = calibration.accuracy(*table, !isUnsigned, kAccuracySamples);
  for (unsigned index = 0; index < calibrated.main.getNumResults(); ++index)
    result.outputNames.push_back(resultName(calibrated.main, index));
  return result;
}

static std::string decibels(double value) { return std::isinf(value) ? "exact" : llvm::formatv("{0:F1}", value).str(); }

static std::string describe(const TensorAccuracy &tensor) {
  return tensor.tensor + (tensor.layer.empty() ? "  (from the host)" : "  (" + tensor.layer + ")");
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
  if (result.accuracy.tensors.empty())
    return text;
  stream << "signal to quantization noise against float on calibration samples, in dB:\n";
  for (auto [index, output] : llvm::enumerate(result.accuracy.outputsDb))
    if (output)
      stream << "  output " << result.outputNames[index] << " " << decibels(*output) << "\n";
  stream << "8-bit tensors as the network runs, and with nothing but the tensor's own layer quantized:\n"
         << "  network  alone\n";
  for (const TensorAccuracy &tensor : result.accuracy.tensors)
    stream << llvm::formatv("  {0,7}  {1,5}  ", decibels(tensor.signalToNoiseDb),
                            tensor.aloneDb ? decibels(*tensor.aloneDb) : "-")
           << describe(tensor) << "\n";
  std::vector<const TensorAccuracy *> worst;
  for (const TensorAccuracy &tensor : result.accuracy.tensors)
    if (tensor.aloneDb && !std::isinf(*tensor.aloneDb))
      worst.push_back(&tensor);
  llvm::stable_sort(worst, [](auto *a, auto *b) { return *a->aloneDb < *b->aloneDb; });
  worst.resize(std::min(worst.size(), kWorstShown));
  stream << "least accurate alone:\n";
  for (const TensorAccuracy *tensor : worst)
    stream << llvm::formatv("  {0,7}  ", decibels(*tensor->aloneDb)) << describe(*tensor) << "\n";
  return text;
}

void tilewright::recordAccuracy(const NetworkAccuracy &accuracy, package::PackageT &tables) {
  // A float in the package; 200 dB is more than float32 can tell.
  auto figure = [](double decibels) { return static_cast<float>(std::min(decibels, 200.0)); };
  for (auto [output, decibels] : llvm::zip(tables.outputs, accuracy.outputsDb))
    if (decibels)
      output->sqnr_db = figure(*decibels);
  llvm::StringMap<const TensorAccuracy *> byLayer;
  for (const TensorAccuracy &tensor : accuracy.tensors)
    if (auto [slot, isNew] = byLayer.try_emplace(tensor.layer, &tensor); !isNew)
      slot->second = nullptr; // nodes of one name in the model: which is which cannot be told
  for (auto &plan : tables.plans)
    for (auto &layer : plan->layers)
      // The last node that makes an 8-bit tensor makes the layer's result.
      for (const std::string &node : llvm::reverse(layer->nodes)) {
        const TensorAccuracy *tensor = byLayer.lookup(node);
        if (!tensor || layer->unit == "host")
          continue;
        layer->sqnr_db = figure(tensor->signalToNoiseDb);
        if (tensor->aloneDb)
          layer->sqnr_alone_db = figure(*tensor->aloneDb);
        break;
      }
}
