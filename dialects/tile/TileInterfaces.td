//===- TileInterfaces.td - what tiling and fusion know of a root ----------===//
//
// Tiling, fusion and placement see layers only through this interface, and targets only through TargetDescription: no
// pass of that pipeline names a root or a target.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DIALECTS_TILE_INTERFACES
#define TILEWRIGHT_DIALECTS_TILE_INTERFACES

include "mlir/IR/OpBase.td"

def TileRootInterface : OpInterface<"TileRootInterface"> {
  let cppNamespace = "::tilewright::tile";
  let description = [{
    A layer: one computation (the root) over batch x group x (channels, height, width) plus reduction dimensions, followed
    by an epilogue per output element. Access maps go from (batch, group, channels, height, width, reduction...) to the
    dimensions of an operand, so a pass can compute which part of an operand a tile of the result needs.
  }];
  let methods = [
    InterfaceMethod<"Extents of the iteration space; channels are per group.",
      "::tilewright::tile::IterationSpace", "getIterationSpace">,
    InterfaceMethod<"Access map of operand `index` (as in getOperands) from the iteration space to its dimensions. Values "
      "outside the operand's shape are padding.",
      "::mlir::AffineMap", "getAccessMap", (ins "unsigned":$index)>,
    InterfaceMethod<"Operand indices of the feature maps, in order: inputs of the root first, then residuals.",
      "::llvm::SmallVector<unsigned>", "getMapOperands">,
    InterfaceMethod<"Operand index of the stationary operand (weights, or the second tensor of a product); absent for roots "
      "without one.",
      "std::optional<unsigned>", "getWeightsOperand">,
    InterfaceMethod<"Operand index of the first residual; one past the last operand when there is none.",
      "unsigned", "getFirstResidual">,
    InterfaceMethod<"Type of the value that enters the epilogue (i32 sums, f32 sums, or the element itself).",
      "::mlir::Type", "getAccumulatorType">,
    InterfaceMethod<"True when `op`, an epilogue operation, may follow this root at all (on whatever target).",
      "bool", "isLegalEpilogue", (ins "::mlir::Operation *":$op)>,
    InterfaceMethod<"Multiply-accumulates of the whole layer, counted once per useful product; 0 for roots without any.",
      "int64_t", "getMacs">,
  ];
  let extraSharedClassDeclaration = [{
    ::mlir::Block &getEpilogueBlock() { return $_op->getRegion(0).front(); }
    ::mlir::RankedTensorType getResultType() {
      return ::mlir::cast<::mlir::RankedTensorType>($_op->getResult(0).getType());
    }
    ::mlir::RankedTensorType getOperandType(unsigned index) {
      return ::mlir::cast<::mlir::RankedTensorType>($_op->getOperand(index).getType());
    }
    ::llvm::StringRef getLayerName() {
      auto name = $_op->template getAttrOfType<::mlir::StringAttr>("layer");
      return name ? name.getValue() : ::llvm::StringRef();
    }
    ::tilewright::tile::TilingAttr getTilingAttr() {
      return $_op->template getAttrOfType<::tilewright::tile::TilingAttr>("tiling");
    }
    ::tilewright::tile::PlacementAttr getResultPlacementAttr() {
      return $_op->template getAttrOfType<::tilewright::tile::PlacementAttr>("result_placement");
    }
    /// Placement of map operand `index` (an operand index, one of getMapOperands), or null.
    ::tilewright::tile::PlacementAttr getOperandPlacement(unsigned index) {
      auto all = $_op->template getAttrOfType<::mlir::ArrayAttr>("operand_placements");
      if (!all)
        return nullptr;
      for (auto [i, operand] : ::llvm::enumerate($_op.getMapOperands()))
        if (operand == index)
          return ::mlir::cast<::tilewright::tile::PlacementAttr>(all[i]);
      return nullptr;
    }
  }];
}

#endif
