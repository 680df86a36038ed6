//===- AttributeImporter.h - tensors, types, attributes to MLIR -*- C++ -*-===//

#ifndef TILEWRIGHT_FRONTEND_ATTRIBUTEIMPORTER_H
#define TILEWRIGHT_FRONTEND_ATTRIBUTEIMPORTER_H

#include "frontend/OnnxModel.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace tilewright {

class AttributeImporter {
public:
  AttributeImporter(mlir::MLIRContext &context, std::string file) : builder(&context), file(std::move(file)) {}

  /// The MLIR type of TensorProto.DataType `type`; `what` begins the message when there is none.
  mlir::Type elementType(int32_t type, const std::string &what);
  /// A tensor's value, over the mapped file when it is large.
  mlir::ElementsAttr elements(const onnxfile::Tensor &tensor);
  mlir::ElementsAttr elements(const onnxfile::SparseTensor &sparse);
  /// An attribute other than a graph; `node` begins the message when its kind is not supported.
  mlir::Attribute attribute(const onnxfile::Attribute &attribute, const std::string &node = "a function");

private:
  mlir::Builder builder;
  std::string file;
};

} // namespace tilewright

#endif
