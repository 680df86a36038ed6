//===- VerifySupported.h - every unsupported node, at once ------*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_VERIFYSUPPORTED_H
#define TILEWRIGHT_PASSES_VERIFYSUPPORTED_H

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/IR/BuiltinOps.h"

#include <functional>
#include <string>

namespace tilewright {

/// Why a node is not supported, what is instead; empty when it is.
using SupportCheck = std::function<std::string(onnx::NodeOp)>;

/// Reports all nodes of `module` that `check` objects to in one error, each with its operator, version, name and
/// reason.
mlir::LogicalResult verifySupported(mlir::ModuleOp module, const SupportCheck &check);

/// The front end's own check: the operator exists in the imported opset, has inputs, outputs and attributes as its
/// schema says, and there is a shape inference rule for it. A target's check is asked besides, once opsets are
/// normalized.
std::string checkOperator(onnx::NodeOp node);

} // namespace tilewright

#endif
