//===- GraphWriter.h - an ONNX graph from MLIR values -----------*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_ONNX_GRAPHWRITER_H
#define TILEWRIGHT_BACKENDS_ONNX_GRAPHWRITER_H

#include "dialects/onnx/OnnxDialect.h"
#include "frontend/OnnxWriter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringSet.h"

#include <vector>

namespace tilewright {

/// Throws Error for a type that ONNX does not have.
onnxfile::DataType onnxDataType(mlir::Type element);
/// The type of a tensor value; throws Error when its rank is not known.
mlir::RankedTensorType rankedType(mlir::Value value);

/// Gives MLIR values names that are unique in the file, and collects nodes. Everything throws Error for what cannot be
/// written.
class GraphWriter {
public:
  using Attributes = onnxfile::Writer::Attributes;

  /// Declares the function's inputs, and reserves its outputs' names.
  explicit GraphWriter(mlir::func::FuncOp function);

  /// The tensor's name; that of the model where it has one. "" for an absent operand. A constant becomes an initializer
  /// when its name is first asked for: layers have read most of theirs, and runtimes warn of what nothing uses.
  std::string name(mlir::Value value);
  /// A name like `hint` that nothing has yet.
  std::string unique(llvm::StringRef hint);

  /// Writes an `onnx.node` as it is; an `onnx.constant` or `onnx.none` is written with what uses it.
  void write(mlir::Operation *op);
  /// Writes a node of our own; `domain` other than ai.onnx must have version 1.
  void add(llvm::StringRef opType, const std::vector<std::string> &inputs, const std::string &output,
           const Attributes &attributes = {}, llvm::StringRef nodeName = {}, llvm::StringRef domain = {});
  /// Writes an initializer and gives its name.
  template <typename T>
  std::string constant(onnxfile::DataType type, std::vector<int64_t> dims, llvm::ArrayRef<T> values,
                       llvm::StringRef hint) {
    std::string name = unique(hint);
    writer.initializer(
        name, {type, std::move(dims), {reinterpret_cast<const char *>(values.data()), values.size() * sizeof(T)}});
    return name;
  }
  /// At least this opset of ai.onnx is needed.
  void requireOpset(int64_t version) { newest = std::max(newest, version); }

  /// Connects the function's results and gives the file's bytes.
  std::string finish(mlir::ModuleOp module);

private:
  void writeNode(onnx::NodeOp node);
  std::map<std::string, int64_t> opsets(mlir::ModuleOp module);

  mlir::func::FuncOp function;
  onnxfile::Writer writer;
  llvm::DenseMap<mlir::Value, std::string> names;
  llvm::StringSet<> taken, nodeNames, domains;
  std::vector<std::string> outputNames;
  llvm::SmallVector<onnx::NodeOp> nodes;
  int64_t newest = 1;
};

} // namespace tilewright

#endif
