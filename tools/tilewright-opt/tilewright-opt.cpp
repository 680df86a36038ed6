//===- tilewright-opt.cpp - runs single passes on textual IR --------------===//

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/InitAllDialects.h"
#include "mlir/InitAllPasses.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllPasses();
  registry.insert<tilewright::onnx::OnnxDialect>();
  return mlir::asMainReturnCode(mlir::MlirOptMain(argc, argv, "Tilewright's passes, one at a time\n", registry));
}
