//===- TilePipeline.cpp - from quantized onnx to placed layers ------------===//

#include "passes/TilePipeline.h"

#include "passes/Passes.h"

using namespace tilewright;

void tilewright::addLayerPasses(mlir::OpPassManager &functions, llvm::StringRef target) {
  functions.addPass(createFormLayersPass({target.str()}));
  functions.addPass(createFuseLayersPass({target.str()}));
  functions.addPass(createPartitionPass({target.str()}));
}

void tilewright::addPlacementPasses(mlir::OpPassManager &functions, llvm::StringRef target) {
  functions.addPass(createChooseTilesPass({target.str()}));
  functions.addPass(createPlaceBuffersPass({target.str()}));
}
