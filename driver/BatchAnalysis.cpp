//===- BatchAnalysis.cpp --------------------------------------------------===//

#include "driver/BatchAnalysis.h"

#include "dialects/onnx/OnnxDialect.h"
#include "passes/NodeName.h"

using namespace mlir;

namespace tilewright {

namespace {

/// How a tensor's shape depends on the batch symbols.
enum class Batched { No, Yes, Elsewhere };

class Analyser {
public:
  explicit Analyser(func::FuncOp main) : main(main) {}

  BatchAnalysis run() {
    BatchAnalysis analysis;
    auto names = main->getAttrOfType<ArrayAttr>(onnx::kSymbolsAttr);
    for (BlockArgument argument : main.getArguments()) {
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      bool batched = type && type.getRank() && type.isDynamicDim(0);
      analysis.inputs.push_back(batched);
      if (batched && names)
        symbols.insert(symbolOf(argument.getArgNumber(), names));
      values[argument] = batched ? Batched::Yes : Batched::No;
    }
    main.walk([&](onnx::NodeOp node) {
      if (analysis.obstacle.empty())
        analysis.obstacle = visit(node);
    });
    for (Value value : main.front().getTerminator()->getOperands())
      analysis.outputs.push_back(values.lookup(value) == Batched::Yes);
    return analysis;
  }

private:
  /// The number of the symbol of an argument's first dimension: its own name, or "<input>.0" (infer-shapes).
  unsigned symbolOf(unsigned argument, ArrayAttr names) {
    auto given = main.getArgAttrOfType<ArrayAttr>(argument, onnx::kDimSymbolsAttr);
    auto name = main.getArgAttrOfType<StringAttr>(argument, onnx::kNameAttr);
    std::string symbol = given && !given.empty() ? cast<StringAttr>(given[0]).str() : "";
    if (symbol.empty())
      symbol = ((name ? name.getValue() : "arg" + std::to_string(argument)) + ".0").str();
    for (auto [i, candidate] : llvm::enumerate(names))
      if (cast<StringAttr>(candidate).getValue() == symbol)
        return static_cast<unsigned>(i);
    return UINT_MAX;
  }

  bool dependsOnBatch(AffineExpr expression) {
    bool found = false;
    expression.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        found |= symbols.contains(symbol.getPosition());
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        found |= symbols.contains(dim.getPosition());
    });
    return found;
  }

  Batched classify(AffineMap shape) {
    Batched result = Batched::No;
    for (auto [i, size] : llvm::enumerate(shape.getResults())) {
      if (!dependsOnBatch(size))
        continue;
      if (i != 0 || !isa<AffineSymbolExpr, AffineDimExpr>(size))
        return Batched::Elsewhere;
      result = Batched::Yes;
    }
    return result;
  }

  static bool worksAlongAxis0(onnx::NodeOp node) {
    if (!node.attr("axis"))
      return node.is("CumSum") || node.is("Compress");
    return node.intAttr("axis", 1) == 0;
  }

  std::string visit(onnx::NodeOp node) {
    bool anyBatched = false;
    for (Value operand : node.getInputs())
      anyBatched |= values.lookup(operand) != Batched::No;
    auto shapes = node->getAttrOfType<ArrayAttr>(onnx::kShapeAttr);
    for (auto [i, result] : llvm::enumerate(node.getOutputs())) {
      auto map = shapes && i < shapes.size() ? dyn_cast<AffineMapAttr>(shapes[i]) : nullptr;
      values[result] = map ? classify(map.getValue()) : Batched::No;
      if (result.use_empty())
        continue;
      if (values[result] == Batched::Elsewhere)
        return describeNode(node) + " moves the batch to another place than the first axis";
      bool isShape = node.is("Shape") || node.is("Size");
      if (anyBatched && values[result] == Batched::No && !isShape)
        return describeNode(node) + " combines the samples of a batch";
    }
    if (anyBatched && worksAlongAxis0(node))
      return describeNode(node) + " works along the batch";
    return "";
  }

  func::FuncOp main;
  llvm::SmallDenseSet<unsigned> symbols;
  llvm::DenseMap<Value, Batched> values;
};

} // namespace

BatchAnalysis analyseBatch(func::FuncOp main) { return Analyser(main).run(); }

} // namespace tilewright
