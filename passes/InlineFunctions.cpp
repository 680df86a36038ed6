//===- InlineFunctions.cpp - model-local functions into their callers -----===//
//
// Functions come first: every later pass then sees plain operators, and an operator hidden in a function is checked
// like any other.
//
//===----------------------------------------------------------------------===//

#include "passes/Passes.h"

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/IRMapping.h"

namespace tilewright {
#define GEN_PASS_DEF_INLINEFUNCTIONSPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

namespace {

/// Each level of calls may multiply the nodes.
constexpr size_t kMaxCallDepth = 64;
constexpr int64_t kMaxInlinedNodes = 10'000'000;

struct InlineFunctionsPass final : tilewright::impl::InlineFunctionsPassBase<InlineFunctionsPass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto function : module.getOps<func::FuncOp>())
      if (auto name = function->getAttrOfType<StringAttr>(onnx::kFunctionAttr))
        functions[name.getValue()] = function;
    if (functions.empty())
      return;
    for (auto function : module.getOps<func::FuncOp>())
      if (!function->hasAttr(onnx::kFunctionAttr) && (!measure(function) || failed(inlineCalls(function))))
        return signalPassFailure();
    for (auto &[name, function] : functions)
      function->erase();
  }

  func::FuncOp callee(onnx::NodeOp node) {
    return functions.lookup((node.getDomain() + "::" + node.getOpType()).str());
  }

  /// How many nodes `function` has with all calls in it expanded; nothing, after reporting, when they cannot be.
  std::optional<int64_t> measure(func::FuncOp function) {
    if (auto known = expanded.find(function); known != expanded.end())
      return known->second;
    open.push_back(function);
    int64_t count = 0;
    WalkResult walk = function.walk([&](onnx::NodeOp node) {
      std::optional<int64_t> inner = 1;
      if (func::FuncOp called = callee(node)) {
        if (llvm::is_contained(open, called)) {
          node.emitError() << "function " << node.getQualifiedName() << " calls itself";
          return WalkResult::interrupt();
        }
        if (open.size() > kMaxCallDepth) {
          node.emitError() << "function " << node.getQualifiedName() << " is called more than " << kMaxCallDepth
                           << " calls deep";
          return WalkResult::interrupt();
        }
        inner = measure(called);
      }
      if (!inner)
        return WalkResult::interrupt();
      count += *inner;
      if (count > kMaxInlinedNodes) {
        node.emitError() << "functions expand to more than " << kMaxInlinedNodes << " nodes";
        return WalkResult::interrupt();
      }
      return WalkResult::advance();
    });
    open.pop_back();
    if (walk.wasInterrupted())
      return std::nullopt;
    expanded[function] = count;
    return count;
  }

  LogicalResult inlineCalls(Operation *root) {
    SmallVector<onnx::NodeOp> calls;
    root->walk([&](onnx::NodeOp node) {
      if (callee(node))
        calls.push_back(node);
    });
    for (onnx::NodeOp call : calls)
      if (failed(inlineCall(call)))
        return failure();
    return success();
  }

  LogicalResult inlineCall(onnx::NodeOp call) {
    func::FuncOp function = callee(call);
    if (call.getNumOperands() > function.getNumArguments() || call.getNumResults() > function.getNumResults())
      return call.emitError() << "function " << call.getQualifiedName() << " takes " << function.getNumArguments()
                              << " inputs and gives " << function.getNumResults() << " outputs; the node has "
                              << call.getNumOperands() << " and " << call.getNumResults();
    auto names = function->getAttrOfType<ArrayAttr>(onnx::kFunctionAttributesAttr);
    for (NamedAttribute given : call.getNodeAttributes())
      if (!llvm::is_contained(names, given.getName()))
        return call.emitError() << "function " << call.getQualifiedName() << " has no attribute '"
                                << given.getName().getValue() << "'";

    OpBuilder builder(call);
    IRMapping mapping;
    Value none;
    for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
      if (i >= call.getNumOperands() && !none)
        none = onnx::NoneOp::create(builder, call.getLoc());
      mapping.map(argument, i < call.getNumOperands() ? call.getOperand(i) : none);
    }
    SmallVector<Operation *> clones;
    for (Operation &op : function.front().without_terminator())
      clones.push_back(builder.clone(op, mapping));
    for (Operation *clone : clones)
      clone->walk([&](Operation *op) { bindToCall(op, call, function); });
    ValueRange results = function.front().getTerminator()->getOperands();
    ArrayAttr outputNames = call->getAttrOfType<ArrayAttr>(onnx::kOutputNamesAttr);
    for (auto [i, result] : llvm::enumerate(call.getResults())) {
      Value value = mapping.lookupOrDefault(results[i]);
      if (outputNames && i < outputNames.size())
        renameOutput(value, outputNames[i]);
      result.replaceAllUsesWith(value);
    }
    // The enclosing function returned the call's (untyped) result; it may be of a known type now.
    if (auto caller = call->getParentOfType<func::FuncOp>(); caller && call->getParentOp() == caller) {
      call.erase();
      Operation *terminator = caller.front().getTerminator();
      caller.setFunctionType(builder.getFunctionType(caller.getArgumentTypes(), terminator->getOperandTypes()));
    } else {
      call.erase();
    }
    for (Operation *clone : clones)
      if (auto node = dyn_cast<onnx::NodeOp>(clone); node && callee(node)) {
        if (failed(inlineCall(node)))
          return failure();
      } else if (failed(inlineCalls(clone))) {
        return failure();
      }
    return success();
  }

  /// Gives a cloned operation the call's attribute values and its name as prefix.
  void bindToCall(Operation *op, onnx::NodeOp call, func::FuncOp function) {
    auto inner = op->getLoc()->findInstanceOf<NameLoc>();
    StringRef outerName = call.nodeName();
    if (!outerName.empty()) {
      StringRef innerName = inner ? inner.getName().getValue() : StringRef();
      op->setLoc(NameLoc::get(StringAttr::get(op->getContext(), outerName + (innerName.empty() ? "" : "/") + innerName),
                              call.getLoc()));
    }
    auto node = dyn_cast<onnx::NodeOp>(op);
    if (!node)
      return;
    auto defaults = function->getAttrOfType<DictionaryAttr>(onnx::kFunctionDefaultsAttr);
    NamedAttrList attributes;
    for (NamedAttribute attribute : node.getNodeAttributes()) {
      auto reference = dyn_cast<onnx::AttributeReferenceAttr>(attribute.getValue());
      Attribute value = attribute.getValue();
      if (reference) {
        value = call.attr(reference.getName().getValue());
        if (!value)
          value = defaults.get(reference.getName());
      }
      if (value)
        attributes.set(attribute.getName(), value);
    }
    node.setNodeAttributesAttr(attributes.getDictionary(op->getContext()));
    if (!outerName.empty())
      if (auto outputs = op->getAttrOfType<ArrayAttr>(onnx::kOutputNamesAttr)) {
        SmallVector<Attribute> renamed;
        for (Attribute output : outputs) {
          StringRef name = cast<StringAttr>(output).getValue();
          renamed.push_back(StringAttr::get(op->getContext(), name.empty() ? "" : (outerName + "/" + name).str()));
        }
        op->setAttr(onnx::kOutputNamesAttr, ArrayAttr::get(op->getContext(), renamed));
      }
  }

  /// The value a call gave keeps the name the model has for it.
  void renameOutput(Value value, Attribute name) {
    auto producer = dyn_cast_if_present<onnx::NodeOp>(value.getDefiningOp());
    auto names = producer ? producer->getAttrOfType<ArrayAttr>(onnx::kOutputNamesAttr) : ArrayAttr();
    if (!names)
      return;
    SmallVector<Attribute> renamed(names.begin(), names.end());
    renamed[cast<OpResult>(value).getResultNumber()] = name;
    producer->setAttr(onnx::kOutputNamesAttr, ArrayAttr::get(producer->getContext(), renamed));
  }

  llvm::StringMap<func::FuncOp> functions;
  llvm::DenseMap<Operation *, int64_t> expanded; // by function
  SmallVector<func::FuncOp> open;                // being measured, each called by the one before
};

} // namespace
