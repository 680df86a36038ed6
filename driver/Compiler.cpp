//===- Compiler.cpp -------------------------------------------------------===//

#include "driver/Compiler.h"

#include "backends/cpu/CpuBackend.h"
#include "backends/cpu/Passes.h"
#include "backends/onnx/ModelExporter.h"
#include "backends/systolic/ProgramTranslation.h"
#include "backends/systolic/SystolicTarget.h"
#include "common/Error.h"
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/tile/TileDialect.h"
#include "driver/BatchAnalysis.h"
#include "driver/Pipeline.h"
#include "driver/PlanBuilder.h"
#include "driver/QuantizeModel.h"
#include "driver/Specialisation.h"
#include "passes/Explain.h"
#include "passes/NodeName.h"
#include "passes/VerifySupported.h"
#include "passes/layers/LayerFormer.h"
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
    if (options.target == "systolic") {
      formLayers();
      if (options.emit == "tile")
        return emitModules();
      if (options.emit == "quantized")
        return emitQuantized();
      lowerToArray();
      if (options.emit == "target") {
        stageDone();
        return std::move(result);
      }
    }
    chooseHostWork();
    compileHostCode();
    if (options.emit != "package") {
      stageDone();
      return std::move(result);
    }
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
      created->insert<func::FuncDialect, onnx::OnnxDialect, tile::TileDialect, systolic::SystolicDialect>();
      systolic::registerSystolicTarget();
      return created;
    }();
    return *registry;
  }

  void import();
  void quantize();
  CompileResult emitModules();
  void formLayers();
  CompileResult emitQuantized();
  void requireLayersFit(const Specialisation &specialisation) const;
  void lowerToArray();
  void chooseHostWork();
  void compileHostCode();
  std::pair<std::string, onnx::NodeOp> hostReason(const cpu::HostGroup &group) const;
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
  QuantizationResult quantization;
  /// What a specialisation does: stretches of host groups, each but the last followed by an execution of a program.
  struct Work {
    std::vector<std::vector<cpu::HostGroup>> host;
    std::vector<systolic::RunOp> runs;
  };
  std::vector<Work> work; ///< by specialisation
  std::optional<ArrayConfig> array;
  bool inFloat = true; ///< no specialisation has quantized tensors
  /// By specialisation and symbol.
  std::vector<llvm::StringMap<systolic::DeviceProgram>> programs;
  cpu::HostCode hostCode;
  CompileResult result;
  std::string stageName;
  std::chrono::steady_clock::time_point stageStart;
};

void Compilation::stage(const std::string &name) {
  if (!stageName.empty())
    stageDone();
  stageName = name;
  if (options.begins)
    options.begins(name);
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
  quantization = quantizeModel(context, model, options, specialisations, diagnostics);
  writer.tables.uncalibrated = quantization.uncalibrated;
  if (!quantization.wasQuantized)
    writer.tables.quantization = options.activations + " activations, int8 weights, " + options.calibrationRange +
                                 " ranges of " + (quantization.uncalibrated ? "random data" : "calibration samples");
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

/// The network as the array computes it, in operators that any runtime takes.
CompileResult Compilation::emitQuantized() {
  if (specialisations.size() != 1)
    throw Error("--emit=quantized: an ONNX file holds one specialisation; give each input one --input-shape");
  stage("write the quantized network");
  if (!specialisations.front()
           .main.walk([](tile::TileRootInterface) { return WalkResult::interrupt(); })
           .wasInterrupted())
    throw Error("--emit=quantized: no layer of " + model->name() +
                " is quantized; for a float model add --quantize=int8 --calibration=...");
  PassManager passes(&context, func::FuncOp::getOperationName());
  passes.addPass(createFuseQuantizedPass({/*additionsOnly=*/true}));
  diagnostics.raiseIf(failed(passes.run(specialisations.front().main)), "spelling additions");
  result.emitted = exportOnnx(*specialisations.front().module);
  stageDone();
  return std::move(result);
}

/// A model always runs, if need be on the host alone; but an array too small for every layer is a mistake in its
/// configuration.
void Compilation::requireLayersFit(const Specialisation &specialisation) const {
  std::string tooSmall;
  bool anyLayer = false;
  specialisation.main->walk([&](Operation *op) {
    anyLayer |= llvm::isa<tile::TileRootInterface>(op);
    if (op->hasAttr(layers::kTooLargeAttr) && tooSmall.empty())
      tooSmall =
          describeNode(cast<onnx::NodeOp>(op)) + ": " + op->getAttrOfType<StringAttr>(layers::kHostReasonAttr).str();
  });
  if (!anyLayer && !tooSmall.empty())
    throw Error(options.config + ": this array holds no layer of " + model->name() + ". " + tooSmall);
}

void Compilation::formLayers() {
  array = ArrayConfig::load(options.config);
  stage("form layers and tiles for " + array->name);
  for (Specialisation &specialisation : specialisations) {
    inFloat &= !isQuantized(specialisation.main);
    PassManager passes(&context);
    buildTilePipeline(passes, options.config, options.allTensors);
    diagnostics.raiseIf(failed(passes.run(*specialisation.module)), "forming layers");
    requireLayersFit(specialisation);
    if (options.explain)
      result.explanation += explain(specialisation.main, *createTarget("systolic:" + options.config));
  }
}

void Compilation::lowerToArray() {
  stage("generate array programs");
  llvm::raw_string_ostream listing(result.emitted);
  for (Specialisation &specialisation : specialisations) {
    PassManager passes(&context);
    buildSystolicPipeline(passes, options.config);
    diagnostics.raiseIf(failed(passes.run(*specialisation.module)), "generating array programs");
    auto &bySymbol = programs.emplace_back();
    for (systolic::ProgramOp op : specialisation.module->getOps<systolic::ProgramOp>()) {
      if (options.emit == "target")
        systolic::printListing(op, listing);
      FailureOr<systolic::DeviceProgram> program = systolic::toDeviceProgram(op);
      diagnostics.raiseIf(failed(program), "encoding array programs");
      bySymbol[op.getSymName()] = std::move(*program);
      if (writer.tables.quantization.empty())
        writer.tables.quantization = "the model's own";
    }
  }
  if (options.note && llvm::all_of(programs, [](const auto &bySymbol) { return bySymbol.empty(); }))
    options.note("no layer runs on the array " + array->name + ": " +
                 (inFloat && options.quantize == "none"
                      ? "it computes in 8-bit integers, the model in floating point; add --quantize=int8 "
                        "--calibration=DIR_OR_NPZ"
                      : "--explain says why"));
}

/// Without the operator in front, which verifySupported says itself.
static std::string whyNotOnHost(onnx::NodeOp node) {
  std::string why = cpu::whyNotOnHost(node);
  size_t colon = why.find(": ");
  return colon == std::string::npos ? why : why.substr(colon + 2);
}

/// The groups of a stretch of nodes; what is read outside of it stays visible.
static std::vector<cpu::HostGroup> groupStretch(ArrayRef<onnx::NodeOp> nodes) {
  llvm::DenseSet<Operation *> inside;
  for (onnx::NodeOp node : nodes)
    inside.insert(node);
  llvm::DenseSet<Value> keep;
  for (onnx::NodeOp node : nodes)
    for (Value value : node.getOutputs())
      if (llvm::any_of(value.getUsers(), [&](Operation *user) { return !inside.contains(user); }))
        keep.insert(value);
  return cpu::formHostGroups(nodes, keep);
}

void Compilation::chooseHostWork() {
  stage("group host operators");
  for (Specialisation &specialisation : specialisations) {
    PassManager passes(&context, func::FuncOp::getOperationName());
    passes.addPass(createFuseQuantizedPass());
    diagnostics.raiseIf(failed(passes.run(specialisation.main)), "fusing quantized operators");
    diagnostics.raiseIf(failed(verifySupported(*specialisation.module, whyNotOnHost)), "checking operators");
    Work &chosen = work.emplace_back();
    SmallVector<onnx::NodeOp> stretch;
    for (Operation &op : specialisation.main.front()) {
      if (auto node = dyn_cast<onnx::NodeOp>(op))
        stretch.push_back(node);
      auto run = dyn_cast<systolic::RunOp>(op);
      if (!run && !op.hasTrait<OpTrait::IsTerminator>())
        continue;
      chosen.host.push_back(groupStretch(stretch));
      stretch.clear();
      if (run)
        chosen.runs.push_back(run);
    }
  }
}

void Compilation::compileHostCode() {
  std::vector<cpu::HostGroup> all;
  for (const Work &chosen : work)
    for (const auto &groups : chosen.host)
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

/// Why a group runs on the host, for the report, and the node that the reason is about.
std::pair<std::string, onnx::NodeOp> Compilation::hostReason(const cpu::HostGroup &group) const {
  if (options.target == "cpu")
    return {"compiled for the cpu", group.root()};
  // Conversions between 8 bits and float are where they are because of their neighbours.
  std::pair<std::string, onnx::NodeOp> conversion{"its operands are not quantized", group.root()};
  for (onnx::NodeOp node : group.nodes)
    if (auto reason = node->getAttrOfType<StringAttr>(layers::kHostReasonAttr)) {
      if (!node.is("QuantizeLinear") && !node.is("DequantizeLinear"))
        return {reason.str(), node};
      conversion = {reason.str(), node};
    }
  return conversion;
}

void Compilation::buildPlans() {
  stage("plan memory");
  size_t next = 0;
  for (size_t i = 0; i < specialisations.size(); ++i) {
    PlanBuilder builder(writer, constants, specialisations[i].main);
    for (size_t part = 0; part < work[i].host.size(); ++part) {
      for (const cpu::HostGroup &group : work[i].host[part]) {
        auto [reason, shown] = hostReason(group);
        builder.addHostCall(hostCode.kernels[next++], reason, shown);
      }
      if (part >= work[i].runs.size())
        continue;
      systolic::RunOp run = work[i].runs[part];
      builder.addDeviceRun(programs[i][run.getProgram()], run.getInputs(), run.getOutputs());
    }
    writer.tables.plans.push_back(builder.finish());
  }
}

/// The signature, the batch, and what the loader must know.
void Compilation::declareModel() {
  package::PackageT &tables = writer.tables;
  tables.model_name = std::filesystem::path(model->name()).stem().string();
  tables.target = options.target;
  tables.compiler_version = compilerVersion();
  if (array) {
    tables.array_name = array->name;
    tables.array_config = array->toToml();
  }
  Signature signature = declaredSignature(context, model, specialisations[0].main);
  tables.inputs = std::move(signature.inputs);
  tables.outputs = std::move(signature.outputs);
  if (!quantization.uncalibrated)
    recordAccuracy(quantization.accuracy, tables);
  if (options.batch && !options.allTensors)
    for (auto &plan : tables.plans) {
      plan->batch_obstacle = signature.batch.obstacle;
      if (!signature.batch.obstacle.empty())
        continue;
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
