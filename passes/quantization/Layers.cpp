//===- Layers.cpp - which parts of a network are quantized ----------------===//
//
// One walk in program order. Contractions are always quantized; everything else only where 8-bit values already are:
// a tensor that float nodes alone make and read is not rounded for nothing.
//
//===----------------------------------------------------------------------===//

#include "passes/quantization/Layers.h"

#include "passes/quantization/Operators.h"

using namespace mlir;
using namespace tilewright;

namespace {

class LayerFinder {
public:
  std::vector<QuantizedLayer> find(func::FuncOp function) {
    for (auto node : function.getBody().getOps<onnx::NodeOp>()) {
      if (claimed.contains(node))
        continue;
      if (isContraction(node))
        addContraction(node);
      else if (isTensorAddition(node) && llvm::all_of(node.getInputs(), [&](Value v) { return is8Bit(v); }) &&
               !chainBase(node))
        addWithTail(QuantizedLayer::Addition, node, {&node->getOpOperand(0), &node->getOpOperand(1)});
      else if (isAveragePool(node) && isWorthwhile(node.input(0)))
        addWithTail(QuantizedLayer::Pool, node, {&node->getOpOperand(0)});
      else if (keepsScale(node) && takesShared(node))
        addShared(node);
      else if (Value base = chainBase(node))
        chains.try_emplace(node.getOutputs()[0], base);
    }
    addTables(function);
    return std::move(layers);
  }

private:
  /// An 8-bit value: made by a layer, or inside a chain of elementwise nodes that starts at one.
  bool is8Bit(Value value) { return made.contains(value) || chains.contains(value); }

  /// A float input that only moves and pools separate from a contraction is rounded before them, not after.
  bool isWorthwhile(Value value) { return is8Bit(value) || (isa<BlockArgument>(value) && feedsContraction(value)); }

  bool feedsContraction(Value value) {
    return llvm::any_of(value.getUsers(), [&](Operation *user) {
      auto node = dyn_cast<onnx::NodeOp>(user);
      if (!node || node.input(0) != value)
        return false;
      return isContraction(node) ||
             ((keepsScale(node) || isAveragePool(node)) &&
              llvm::any_of(node.getOutputs(), [&](Value result) { return feedsContraction(result); }));
    });
  }

  bool takesShared(onnx::NodeOp node) {
    return node.is("Concat") ? llvm::all_of(node.getInputs(), [&](Value v) { return isWorthwhile(v); })
                             : isWorthwhile(node.input(0));
  }

  void addContraction(onnx::NodeOp node) {
    QuantizedLayer layer{QuantizedLayer::Contraction, node, {&node->getOpOperand(0)}, {}};
    layer.weights = &node->getOpOperand(1);
    if (node.input(2))
      layer.bias = &node->getOpOperand(2);
    layer.channelAxis = node.is("MatMul") || (node.is("Gemm") && node.intAttr("transB", 0) == 0) ? 1 : 0;
    Value result = node.getOutputs()[0];
    if (node.is("MatMul"))
      takeBias(layer, result);
    finish(std::move(layer), takeActivation(result));
  }

  void addWithTail(QuantizedLayer::Kind kind, onnx::NodeOp node, SmallVector<OpOperand *> inputs) {
    finish({kind, node, std::move(inputs), {}}, takeActivation(node.getOutputs()[0]));
  }

  void addShared(onnx::NodeOp node) {
    QuantizedLayer layer{QuantizedLayer::SharedScale, node, {}, llvm::to_vector_of<Value>(node.getOutputs())};
    unsigned count = node.is("Concat") ? node->getNumOperands() : 1;
    for (unsigned i = 0; i < count; ++i)
      layer.inputs.push_back(&node->getOpOperand(i));
    made.insert_range(node.getOutputs());
    layers.push_back(std::move(layer));
  }

  void finish(QuantizedLayer layer, Value output) {
    layer.outputs = {output};
    made.insert(output);
    layers.push_back(std::move(layer));
  }

  /// The only user of `value`, if it is a node and nothing else reads the value.
  onnx::NodeOp onlyUser(Value value) {
    return value.hasOneUse() ? dyn_cast<onnx::NodeOp>(*value.getUsers().begin()) : onnx::NodeOp();
  }

  /// MatMul followed by Add of one constant per column.
  void takeBias(QuantizedLayer &layer, Value &result) {
    onnx::NodeOp add = onlyUser(result);
    auto type = cast<RankedTensorType>(result.getType());
    if (!add || !add.is("Add") || !isFloatTensor(add.getOutputs()[0]) || type.getRank() < 2)
      return;
    OpOperand &other = add->getOpOperand(add.input(0) == result ? 1 : 0);
    int64_t columns = type.getShape().back();
    if (ShapedType::isDynamic(columns) || !isFloatConstant(other.get(), columns))
      return;
    auto shape = cast<RankedTensorType>(other.get().getType()).getShape();
    if (shape.empty() || shape.back() != columns)
      return;
    layer.bias = &other;
    claimed.insert(add);
    result = add.getOutputs()[0];
  }

  Value takeActivation(Value result) {
    onnx::NodeOp activation = onlyUser(result);
    if (!activation || activation.input(0) != result || !isFusedActivation(activation))
      return result;
    claimed.insert(activation);
    return activation.getOutputs()[0];
  }

  /// The 8-bit tensor of which `node` computes a function, element by element; null if it does not.
  Value chainBase(onnx::NodeOp node) {
    if (!isElementwise(node))
      return nullptr;
    Value base;
    for (Value operand : node.getInputs()) {
      if (onnx::isAbsent(operand) || onnx::constantValue(operand))
        continue;
      Value from = chains.contains(operand) ? chains.lookup(operand) : operand;
      if ((base && base != from) || !is8Bit(from))
        return nullptr;
      base = from;
    }
    return base;
  }

  /// A table for each value of a chain that somebody outside the chain reads.
  void addTables(func::FuncOp function) {
    for (auto node : function.getBody().getOps<onnx::NodeOp>()) {
      Value result = node.getOutputs().empty() ? Value() : node.getOutputs()[0];
      Value base = result ? chains.lookup(result) : Value();
      if (!base || llvm::all_of(result.getUsers(), [&](Operation *user) { return inChain(user, base); }))
        continue;
      QuantizedLayer layer{QuantizedLayer::Table, node, {}, {result}};
      collectUses(node, base, layer.inputs);
      layers.push_back(std::move(layer));
    }
  }

  bool inChain(Operation *user, Value base) {
    return user->getNumResults() == 1 && chains.lookup(user->getResult(0)) == base;
  }

  void collectUses(onnx::NodeOp node, Value base, SmallVector<OpOperand *> &uses) {
    for (OpOperand &operand : node->getOpOperands()) {
      if (operand.get() == base) {
        if (!llvm::is_contained(uses, &operand))
          uses.push_back(&operand);
      } else if (chains.contains(operand.get())) {
        collectUses(cast<onnx::NodeOp>(operand.get().getDefiningOp()), base, uses);
      }
    }
  }

  std::vector<QuantizedLayer> layers;
  llvm::DenseSet<Operation *> claimed;
  llvm::DenseSet<Value> made;
  /// Value of an elementwise chain → the tensor it starts from.
  llvm::DenseMap<Value, Value> chains;
};

} // namespace

std::vector<QuantizedLayer> tilewright::findLayers(func::FuncOp function) { return LayerFinder().find(function); }
