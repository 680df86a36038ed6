//===- TileFolders.cpp - layers and boundaries that do nothing ------------===//

#include "dialects/tile/TileDialect.h"

using namespace mlir;
using namespace tilewright::tile;

namespace {
bool isEmptyEpilogue(Block &block) {
  return llvm::hasSingleElement(block) && block.back().getOperand(0) == block.getArgument(0);
}
} // namespace

OpFoldResult ElementwiseOp::fold(FoldAdaptor) {
  if (isEmptyEpilogue(getEpilogue().front()) && getInput().getType() == getResult().getType())
    return getInput();
  return nullptr;
}

OpFoldResult MoveOp::fold(FoldAdaptor) {
  if (getInputs().size() != 1 || getInputs()[0].getType() != getResult().getType())
    return nullptr;
  if (getKind() == MoveKind::Concat || getKind() == MoveKind::Slice || getKind() == MoveKind::Pad)
    return getInputs()[0];
  if (getKind() == MoveKind::Transpose && llvm::is_sorted(*getPermutation()))
    return getInputs()[0];
  return nullptr;
}

OpFoldResult ToMapOp::fold(FoldAdaptor) {
  auto from = getTensor().getDefiningOp<FromMapOp>();
  if (from && from.getMap().getType() == getResult().getType() && from.getStrides() == getStrides())
    return from.getMap();
  return nullptr;
}

OpFoldResult FromMapOp::fold(FoldAdaptor) {
  auto to = getMap().getDefiningOp<ToMapOp>();
  if (to && to.getTensor().getType() == getResult().getType() && to.getStrides() == getStrides())
    return to.getTensor();
  return nullptr;
}
