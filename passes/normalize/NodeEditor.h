//===- NodeEditor.h - rewriting one onnx node -------------------*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_NORMALIZE_NODEEDITOR_H
#define TILEWRIGHT_PASSES_NORMALIZE_NODEEDITOR_H

#include "dialects/onnx/ConstantData.h"
#include "dialects/onnx/OnnxDialect.h"

#include "mlir/IR/Builders.h"

#include <map>
#include <optional>

namespace tilewright {

/// Changes a node in place or puts others before it. All new operations carry the node's location, so that reports and
/// messages still name it.
class NodeEditor {
public:
  explicit NodeEditor(onnx::NodeOp node) : node(node), builder(node) {}

  onnx::NodeOp node;
  mlir::OpBuilder builder;

  // Types. Null or nothing where inference has not been yet.
  mlir::RankedTensorType type(mlir::Value value);
  mlir::RankedTensorType inputType(unsigned i);
  mlir::RankedTensorType staticInputType(unsigned i);
  std::optional<int64_t> rank(unsigned i);
  std::optional<llvm::SmallVector<int64_t>> integers(unsigned i);

  // Attributes.
  void setAttr(llvm::StringRef name, mlir::Attribute value);
  void setInt(llvm::StringRef name, int64_t value) { setAttr(name, builder.getI64IntegerAttr(value)); }
  void setInts(llvm::StringRef name, llvm::ArrayRef<int64_t> values) { setAttr(name, builder.getI64ArrayAttr(values)); }
  void removeAttr(llvm::StringRef name);
  /// Moves the ints attribute `name` to input `i`.
  void intsToInput(llvm::StringRef name, unsigned i);

  // Inputs.
  /// Sets input `i`, filling up with absent ones.
  void setInput(unsigned i, mlir::Value value);
  void dropInputsFrom(unsigned i);

  // New operations before the node.
  mlir::Value none();
  mlir::Value constant(mlir::ElementsAttr value);
  /// A vector of int64.
  mlir::Value constantInts(llvm::ArrayRef<int64_t> values);
  mlir::Value constantFloats(llvm::ArrayRef<float> values);
  /// A scalar of a float or integer type.
  mlir::Value constantScalar(mlir::Type type, double value);
  /// A node of ai.onnx in its canonical version; its one result has type `result` (null: not known yet).
  mlir::Value create(llvm::StringRef op, mlir::ValueRange inputs, mlir::Type result,
                     llvm::ArrayRef<mlir::NamedAttribute> attributes = {});
  mlir::NamedAttribute attr(llvm::StringRef name, mlir::Attribute value);
  mlir::NamedAttribute attr(llvm::StringRef name, int64_t value) {
    return attr(name, builder.getI64IntegerAttr(value));
  }

  void setOp(llvm::StringRef op, int64_t version);
  void setVersion(int64_t version) { node.setSinceVersion(version); }
  /// Replaces the node's first result and erases the node, whose other results must be unused.
  void replaceWith(mlir::Value value);
  bool erased() const { return isErased; }

private:
  bool isErased = false;
};

/// The version of an ai.onnx operator that normalized nodes have: that of one recent opset, or its first when it is
/// newer than that; 0 when the compiler does not know the operator.
int64_t canonicalVersion(llvm::StringRef op);

} // namespace tilewright

#endif
