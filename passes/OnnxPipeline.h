//===- OnnxPipeline.h - a model, ready to be lowered ------------*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_ONNXPIPELINE_H
#define TILEWRIGHT_PASSES_ONNXPIPELINE_H

#include "mlir/Pass/PassManager.h"

namespace tilewright {

/// All passes between import and quantization or lowering, in order; `--onnx-pipeline` in tilewright-opt. After it
/// every value has its type, every operator its newest spelling, and what can be computed from constants is one.
void buildOnnxPipeline(mlir::OpPassManager &manager);
void registerOnnxPipeline();

} // namespace tilewright

#endif
