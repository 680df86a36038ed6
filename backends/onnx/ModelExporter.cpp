//===- ModelExporter.cpp - the onnx dialect as an ONNX file ---------------===//

#include "backends/onnx/ModelExporter.h"

#include "backends/onnx/GraphWriter.h"
#include "backends/onnx/LayerWriter.h"
#include "common/Error.h"

#include "mlir/Pass/Pass.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilewright;

namespace {

struct ExportOnnxPass final : PassWrapper<ExportOnnxPass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ExportOnnxPass)
  ExportOnnxPass() = default;
  ExportOnnxPass(const ExportOnnxPass &other) : PassWrapper(other) {}
  StringRef getArgument() const override { return "export-onnx"; }
  StringRef getDescription() const override { return "write the module as an ONNX file"; }
  Option<std::string> file{*this, "file", llvm::cl::desc("the file to write")};

  void runOnOperation() override {
    try {
      std::string bytes = exportOnnx(getOperation());
      std::error_code error;
      llvm::raw_fd_ostream stream(file, error);
      if (error)
        throw Error(file + ": cannot be written: " + error.message());
      stream << bytes;
    } catch (const Error &error) {
      mlir::emitError(getOperation().getLoc()) << error.what();
      signalPassFailure();
    }
  }
};

} // namespace

std::string tilewright::exportOnnx(ModuleOp module) {
  auto function = module.lookupSymbol<func::FuncOp>("main");
  if (!function)
    throw Error("the module has no function @main");
  GraphWriter graph(function);
  LayerWriter layers(graph);
  for (Operation &op : function.getBody().front().without_terminator())
    if (!layers.write(&op))
      graph.write(&op);
  return graph.finish(module);
}

void tilewright::registerExportOnnxPass() { PassRegistration<ExportOnnxPass>(); }
