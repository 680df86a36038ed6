//===- Pipeline.cpp -------------------------------------------------------===//

#include "driver/Pipeline.h"

#include "backends/systolic/Passes.h"
#include "passes/Passes.h"

#include "mlir/Transforms/Passes.h"

using namespace mlir;

namespace tilewright {

void buildTilePipeline(OpPassManager &manager, const std::string &config, bool exposeTensors) {
  std::string target = "systolic:" + config;
  OpPassManager &function = manager.nest<func::FuncOp>();
  function.addPass(createQuantizedToQdqPass());
  function.addPass(createFormLayersPass({target}));
  function.addPass(createCSEPass()); // layers that read one tensor in one layout share its map
  function.addPass(createFuseLayersPass({target}));
  if (exposeTensors)
    function.addPass(createExposeTensorsPass());
  function.addPass(createPartitionPass({target}));
  function.addPass(createChooseTilesPass({target}));
  function.addPass(createPlaceBuffersPass({target}));
}

void buildSystolicPipeline(OpPassManager &manager, const std::string &config) {
  manager.addPass(createLowerToSystolicPass({config}));
  manager.addNestedPass<func::FuncOp>(createCanonicalizerPass());
}

} // namespace tilewright
