//===- Operators.cpp - the table of operators the host can run ------------===//

#include "backends/cpu/Operators.h"
#include "backends/cpu/Constants.h"

#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

const std::vector<Operator> &allOperators() {
  static const std::vector<Operator> table = [] {
    Table all;
    addElementwise(all);
    addContractions(all);
    addConvolutions(all);
    addPooling(all);
    addMoves(all);
    addReductions(all);
    addNormalizations(all);
    addQuantization(all);
    addIndexing(all);
    addResizing(all);
    addRecurrent(all);
    addEinsum(all);
    addGridSample(all);
    return all;
  }();
  return table;
}

static const Operator *findByName(StringRef name) {
  static const llvm::StringMap<const Operator *> byName = [] {
    llvm::StringMap<const Operator *> map;
    for (const Operator &entry : allOperators())
      map[entry.name] = &entry;
    return map;
  }();
  return byName.lookup(name);
}

const Operator *findOperator(NodeOp node) {
  const Operator *entry = findByName(node.getQualifiedName());
  return entry && node.getSinceVersion() >= static_cast<uint64_t>(entry->sinceVersion) ? entry : nullptr;
}

static std::string spelled(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::string whyNotLowered(NodeOp node) {
  const Operator *entry = findByName(node.getQualifiedName());
  if (!entry)
    return "the operator is not supported on the host";
  if (node.getSinceVersion() < static_cast<uint64_t>(entry->sinceVersion))
    return "supported from version " + std::to_string(entry->sinceVersion) + " on";
  auto bad = [](Type type) -> std::string {
    if (isa<NoneType>(type))
      return "";
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape())
      return "its shape is not known at compile time (" + spelled(type) + ")";
    Type element = tensor.getElementType();
    if (element.isF32() || element.isF64() || element.isF16() || element.isBF16() || element.isInteger(1))
      return "";
    if (auto integer = dyn_cast<IntegerType>(element);
        integer && llvm::is_contained({8u, 16u, 32u, 64u}, integer.getWidth()))
      return "";
    return "tensors of " + spelled(element) + " are not supported on the host";
  };
  for (Type type : node->getOperandTypes())
    if (std::string why = bad(type); !why.empty())
      return why;
  for (Value result : node->getResults())
    if (std::string why = bad(result.getType()); !why.empty() && !result.use_empty())
      return why;
  return "";
}

Shape operandShapeOf(NodeOp node, unsigned i) {
  const Operator *entry = findOperator(node);
  return entry->operandShape ? entry->operandShape(node, i) : shapeOf(node.input(i));
}

/// Evaluates elementwise `nodes` in order at one point; `known` holds the values computed so far.
static Num evaluate(KernelBuilder &k, ArrayRef<NodeOp> nodes, llvm::DenseMap<Value, Num *> known, LoadOperand load,
                    const Num *shapedLike) {
  std::vector<std::unique_ptr<Num>> owned;
  std::optional<Num> last;
  for (NodeOp node : nodes) {
    auto operand = [&](unsigned i) -> Num {
      Value value = node.input(i);
      if (Num *number = known.lookup(value))
        return *number;
      if (TypedAttr scalar = constantScalar(value)) {
        Num constant = k.number(arith::ConstantOp::create(k.b, k.loc, scalar), isUnsignedType(elementOf(value)));
        if (!shapedLike || !isa<VectorType>(shapedLike->type()))
          return constant;
        auto splat =
            DenseElementsAttr::get(cast<ShapedType>(shapedLike->like(scalar.getType())), ArrayRef<Attribute>(scalar));
        return constant.with(arith::ConstantOp::create(k.b, k.loc, splat));
      }
      return load(value, operandShapeOf(node, i));
    };
    Type type = elementOf(node->getResult(0));
    Num value = findOperator(node)->formula({k, node, operand});
    value.isUnsigned = isUnsignedType(type);
    // Half-width floats are rounded after every operator, as if each had stored its result.
    if (type.isF16() || type.isBF16())
      value = convert(convert(value, type), computeType(type));
    owned.push_back(std::make_unique<Num>(value));
    known[node->getResult(0)] = owned.back().get();
    last.emplace(value);
  }
  return *last;
}

Num applyEpilogue(KernelBuilder &k, ArrayRef<NodeOp> nodes, Num rootValue, LoadOperand load) {
  if (nodes.size() == 1)
    return rootValue;
  NodeOp root = nodes.front();
  llvm::DenseMap<Value, Num *> known;
  known[root->getResult(0)] = &rootValue;
  return evaluate(k, nodes.drop_front(), known, load, &rootValue);
}

static SmallVector<std::pair<Value, Shape>> externalOperands(ArrayRef<NodeOp> elementwise, ArrayRef<NodeOp> group) {
  SmallVector<std::pair<Value, Shape>> operands;
  for (NodeOp node : elementwise)
    for (unsigned i = 0; i < node.getInputs().size(); ++i) {
      Value value = node.input(i);
      if (!value || i >= findOperator(node)->operandsRead || constantScalar(value))
        continue;
      Operation *producer = value.getDefiningOp();
      if (producer && llvm::any_of(group, [&](NodeOp member) { return member.getOperation() == producer; }))
        continue;
      operands.emplace_back(value, operandShapeOf(node, i));
    }
  return operands;
}

SmallVector<std::pair<Value, Shape>> epilogueOperands(ArrayRef<NodeOp> nodes) {
  return externalOperands(nodes.drop_front(), nodes);
}

static void requireBroadcast(ArrayRef<int64_t> operand, ArrayRef<int64_t> result) {
  bool fits = operand.size() <= result.size();
  for (size_t i = 0; fits && i < operand.size(); ++i)
    fits = operand[i] == 1 || operand[i] == result[result.size() - operand.size() + i];
  if (!fits)
    throw Unsupported("an operand does not broadcast to the result");
}

/// A group of elementwise nodes: one pass over the result's shape.
static void lowerElementwise(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  Value result = groupResult(nodes);
  Shape shape = shapeOf(result);
  SmallVector<std::pair<Value, Shape>> operands;
  for (auto &operand : externalOperands(nodes, nodes))
    if (!llvm::is_contained(operands, operand))
      operands.push_back(operand);
  for (auto &[value, broadcastShape] : operands)
    requireBroadcast(broadcastShape, shape);
  SmallVector<Access> ins;
  for (auto &[value, broadcastShape] : operands)
    ins.push_back(k.broadcast(k.view(k.input(value), broadcastShape), shape));
  Buffer out = k.output(result);
  k.map(shape, ins, {k.whole(out)}, [&](ArrayRef<Num> x) -> SmallVector<Num> {
    auto load = [&](Value value, ArrayRef<int64_t> broadcastShape) -> Num {
      for (auto [i, operand] : llvm::enumerate(operands))
        if (operand.first == value && ArrayRef<int64_t>(operand.second) == broadcastShape)
          return x[i];
      llvm_unreachable("every external operand was listed");
    };
    return {evaluate(k, nodes, llvm::DenseMap<Value, Num *>(), load, nullptr)};
  });
}

void lowerGroup(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  for (NodeOp node : nodes)
    if (std::string why = whyNotLowered(node); !why.empty())
      throw Unsupported(why);
  const Operator *entry = findOperator(root);
  NodeOp last = nodes.back();
  if (llvm::all_of(last->getResults(),
                   [](Value result) { return result.use_empty() || product(shapeOf(result)) == 0; })) {
    k.output(last->getResult(0));
    return;
  }
  if (entry->formula)
    lowerElementwise(k, nodes);
  else
    entry->lower(k, nodes);
}

void requireRank(Value value, size_t least) {
  if (shapeOf(value).size() < least)
    throw Unsupported("a tensor of rank " + std::to_string(shapeOf(value).size()) + " instead of " +
                      std::to_string(least) + " or more");
}

int64_t normalAxis(int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    throw Unsupported("axis " + std::to_string(axis) + " of a tensor of rank " + std::to_string(rank));
  return axis < 0 ? axis + rank : axis;
}

SmallVector<int64_t> requireInts(NodeOp node, unsigned i, StringRef what) {
  if (!node.input(i))
    return {};
  if (auto values = constantInts(node.input(i)))
    return *values;
  throw Unsupported((what + " must be known at compile time").str());
}

} // namespace tilewright::cpu
