//===- ControlFlow.cpp - shapes of If and Loop ----------------------------===//

#include "passes/shapes/ShapeTable.h"

#include <set>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

static Type elementOf(Value value) {
  auto type = dyn_cast<TensorType>(value.getType());
  return type && !isa<onnx::UnknownType>(type.getElementType()) ? type.getElementType() : Type();
}

/// What holds of both: equal dimensions stay, others become open.
static std::optional<Dims> merge(ShapeContext &context, const std::optional<Dims> &a, const std::optional<Dims> &b) {
  if (!a || !b || a->size() != b->size())
    return std::nullopt;
  Dims result;
  for (auto [x, y] : llvm::zip_equal(*a, *b))
    result.push_back(x == y ? x : context.fresh());
  return result;
}

static Block *body(onnx::NodeOp node, StringRef name) {
  for (auto [i, region] : llvm::enumerate(node.getBodies()))
    if (cast<StringAttr>((*node.getRegionNames())[i]).getValue() == name && !region.empty())
      return &region.front();
  return nullptr;
}

static LogicalResult ifRule(ShapeContext &context) {
  Block *branches[] = {body(context.node, "then_branch"), body(context.node, "else_branch")};
  for (Block *branch : branches) {
    if (!branch || branch->getNumArguments() != 0 || branch->getTerminator()->getNumOperands() != context.results())
      return context.error() << "needs a then_branch and an else_branch without inputs and with " << context.results()
                             << " outputs each";
    if (failed(context.inferBody(*branch, /*isFinal=*/true)))
      return failure();
  }
  for (unsigned i = 0; i < context.results(); ++i) {
    Value a = branches[0]->getTerminator()->getOperand(i), b = branches[1]->getTerminator()->getOperand(i);
    Type x = elementOf(a), y = elementOf(b);
    if (x && y && x != y)
      return context.error() << "output " << i << " is " << onnxTypeName(x) << " in one branch and " << onnxTypeName(y)
                             << " in the other";
    context.setType(i, x ? x : y);
    if (auto shape = merge(context, context.factsOf(a).shape, context.factsOf(b).shape))
      context.set(i, *shape);
  }
  return success();
}

/// Carried values keep their shape where the body gives it back, and are open elsewhere: widening ends after at most
/// one round per dimension, as a dimension is opened once. Only the last round may turn shapes into constants.
static LogicalResult loopRule(ShapeContext &context) {
  Block *block = body(context.node, "body");
  size_t carried = context.inputs() < 2 ? 0 : context.inputs() - 2;
  if (!block || block->getNumArguments() != carried + 2 || block->getTerminator()->getNumOperands() < carried + 1 ||
      context.results() + 1 > block->getTerminator()->getNumOperands())
    return context.error() << "needs a body whose inputs and outputs fit the loop's";
  Builder builder(context.symbols.context);
  SmallVector<std::optional<Dims>> shapes;
  for (size_t i = 0; i < carried; ++i) {
    auto shape = context.shape(static_cast<unsigned>(i + 2));
    shapes.push_back(shape ? std::optional<Dims>(Dims(*shape)) : std::nullopt);
  }
  Operation *yield = block->getTerminator();
  std::set<std::pair<size_t, size_t>> opened;
  for (bool again = true, isFinal = false; again || !isFinal;) {
    isFinal = !again;
    again = false;
    context.setArgument(block->getArgument(0), builder.getI64Type(), Dims());
    context.setArgument(block->getArgument(1), builder.getI1Type(), Dims());
    for (size_t i = 0; i < carried; ++i)
      context.setArgument(block->getArgument(i + 2), context.elementType(static_cast<unsigned>(i + 2)), shapes[i]);
    if (failed(context.inferBody(*block, isFinal)))
      return failure();
    for (size_t i = 0; i < carried; ++i) {
      const std::optional<Dims> given = context.factsOf(yield->getOperand(i + 1)).shape;
      if (!shapes[i] || given == shapes[i])
        continue;
      bool open = given && given->size() == shapes[i]->size();
      for (size_t d = 0; open && d < given->size(); ++d)
        if ((*given)[d] != (*shapes[i])[d] && opened.insert({i, d}).second) {
          (*shapes[i])[d] = context.fresh();
          again = true;
        }
      if (!open) {
        shapes[i].reset();
        again = true;
      }
    }
  }
  for (unsigned i = 0; i < context.results(); ++i) {
    Value value = yield->getOperand(i + 1);
    context.setType(i, elementOf(value));
    const std::optional<Dims> shape = context.factsOf(value).shape;
    if (i < carried) {
      if (shapes[i])
        context.set(i, *shapes[i]);
    } else if (shape) {
      Dims stacked{context.fresh()};
      stacked.append(*shape);
      context.set(i, stacked);
    }
  }
  return success();
}

void shapes::addControlFlowRules(ShapeTable &table) {
  table.add("If", ifRule);
  table.add("Loop", loopRule);
}
