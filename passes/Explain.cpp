//===- Explain.cpp - the compiler's decisions in words --------------------===//

#include "passes/Explain.h"

#include "passes/Passes.h"
#include "passes/layers/LayerFormer.h"
#include "passes/memory/Segment.h"

#include "llvm/Support/Format.h"

namespace tilewright {
#define GEN_PASS_DEF_EXPLAINPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::tile;

static std::string tileText(TileRootInterface root, TilingAttr tiling) {
  std::string text;
  llvm::raw_string_ostream out(text);
  if (tiling.getOrder().empty())
    return "whole";
  IterationSpace space = root.getIterationSpace();
  SmallVector<int64_t> extents = space.parallel();
  for (auto [i, dim] : llvm::enumerate(tiling.getOrder()))
    out << (i ? ", then " : "") << tiling.size(dim) << " of " << extents[static_cast<unsigned>(dim)] << " "
        << stringifyLoopDim(dim);
  return text;
}

static std::string weightsText(TilingAttr tiling) {
  switch (tiling.getWeights()) {
  case WeightsPolicy::None:
    return "";
  case WeightsPolicy::Kept:
    return ", weights pass once";
  case WeightsPolicy::Reloaded:
    return ", weights pass again for every tile";
  case WeightsPolicy::Streamed:
    return ", weights pass again for every group of pixels";
  }
  return "";
}

static void explainLayer(llvm::raw_ostream &out, TileRootInterface root, const TargetDescription &target,
                         bool grouped) {
  RankedTensorType result = root.getResultType(), input = root.getOperandType(root.getMapOperands()[0]);
  auto shape = [](RankedTensorType type) {
    std::string text;
    for (auto [i, extent] : llvm::enumerate(type.getShape()))
      text += (i ? "x" : "") + std::to_string(extent);
    return text;
  };
  out << (grouped ? "  | " : "") << (root.getLayerName().empty() ? "(unnamed)" : root.getLayerName()) << ": "
      << root->getName().stripDialect() << " " << shape(input) << " -> " << shape(result);
  for (Operation &op : root.getEpilogueBlock())
    if (isa<ResidualAddOp, TableOp>(op))
      out << " + " << op.getName().stripDialect();
  TilingAttr tiling = root.getTilingAttr();
  if (!tiling) {
    out << "\n";
    return;
  }
  if (tiling.getUnit() == "none") {
    out << ": a matter of placement\n";
    return;
  }
  out << "; " << tiling.getUnit().getValue() << "; tile " << tileText(root, tiling) << weightsText(tiling);
  auto estimate = root->getAttrOfType<EstimateAttr>("estimate");
  if (estimate) {
    out << "; " << estimate.getCycles() << " cycles modelled, bound by " << estimate.getBound().getValue();
    if (estimate.getIdeal() > 0)
      out << llvm::format(", %.1f %% of peak", 100.0 * static_cast<double>(estimate.getIdeal()) /
                                                   static_cast<double>(std::max<int64_t>(estimate.getCycles(), 1)));
    out << ", " << estimate.getDramBytes() << " DRAM bytes";
  }
  PlacementAttr placement = root.getResultPlacementAttr();
  if (placement && placement.getRingRows() < result.getDimSize(2))
    out << "; result in a ring of " << placement.getRingRows() << " rows"
        << (placement.getDram() ? ", streamed through DRAM" : "");
  else if (placement && placement.getDram())
    out << "; result stored to DRAM";
  if (std::string remark = target.unitRemark(root); !remark.empty())
    out << "; " << remark;
  out << "\n";
}

std::string tilewright::explain(func::FuncOp function, const TargetDescription &target) {
  std::string text;
  llvm::raw_string_ostream out(text);
  int64_t cycles = 0, ideal = 0, count = 0;
  for (Operation &op : function.getBody().front()) {
    SmallVector<TileRootInterface> roots;
    if (auto group = dyn_cast<GroupOp>(op)) {
      out << "tile by tile, only a ring of rows between them:\n";
      for (auto root : group.getBody().front().getOps<TileRootInterface>())
        roots.push_back(root);
    } else if (auto root = dyn_cast<TileRootInterface>(op)) {
      roots.push_back(root);
    }
    for (TileRootInterface root : roots) {
      explainLayer(out, root, target, roots.size() > 1);
      ++count;
      if (auto estimate = root->getAttrOfType<EstimateAttr>("estimate")) {
        cycles += estimate.getCycles();
        ideal += estimate.getIdeal();
      }
    }
  }
  if (count)
    out << count << (count == 1 ? " layer on " : " layers on ") << target.name() << ", " << cycles << " cycles modelled"
        << llvm::format(" (%.3f ms), %.1f %% of peak\n", 1e3 * static_cast<double>(cycles) / target.clockHz(),
                        cycles ? 100.0 * static_cast<double>(ideal) / static_cast<double>(cycles) : 0.0);
  bool first = true;
  for (auto node : function.getBody().front().getOps<onnx::NodeOp>()) {
    if (first)
      out << "on the host:\n";
    first = false;
    out << "  " << (node.nodeName().empty() ? "(unnamed)" : node.nodeName()) << ": " << node.getQualifiedName() << "("
        << node.getSinceVersion() << ")";
    if (auto reason = node->getAttrOfType<StringAttr>(layers::kHostReasonAttr))
      out << ": " << reason.getValue();
    out << "\n";
  }
  return text;
}

namespace {
struct ExplainPass final : tilewright::impl::ExplainPassBase<ExplainPass> {
  using ExplainPassBase::ExplainPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (failed(withTarget(function, target, [&](const TargetDescription &description) {
          llvm::errs() << explain(function, description);
          return success();
        })))
      signalPassFailure();
  }
};
} // namespace
