//===- tilewright-opt.cpp - runs single passes on textual IR --------------===//

#include "backends/cpu/Passes.h"
#include "backends/cuda/CudaTarget.h"
#include "backends/onnx/ModelExporter.h"
#include "backends/systolic/Passes.h"
#include "backends/systolic/SystolicTarget.h"
#include "dialects/onnx/OnnxDialect.h"
#include "dialects/systolic/SystolicDialect.h"
#include "dialects/tile/TileDialect.h"
#include "passes/OnnxPipeline.h"
#include "passes/Passes.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

static const char *kOverview = R"(Tilewright's passes, one at a time

  tilewright-opt FILE.mlir --some-pass --other-pass
  tilewright-opt --import-onnx=FILE.onnx [--input-shape=NAME:1x3x8x8] [--batch=N] --some-pass --other-pass
      on a model: ? in a shape leaves a dimension open; --batch is for open first dimensions
)";

/// Declared here rather than in a header of its own: the other half of this tool.
int importOnnxMain(int argc, char **argv, mlir::DialectRegistry &registry);

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllPasses();
  registry
      .insert<tilewright::onnx::OnnxDialect, tilewright::tile::TileDialect, tilewright::systolic::SystolicDialect>();
  tilewright::registerTilewrightPasses();
  tilewright::registerOnnxPipeline();
  tilewright::registerExportOnnxPass();
  tilewright::systolic::registerSystolicTarget();
  tilewright::cuda::registerCudaTarget();
  tilewright::registerCpuPasses();
  tilewright::registerSystolicPasses();
  for (int i = 1; i < argc; ++i)
    if (llvm::StringRef(argv[i]).ltrim('-').starts_with("import-onnx"))
      return importOnnxMain(argc, argv, registry);
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, kOverview, registry));
}
