//===- Contraction.h - what convolutions and matrix products share -*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_LAYERS_CONTRACTION_H
#define TILEWRIGHT_PASSES_LAYERS_CONTRACTION_H

#include "passes/layers/LayerFormer.h"

namespace tilewright::layers {

/// A window over a map; one-dimensional ones lie along the width.
struct WindowParts {
  int64_t kernel[2] = {1, 1}, strides[2] = {1, 1}, dilations[2] = {1, 1}, pads[4] = {0, 0, 0, 0};
  int64_t declaredAfter[2] = {0, 0}; ///< padding at the end as the model gives it; `pads` holds what is read
};
/// Reads strides, dilations, pads and auto_pad of a Conv or pooling node; false for negative padding.
bool readWindow(onnx::NodeOp node, llvm::ArrayRef<int64_t> inExtents, llvm::ArrayRef<int64_t> outExtents,
                llvm::ArrayRef<int64_t> kernelExtents, WindowParts &window);

struct ContractionParts {
  explicit ContractionParts(Activation activation) : activation(std::move(activation)) {}

  Activation activation;
  mlir::Value input;                      ///< its map
  llvm::SmallVector<int64_t> weightShape; ///< [out, in / group, kernel height, kernel width]
  std::vector<int16_t> weights;           ///< zero points subtracted
  llvm::SmallVector<float> weightScales;  ///< one, or one per output channel
  llvm::SmallVector<int64_t> bias;        ///< of the model, at the scale of the sums
  llvm::SmallVector<int64_t> strides{1, 1}, dilations{1, 1}, pads{0, 0, 0, 0};
  int64_t group = 1;
  bool depthwise = false;
  int64_t outHeight = 1, outWidth = 1;
  int64_t channelAxis = 1;                       ///< of the model's result
  llvm::SmallVector<unsigned> order{0, 1, 2, 3}; ///< see Formed
};
/// Builds the layer up to requantization and clamps; refuses what cannot be exact (overflow, scales).
Formed buildContraction(LayerFormer &former, const LayerPattern &pattern, const ContractionParts &parts);

/// A bias constant in units of input scale times weight scale: as stored when it is quantized so, else rounded. Returns
/// a message when it cannot be.
std::string biasIntegers(mlir::Value bias, int64_t channels, float inputScale, llvm::ArrayRef<float> weightScales,
                         llvm::SmallVector<int64_t> &result);

} // namespace tilewright::layers

#endif
