//===- Stages.cpp - a kernel as a list of stages --------------------------===//

#include "backends/cpu/Stages.h"
#include "backends/cpu/KernelBuilder.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/SCF/Utils/Utils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;

namespace tilewright::cpu {

static std::optional<int64_t> tripCount(scf::ForOp loop) {
  auto begin = getConstantIntValue(loop.getLowerBound()), end = getConstantIntValue(loop.getUpperBound());
  auto step = getConstantIntValue(loop.getStep());
  if (!begin || *begin != 0 || !end || !step || *step != 1)
    return std::nullopt;
  return *end;
}

LogicalResult lowerLinalgToLoops(func::FuncOp kernel) {
  SmallVector<linalg::LinalgOp> ops;
  kernel.walk([&](linalg::LinalgOp op) { ops.push_back(op); });
  IRRewriter rewriter(kernel.getContext());
  for (linalg::LinalgOp op : ops) {
    bool parallel = op->hasAttr(kParallelAttr);
    SmallVector<utils::IteratorType> iterators = op.getIteratorTypesArray();
    rewriter.setInsertionPoint(op);
    FailureOr<linalg::LinalgLoops> loops = linalg::linalgOpToLoops(rewriter, op);
    if (failed(loops))
      return op.emitError("cannot be lowered to loops");
    rewriter.eraseOp(op);
    if (!parallel || loops->empty())
      continue;
    SmallVector<scf::ForOp> nest;
    for (auto [loop, iterator] : llvm::zip(*loops, iterators))
      if (iterator == utils::IteratorType::parallel)
        nest.push_back(cast<scf::ForOp>(loop));
      else
        break;
    // A short outermost loop is joined with the next: its iterations alone could not be shared out evenly.
    if (nest.size() > 1 && tripCount(nest[0]).value_or(8) < 8 &&
        failed(coalesceLoops(rewriter, MutableArrayRef(nest).take_front(2))))
      return failure();
    nest[0]->setAttr(kParallelAttr, rewriter.getUnitAttr());
  }
  return success();
}

namespace {
/// Builds one stage function; values of the kernel are brought in by need.
struct StageBuilder {
  func::FuncOp kernel, stage;
  IRMapping mapping;
  SmallVector<unsigned> arguments;
  OpBuilder b;

  StageBuilder(func::FuncOp kernel, const Twine &name) : kernel(kernel), b(kernel.getContext()) {
    b.setInsertionPoint(kernel);
    stage = func::FuncOp::create(b, kernel.getLoc(), name.str(), b.getFunctionType({}, {}));
    stage.setPrivate();
    b.setInsertionPointToStart(stage.addEntryBlock());
    func::ReturnOp::create(b, kernel.getLoc());
    b.setInsertionPoint(stage.getBody().front().getTerminator());
  }

  /// Makes `value`, defined outside of the moved operations, known in the stage.
  LogicalResult bring(Value value) {
    if (mapping.contains(value))
      return success();
    if (auto argument = dyn_cast<BlockArgument>(value)) {
      unsigned position = stage.getNumArguments();
      (void)stage.insertArgument(position, value.getType(), DictionaryAttr(), kernel.getLoc());
      stage.setArgAttr(position, LLVM::LLVMDialect::getNoAliasAttrName(), b.getUnitAttr());
      mapping.map(value, stage.getArgument(position));
      arguments.push_back(argument.getArgNumber());
      return success();
    }
    Operation *producer = value.getDefiningOp();
    if (producer->getNumRegions() != 0)
      return producer->emitError("a value of one stage is needed in another");
    for (Value operand : producer->getOperands())
      if (failed(bring(operand)))
        return failure();
    b.clone(*producer, mapping);
    return success();
  }

  LogicalResult bringOperandsOf(Operation *op, const llvm::DenseSet<Operation *> &moved) {
    LogicalResult ok = success();
    op->walk([&](Operation *inner) {
      for (Value operand : inner->getOperands()) {
        Operation *owner = operand.getDefiningOp();
        if (!owner)
          owner = cast<BlockArgument>(operand).getOwner()->getParentOp();
        bool outside =
            owner == kernel.getOperation() || (owner->getParentOp() == kernel.getOperation() && owner != op &&
                                               !moved.contains(owner) && operand.getDefiningOp());
        if (outside && failed(bring(operand)))
          ok = failure();
      }
    });
    return ok;
  }
};
} // namespace

/// Constants, views and the like: brought into stages that need them.
static bool isPlumbing(Operation *op) {
  return op->getNumRegions() == 0 && !isa<memref::StoreOp>(op) && op->getNumResults() > 0;
}

FailureOr<std::vector<Stage>> outlineStages(func::FuncOp kernel) {
  std::vector<Stage> stages;
  std::string prefix = (kernel.getName() + "_stage").str();
  SmallVector<Operation *> body;
  for (Operation &op : kernel.getBody().front().without_terminator())
    body.push_back(&op);

  auto finish = [&](StageBuilder &builder, int64_t count) {
    stages.push_back({builder.stage.getName().str(), builder.arguments, count});
  };
  for (size_t i = 0; i < body.size();) {
    if (isPlumbing(body[i])) {
      ++i;
      continue;
    }
    auto loop = dyn_cast<scf::ForOp>(body[i]);
    StageBuilder builder(kernel, prefix + Twine(stages.size()));
    if (loop && loop->hasAttr(kParallelAttr)) {
      std::optional<int64_t> count = tripCount(loop);
      if (!count)
        return loop.emitError("a parallel loop needs a constant trip count");
      if (failed(builder.bringOperandsOf(loop, {})))
        return failure();
      OpBuilder &b = builder.b;
      auto clone = cast<scf::ForOp>(b.clone(*loop, builder.mapping));
      unsigned position = builder.stage.getNumArguments();
      for (unsigned n = 0; n < 2; ++n)
        (void)builder.stage.insertArgument(position + n, b.getI64Type(), DictionaryAttr(), kernel.getLoc());
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPoint(clone);
      auto asIndex = [&](unsigned n) {
        return arith::IndexCastOp::create(b, kernel.getLoc(), b.getIndexType(),
                                          builder.stage.getArgument(position + n));
      };
      clone.setLowerBound(asIndex(0));
      clone.setUpperBound(asIndex(1));
      clone->removeAttr(kParallelAttr);
      finish(builder, *count);
      ++i;
      continue;
    }
    // Everything up to the next parallel loop.
    llvm::DenseSet<Operation *> moved;
    for (; i < body.size(); ++i) {
      auto next = dyn_cast<scf::ForOp>(body[i]);
      if (next && next->hasAttr(kParallelAttr))
        break;
      if (isPlumbing(body[i]))
        continue;
      if (failed(builder.bringOperandsOf(body[i], moved)))
        return failure();
      builder.b.clone(*body[i], builder.mapping);
      moved.insert(body[i]);
    }
    finish(builder, 0);
  }
  kernel.erase();
  return stages;
}

void emitEntry(ModuleOp module, StringRef symbol, ArrayRef<Stage> stages, ArrayRef<PointerSource> sources) {
  MLIRContext *context = module.getContext();
  OpBuilder b(context);
  Location loc = module.getLoc();
  auto pointer = LLVM::LLVMPointerType::get(context);
  Type i64 = b.getI64Type();
  auto nothing = LLVM::LLVMVoidType::get(context);
  auto loadFrom = [&](Value base, int64_t slot) -> Value {
    Value at = LLVM::GEPOp::create(b, loc, pointer, pointer, base, ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(slot)});
    return LLVM::LoadOp::create(b, loc, pointer, at);
  };
  auto stagePointers = [&](const Stage &stage, Value buffers) {
    SmallVector<Value> pointers;
    for (unsigned argument : stage.arguments) {
      Value base = loadFrom(buffers, sources[argument].buffer);
      if (sources[argument].offset != 0)
        base = LLVM::GEPOp::create(
            b, loc, pointer, b.getI8Type(), base,
            ValueRange{LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(sources[argument].offset))});
      pointers.push_back(base);
    }
    return pointers;
  };

  for (const Stage &stage : stages) {
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(stage.function);
    function.setLinkage(LLVM::Linkage::Internal);
    if (stage.count == 0)
      continue;
    // void body(void *buffers, int64_t begin, int64_t end)
    b.setInsertionPointToEnd(module.getBody());
    auto body =
        LLVM::LLVMFuncOp::create(b, loc, stage.function + "_body",
                                 LLVM::LLVMFunctionType::get(nothing, {pointer, i64, i64}), LLVM::Linkage::Internal);
    b.setInsertionPointToStart(body.addEntryBlock(b));
    SmallVector<Value> operands = stagePointers(stage, body.getArgument(0));
    operands.push_back(body.getArgument(1));
    operands.push_back(body.getArgument(2));
    LLVM::CallOp::create(b, loc, function, operands);
    LLVM::ReturnOp::create(b, loc, ValueRange());
  }

  b.setInsertionPointToEnd(module.getBody());
  auto entry = LLVM::LLVMFuncOp::create(b, loc, symbol, LLVM::LLVMFunctionType::get(nothing, {pointer, pointer}));
  b.setInsertionPointToStart(entry.addEntryBlock(b));
  Value buffers = entry.getArgument(0), threads = entry.getArgument(1);
  for (const Stage &stage : stages) {
    auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(stage.function);
    if (stage.count == 0) {
      LLVM::CallOp::create(b, loc, function, stagePointers(stage, buffers));
      continue;
    }
    // TwHostContext: { parallel_for, pool }
    Value parallelFor = loadFrom(threads, 0), pool = loadFrom(threads, 1);
    Value count = LLVM::ConstantOp::create(b, loc, i64, b.getI64IntegerAttr(stage.count));
    Value body = LLVM::AddressOfOp::create(b, loc, pointer, stage.function + "_body");
    auto type = LLVM::LLVMFunctionType::get(nothing, {pointer, i64, pointer, pointer});
    LLVM::CallOp::create(b, loc, type, ValueRange{parallelFor, pool, count, body, buffers});
  }
  LLVM::ReturnOp::create(b, loc, ValueRange());
}

} // namespace tilewright::cpu
