//===- LayerFormer.h - forms tile layers from quantized onnx patterns -*- C++ -*-===//
//
// A pattern ends in a QuantizeLinear. Seen from there upward: layout operators, activations (Relu, Clip, ...), the
// root, its dequantized operands. `LayerPattern` is that description; one function per operator family (Form*.cpp)
// makes the layer from it, and finish() connects it. What is refused stays as it was, and the reason goes on the root's
// node.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_LAYERS_LAYERFORMER_H
#define TILEWRIGHT_PASSES_LAYERS_LAYERFORMER_H

#include "passes/TargetDescription.h"
#include "passes/layers/Quantized.h"

#include "mlir/IR/Builders.h"

namespace tilewright::layers {

/// Attribute of onnx nodes: why the node stays on the host, in words.
inline constexpr llvm::StringLiteral kHostReasonAttr = "tile.host_reason";

/// And that it is for the layer's size alone: its smallest tile does not fit on chip.
inline constexpr llvm::StringLiteral kTooLargeAttr = "tile.too_large";

struct LayerPattern {
  onnx::NodeOp quantize;                       ///< the QuantizeLinear at the end
  llvm::SmallVector<onnx::NodeOp> layout;      ///< layout operators after the root, in the order they apply
  llvm::SmallVector<onnx::NodeOp> activations; ///< after the root, in the order they apply
  onnx::NodeOp bias;                           ///< Add of a constant to the root's result, before the activations
  mlir::Value biasValue;                       ///< that constant (float)
  onnx::NodeOp root;                           ///< null when the chain ends at a DequantizeLinear
  tile::QuantAttr quant;                       ///< of the result
  mlir::RankedTensorType type;                 ///< of the quantized result

  mlir::Type element() const { return type.getElementType(); }
  /// What the root and its activations compute: the float value before the layout operators.
  mlir::Value rootValue() const;
  mlir::RankedTensorType rootType() const;
};

/// Nothing done (and `reason` may say why), or the map that the layer gives.
struct Formed {
  mlir::Value map;
  /// Dimensions of the map, outermost first, in the order in which they make up the root's row-major ONNX result.
  llvm::SmallVector<unsigned> order;
  std::string reason;
};
inline Formed refuse(const llvm::Twine &reason) { return {nullptr, {}, reason.str()}; }

/// Smallest and largest value that leaves requantization, in the device's domain; and PReLU's slopes.
struct Clamps {
  int64_t low = -128, high = 127;
  std::optional<llvm::SmallVector<float>> slopes; ///< one per channel, or one
};

/// A tensor as a map: the map's shape, and its dimensions in the order of the tensor's row-major elements, outermost
/// first (dimensions of extent 1 may be missing).
struct MapLayout {
  llvm::SmallVector<int64_t> shape;
  llvm::SmallVector<unsigned> order;
};

class LayerFormer {
public:
  LayerFormer(const TargetDescription &target, mlir::MLIRContext *context) : target(target), builder(context) {}

  /// Forms a layer that ends at `quantize`, if there is one. True when something was replaced.
  bool form(onnx::NodeOp quantize);

  //===--- for the operator families ------------------------------------===//
  const TargetDescription &target;
  mlir::OpBuilder builder;

  /// The activation behind `real`. Where its channels are permuted so that no strides describe them (channel shuffle),
  /// the map gets them in order first: a gather.
  std::optional<Activation> read(mlir::Value real);
  /// The activation's tensor as a map of `shape`, whose dimension d has the stride factors[d] in the activation's base.
  mlir::Value toMap(const Activation &input, llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Factor> factors);
  /// An activation [N, C, ...] of rank 2 to 4 as a map; rank 3 has height 1, missing extents are 1. Null when its
  /// dimensions are not strided.
  mlir::Value toImage(const Activation &input);
  /// How the activation's tensor lies (or, from the host, will lie) in a map, and the activation in a given layout
  /// (null when it cannot be read so).
  std::optional<MapLayout> layoutOf(const Activation &input);
  mlir::Value toLayout(const Activation &input, const MapLayout &layout);
  /// The map behind the activation when it comes from the device, with the strides of its from_map.
  tile::FromMapOp deviceSource(const Activation &input);
  mlir::Value constant(mlir::RankedTensorType type, llvm::ArrayRef<char> bytes, mlir::Location loc);
  template <typename T> mlir::ElementsAttr elements(mlir::Type element, llvm::ArrayRef<T> values) {
    auto type = mlir::RankedTensorType::get({static_cast<int64_t>(values.size())}, element);
    return onnx::makeConstant(type, {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)});
  }

  /// Reads the activations as clamps (and slopes, for roots with requantization per channel); a message when one is not
  /// of that kind. `channelAxis`: which dimension of the root's result the channels are.
  std::string readActivations(const LayerPattern &pattern, int64_t channelAxis, int64_t channels, Clamps &clamps);
  /// Adds an epilogue block for a root with this accumulator to `state` and positions the builder in it.
  mlir::Block *beginEpilogue(mlir::OperationState &state, mlir::TypeRange arguments);
  /// Attributes that every layer carries.
  void describe(mlir::OperationState &state, const LayerPattern &pattern, llvm::ArrayRef<tile::QuantAttr> inputs);
  mlir::RankedTensorType mapType(llvm::ArrayRef<int64_t> shape, mlir::Type element) {
    return mlir::RankedTensorType::get(shape, element);
  }

private:
  std::optional<LayerPattern> match(onnx::NodeOp quantize);
  Formed dispatch(const LayerPattern &pattern);
  /// A QuantizeLinear that undoes its DequantizeLinear, with layout operators between: becomes those operators on
  /// integers.
  bool formLayout(const LayerPattern &pattern);
};

// The operator families. `pattern.root` is of the family (null for formTable: a unary function of an activation).
Formed formConvolution(LayerFormer &former, const LayerPattern &pattern);
Formed formBatchNorm(LayerFormer &former, const LayerPattern &pattern);
Formed formMatMul(LayerFormer &former, const LayerPattern &pattern);
Formed formPool(LayerFormer &former, const LayerPattern &pattern);
Formed formGlobalPool(LayerFormer &former, const LayerPattern &pattern);
Formed formAdd(LayerFormer &former, const LayerPattern &pattern);
Formed formTable(LayerFormer &former, const LayerPattern &pattern);
Formed formConcat(LayerFormer &former, const LayerPattern &pattern);
Formed formSlice(LayerFormer &former, const LayerPattern &pattern);

/// The float value of which `value` is a unary function, by operators that UnaryTable.cpp knows: `source`, an
/// activation.
bool unarySource(mlir::Value value, mlir::Value &source);
/// That function with both quantizations as a table of the device (256 entries of i8); null for an operator that is not
/// known or a result that is not a number. The second form only changes the quantization.
mlir::ElementsAttr unaryTable(LayerFormer &former, const LayerPattern &pattern, mlir::Value source,
                              const Activation &input);
mlir::ElementsAttr unaryTable(LayerFormer &former, tile::QuantAttr to, const Activation &input, mlir::Type element);
/// A layer that passes `map` through `table`.
mlir::Value rescale(LayerFormer &former, const LayerPattern &pattern, mlir::Value map, const Activation &input,
                    mlir::ElementsAttr table);

} // namespace tilewright::layers

#endif
