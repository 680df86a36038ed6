//===- OnnxWriter.h - writes ONNX files -------------------------*- C++ -*-===//
//
// The counterpart of OnnxReader for what Tilewright writes itself: graphs of plain nodes with initializers, no
// subgraphs, no functions. Messages are appended as they are given; nothing is checked.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_ONNXWRITER_H
#define TILEWRIGHT_FRONTEND_ONNXWRITER_H

#include "frontend/OnnxModel.h"

#include <string>
#include <variant>

namespace tilewright::onnxfile {

class Writer {
public:
  struct TensorValue {
    DataType type;
    std::vector<int64_t> dims;
    /// Row-major, little-endian.
    std::string_view bytes;
  };
  using AttributeValue = std::variant<int64_t, float, std::string, std::vector<int64_t>, std::vector<float>,
                                      std::vector<std::string>, TensorValue>;
  using Attributes = std::vector<std::pair<std::string, AttributeValue>>;
  /// A dimension is a number, or a symbol when it is not known.
  using Dim = std::variant<int64_t, std::string>;

  void node(std::string_view opType, const std::vector<std::string> &inputs, const std::vector<std::string> &outputs,
            const Attributes &attributes = {}, std::string_view name = {}, std::string_view domain = {});
  void initializer(std::string_view name, const TensorValue &value);
  void input(std::string_view name, DataType type, const std::vector<Dim> &dims);
  void output(std::string_view name, DataType type, const std::vector<Dim> &dims);

  /// The bytes of the file. `opsets` maps domains ("" is ai.onnx) to versions.
  std::string finish(std::string_view graphName, const std::map<std::string, int64_t> &opsets, int64_t irVersion) const;

private:
  std::string graph;
};

} // namespace tilewright::onnxfile

#endif
