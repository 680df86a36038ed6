//===- LayerParameters.h - the parameters of whole networks -----*- C++ -*-===//
//
// What insert-qdq writes into the network, and what the measurement of its accuracy computes with.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_QUANTIZATION_LAYERPARAMETERS_H
#define TILEWRIGHT_PASSES_QUANTIZATION_LAYERPARAMETERS_H

#include "passes/quantization/Layers.h"
#include "passes/quantization/Parameters.h"

#include "llvm/ADT/MapVector.h"

namespace tilewright {

/// Of each tensor that becomes 8 bits, in program order.
using ParameterTable = llvm::MapVector<mlir::Value, ActivationParameters>;

/// One range for all tensors that must share their scale, then one set of parameters per tensor. A tensor that is not
/// in `table` is an error at its place.
llvm::FailureOr<ParameterTable> chooseParameters(llvm::ArrayRef<QuantizedLayer> layers,
                                                 const llvm::DenseMap<mlir::Value, std::string> &keys,
                                                 const RangeTable &table, bool isSigned);

/// Weights and bias of a contraction; no bias if the layer has none, otherwise one per channel.
struct LayerConstants {
  QuantizedWeights weights;
  std::vector<int32_t> bias;
  std::vector<float> biasScales;
};
LayerConstants quantizeConstants(const QuantizedLayer &layer, float inputScale);

} // namespace tilewright

#endif
