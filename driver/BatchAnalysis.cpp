//===- BatchAnalysis.cpp --------------------------------------------------===//

#include "driver/BatchAnalysis.h"

#include "driver/BatchRules.h"
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
    analysis.obstacle = readArguments();
    for (BlockArgument argument : main.getArguments())
      analysis.inputs.push_back(values[argument] == Batched::Yes);
    main.walk<WalkOrder::PreOrder>([&](onnx::NodeOp node) {
      if (analysis.obstacle.empty())
        analysis.obstacle = visit(node);
    });
    for (Value value : main.front().getTerminator()->getOperands()) {
      analysis.outputs.push_back(values.lookup(value) == Batched::Yes);
      if (counts.contains(value) && analysis.obstacle.empty())
        analysis.obstacle = "an output tells the number of samples";
    }
    return analysis;
  }

private:
  /// The name of a dimension's symbol: its own, or "<input>.<dimension>" (infer-shapes).
  std::string symbolOf(BlockArgument argument, int64_t dimension) {
    unsigned index = argument.getArgNumber();
    auto given = main.getArgAttrOfType<ArrayAttr>(index, onnx::kDimSymbolsAttr);
    auto name = main.getArgAttrOfType<StringAttr>(index, onnx::kNameAttr);
    std::string symbol =
        given && dimension < static_cast<int64_t>(given.size()) ? cast<StringAttr>(given[dimension]).str() : "";
    if (symbol.empty())
      symbol = (name ? name.str() : "arg" + std::to_string(index)) + "." + std::to_string(dimension);
    return symbol;
  }

  /// Finds the batch's symbol, the one open first size, and the inputs that have it.
  std::string readArguments() {
    std::string batch;
    for (BlockArgument argument : main.getArguments()) {
      values[argument] = Batched::No;
      auto type = dyn_cast<RankedTensorType>(argument.getType());
      if (!type || !type.getRank() || !type.isDynamicDim(0))
        continue;
      values[argument] = Batched::Yes;
      std::string symbol = symbolOf(argument, 0);
      if (!batch.empty() && symbol != batch)
        return "the first sizes of its inputs have several names, '" + batch + "' and '" + symbol + "'";
      batch = symbol;
    }
    for (BlockArgument argument : main.getArguments())
      if (auto type = dyn_cast<RankedTensorType>(argument.getType()))
        for (int64_t dimension = 1; dimension < type.getRank(); ++dimension)
          if (type.isDynamicDim(dimension) && symbolOf(argument, dimension) == batch)
            return "an input has the batch '" + batch + "' as another size than its first";
    auto names = main->getAttrOfType<ArrayAttr>(onnx::kSymbolsAttr);
    for (auto [i, name] : llvm::enumerate(names ? names.getValue() : ArrayRef<Attribute>()))
      if (cast<StringAttr>(name).getValue() == batch)
        batchSymbol = static_cast<unsigned>(i);
    return "";
  }

  bool dependsOnBatch(AffineExpr expression) {
    bool found = false;
    expression.walk([&](AffineExpr part) {
      if (auto symbol = dyn_cast<AffineSymbolExpr>(part))
        found |= symbol.getPosition() == batchSymbol;
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        found |= dim.getPosition() == batchSymbol;
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

  std::string visit(onnx::NodeOp node) {
    if (node->getNumRegions())
      return describeNode(node) + " has subgraphs, whose samples are not followed";
    SmallVector<bool> batched;
    bool count = false;
    for (auto [i, operand] : llvm::enumerate(node.getInputs())) {
      batched.push_back(values.lookup(operand) == Batched::Yes);
      count |= counts.contains(operand) && !takesSampleCount(node, static_cast<unsigned>(i));
    }
    bool anyBatched = llvm::is_contained(batched, true);
    auto shapes = node->getAttrOfType<ArrayAttr>(onnx::kShapeAttr);
    bool anyResult = false;
    for (auto [i, result] : llvm::enumerate(node.getOutputs())) {
      auto map = shapes && i < shapes.size() ? dyn_cast<AffineMapAttr>(shapes[i]) : nullptr;
      Batched kind = values[result] = map ? classify(map.getValue()) : Batched::No;
      if (result.use_empty())
        continue;
      if (kind == Batched::Elsewhere)
        return describeNode(node) + " moves the batch to another place than the first axis";
      anyResult |= kind == Batched::Yes;
      if (kind == Batched::No && ((anyBatched && (node.is("Shape") || node.is("Size"))) || (count && !anyBatched)))
        counts.insert(result);
      else if (kind == Batched::No && anyBatched)
        return describeNode(node) + " combines the samples of a batch";
    }
    if (!anyResult)
      return "";
    if (count)
      return describeNode(node) + " computes with the number of samples";
    std::string problem = mixesSamples(node, batched);
    return problem.empty() ? "" : describeNode(node) + " " + problem;
  }

  func::FuncOp main;
  unsigned batchSymbol = UINT_MAX;
  llvm::DenseMap<Value, Batched> values;
  /// Numbers that were computed from the number of samples.
  llvm::DenseSet<Value> counts;
};

} // namespace

BatchAnalysis analyseBatch(func::FuncOp main) { return Analyser(main).run(); }

} // namespace tilewright
