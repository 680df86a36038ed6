//===- Partition.cpp - what runs where, and in which order ----------------===//
//
// Orders a function in stages: host operators, then the layers that need no other host operator in between, then the
// next host operators, and so on, so that each stage's layers are one program. Everything left to the host gets its
// reason.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"
#include "passes/layers/LayerFormer.h"
#include "passes/memory/Segment.h"
#include "passes/quantization/Operators.h"

namespace tilewright {
#define GEN_PASS_DEF_PARTITIONPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::memory;

/// Why a node has no layer, when layer formation did not say.
static std::string reasonFor(onnx::NodeOp node, const TargetDescription &target) {
  std::string op = node.getQualifiedName();
  auto reads = [&](auto predicate) { return llvm::any_of(node->getOperands(), predicate); };
  auto fromNode = [](Value value, StringRef name) {
    auto producer = value.getDefiningOp<onnx::NodeOp>();
    return producer && producer.is(name);
  };
  if (node.is("QuantizeLinear") || node.is("DequantizeLinear")) {
    bool enters = llvm::any_of(node->getUsers(), [](Operation *user) { return isa<tile::ToMapOp>(user); });
    bool leaves = reads([](Value value) { return value.getDefiningOp<tile::FromMapOp>() != nullptr; });
    if (enters || leaves)
      return enters ? "quantizes what enters the array" : "dequantizes what leaves the array";
    if (onnx::constantValue(node.input(0)))
      return "a constant of an operator of the host";
    return "between operators of the host";
  }
  if (node->getNumResults() > 0)
    if (auto type = dyn_cast<ShapedType>(node->getResult(0).getType()); !type || !type.hasStaticShape())
      return op + ": its shape is not static";
  auto isConstant = [](Value value) {
    auto producer = value.getDefiningOp<onnx::NodeOp>();
    return onnx::constantValue(value) ||
           (producer && producer.is("DequantizeLinear") && onnx::constantValue(producer.input(0)));
  };
  if ((node.is("Mul") || node.is("MatMul") || node.is("Gemm")) && node->getNumOperands() > 1 &&
      !isConstant(node.input(0)) && !isConstant(node.input(1)))
    return op + ": a product of two activations; the array multiplies by constants";
  if (node->getNumResults() > 0)
    if (auto type = dyn_cast<ShapedType>(node->getResult(0).getType());
        type && !isa<FloatType>(type.getElementType())) {
      if (type.getElementType().isInteger(8))
        return op + " of 8-bit data that operators of the host read";
      std::string element;
      llvm::raw_string_ostream(element) << type.getElementType();
      return op + " computes in " + element + " outside quantized layers";
    }
  if (!hasQuantizedForm(node)) {
    // Additions and the like do have forms.
    bool tensor = (node.is("Add") || node.is("Sub") || node.is("Mul") || node.is("Div")) && reads([](Value value) {
                    ElementsAttr constant = onnx::constantValue(value);
                    return constant && constant.getNumElements() > 1;
                  });
    return op + (tensor ? " with a constant tensor" : "") + " has no form on " + target.name();
  }
  for (Value operand : node->getOperands()) {
    if (onnx::isAbsent(operand) || isConstant(operand) || fromNode(operand, "DequantizeLinear"))
      continue;
    auto producer = operand.getDefiningOp<onnx::NodeOp>();
    return op + ": its operand, " + (producer ? "made by " + producer.getQualifiedName() : "an input of the model") +
           ", is not quantized";
  }
  return op + (llvm::any_of(node->getUsers(),
                            [](Operation *user) {
                              auto consumer = dyn_cast<onnx::NodeOp>(user);
                              return consumer && consumer.is("QuantizeLinear");
                            })
                   ? " has no form on " + target.name()
                   : ": its result is not quantized");
}

namespace {
struct PartitionPass final : tilewright::impl::PartitionPassBase<PartitionPass> {
  using PartitionPassBase::PartitionPassBase;

  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (failed(withTarget(function, target,
                          [&](const TargetDescription &description) { return partition(function, description); })))
      signalPassFailure();
  }

private:
  LogicalResult partition(func::FuncOp function, const TargetDescription &description) {
    Block &block = function.getBody().front();
    splitRelayouts(block);
    stages = stagesOf(block);
    splitCrossings(block);
    stages = stagesOf(block);
    // Stable: host operators of a stage before its layers, each in the order they were in.
    SmallVector<std::tuple<unsigned, bool, size_t, Operation *>> order;
    for (Operation &op : block.without_terminator())
      order.push_back({stages.lookup(&op), isDeviceOp(&op), order.size(), &op});
    llvm::sort(order);
    for (auto &entry : order)
      std::get<Operation *>(entry)->moveBefore(block.getTerminator());
    for (auto node : block.getOps<onnx::NodeOp>())
      if (!node->hasAttr(layers::kHostReasonAttr))
        node->setAttr(layers::kHostReasonAttr, StringAttr::get(&getContext(), reasonFor(node, description)));
    return success();
  }

  /// The host takes `tensor` from one program of the array to a later one.
  static Value passOn(OpBuilder &builder, Location loc, Value tensor, StringRef reason) {
    auto node = onnx::NodeOp::create(builder, loc, TypeRange{tensor.getType()}, ValueRange{tensor}, "Identity", "", 16,
                                     builder.getDictionaryAttr({}), ArrayAttr(), 0);
    node->setAttr(layers::kHostReasonAttr, builder.getStringAttr(reason));
    return node->getResult(0);
  }

  /// A program reads its inputs before its results are there: a result that is read again in another layout than it was
  /// made in is the input of a later program.
  void splitRelayouts(Block &block) {
    OpBuilder builder(&getContext());
    DenseMap<Value, Value> passed;
    for (auto input : block.getOps<tile::ToMapOp>()) {
      Value tensor = input.getTensor();
      if (!tensor.getDefiningOp<tile::FromMapOp>())
        continue;
      Value &result = passed[tensor];
      if (!result) {
        builder.setInsertionPointAfter(tensor.getDefiningOp());
        result = passOn(builder, tensor.getLoc(), tensor, "is read again in another layout than it was made in");
      }
      input.getTensorMutable().assign(result);
    }
  }

  /// A map that a later program reads passes through the host.
  void splitCrossings(Block &block) {
    OpBuilder builder(&getContext());
    DenseMap<std::pair<Value, unsigned>, Value> crossed;
    for (Operation &op : llvm::make_early_inc_range(block.without_terminator())) {
      if (!isDeviceOp(&op))
        continue;
      for (OpOperand &operand : op.getOpOperands()) {
        Operation *producer = operand.get().getDefiningOp();
        if (!producer || !isDeviceOp(producer) || stages.lookup(producer) == stages.lookup(&op))
          continue;
        Value &map = crossed[{operand.get(), stages.lookup(&op)}];
        if (!map) {
          auto type = cast<RankedTensorType>(operand.get().getType());
          auto strides = builder.getDenseI64ArrayAttr(tile::mapStrides(type.getShape(), {0, 1, 2, 3}));
          builder.setInsertionPoint(&op);
          if (auto input = dyn_cast<tile::ToMapOp>(producer)) { // from the host anyway: once more
            map = builder.clone(*input)->getResult(0);
          } else {
            Location loc = producer->getLoc();
            Value host = tile::FromMapOp::create(builder, loc, type, operand.get(), strides, tile::DramAttr());
            Value passed = passOn(builder, loc, host, "passes from one program of the array to a later one");
            map = tile::ToMapOp::create(builder, loc, type, passed, strides, tile::DramAttr());
          }
        }
        operand.set(map);
      }
    }
  }

  DenseMap<Operation *, unsigned> stages;
};
} // namespace
