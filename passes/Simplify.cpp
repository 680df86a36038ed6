//===- Simplify.cpp - the same graph with fewer nodes ---------------------===//
//
// Exact rewrites only: moves that undo or follow each other, padding that its reader can do itself, operators that are
// special cases of better supported ones, branches that are decided. What changes rounding (batch normalization into
// weights) is in fold-affine.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "passes/normalize/NodeEditor.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace tilewright {
#define GEN_PASS_DEF_SIMPLIFYPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {

std::optional<SmallVector<int64_t>> integersAt(onnx::NodeOp node, unsigned i) {
  return onnx::integers(onnx::constantValue(node.input(i)));
}

bool isReshapeLike(onnx::NodeOp node) {
  return node && (node.is("Reshape") || node.is("Flatten") || node.is("Squeeze") || node.is("Unsqueeze"));
}

/// A node `op` in the place of `node`: at its location, with its type unless another is given.
Value createLike(PatternRewriter &rewriter, onnx::NodeOp node, StringRef op, ValueRange inputs, Type type,
                 ArrayRef<NamedAttribute> attributes, bool namesResult = true) {
  OperationState state(node.getLoc(), onnx::NodeOp::getOperationName());
  onnx::NodeOp::build(rewriter, state, TypeRange(type), inputs, rewriter.getStringAttr(op), rewriter.getStringAttr(""),
                      rewriter.getI64IntegerAttr(canonicalVersion(op)), rewriter.getDictionaryAttr(attributes),
                      ArrayAttr(), 0);
  if (Attribute names = node->getAttr(onnx::kOutputNamesAttr); names && namesResult)
    state.addAttribute(onnx::kOutputNamesAttr, names);
  return rewriter.create(state)->getResult(0);
}

Value createInts(PatternRewriter &rewriter, Location loc, ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, rewriter.getI64Type());
  return onnx::ConstantOp::create(rewriter, loc, DenseElementsAttr::get(type, values));
}

/// Moves that leave everything in its place.
struct DropNoOp : OpRewritePattern<onnx::NodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    if (!node.getDomain().empty() || node.getNumResults() != 1 || node.getInputs().empty())
      return failure();
    auto type = dyn_cast<RankedTensorType>(node.getResult(0).getType());
    if (!type || node.getInputs()[0].getType() != type || !isNoOp(node, type))
      return failure();
    rewriter.replaceOp(node, node.getInputs()[0]);
    return success();
  }

  static bool isNoOp(onnx::NodeOp node, RankedTensorType type) {
    // With one open dimension the number of elements fixes it; otherwise types must be static to mean shapes.
    if (isReshapeLike(node))
      return type.getNumDynamicDims() <= 1;
    if (node.is("Transpose"))
      return llvm::is_sorted(node.intsAttr("perm")) &&
             static_cast<int64_t>(node.intsAttr("perm").size()) == type.getRank();
    if (node.is("Cast"))
      return true;
    if (node.is("Concat"))
      return node.getInputs().size() == 1;
    if (!type.hasStaticShape())
      return false;
    if (node.is("Slice")) {
      auto steps = integersAt(node, 4);
      return !node.input(4) || (steps && llvm::all_of(*steps, [](int64_t step) { return step == 1; }));
    }
    if (node.is("Pad")) {
      auto pads = integersAt(node, 1);
      return pads && llvm::all_of(*pads, [](int64_t pad) { return pad == 0; });
    }
    return node.is("Expand") || node.is("Tile");
  }
};

/// A view of a view.
struct MergeReshapes : OpRewritePattern<onnx::NodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    if (!isReshapeLike(node))
      return failure();
    auto inner = dyn_cast_if_present<onnx::NodeOp>(node.getInputs()[0].getDefiningOp());
    auto type = dyn_cast<RankedTensorType>(node.getResult(0).getType());
    if (!isReshapeLike(inner) || !type || !type.hasStaticShape())
      return failure();
    Value shape = createInts(rewriter, node.getLoc(), type.getShape());
    rewriter.replaceOp(node, createLike(rewriter, node, "Reshape", {inner.getInputs()[0], shape}, type,
                                        {rewriter.getNamedAttr("allowzero", rewriter.getI64IntegerAttr(1))}));
    return success();
  }
};

/// A shape that nodes compute, of which inference left at most one dimension open: the number of elements gives that
/// one.
struct SpellOutReshape : OpRewritePattern<onnx::NodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    auto type = dyn_cast<RankedTensorType>(node.getResult(0).getType());
    if (!node.is("Reshape") || !type || type.getNumDynamicDims() > 1 || onnx::constantValue(node.input(1)))
      return failure();
    SmallVector<int64_t> shape(type.getShape());
    // With no elements, −1 could be anything.
    if (!type.hasStaticShape() && llvm::is_contained(shape, 0))
      return failure();
    for (int64_t &dim : shape)
      dim = ShapedType::isDynamic(dim) ? -1 : dim;
    Value constant = createInts(rewriter, node.getLoc(), shape);
    rewriter.replaceOp(node, createLike(rewriter, node, "Reshape", {node.getInputs()[0], constant}, type,
                                        {rewriter.getNamedAttr("allowzero", rewriter.getI64IntegerAttr(1))}));
    return success();
  }
};

struct MergeTransposes : OpRewritePattern<onnx::NodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    auto inner = node.is("Transpose") ? onnx::producer(node.getInputs()[0], "Transpose") : onnx::NodeOp();
    if (!inner)
      return failure();
    SmallVector<int64_t> outer = node.intsAttr("perm"), first = inner.intsAttr("perm"), both;
    if (outer.empty() || outer.size() != first.size())
      return failure();
    for (int64_t axis : outer)
      both.push_back(first[axis]);
    rewriter.replaceOp(node,
                       createLike(rewriter, node, "Transpose", {inner.getInputs()[0]}, node.getResult(0).getType(),
                                  {rewriter.getNamedAttr("perm", rewriter.getI64ArrayAttr(both))}));
    return success();
  }
};

/// Zeros around an image that a convolution, or an average pool that counts its padding, can add itself.
struct AbsorbPad : OpRewritePattern<onnx::NodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    bool pool = node.is("AveragePool");
    if (!node.is("Conv") && !pool)
      return failure();
    auto pad = onnx::producer(node.getInputs()[0], "Pad");
    auto type = pad ? dyn_cast<RankedTensorType>(pad.getInputs()[0].getType()) : RankedTensorType();
    auto amounts = pad ? integersAt(pad, 1) : std::nullopt;
    SmallVector<int64_t> pads = node.intsAttr("pads");
    if (!type || !amounts || type.getRank() < 3 || static_cast<int64_t>(pads.size()) != 2 * (type.getRank() - 2) ||
        pad.stringAttr("mode", "constant") != "constant" || !isZero(pad.input(2)) || node.attr("auto_pad"))
      return failure();
    if (pool && ((!node.intAttr("count_include_pad", 0) && !llvm::all_of(pads, [](int64_t p) { return p == 0; })) ||
                 node.intAttr("ceil_mode", 0)))
      return failure();
    int64_t rank = type.getRank(), spatial = rank - 2;
    SmallVector<int64_t> axes;
    if (auto given = integersAt(pad, 3))
      axes = *given;
    else if (pad.input(3))
      return failure();
    else
      for (int64_t i = 0; i < rank; ++i)
        axes.push_back(i);
    if (amounts->size() != 2 * axes.size())
      return failure();
    for (size_t i = 0; i < axes.size(); ++i) {
      int64_t axis = axes[i] < 0 ? axes[i] + rank : axes[i], begin = (*amounts)[i], end = (*amounts)[i + axes.size()];
      if (begin < 0 || end < 0 || (axis < 2 && (begin || end)))
        return failure();
      if (axis >= 2) {
        pads[axis - 2] += begin;
        pads[axis - 2 + spatial] += end;
      }
    }
    rewriter.modifyOpInPlace(node, [&] {
      NodeEditor edit(node);
      edit.setInts("pads", pads);
      if (pool)
        edit.setInt("count_include_pad", 1);
      edit.setInput(0, pad.getInputs()[0]);
    });
    return success();
  }

  static bool isZero(Value value) {
    if (!value)
      return true;
    auto values = onnx::floats(onnx::constantValue(value), 1);
    return values && values->size() == 1 && values->front() == 0;
  }
};

/// The mean over all spatial dimensions is a global average pool.
struct MeanToPool : OpRewritePattern<onnx::NodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    if (!node.is("ReduceMean"))
      return failure();
    auto x = dyn_cast<RankedTensorType>(node.getInputs()[0].getType());
    auto type = dyn_cast<RankedTensorType>(node.getResult(0).getType());
    auto axes = integersAt(node, 1);
    if (!x || !type || !axes || x.getRank() != 4 || !x.getElementType().isF32() || axes->size() != 2)
      return failure();
    for (int64_t &axis : *axes)
      axis = axis < 0 ? axis + x.getRank() : axis;
    llvm::sort(*axes);
    if ((*axes)[0] != 2 || (*axes)[1] != 3)
      return failure();
    bool keep = node.intAttr("keepdims", 1) != 0;
    auto pooled = RankedTensorType::get({x.getDimSize(0), x.getDimSize(1), 1, 1}, x.getElementType());
    Value pool = createLike(rewriter, node, "GlobalAveragePool", {node.getInputs()[0]}, pooled, {}, keep);
    if (!keep)
      pool = createLike(rewriter, node, "Squeeze", {pool, createInts(rewriter, node.getLoc(), {2, 3})}, type, {});
    rewriter.replaceOp(node, pool);
    return success();
  }
};

struct SumToAdd : OpRewritePattern<onnx::NodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    if (!node.is("Sum") || node.getInputs().size() != 2)
      return failure();
    rewriter.replaceOp(node, createLike(rewriter, node, "Add", node.getInputs(), node.getResult(0).getType(), {}));
    return success();
  }
};

/// The branch that a constant condition takes.
struct DecideIf : OpRewritePattern<onnx::NodeOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(onnx::NodeOp node, PatternRewriter &rewriter) const override {
    if (!node.is("If") || node.getBodies().size() != 2)
      return failure();
    auto condition = integersAt(node, 0);
    if (!condition || condition->size() != 1)
      return failure();
    StringRef taken = condition->front() ? "then_branch" : "else_branch";
    for (auto [name, region] : llvm::zip_equal(node.getRegionNamesAttr(), node.getBodies())) {
      if (cast<StringAttr>(name).getValue() != taken)
        continue;
      Operation *yield = region.front().getTerminator();
      SmallVector<Value> results(yield->getOperands());
      rewriter.eraseOp(yield);
      rewriter.inlineBlockBefore(&region.front(), node);
      rewriter.replaceOp(node, results);
      return success();
    }
    return failure();
  }
};

struct SimplifyPass final : tilewright::impl::SimplifyPassBase<SimplifyPass> {
  void runOnOperation() override {
    RewritePatternSet patterns(&getContext());
    patterns.add<DropNoOp, MergeReshapes, SpellOutReshape, MergeTransposes, AbsorbPad, MeanToPool, SumToAdd, DecideIf>(
        &getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      return signalPassFailure();
    // A decided branch may give a value of a more precise type.
    func::FuncOp function = getOperation();
    if (!function.isExternal())
      function.setFunctionType(FunctionType::get(&getContext(), function.getArgumentTypes(),
                                                 function.front().getTerminator()->getOperandTypes()));
  }
};

} // namespace
