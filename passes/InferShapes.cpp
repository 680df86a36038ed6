//===- InferShapes.cpp - element types and symbolic shapes of all values --===//
//
// Values computed from shapes are followed as expressions (passes/shapes); those that turn out to be numbers become
// constants here, since the shapes of later nodes hang on them.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialects/onnx/ConstantData.h"
#include "passes/NodeName.h"
#include "passes/fold/Evaluator.h"
#include "passes/shapes/ShapeTable.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineMap.h"

namespace tilewright {
#define GEN_PASS_DEF_INFERSHAPESPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

namespace {

/// Above this a tensor cannot be meant: 2^40 elements.
constexpr int64_t kMaxElements = int64_t(1) << 40;
/// Computations that shapes hang on are no larger than this.
constexpr int64_t kSmallBytes = 1 << 14;

struct InferShapesPass final : tilewright::impl::InferShapesPassBase<InferShapesPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function->hasAttr(onnx::kFunctionAttr) || function.isExternal())
      return; // typed in each place it is called from
    symbols.emplace(&getContext());
    facts.clear();
    for (BlockArgument argument : function.getArguments())
      argumentFacts(function, argument);
    if (failed(inferBlock(function.front())))
      return signalPassFailure();
    Operation *terminator = function.front().getTerminator();
    function.setFunctionType(
        FunctionType::get(&getContext(), function.getArgumentTypes(), terminator->getOperandTypes()));
    for (auto [i, value] : llvm::enumerate(terminator->getOperands()))
      if (Attribute map = shapeMap(value))
        function.setResultAttr(i, onnx::kShapeAttr, map);
      else
        function.removeResultAttr(i, StringAttr::get(&getContext(), onnx::kShapeAttr));
    SmallVector<StringRef> names(symbols->names().begin(), symbols->names().end());
    if (names.empty())
      function->removeAttr(onnx::kSymbolsAttr);
    else
      function->setAttr(onnx::kSymbolsAttr, Builder(&getContext()).getStrArrayAttr(names));
  }

  /// Symbolic dimensions of an argument are symbols, named by the model or after the argument.
  void argumentFacts(func::FuncOp function, BlockArgument argument) {
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type)
      return;
    unsigned index = argument.getArgNumber();
    auto given = function.getArgAttrOfType<ArrayAttr>(index, onnx::kDimSymbolsAttr);
    auto name = function.getArgAttrOfType<StringAttr>(index, onnx::kNameAttr);
    Dims dims;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!type.isDynamicDim(d)) {
        dims.push_back(symbols->constant(type.getDimSize(d)));
        continue;
      }
      StringRef symbol = given && d < static_cast<int64_t>(given.size()) ? cast<StringAttr>(given[d]).getValue() : "";
      std::string own = ((name ? name.getValue() : "arg" + std::to_string(index)) + "." + Twine(d)).str();
      dims.push_back(symbols->named(symbol.empty() ? StringRef(own) : symbol));
    }
    facts[argument] = Facts{dims, std::nullopt};
  }

  LogicalResult inferBlock(Block &block) {
    for (Operation &op : llvm::make_early_inc_range(block)) {
      if (auto constant = dyn_cast<onnx::ConstantOp>(op)) {
        Dims dims;
        for (int64_t dim : constant.getValue().getShapedType().getShape())
          dims.push_back(symbols->constant(dim));
        facts[constant.getResult()] = Facts{dims, std::nullopt};
      } else if (auto node = dyn_cast<onnx::NodeOp>(op)) {
        if (failed(inferNode(node)))
          return failure();
      } else if (!isa<onnx::NoneOp>(op) && !op.hasTrait<OpTrait::IsTerminator>()) {
        for (Value result : op.getResults())
          if (auto type = dyn_cast<RankedTensorType>(result.getType()); type && type.hasStaticShape()) {
            Dims dims;
            for (int64_t dim : type.getShape())
              dims.push_back(symbols->constant(dim));
            facts[result] = Facts{dims, std::nullopt};
          }
      }
    }
    return success();
  }

  LogicalResult inferNode(onnx::NodeOp node) {
    const ShapeRule *rule = ShapeTable::get().find(node);
    const OnnxSchema *schema =
        onnxSchemaOfVersion(node.getDomain(), node.getOpType(), static_cast<int64_t>(node.getSinceVersion()));
    if (!rule || !schema)
      return success(); // verify-supported has its say on these
    ShapeContext context(node, *symbols, facts);
    context.inferBody = [this](Block &block, bool isFinal) {
      bool outer = std::exchange(mayReplace, mayReplace && isFinal);
      LogicalResult result = inferBlock(block);
      mayReplace = outer;
      return result;
    };
    if (failed(inferElementTypes(context, *schema)) || failed((*rule)(context)))
      return failure();
    for (unsigned i = 0; i < context.results(); ++i) {
      Facts &fact = context.result(i);
      if (fact.shape && failed(checkSize(context, *fact.shape)))
        return failure();
      Type element = context.resultType(i);
      if (!element)
        element = onnx::UnknownType::get(&getContext());
      node.getResult(i).setType(tensorType(fact.shape, element));
      facts[node.getResult(i)] = fact;
    }
    annotate(node);
    if (mayReplace)
      becomeConstant(node);
    return success();
  }

  LogicalResult checkSize(ShapeContext &context, ArrayRef<Dim> shape) {
    int64_t product = 1;
    for (Dim dim : shape) {
      auto size = constantOf(dim);
      if (!size)
        continue;
      bool zero = *size == 0;
      if (*size < 0 || __builtin_mul_overflow(product, zero ? 1 : *size, &product) || product > kMaxElements)
        return context.error() << "the output would have the shape " << context.spell(shape)
                               << "; up to 2^40 elements are supported";
    }
    return success();
  }

  /// The shape as a map from the symbols, for a value with an open dimension.
  Attribute shapeMap(Value value) {
    auto found = facts.find(value);
    if (found == facts.end() || !found->second.shape || staticProduct(*found->second.shape))
      return nullptr;
    return AffineMapAttr::get(
        AffineMap::get(0, static_cast<unsigned>(symbols->names().size()), *found->second.shape, &getContext()));
  }

  void annotate(onnx::NodeOp node) {
    SmallVector<Attribute> maps;
    bool open = false;
    for (Value result : node.getResults()) {
      Attribute map = shapeMap(result);
      open |= map != nullptr;
      maps.push_back(map ? map : UnitAttr::get(&getContext()));
    }
    if (open)
      node->setAttr(onnx::kShapeAttr, ArrayAttr::get(&getContext(), maps));
    else
      node->removeAttr(onnx::kShapeAttr);
  }

  /// Small constants that nodes compute from constants are computed now: scales of a Resize, bounds of a Slice.
  bool foldSmall(onnx::NodeOp node) {
    fold::Results results = fold::evaluate(node, kSmallBytes);
    if (results.empty())
      return false;
    OpBuilder builder(node);
    for (auto [result, value] : llvm::zip_equal(node.getResults(), results)) {
      Value constant = onnx::ConstantOp::create(builder, node.getLoc(), value);
      facts[constant] = Facts{facts[result].shape, std::nullopt};
      facts.erase(result);
      result.replaceAllUsesWith(constant);
    }
    node.erase();
    return true;
  }

  /// Replaces a followed result whose elements are all numbers.
  void becomeConstant(onnx::NodeOp node) {
    if (foldSmall(node) || node.getNumResults() != 1)
      return;
    Value result = node.getResult(0);
    auto type = dyn_cast<RankedTensorType>(result.getType());
    const Facts &fact = facts[result];
    if (!type || !type.hasStaticShape() || !isa<IntegerType>(type.getElementType()) || !fact.elements)
      return;
    std::vector<char> bytes;
    size_t size = onnx::elementBytes(type.getElementType());
    for (Dim element : *fact.elements) {
      auto value = element ? constantOf(element) : std::nullopt;
      if (!value)
        return;
      const char *begin = reinterpret_cast<const char *>(&*value);
      bytes.insert(bytes.end(), begin, begin + size);
    }
    if (bytes.size() != size * static_cast<size_t>(type.getNumElements()))
      return;
    OpBuilder builder(node);
    Facts kept = fact;
    Value constant = onnx::ConstantOp::create(builder, node.getLoc(), onnx::makeConstant(type, bytes));
    facts[constant] = kept;
    result.replaceAllUsesWith(constant);
    facts.erase(result);
    node.erase();
  }

  std::optional<Symbols> symbols;
  DenseMap<Value, Facts> facts;
  /// False in the body of a loop until the shapes of its carried values are settled.
  bool mayReplace = true;
};

} // namespace
