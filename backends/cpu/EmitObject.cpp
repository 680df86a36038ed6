//===- EmitObject.cpp - LLVM dialect to a relocatable object --------------===//

#include "backends/cpu/ObjectCode.h"
#include "common/Error.h"

#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/Target/TargetMachine.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"
#include "llvm/Transforms/Utils/Cloning.h"

#include <mutex>

using namespace mlir;

namespace tilewright::cpu {

static constexpr const char *kTriple = "x86_64-unknown-linux-gnu";

std::unique_ptr<llvm::TargetMachine> hostMachine(const std::string &cpu) {
  static std::once_flag once;
  std::call_once(once, [] {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
  });
  std::string message;
  llvm::Triple triple(kTriple);
  const llvm::Target *target = llvm::TargetRegistry::lookupTarget(triple, message);
  if (!target)
    throw Error("host code: LLVM was built without an x86-64 back end: " + message);
  std::string name = cpu;
  llvm::SubtargetFeatures features;
  if (cpu == "native") {
    name = llvm::sys::getHostCPUName().str();
    for (auto &feature : llvm::sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
  }
  std::unique_ptr<llvm::MCSubtargetInfo> known(target->createMCSubtargetInfo(triple, "", ""));
  if (cpu != "native" && !known->isCPUStringValid(name))
    throw Error("host code: unknown CPU '" + cpu + "'; use x86-64-v3, native, or a name that clang -march takes");
  llvm::TargetOptions options;
  options.AllowFPOpFusion = llvm::FPOpFusion::Strict;
  return std::unique_ptr<llvm::TargetMachine>(target->createTargetMachine(
      triple, name, features.getString(), options, llvm::Reloc::PIC_, std::nullopt, llvm::CodeGenOptLevel::Default));
}

std::string featuresOf(const llvm::TargetMachine &machine) {
  // Tuning flags are no requirement on the machine that runs the code; these are.
  static constexpr const char *kRelevant[] = {
      "sse3",       "ssse3",      "sse4.1",      "sse4.2",       "popcnt",          "avx",        "avx2",
      "fma",        "f16c",       "bmi",         "bmi2",         "lzcnt",           "movbe",      "avx512f",
      "avx512bw",   "avx512cd",   "avx512dq",    "avx512vl",     "avx512vnni",      "avx512bf16", "avx512fp16",
      "avx512ifma", "avx512vbmi", "avx512vbmi2", "avx512bitalg", "avx512vpopcntdq", "avxvnni",    "gfni",
      "vaes",       "vpclmulqdq"};
  std::string list;
  const llvm::MCSubtargetInfo &info = *machine.getMCSubtargetInfo();
  for (const char *feature : kRelevant)
    if (info.checkFeatures(std::string("+") + feature))
      list += (list.empty() ? "" : ",") + std::string(feature);
  return list;
}

std::vector<char> emitObject(ModuleOp module, llvm::TargetMachine &machine, std::string *irText,
                             std::string *assemblyText) {
  registerBuiltinDialectTranslation(*module.getContext());
  registerLLVMDialectTranslation(*module.getContext());
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> ir = translateModuleToLLVMIR(module, context, "host");
  if (!ir)
    throw Error("host code: the generated code could not be translated to LLVM IR");
  ir->setTargetTriple(machine.getTargetTriple());
  ir->setDataLayout(machine.createDataLayout());
  for (llvm::Function &function : *ir) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("target-cpu", machine.getTargetCPU());
    function.addFnAttr("target-features", machine.getTargetFeatureString());
    function.addFnAttr("no-trapping-math", "true");
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }

  llvm::PipelineTuningOptions tuning;
  tuning.LoopVectorization = tuning.SLPVectorization = true;
  tuning.LoopInterleaving = true;
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager sccs;
  llvm::ModuleAnalysisManager modules;
  llvm::PassBuilder builder(&machine, tuning);
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(sccs);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, sccs, modules);
  builder.buildPerModuleDefaultPipeline(llvm::OptimizationLevel::O3).run(*ir, modules);
  if (irText) {
    llvm::raw_string_ostream stream(*irText);
    ir->print(stream, nullptr);
  }

  auto emit = [&](llvm::Module &unit, llvm::CodeGenFileType type, llvm::SmallVectorImpl<char> &bytes) {
    llvm::raw_svector_ostream stream(bytes);
    llvm::legacy::PassManager passes;
    if (machine.addPassesToEmitFile(passes, stream, nullptr, type))
      throw Error("host code: LLVM cannot emit this kind of file");
    passes.run(unit);
  };
  if (assemblyText) {
    llvm::SmallVector<char, 0> text;
    emit(*llvm::CloneModule(*ir), llvm::CodeGenFileType::AssemblyFile, text);
    assemblyText->append(text.data(), text.size());
  }
  llvm::SmallVector<char, 0> bytes;
  emit(*ir, llvm::CodeGenFileType::ObjectFile, bytes);
  return std::vector<char>(bytes.begin(), bytes.end());
}

} // namespace tilewright::cpu
