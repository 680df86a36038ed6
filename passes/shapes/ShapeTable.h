//===- ShapeTable.h - shape inference rules by operator ---------*- C++ -*-===//
//
// The table of operators that the compiler understands: a node whose (domain, operator, since_version) is not in it is
// refused by verify-supported. Rules live in one file per operator family; each file adds its rules in one function.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_SHAPES_SHAPETABLE_H
#define TILEWRIGHT_PASSES_SHAPES_SHAPETABLE_H

#include "passes/shapes/ShapeContext.h"

#include <functional>

namespace tilewright::shapes {

/// Sets the shapes (and where no input tells them, the types) of a node's results. What is left unset has an unknown
/// rank. Fails after reporting when the inputs do not fit the operator.
using ShapeRule = std::function<mlir::LogicalResult(ShapeContext &)>;

class ShapeTable {
public:
  /// All rules.
  static const ShapeTable &get();
  /// The rule of a node's operator and version, or null.
  const ShapeRule *find(onnx::NodeOp node) const;
  bool knows(llvm::StringRef domain, llvm::StringRef op, int64_t sinceVersion) const;

  /// Adds `rule` for every version of `op` that there is a schema for, or for those from `first` to `last`.
  void add(llvm::StringRef op, ShapeRule rule, int64_t first = 1, int64_t last = INT64_MAX,
           llvm::StringRef domain = "");
  void addMicrosoft(llvm::StringRef op, ShapeRule rule) { add(op, std::move(rule), 1, 1, "com.microsoft"); }

private:
  std::map<std::tuple<std::string, std::string, int64_t>, ShapeRule> rules;
};

void addElementwiseRules(ShapeTable &table);
void addWindowRules(ShapeTable &table);
void addMatrixRules(ShapeTable &table);
void addReshapeRules(ShapeTable &table);
void addSelectionRules(ShapeTable &table);
void addResizeRules(ShapeTable &table);
void addReductionRules(ShapeTable &table);
void addNormalizationRules(ShapeTable &table);
void addGeneratorRules(ShapeTable &table);
void addQuantizedRules(ShapeTable &table);
void addRecurrentRules(ShapeTable &table);
void addControlFlowRules(ShapeTable &table);

} // namespace tilewright::shapes

#endif
