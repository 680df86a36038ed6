//===- ImportOnnx.cpp - tilewright-opt on a model file --------------------===//

#include "common/Error.h"
#include "frontend/OnnxImporter.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Support/Timing.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/SourceMgr.h"

using namespace mlir;
using namespace tilewright;

static ImportOptions parseOptions(const llvm::cl::list<std::string> &shapes, int64_t batch) {
  ImportOptions options;
  if (batch >= 0)
    options.batch = batch;
  for (const std::string &text : shapes) {
    auto [name, dims] = StringRef(text).rsplit(':');
    std::vector<int64_t> &shape = options.inputShapes[name.str()];
    SmallVector<StringRef> parts;
    dims.split(parts, 'x', -1, /*KeepEmpty=*/false);
    for (StringRef part : parts)
      if (int64_t dim = -1; part != "?" && part.getAsInteger(10, dim))
        throw Error("--input-shape=" + text + ": expected NAME:1x3x224x224");
      else
        shape.push_back(dim);
  }
  return options;
}

int importOnnxMain(int argc, char **argv, DialectRegistry &registry) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::opt<std::string> model("import-onnx", llvm::cl::desc("read an ONNX model"), llvm::cl::Required);
  llvm::cl::list<std::string> shapes("input-shape", llvm::cl::desc("NAME:1x3x224x224; ? leaves a dimension open"));
  llvm::cl::opt<int64_t> batch("batch", llvm::cl::desc("for open first dimensions"), llvm::cl::init(-1));
  llvm::cl::opt<std::string> output("o", llvm::cl::desc("output file"), llvm::cl::init("-"));
  registerAsmPrinterCLOptions();
  registerMLIRContextCLOptions();
  registerPassManagerCLOptions();
  registerDefaultTimingManagerCLOptions();
  PassPipelineCLParser passes("", "passes to run");
  llvm::cl::ParseCommandLineOptions(argc, argv, "Tilewright's passes on an ONNX model\n");
  try {
    MLIRContext context(registry);
    llvm::SourceMgr sources;
    SourceMgrDiagnosticHandler diagnostics(sources, &context);
    OwningOpRef<ModuleOp> module =
        importOnnx(context, std::filesystem::path(model.getValue()), parseOptions(shapes, batch));
    PassManager pm(&context, ModuleOp::getOperationName(), PassManager::Nesting::Implicit);
    auto complain = [&](const Twine &message) {
      emitError(UnknownLoc::get(&context)) << message;
      return failure();
    };
    DefaultTimingManager timing;
    applyDefaultTimingManagerCLOptions(timing);
    TimingScope scope = timing.getRootScope();
    pm.enableTiming(scope);
    if (failed(applyPassManagerCLOptions(pm)) || failed(passes.addToPipeline(pm, complain)) ||
        failed(verify(*module)) || failed(pm.run(*module)))
      return 1;
    std::error_code error;
    llvm::raw_fd_ostream stream(output, error);
    if (error)
      throw Error(output + ": cannot be written: " + error.message());
    module->print(stream);
  } catch (const Error &error) {
    llvm::errs() << "tilewright-opt: " << error.what() << "\n";
    return 1;
  }
  return 0;
}
