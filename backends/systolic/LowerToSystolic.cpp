//===- LowerToSystolic.cpp - decided tile layers to array programs --------===//
//
// Splits a function into what the host and what the array does, in stages: a
// layer belongs to the first program after all host operators that it depends
// on. Each program then goes through the MLIR-free part of this back end.
//
//===----------------------------------------------------------------------===//

#include "backends/systolic/CollectLayers.h"
#include "backends/systolic/CompileProgram.h"
#include "backends/systolic/Passes.h"
#include "backends/systolic/ProgramTranslation.h"

#include "dialects/onnx/OnnxDialect.h"
#include "passes/memory/Segment.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {
#define GEN_PASS_DEF_LOWERTOSYSTOLICPASS
#include "backends/systolic/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;
using namespace tilewright::systolic;
using memory::isDeviceOp;

/// Name in the model of a tensor that host and array share.
static std::string tensorName(Value value, func::FuncOp function) {
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    if (auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(), onnx::kNameAttr))
      return name.str();
    return "argument " + std::to_string(argument.getArgNumber());
  }
  for (OpOperand &use : value.getUses())
    if (llvm::isa<func::ReturnOp>(use.getOwner()))
      if (auto name = function.getResultAttrOfType<StringAttr>(use.getOperandNumber(), onnx::kNameAttr))
        return name.str();
  auto result = cast<OpResult>(value);
  if (auto names = result.getOwner()->getAttrOfType<ArrayAttr>(onnx::kOutputNamesAttr);
      names && result.getResultNumber() < names.size())
    if (auto name = dyn_cast<StringAttr>(names[result.getResultNumber()]))
      return name.str();
  return {};
}

namespace {

struct LowerToSystolicPass final : tilewright::impl::LowerToSystolicPassBase<LowerToSystolicPass> {
  using LowerToSystolicPassBase::LowerToSystolicPassBase;

  void runOnOperation() override {
    ArrayConfig config;
    try {
      config = ArrayConfig::load(array);
    } catch (const Error &error) {
      getOperation().emitError(error.what());
      return signalPassFailure();
    }
    for (auto function : llvm::make_early_inc_range(getOperation().getOps<func::FuncOp>()))
      if (!function.isExternal() && failed(lower(function, config)))
        return signalPassFailure();
  }

private:
  LogicalResult lower(func::FuncOp function, const ArrayConfig &config);
  LogicalResult collectStage(func::FuncOp function, ArrayRef<Operation *> ops, LayerCollector &collector,
                             SmallVectorImpl<Value> &inputs, SmallVectorImpl<Value> &outputs);
};

} // namespace

/// What a tensor without a name in the model is called: the layer that makes its map, else one that reads it.
static std::string layerName(Value map) {
  auto nameOf = [](Operation *op) {
    auto name = op ? op->getAttrOfType<StringAttr>("layer") : StringAttr();
    return name ? name.str() : std::string();
  };
  std::string name = nameOf(map.getDefiningOp());
  for (Operation *user : map.getUsers())
    if (name.empty())
      name = nameOf(user);
  return name;
}

/// The tensor of a to_map or from_map op as the runtime copies it.
template <typename OpTy>
static FailureOr<DeviceTensor> deviceTensor(OpTy op, Value mapValue, Value host, func::FuncOp function,
                                            int64_t &arenaBytes) {
  if (!op.getPlacement())
    return op.emitError("has no place in DRAM: place-buffers must run before");
  DramPlace place = dramPlace(*op.getPlacement());
  auto map = cast<RankedTensorType>(mapValue.getType());
  DeviceTensor tensor;
  tensor.name = tensorName(host, function);
  if (tensor.name.empty())
    tensor.name = layerName(mapValue);
  tensor.address = place.offset;
  tensor.layout = place.layout;
  tensor.isUnsigned = map.getElementType().isUnsignedInteger(8);
  llvm::copy(map.getShape(), tensor.shape.begin());
  llvm::copy(op.getStrides(), tensor.hostStrides.begin());
  ArrayRef<int64_t> s = map.getShape();
  tensor.bytes =
      place.layout == DramLayout::Blocked ? s[0] * ((s[1] + 15) / 16) * s[2] * s[3] * 16 : s[0] * s[1] * s[2] * s[3];
  arenaBytes = std::max<int64_t>(arenaBytes, (tensor.address + tensor.bytes + 63) / 64 * 64);
  return tensor;
}

LogicalResult LowerToSystolicPass::collectStage(func::FuncOp function, ArrayRef<Operation *> ops,
                                                LayerCollector &collector, SmallVectorImpl<Value> &inputs,
                                                SmallVectorImpl<Value> &outputs) {
  for (Operation *op : ops) {
    if (auto toMap = dyn_cast<tile::ToMapOp>(op)) {
      auto tensor = deviceTensor(toMap, toMap.getResult(), toMap.getTensor(), function, collector.program.arenaBytes);
      if (failed(tensor))
        return failure();
      collector.program.inputs.push_back(*tensor);
      inputs.push_back(toMap.getTensor());
    } else if (auto fromMap = dyn_cast<tile::FromMapOp>(op)) {
      auto tensor =
          deviceTensor(fromMap, fromMap.getMap(), fromMap.getResult(), function, collector.program.arenaBytes);
      if (failed(tensor))
        return failure();
      collector.program.outputs.push_back(*tensor);
      outputs.push_back(fromMap.getResult());
    } else if (failed(collector.add(op))) {
      return failure();
    }
  }
  return success();
}

LogicalResult LowerToSystolicPass::lower(func::FuncOp function, const ArrayConfig &config) {
  Block &body = function.getBody().front();
  DenseMap<Operation *, unsigned> stages = memory::stagesOf(body);
  unsigned count = 0;
  for (auto [op, stage] : stages)
    if (isDeviceOp(op))
      count = std::max(count, stage + 1);
  if (count == 0)
    return success();

  std::deque<LayerCollector> collectors(count);
  std::vector<SmallVector<Operation *>> deviceOps(count);
  std::vector<SmallVector<Value>> inputs(count), outputs(count);
  for (Operation &op : body.without_terminator())
    if (isDeviceOp(&op))
      deviceOps[stages[&op]].push_back(&op);
  std::vector<LayerProgram> programs;
  for (unsigned stage = 0; stage < count; ++stage) {
    if (failed(collectStage(function, deviceOps[stage], collectors[stage], inputs[stage], outputs[stage])))
      return failure();
    collectors[stage].program.name = (function.getName() + (count > 1 ? "_" + std::to_string(stage) : "")).str();
    programs.push_back(collectors[stage].program);
  }

  std::vector<ScheduledProgram> scheduled;
  try {
    scheduled = schedulePrograms(config, programs);
  } catch (const Error &error) {
    return function.emitError(error.what());
  }

  // Host ops by stage, each stage followed by its program; the order within a stage stays.
  SmallVector<std::pair<unsigned, Operation *>> hostOps;
  for (Operation &op : body.without_terminator())
    if (!isDeviceOp(&op))
      hostOps.push_back({stages[&op], &op});
  OpBuilder builder(function);
  std::vector<RunOp> runs;
  for (unsigned stage = 0; stage < count; ++stage) {
    builder.setInsertionPoint(function);
    std::string name = "array_" + scheduled[stage].name;
    scheduled[stage].name = name;
    createProgramOp(builder, function.getLoc(), array, std::move(scheduled[stage]));
    SmallVector<Type> types;
    for (Value output : outputs[stage])
      types.push_back(output.getType());
    builder.setInsertionPoint(body.getTerminator());
    runs.push_back(RunOp::create(builder, function.getLoc(), types, name, inputs[stage]));
    for (auto [output, result] : llvm::zip(outputs[stage], runs.back().getOutputs()))
      output.replaceAllUsesWith(result);
  }
  unsigned placed = 0;
  for (unsigned stage = 0; stage <= count; ++stage) {
    for (auto [hostStage, op] : hostOps)
      if (hostStage == stage || (stage == count && hostStage > stage))
        op->moveBefore(body.getTerminator());
    if (placed < count)
      runs[placed++]->moveBefore(body.getTerminator());
  }
  for (auto &ops : llvm::reverse(deviceOps))
    for (Operation *op : llvm::reverse(ops)) {
      op->dropAllUses();
      op->erase();
    }
  // Their packed form is in the programs now.
  for (auto constant : llvm::make_early_inc_range(body.getOps<onnx::ConstantOp>()))
    if (constant.use_empty())
      constant.erase();
  return success();
}
