//===- View.h - tensors as strided readings of another tensor ---*- C++ -*-===//
//
// Transposes, reshapes, flattenings and the like move no data as long as the result can be read from the original with
// strides. A View says how: each dimension of the tensor is a list of factors (extent, stride into the row-major base),
// outermost first. Layer formation reads its operands through views, so that layout operators become strides of to_map
// or an order of weights.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_LAYERS_VIEW_H
#define TILEWRIGHT_PASSES_LAYERS_VIEW_H

#include "dialects/onnx/OnnxDialect.h"
#include "dialects/tile/TileDialect.h"

namespace tilewright::layers {

struct Factor {
  int64_t extent = 1, stride = 0;
  bool operator==(const Factor &) const = default;
};
/// Factors of one dimension, without extents of 1 and merged where neighbours are contiguous; empty for an extent of 1.
using Axis = llvm::SmallVector<Factor, 4>;

struct View {
  mlir::Value base; ///< null for a view of a tensor that has no value yet
  llvm::SmallVector<Axis, 4> axes;

  /// The row-major tensor itself.
  static View whole(mlir::Value base);
  static View whole(llvm::ArrayRef<int64_t> shape);
  /// Applies Transpose, Reshape, Flatten, Squeeze, Unsqueeze or Identity; false when a dimension cannot be split so.
  bool apply(onnx::NodeOp node);
  bool reshape(llvm::ArrayRef<int64_t> shape);
  void transpose(llvm::ArrayRef<int64_t> permutation);

  /// Dimension i as one factor (an extent of 1 has stride 0), or nothing.
  std::optional<Factor> single(unsigned i) const;
  /// All factors, outermost first.
  Axis flat() const;
};

/// True for the operators that View::apply takes.
bool isLayoutNode(onnx::NodeOp node);

/// Writes `axis` as an ordered list (outermost first) of dimensions of a map of this shape and these strides (0 for an
/// extent of 1); nothing when it does not consist of whole dimensions.
std::optional<llvm::SmallVector<unsigned>> asMapDims(const Axis &axis, llvm::ArrayRef<int64_t> shape,
                                                     llvm::ArrayRef<int64_t> strides);

} // namespace tilewright::layers

#endif
