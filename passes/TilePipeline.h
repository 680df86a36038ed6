//===- TilePipeline.h - from quantized onnx to placed layers ----*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_TILEPIPELINE_H
#define TILEWRIGHT_PASSES_TILEPIPELINE_H

#include "mlir/Pass/PassManager.h"

namespace tilewright {

/// form-layers, fuse-layers, partition: layers of the device and operators of the host, in order. What `--emit=quantized`
/// and the back ends start from. `target` as in the passes' option: NAME[:CONFIG].
void addLayerPasses(mlir::OpPassManager &functions, llvm::StringRef target);
/// choose-tiles, place-buffers.
void addPlacementPasses(mlir::OpPassManager &functions, llvm::StringRef target);

} // namespace tilewright

#endif
