//===- Operators.h - the table of operators the host can run ----*- C++ -*-===//
//
// Lowerings are keyed by operator name and the lowest since_version whose meaning they implement (the front end
// rewrites older spellings). A lowering that meets something it cannot do throws Unsupported with the reason; nothing
// has been changed outside its kernel by then.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CPU_OPERATORS_H
#define TILEWRIGHT_BACKENDS_CPU_OPERATORS_H

#include "backends/cpu/KernelBuilder.h"

#include <stdexcept>
#include <string>

namespace tilewright::cpu {

/// A node is valid, but not something the host back end compiles.
struct Unsupported : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What an elementwise formula sees of its node.
struct Elementwise {
  KernelBuilder &k;
  mutable onnx::NodeOp node;
  llvm::function_ref<Num(unsigned)> operand;

  /// Operand i at the current point.
  Num operator[](unsigned i) const { return operand(i); }
  bool has(unsigned i) const { return node.input(i) != nullptr; }
  /// ONNX element types.
  mlir::Type type(unsigned i) const { return elementOf(node.input(i)); }
  mlir::Type resultType() const { return elementOf(node->getResult(0)); }
  double f(llvm::StringRef name, double byDefault) const { return node.floatAttr(name, byDefault); }
};

/// `nodes.front()` is the root; the rest, elementwise, is applied to its result before it is stored.
using LowerFn = void (*)(KernelBuilder &k, llvm::ArrayRef<onnx::NodeOp> nodes);
using FormulaFn = Num (*)(const Elementwise &x);

struct Operator {
  std::string name; // qualified with its domain outside ai.onnx
  int64_t sinceVersion;
  /// Exactly one of these two is set.
  LowerFn lower = nullptr;
  FormulaFn formula = nullptr;
  /// The shape with which operand `i` of a formula broadcasts to the result; null: its own.
  Shape (*operandShape)(onnx::NodeOp node, unsigned i) = nullptr;
  /// The formula calls libm: one element at a time, not for the vectors of an epilogue.
  bool scalarOnly = false;
  /// Operands of a formula from this one on only give a type and are never read.
  unsigned operandsRead = ~0u;
  /// For lowerings that apply an epilogue: whether an operand of it may broadcast to `root`'s result with this shape.
  bool (*takesEpilogueOperand)(onnx::NodeOp root, llvm::ArrayRef<int64_t> shape) = nullptr;
  /// The output is a byte copy of the first input, the only one read at run time.
  bool isCopy = false;
};

/// The entry for `node`, or null.
const Operator *findOperator(onnx::NodeOp node);
const std::vector<Operator> &allOperators();
/// Why the table or the node's types exclude it; empty when a lowering may be tried.
std::string whyNotLowered(onnx::NodeOp node);

/// Lowers a group, elementwise or not. Throws Unsupported.
void lowerGroup(KernelBuilder &k, llvm::ArrayRef<onnx::NodeOp> nodes);

/// Value and broadcast shape of an operand from outside the group → its number at the current point.
using LoadOperand = llvm::function_ref<Num(mlir::Value, llvm::ArrayRef<int64_t>)>;
/// Applies the nodes after the root to the root's value.
Num applyEpilogue(KernelBuilder &k, llvm::ArrayRef<onnx::NodeOp> nodes, Num rootValue, LoadOperand load);
/// Operands of the epilogue from outside the group, with the shapes they broadcast with.
llvm::SmallVector<std::pair<mlir::Value, Shape>> epilogueOperands(llvm::ArrayRef<onnx::NodeOp> nodes);
inline mlir::Value groupResult(llvm::ArrayRef<onnx::NodeOp> nodes) {
  onnx::NodeOp last = nodes.back();
  return last->getResult(0);
}
/// Operand `i` of an elementwise `node` broadcasts with this shape.
Shape operandShapeOf(onnx::NodeOp node, unsigned i);

//===-- The parts of the table, one per file of lowering/ --------------------===//

using Table = std::vector<Operator>;
void addElementwise(Table &table);
void addContractions(Table &table);
void addConvolutions(Table &table);
void addPooling(Table &table);
void addMoves(Table &table);
void addReductions(Table &table);
void addNormalizations(Table &table);
void addQuantization(Table &table);
void addIndexing(Table &table);
void addResizing(Table &table);
void addRecurrent(Table &table);
void addEinsum(Table &table);
void addGridSample(Table &table);

//===-- Attributes ------------------------------------------------------===//

/// `axis` brought into [0, rank); throws Unsupported when it is outside.
int64_t normalAxis(int64_t axis, int64_t rank);
/// Throws Unsupported when `value` has fewer dimensions.
void requireRank(mlir::Value value, size_t least);
/// Integers of operand `i`, which must be a constant.
llvm::SmallVector<int64_t> requireInts(onnx::NodeOp node, unsigned i, llvm::StringRef what);

} // namespace tilewright::cpu

#endif
