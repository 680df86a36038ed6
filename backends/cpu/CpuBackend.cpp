//===- CpuBackend.cpp - onnx nodes to host object code --------------------===//

#include "backends/cpu/CpuBackend.h"
#include "backends/cpu/Constants.h"
#include "backends/cpu/ObjectCode.h"
#include "backends/cpu/Operators.h"
#include "backends/cpu/Stages.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Target/TargetMachine.h"

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

namespace {
/// One compiled structure: where its buffers come from, by position in the group, so that equal groups can share it.
struct KernelPlan {
  struct Slot {
    unsigned node, operand;
  };
  std::string symbol;
  SmallVector<Slot> inputs, outputs;
  int64_t scratchBytes = 0;
};
} // namespace

/// Everything the generated code depends on: operators, attributes, types, constants that were looked at, and how the
/// values are wired.
static std::string structureOf(ArrayRef<NodeOp> nodes) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  llvm::DenseMap<Value, unsigned> number;
  auto name = [&](Value value) { stream << number.try_emplace(value, number.size()).first->second; };
  for (NodeOp node : nodes) {
    stream << node.getQualifiedName() << '@' << node.getSinceVersion() << node.getNodeAttributes() << '(';
    for (Value operand : node.getInputs()) {
      name(operand);
      stream << ':' << operand.getType();
      // Lowerings look into shapes and axes (int64), into scalars and into very small tensors; weights they only read.
      ElementsAttr constant = onnx::constantValue(operand);
      if (constant &&
          (constant.getElementType().isInteger(64) || constant.getNumElements() <= 8 || constantScalar(operand))) {
        std::vector<char> storage;
        ArrayRef<char> bytes = constantBytes(operand, storage);
        stream << '=' << llvm::toHex(StringRef(bytes.data(), bytes.size()));
      }
      stream << ',';
    }
    stream << ")->";
    for (Value result : node->getResults()) {
      name(result);
      stream << ':' << result.getType() << (result.use_empty() ? "-" : "+");
    }
  }
  return text;
}

static KernelPlan::Slot findInput(ArrayRef<NodeOp> nodes, Value value) {
  for (auto [n, node] : llvm::enumerate(nodes)) {
    NodeOp member = node;
    for (auto [i, operand] : llvm::enumerate(member.getInputs()))
      if (operand == value)
        return {static_cast<unsigned>(n), static_cast<unsigned>(i)};
  }
  llvm_unreachable("a kernel reads operands of its nodes only");
}

static void loadDialects(MLIRContext &context) {
  context.loadDialect<arith::ArithDialect, func::FuncDialect, linalg::LinalgDialect, math::MathDialect,
                      memref::MemRefDialect, scf::SCFDialect, vector::VectorDialect, LLVM::LLVMDialect>();
}

/// Writes the kernel into `module`. Throws Unsupported after taking it out again.
static KernelPlan buildKernel(ModuleOp module, ArrayRef<NodeOp> nodes, StringRef symbol,
                              std::vector<PointerSource> &sources) {
  KernelBuilder k(module, symbol, UnknownLoc::get(module.getContext()));
  try {
    lowerGroup(k, nodes);
  } catch (const Unsupported &) {
    k.function.erase();
    throw;
  }
  KernelPlan plan;
  plan.symbol = symbol.str();
  plan.scratchBytes = k.scratchBytes;
  // Outputs that the lowering did not write (unused ones) still have a buffer, so that the order is plain.
  NodeOp last = nodes.back();
  int64_t inputs = llvm::count_if(k.arguments, [](auto &a) { return a.kind == KernelBuilder::Argument::Input; });
  for (auto [i, result] : llvm::enumerate(last->getResults()))
    if (i == 0 || !result.use_empty())
      plan.outputs.push_back({static_cast<unsigned>(nodes.size() - 1), static_cast<unsigned>(i)});
  int64_t nextInput = 0;
  for (const KernelBuilder::Argument &argument : k.arguments) {
    switch (argument.kind) {
    case KernelBuilder::Argument::Input:
      plan.inputs.push_back(findInput(nodes, argument.value));
      sources.push_back({nextInput++, 0});
      break;
    case KernelBuilder::Argument::Output: {
      unsigned number = cast<OpResult>(argument.value).getResultNumber();
      int64_t at =
          llvm::find_if(plan.outputs, [&](auto &slot) { return slot.operand == number; }) - plan.outputs.begin();
      sources.push_back({inputs + at, 0});
      break;
    }
    case KernelBuilder::Argument::Scratch:
      sources.push_back({inputs + static_cast<int64_t>(plan.outputs.size()), argument.offset});
      break;
    }
  }
  return plan;
}

static std::string describe(NodeOp node, StringRef why) {
  return node.getQualifiedName() + "(" + std::to_string(node.getSinceVersion()) + "): " + why.str();
}

std::string whyNotOnHost(NodeOp node) {
  if (std::string why = whyNotLowered(node); !why.empty())
    return describe(node, why);
  loadDialects(*node.getContext());
  OwningOpRef<ModuleOp> module = ModuleOp::create(node.getLoc());
  std::vector<PointerSource> sources;
  try {
    buildKernel(*module, {node}, "probe", sources);
  } catch (const Unsupported &error) {
    return describe(node, error.what());
  }
  return "";
}

FailureOr<HostCode> compileHostGroups(ArrayRef<HostGroup> groups, const HostOptions &options) {
  HostCode code;
  auto machine = hostMachine(options.cpu);
  code.cpuFeatures = featuresOf(*machine);
  if (groups.empty()) {
    code.sharedObject = linkSharedObject({}, options.linker);
    return code;
  }
  MLIRContext &context = *groups.front().nodes.front()->getContext();
  loadDialects(context);
  OwningOpRef<ModuleOp> module = ModuleOp::create(UnknownLoc::get(&context));

  struct Compiled {
    KernelPlan plan;
    std::vector<PointerSource> sources;
    std::vector<Stage> stages;
  };
  std::vector<Compiled> compiled;
  llvm::StringMap<size_t> byStructure;
  bool ok = true;
  for (const HostGroup &group : groups) {
    NodeOp root = group.nodes.front(), last = group.nodes.back();
    auto [entry, isNew] = byStructure.try_emplace(structureOf(group.nodes), compiled.size());
    if (isNew) {
      Compiled next;
      std::string symbol = "tw_" + std::to_string(compiled.size()) + "_" + root.getOpType().str();
      try {
        next.plan = buildKernel(*module, group.nodes, symbol, next.sources);
      } catch (const Unsupported &error) {
        root.emitError() << "node '" << root.nodeName() << "': " << describe(root, error.what());
        byStructure.erase(entry);
        ok = false;
        continue;
      }
      compiled.push_back(std::move(next));
    }
    const KernelPlan &plan = compiled[entry->second].plan;
    HostKernel kernel;
    kernel.symbol = plan.symbol;
    for (KernelPlan::Slot slot : plan.inputs) {
      NodeOp node = group.nodes[slot.node];
      kernel.inputs.push_back(node.getInputs()[slot.operand]);
    }
    for (KernelPlan::Slot slot : plan.outputs)
      kernel.outputs.push_back(last->getResult(slot.operand));
    kernel.scratchBytes = plan.scratchBytes;
    for (NodeOp node : group.nodes)
      kernel.nodeNames.push_back(node.nodeName().str());
    kernel.isCopy = group.nodes.size() == 1 && findOperator(root)->isCopy;
    code.kernels.push_back(std::move(kernel));
  }
  if (!ok)
    return failure();

  declareLibm(*module);
  if (options.linalgText) {
    llvm::raw_string_ostream stream(*options.linalgText);
    module->print(stream);
  }
  for (Compiled &kernel : compiled) {
    auto function = module->lookupSymbol<func::FuncOp>(kernel.plan.symbol);
    if (failed(lowerLinalgToLoops(function)))
      return failure();
    auto stages = outlineStages(function);
    if (failed(stages))
      return failure();
    kernel.stages = std::move(*stages);
  }
  if (failed(convertToLlvmDialect(*module)))
    return failure();
  for (Compiled &kernel : compiled)
    emitEntry(*module, kernel.plan.symbol, kernel.stages, kernel.sources);
  std::vector<char> object = emitObject(*module, *machine, options.llvmText, options.assemblyText);
  code.sharedObject = linkSharedObject({object}, options.linker);
  return code;
}

std::vector<SupportedOperator> supportedHostOperators() {
  std::vector<SupportedOperator> list;
  for (const Operator &entry : allOperators())
    list.push_back({entry.name, entry.sinceVersion});
  llvm::sort(list, [](auto &a, auto &b) { return a.name < b.name; });
  return list;
}

} // namespace tilewright::cpu
