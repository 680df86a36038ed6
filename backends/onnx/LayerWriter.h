//===- LayerWriter.h - tile layers in exact ONNX operators ------*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_ONNX_LAYERWRITER_H
#define TILEWRIGHT_BACKENDS_ONNX_LAYERWRITER_H

#include "backends/onnx/GraphWriter.h"
#include "dialects/tile/TileDialect.h"

namespace tilewright {

/// Spells quantized layers so that any runtime computes the bits that the array computes: docs/quantization.md has the
/// spellings. Maps are tensors [N, C, H, W] of the model's 8-bit type.
class LayerWriter {
public:
  explicit LayerWriter(GraphWriter &graph) : graph(graph) {}

  /// Writes an operation of the tile dialect; false for any other. Throws Error, with the layer's name, for one that
  /// has no exact spelling.
  bool write(mlir::Operation *op);

private:
  /// What the epilogue has made so far: an 8-bit tensor, or int32 sums.
  struct State {
    std::string tensor;
    mlir::Type element;
    tile::QuantAttr quant;
  };
  using Layer = tile::TileRootInterface;

  void writeLayer(Layer layer);
  void writeToMap(tile::ToMapOp op);
  void writeFromMap(tile::FromMapOp op);

  // Roots. Each writes what comes before the epilogue; those that sum take the requantization with them.
  State contraction(mlir::Operation *op, int64_t group);
  State maxWindow(Layer layer, llvm::ArrayRef<int64_t> kernel, const GraphWriter::Attributes &window);
  State sumWindow(Layer layer, llvm::ArrayRef<int64_t> kernel, const GraphWriter::Attributes &window);
  State pooling(tile::PoolingOp op);
  State reduction(tile::ReductionOp op);
  State move(tile::MoveOp op);
  State resize(tile::MoveOp op, State state);

  // Epilogue operations.
  State requantizeSums(const std::string &sums, tile::RequantizeOp op, llvm::ArrayRef<int32_t> bias,
                       const std::string &scale);
  State requantizeBytes(State state, tile::RequantizeOp op);
  State table(State state, tile::TableOp op);
  State residualAdd(Layer layer, State state, tile::ResidualAddOp op);
  State floatAdd(const State &a, const State &b, tile::QuantAttr sum, tile::ResidualAddOp op);
  State clamp(State state, int64_t low, int64_t high);

  std::string channelFloats(llvm::ArrayRef<float> values, llvm::StringRef hint);
  std::string zeroPoint(mlir::Type element, int64_t deviceValue);
  std::string scalar(float value);
  std::string bytes(mlir::Type element, std::vector<int64_t> dims, llvm::ArrayRef<int8_t> deviceValues,
                    llvm::StringRef hint);
  std::string integers(llvm::ArrayRef<int64_t> values);
  /// A node of this layer with one result, named after the operator.
  std::string emit(llvm::StringRef opType, const std::vector<std::string> &inputs,
                   const GraphWriter::Attributes &attributes = {}, llvm::StringRef domain = {});

  GraphWriter &graph;
  std::string layerName;
};

} // namespace tilewright

#endif
