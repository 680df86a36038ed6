//===- EpilogueReader.h - an epilogue region as hardware steps --*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_EPILOGUEREADER_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_EPILOGUEREADER_H

#include "backends/systolic/Layers.h"
#include "dialects/tile/TileDialect.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

namespace tilewright::systolic {

/// The first `count` values of a constant; one value stands for all.
template <typename T> std::vector<T> valuesOf(mlir::ElementsAttr elements, size_t count) {
  std::vector<T> values;
  if (auto resource = mlir::dyn_cast<mlir::DenseResourceElementsAttr>(elements)) {
    if (mlir::AsmResourceBlob *blob = resource.getRawHandle().getBlob()) {
      values.resize(blob->getData().size() / sizeof(T));
      std::memcpy(values.data(), blob->getData().data(), values.size() * sizeof(T));
    }
  } else if (auto range = elements.tryGetValues<T>()) {
    values.assign(range->begin(), range->end());
  }
  if (values.size() == 1)
    values.resize(count, values.front());
  return values;
}

/// Matches the operations of a layer's epilogue, in order, to the steps that its unit has: requantize, table, residual
/// addition, table for contractions; one of them, then a table, for vector jobs.
class EpilogueReader {
public:
  EpilogueReader(tile::TileRootInterface root, Layer &layer) : root(root), layer(layer) {}
  /// Fills the layer. Emits an error at the operation that the unit cannot do.
  llvm::LogicalResult read();

  /// Operand index of the map that is added.
  std::optional<unsigned> residualOperand;

private:
  llvm::LogicalResult requantize(tile::RequantizeOp op);
  llvm::LogicalResult table(tile::TableOp op);
  llvm::LogicalResult residualAdd(tile::ResidualAddOp op);
  bool isContraction() const { return layer.kind == LayerKind::Contraction || layer.kind == LayerKind::Depthwise; }

  tile::TileRootInterface root;
  Layer &layer;
  bool requantized = false, added = false;
};

} // namespace tilewright::systolic

#endif
