//===- ElementwiseFunctions.h - float32 functions of one element -*- C++ -*-===//
//
// The operators that compute each element of the result from the same element of the input and constants. The array has
// them as tables. Quantization asks the same list, so that nothing is rounded around an operator that then runs on the
// host.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_LAYERS_ELEMENTWISEFUNCTIONS_H
#define TILEWRIGHT_PASSES_LAYERS_ELEMENTWISEFUNCTIONS_H

#include "dialects/onnx/OnnxDialect.h"

namespace tilewright::layers {

/// Attributes are read from the node.
using UnaryFunction = float (*)(float, onnx::NodeOp);
using BinaryFunction = float (*)(float, float);

/// The function of ONNX's operator of this name; null when there is none.
UnaryFunction unaryFunction(llvm::StringRef opType);
BinaryFunction binaryFunction(llvm::StringRef opType);

/// True for a node with one of these functions, or Clip, and as many operands as it takes.
bool isElementwiseFunction(onnx::NodeOp node);

} // namespace tilewright::layers

#endif
