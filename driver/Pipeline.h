//===- Pipeline.h - passes between the onnx dialect and the array -*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_PIPELINE_H
#define TILEWRIGHT_DRIVER_PIPELINE_H

#include "mlir/Pass/PassManager.h"

#include <string>

namespace tilewright {

/// A quantized network → layers with tiles and places for the array `config` (a name in configs/ or a file); what the
/// array does not take stays in the onnx dialect. With `exposeTensors`, every layer's result becomes an output.
void buildTilePipeline(mlir::OpPassManager &manager, const std::string &config, bool exposeTensors = false);

/// Decided layers → programs of descriptors.
void buildSystolicPipeline(mlir::OpPassManager &manager, const std::string &config);

} // namespace tilewright

#endif
