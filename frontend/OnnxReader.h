//===- OnnxReader.h - ONNX's wire format to plain structs -------*- C++ -*-===//

#ifndef TILEWRIGHT_FRONTEND_ONNXREADER_H
#define TILEWRIGHT_FRONTEND_ONNXREADER_H

#include "frontend/OnnxModel.h"

namespace tilewright {

/// Reads `file` as an ONNX ModelProto. Unknown fields are ignored; raw data stays where it is. External data is mapped
/// from files inside the model's folder only. Throws Error when the bytes are no model, are cut short, or hold a tensor
/// whose data does not fit its dimensions.
onnxfile::Model readOnnx(std::shared_ptr<const MappedFile> file);

} // namespace tilewright

#endif
