//===- OnnxPipeline.cpp - a model, ready to be lowered --------------------===//

#include "passes/OnnxPipeline.h"

#include "passes/Passes.h"

#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace tilewright;

void tilewright::buildOnnxPipeline(OpPassManager &manager) {
  manager.addPass(createInlineFunctionsPass());
  manager.addPass(createVerifySupportedPass());
  // Once for what needs no shapes, inference, and again for what needs them and for the nodes that came of it.
  for (int round = 0; round < 2; ++round) {
    manager.addPass(createNormalizeOpsetsPass());
    manager.addNestedPass<func::FuncOp>(createInferShapesPass());
    if (round == 0)
      manager.addNestedPass<func::FuncOp>(createQuantizedToQdqPass());
  }
  manager.addNestedPass<func::FuncOp>(createFoldConstantsPass());
  manager.addNestedPass<func::FuncOp>(createRecognizeActivationsPass());
  manager.addNestedPass<func::FuncOp>(createSimplifyPass());
  // A branch that was decided can tell more than the two together did.
  manager.addNestedPass<func::FuncOp>(createInferShapesPass());
  manager.addNestedPass<func::FuncOp>(createCanonicalizerPass());
  manager.addNestedPass<func::FuncOp>(createCSEPass());
}

void tilewright::registerOnnxPipeline() {
  PassPipelineRegistration<>("onnx-pipeline", "an imported model, ready to be lowered", buildOnnxPipeline);
}
