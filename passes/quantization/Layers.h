//===- Layers.h - which parts of a network are quantized --------*- C++ -*-===//
//
// A layer is what will stand between DequantizeLinear and QuantizeLinear: one root with the nodes that the hardware
// applies in the same pass. The rules are in docs/quantization.md.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_QUANTIZATION_LAYERS_H
#define TILEWRIGHT_PASSES_QUANTIZATION_LAYERS_H

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <vector>

namespace tilewright {

struct QuantizedLayer {
  enum Kind {
    Contraction, ///< Conv, Gemm, MatMul with constant weights, then bias and activation
    Addition,    ///< two tensors of one shape, then activation
    Pool,        ///< average pools
    SharedScale, ///< max pools and moves: the values are those of the input, so scale and zero point are too
    Table,       ///< elementwise nodes of one tensor and scalars: 256 results, tabulated
  };
  Kind kind;
  onnx::NodeOp root;
  /// Uses of the layer's 8-bit inputs.
  llvm::SmallVector<mlir::OpOperand *> inputs;
  llvm::SmallVector<mlir::Value> outputs;
  /// Of contractions: where the weights and the constant bias (or null) are read, and the weights' dimension of output
  /// channels.
  mlir::OpOperand *weights = nullptr;
  mlir::OpOperand *bias = nullptr;
  int64_t channelAxis = 0;
};

/// The layers of `function` in program order. Shapes must have been inferred and batch normalizations folded.
std::vector<QuantizedLayer> findLayers(mlir::func::FuncOp function);

} // namespace tilewright

#endif
