//===- InputShapes.h - the shapes a model is compiled for -------*- C++ -*-===//

#ifndef TILEWRIGHT_FRONTEND_INPUTSHAPES_H
#define TILEWRIGHT_FRONTEND_INPUTSHAPES_H

#include "frontend/OnnxImporter.h"
#include "frontend/OnnxModel.h"

namespace tilewright {

/// The shape of each graph input after ImportOptions are applied.
struct InputShapes {
  /// Throws Error, with `file` first, for a shape of an unknown input, of another rank, or that contradicts the model.
  InputShapes(const std::string &file, const std::vector<const onnxfile::ValueInfo *> &inputs,
              const ImportOptions &options);
  /// −1: symbolic.
  std::vector<std::vector<int64_t>> shapes;
  /// The symbol of each dimension that is still symbolic; "" for others and for a nameless one.
  std::vector<std::vector<std::string>> symbols;
};

} // namespace tilewright

#endif
