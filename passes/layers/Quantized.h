//===- Quantized.h - reading quantized tensors from QDQ form ----*- C++ -*-===//
//
// A quantized activation is a float value that DequantizeLinear (per tensor, constant parameters) makes from an 8-bit
// one, possibly behind layout operators; a quantized constant is DequantizeLinear of a constant.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_LAYERS_QUANTIZED_H
#define TILEWRIGHT_PASSES_LAYERS_QUANTIZED_H

#include "dialects/onnx/ConstantData.h"
#include "passes/layers/View.h"

namespace tilewright::layers {

/// An 8-bit activation: `view` reads `view.base`, a tensor of 8-bit integers; `quant` is its quantization.
struct Activation {
  View view;
  tile::QuantAttr quant;
  mlir::RankedTensorType baseType() const { return mlir::cast<mlir::RankedTensorType>(view.base.getType()); }
  mlir::Type element() const { return baseType().getElementType(); }
  float scale() const { return quant.scaleValue(); }
  /// The zero point as the device holds it.
  int64_t deviceZeroPoint() const { return tile::toDevice(element(), quant.getZeroPoint()); }
};

/// The activation behind the float value `real`; looks through layout operators on floats and on integers. Nothing when
/// it is not the dequantization of an 8-bit tensor by constants, or is itself constant.
std::optional<Activation> activation(mlir::Value real);

/// Integers of a constant with one scale and zero point per `axis` entry (or one for all).
struct QuantizedConstant {
  mlir::RankedTensorType type; ///< shape and integer type as stored
  onnx::ConstantBytes data;
  llvm::SmallVector<float> scales;
  llvm::SmallVector<int64_t> zeroPoints;
  int64_t axis = 0;
  llvm::SmallVector<onnx::NodeOp> nodes; ///< that stand between the constant and its use

  int64_t at(int64_t index) const;
  float scale(int64_t channel) const { return scales[scales.size() == 1 ? 0 : channel]; }
  int64_t zeroPoint(int64_t channel) const { return zeroPoints[zeroPoints.size() == 1 ? 0 : channel]; }
};
std::optional<QuantizedConstant> quantizedConstant(mlir::Value real);

/// Values of a float constant or of the dequantization of a constant (per tensor or axis), row-major.
std::optional<llvm::SmallVector<float>> realConstant(mlir::Value real, int64_t limit = 1 << 22);

/// The per-tensor quantization that `node` (QuantizeLinear or DequantizeLinear) applies, for integers of type
/// `element`. Null unless its scale and zero point are constant and the scale is positive and finite: all that forms
/// layers relies on the integers being in the order of the numbers.
tile::QuantAttr perTensorQuant(onnx::NodeOp node, mlir::Type element);

/// Half to even, saturated to the range of `element`, zero point added: QuantizeLinear of one value. In the model's
/// domain.
int64_t quantize(float value, tile::QuantAttr quant, mlir::Type element);

} // namespace tilewright::layers

#endif
