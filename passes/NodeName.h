//===- NodeName.h - how messages and reports call a node --------*- C++ -*-===//

#ifndef TILEWRIGHT_PASSES_NODENAME_H
#define TILEWRIGHT_PASSES_NODENAME_H

#include "dialects/onnx/OnnxDialect.h"

#include <string>

namespace tilewright {

/// "Conv(11) 'conv1'"; a node without a name is told by its first output: "Conv(11) giving 'y'".
std::string describeNode(onnx::NodeOp node);

} // namespace tilewright

#endif
