//===- Compiler.cpp -------------------------------------------------------===//

#include "driver/Compiler.h"

#include "backends/cpu/CpuBackend.h"
#include "backends/cpu/Passes.h"
#include "common/Error.h"
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/tile/TileDialect.h"
#include "driver/BatchAnalysis.h"
#include "driver/PlanBuilder.h"
#include "driver/QuantizeModel.h"
#include "driver/Specialisation.h"
#include "passes/VerifySupported.h"
#include "runtime/PackageWriter.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Pass/PassManager.h"

#include <chrono>

using namespace mlir;

namespace tilewright {

const char *compilerVersion() { return TILEWRIGHT_VERSION; }

namespace {

/// One run of the compiler; its member functions are the stages, in the order of run().
class Compilation {
public:
  Compilation(std::shared_ptr<const MappedFile> model, const CompileOptions &options)
      : model(std::move(model)), options(options), context(registry(), MLIRContext::Threading::DISABLED),
        diagnostics(context, this->model->name()) {}

  CompileResult run(const std::string &packagePath) {
    options.validate();
    import();
    if (options.quantize == "int8")
      quantize();
    if (options.emit == "onnx")
      return emitModules();
    if (options.target == "systolic")
      throw Error("--target=systolic: the back end is not connected yet; use --target=cpu");
    chooseHostWork();
    compileHostCode();
    if (options.emit != "package")
      return std::move(result);
    buildPlans();
    declareModel();
    stage("write " + packagePath);
    writer.write(packagePath);
    stageDone();
    return std::move(result);
  }

private:
  static const DialectRegistry &registry() {
    static const DialectRegistry *registry = [] {
      auto *created = new DialectRegistry;
      created->insert<func::FuncDialect, onnx::OnnxDialect, tile::TileDialect>();
      return created;
    }();
    return *registry;
  }

  void import();
  void quantize();
  CompileResult emitModules();
  void chooseHostWork();
  void compileHostCode();
  void buildPlans();
  void declareModel();

  void stage(const std::string &name);
  void stageDone();

  std::shared_ptr<const MappedFile> model;
  const CompileOptions &options;
  MLIRContext context;
  DiagnosticCollector diagnostics;
  runtime::PackageWriter writer;
  /// Bytes that the writer was given.
  std::deque<onnx::ConstantBytes> constants;
  std::vector<Specialisation> specialisations;
  std::vector<std::vector<cpu::HostGroup>> hostGroups; ///< by specialisation
  cpu::HostCode hostCode;
  CompileResult result;
  std::string stageName;
  std::chrono::steady_clock::time_point stageStart;
};

void Compilation::stage(const std::string &name) {
  if (!stageName.empty())
    stageDone();
  stageName = name;
  stageStart = std::chrono::steady_clock::now();
}

void Compilation::stageDone() {
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - stageStart).count();
  char text[32];
  std::snprintf(text, sizeof text, " (%.2f s)", seconds);
  if (options.progress)
    options.progress(stageName + text);
  stageName.clear();
}

void Compilation::import() {
  context.loadAllAvailableDialects();
  std::vector<InputShapeMap> shapes = parseInputShapes(options.inputShapes);
  for (size_t i = 0; i < shapes.size(); ++i) {
    stage("read " + model->name() + (shapes.size() > 1 ? ", specialisation " + std::to_string(i + 1) : ""));
    specialisations.push_back(importSpecialisation(context, model, shapes[i], options.batch, diagnostics));
  }
}

void Compilation::quantize() {
  stage("calibrate and quantize");
  QuantizationResult quantization = quantizeModel(context, model, options, specialisations, diagnostics);
  writer.tables.uncalibrated = quantization.uncalibrated;
  if (options.explain)
    result.explanation += explainAccuracy(quantization);
}

CompileResult Compilation::emitModules() {
  OpPrintingFlags flags;
  flags.elideLargeElementsAttrs(16).elideLargeResourceString(64);
  llvm::raw_string_ostream stream(result.emitted);
  for (Specialisation &specialisation : specialisations) {
    specialisation.module->print(stream, flags);
    stream << "\n";
  }
  stageDone();
  return std::move(result);
}

/// Without the operator in front, which verifySupported says itself.
static std::string whyNotOnHost(onnx::NodeOp node) {
  std::string why = cpu::whyNotOnHost(node);
  size_t colon = why.find(": ");
  return colon == std::string::npos ? why : why.substr(colon + 2);
}

void Compilation::chooseHostWork() {
  stage("group operators");
  for (Specialisation &specialisation : specialisations) {
    PassManager passes(&context, func::FuncOp::getOperationName());
    passes.addPass(createFuseQuantizedPass());
    diagnostics.raiseIf(failed(passes.run(specialisation.main)), "fusing quantized operators");
    diagnostics.raiseIf(failed(verifySupported(*specialisation.module, whyNotOnHost)), "checking operators");
    hostGroups.push_back(cpu::formHostGroups(specialisation.main));
  }
}

void Compilation::compileHostCode() {
  std::vector<cpu::HostGroup> all;
  for (const auto &groups : hostGroups)
    all.insert(all.end(), groups.begin(), groups.end());
  if (all.empty())
    return;
  stage("compile " + std::to_string(all.size()) + " host kernels");
  cpu::HostOptions hostOptions;
  if (options.emit == "target")
    hostOptions.linalgText = &result.emitted;
  if (options.emit == "llvm")
    hostOptions.llvmText = &result.emitted;
  if (options.emit == "asm")
    hostOptions.assemblyText = &result.emitted;
  FailureOr<cpu::HostCode> code = cpu::compileHostGroups(all, hostOptions);
  diagnostics.raiseIf(failed(code), "compiling host code");
  hostCode = std::move(*code);
}

void Compilation::buildPlans() {
  stage("plan memory");
  size_t next = 0;
  for (size_t i = 0; i < specialisations.size(); ++i) {
    PlanBuilder builder(writer, constants, specialisations[i].main);
    for (size_t group = 0; group < hostGroups[i].size(); ++group)
      builder.addHostCall(hostCode.kernels[next++], "compiled for the cpu");
    writer.tables.plans.push_back(builder.finish());
  }
}

/// The signature, the batch, and what the loader must know.
void Compilation::declareModel() {
  package::PackageT &tables = writer.tables;
  tables.model_name = std::filesystem::path(model->name()).stem().string();
  tables.target = options.target;
  tables.compiler_version = compilerVersion();
  Signature signature = declaredSignature(context, model, specialisations[0].main);
  tables.inputs = std::move(signature.inputs);
  tables.outputs = std::move(signature.outputs);
  if (options.batch && signature.batch.obstacle.empty())
    for (auto &plan : tables.plans) {
      plan->batch = static_cast<uint64_t>(*options.batch);
      plan->batched_inputs.assign(signature.batch.inputs.begin(), signature.batch.inputs.end());
      plan->batched_outputs.assign(signature.batch.outputs.begin(), signature.batch.outputs.end());
    }
  if (!hostCode.sharedObject.empty()) {
    std::span<const char> bytes(hostCode.sharedObject);
    tables.host_code = static_cast<int32_t>(writer.addSegment(std::as_bytes(bytes)));
    tables.host_cpu_features = hostCode.cpuFeatures;
  }
}

} // namespace

CompileResult compileModel(std::shared_ptr<const MappedFile> model, const CompileOptions &options,
                           const std::string &packagePath) {
  return Compilation(std::move(model), options).run(packagePath);
}

} // namespace tilewright
