//===- Segment.cpp - the layers between two host operators ----------------===//

#include "passes/memory/Segment.h"

#include "dialects/onnx/OnnxDialect.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::memory;
using namespace tilewright::tile;

bool memory::isDeviceOp(Operation *op) { return isa<ToMapOp, FromMapOp, GroupOp, TileRootInterface>(op); }

DenseMap<Operation *, unsigned> memory::stagesOf(Block &block) {
  DenseMap<Operation *, unsigned> stages;
  for (Operation &op : block.without_terminator()) {
    unsigned stage = 0;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *producer = operand.getDefiningOp();
        auto found = producer ? stages.find(producer) : stages.end();
        if (found != stages.end())
          stage = std::max(stage, found->second + (isDeviceOp(producer) && !isDeviceOp(&op) ? 1 : 0));
      }
    });
    stages[&op] = stage;
  }
  for (auto input : block.getOps<ToMapOp>()) {
    std::optional<unsigned> first;
    for (Operation *user : input->getUsers())
      if (auto found = stages.find(block.findAncestorOpInBlock(*user)); found != stages.end())
        first = std::min(first.value_or(found->second), found->second);
    if (first)
      stages[input] = *first;
  }
  return stages;
}

SmallVector<SmallVector<Operation *>> memory::deviceRuns(func::FuncOp function) {
  SmallVector<SmallVector<Operation *>> runs;
  bool open = false;
  for (Operation &op : function.getBody().front()) {
    if (isDeviceOp(&op)) {
      if (!open)
        runs.emplace_back();
      open = true;
      runs.back().push_back(&op);
    } else if (!isa<onnx::ConstantOp, onnx::NoneOp>(op)) {
      open = false;
    }
  }
  return runs;
}

int64_t memory::ringBytes(const TargetDescription &target, ArrayRef<int64_t> shape, Type element, int64_t rows,
                          int64_t samples, bool packed) {
  if (packed)
    return samples * rows * target.packedRowBytes(shape[3], shape[1]);
  return target.mapBytes({samples, shape[1], rows, shape[3]}, element);
}

int64_t memory::rowsOf(TileRootInterface root, unsigned index, int64_t rows) {
  IterationSpace space = root.getIterationSpace();
  SmallVector<int64_t> offsets(5, 0), sizes = space.parallel();
  sizes[3] = std::min(rows, space.height);
  int64_t needed = operandSlices(root, index, offsets, sizes)[2].size;
  return std::max<int64_t>(1, std::min(needed, root.getOperandType(index).getDimSize(2)));
}

int64_t memory::minimalFootprint(const TargetDescription &target, TileRootInterface root) {
  RankedTensorType result = root.getResultType();
  int64_t bytes = ringBytes(target, result.getShape(), result.getElementType(), 1, 1, false);
  for (unsigned index : root.getMapOperands()) {
    RankedTensorType type = root.getOperandType(index);
    bytes += ringBytes(target, type.getShape(), type.getElementType(), rowsOf(root, index, 1), 1,
                       target.packsOperand(root, index));
  }
  return bytes;
}

LogicalResult Segment::verify() const {
  for (const Step &step : steps)
    for (TileRootInterface layer : step.layers)
      for (unsigned index : layer.getMapOperands())
        if (!residences.count(layer->getOperand(index)) && !isInternal(layer->getOperand(index)))
          return layer->emitError("operand ")
                 << index << " does not come from a layer or a tile.to_map of the same program";
  return success();
}

bool Segment::isInternal(Value value) const {
  Operation *op = value.getDefiningOp();
  return op && isa<GroupOp>(op->getParentOp()) &&
         llvm::none_of(value.getUses(), [](OpOperand &use) { return isa<YieldOp>(use.getOwner()); });
}

int Segment::newStorage(Value value, int step) {
  auto type = cast<RankedTensorType>(value.getType());
  Storage storage;
  storage.shape.assign(type.getShape().begin(), type.getShape().end());
  storage.element = type.getElementType();
  storage.first = storage.last = step;
  storages.push_back(storage);
  residences[value] = {static_cast<int>(storages.size()) - 1, 0, 0, 0};
  return storages.size() - 1;
}

void Segment::touch(Value value, int step) {
  auto found = residences.find(value);
  if (found == residences.end())
    return;
  Storage &storage = storages[found->second.storage];
  storage.first = std::min<int64_t>(storage.first, step);
  storage.last = std::max<int64_t>(storage.last, step);
  if (!llvm::is_contained(storage.touches, step))
    storage.touches.push_back(step);
}

/// Residences of a concatenation's parts and of a slice, given that of the other side.
void Segment::place(MoveOp move) {
  Value result = move.getResult();
  if (move.getKind() == MoveKind::Slice) {
    Residence residence = residences.lookup(move.getInputs()[0]);
    ArrayRef<int64_t> offsets = *move.getOffsets();
    residence.channel += offsets[1];
    residence.row += offsets[2];
    residence.column += offsets[3];
    residences[result] = residence;
    return;
  }
  Residence residence = residences.lookup(result);
  for (Value input : move.getInputs()) {
    residences[input] = residence;
    if (residence.channel % target.channelWord() != 0)
      storages[residence.storage].pinned = true;
    residence.channel += cast<RankedTensorType>(input.getType()).getDimSize(1);
  }
}

Segment::Segment(ArrayRef<Operation *> deviceOps, const TargetDescription &target) : target(target) {
  for (Operation *op : deviceOps) {
    if (auto input = dyn_cast<ToMapOp>(op)) {
      inputs.push_back(input);
    } else if (auto output = dyn_cast<FromMapOp>(op)) {
      outputs.push_back(output);
    } else if (auto move = dyn_cast<MoveOp>(op)) {
      moves.push_back(move);
    } else if (auto group = dyn_cast<GroupOp>(op)) {
      Step step{op, {}};
      for (auto root : group.getBody().front().getOps<TileRootInterface>())
        step.layers.push_back(root);
      steps.push_back(step);
    } else {
      steps.push_back({op, {cast<TileRootInterface>(op)}});
    }
  }
  // Concatenations from the last to the first, so that the outermost one owns the storage.
  for (MoveOp move : llvm::reverse(moves)) {
    if (move.getKind() != MoveKind::Concat)
      continue;
    if (!residences.count(move.getResult()))
      newStorage(move.getResult(), steps.size());
    place(move);
  }
  for (ToMapOp input : inputs) {
    int storage = newStorage(input.getResult(), steps.size());
    storages[storage].enters = storages[storage].streamed = true;
  }
  for (auto [i, step] : llvm::enumerate(steps))
    for (Value result : step.op->getResults())
      if (!residences.count(result))
        newStorage(result, i);
  for (MoveOp move : moves)
    if (move.getKind() == MoveKind::Slice)
      place(move);
  for (Storage &storage : storages) {
    storage.first = steps.size();
    storage.last = 0;
  }
  // Groups yield values of their last layers: inside they have the residence of the group's result.
  for (Step &step : steps)
    if (auto group = dyn_cast<GroupOp>(step.op))
      for (auto [inner, outer] :
           llvm::zip_equal(group.getBody().front().getTerminator()->getOperands(), group.getResults()))
        residences[inner] = residences.lookup(outer);
  for (auto [i, step] : llvm::enumerate(steps)) {
    for (Value result : step.op->getResults())
      touch(result, i);
    for (TileRootInterface layer : step.layers)
      for (unsigned index : layer.getMapOperands())
        touch(layer->getOperand(index), i);
  }
  for (FromMapOp output : outputs) {
    Residence residence = residences.lookup(output.getMap());
    storages[residence.storage].leaves = true;
  }
}
