//===- TensorReader.h - TensorProto to views of its data --------*- C++ -*-===//
//
// A TensorProto holds its elements in one of several ways: raw bytes (left in place), typed fields (decoded, as they
// are varints or scattered), or a range of another file in the model's folder (mapped).
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_TENSORREADER_H
#define TILEWRIGHT_FRONTEND_TENSORREADER_H

#include "frontend/OnnxModel.h"

#include <protozero/pbf_reader.hpp>

namespace tilewright::onnxfile {

class TensorReader {
public:
  explicit TensorReader(std::shared_ptr<const MappedFile> model) : model(std::move(model)) {}

  Tensor tensor(protozero::pbf_reader reader);
  SparseTensor sparse(protozero::pbf_reader reader);

private:
  struct Fields;
  void takeExternal(Tensor &tensor, const Fields &fields);
  std::shared_ptr<const MappedFile> externalFile(const Tensor &tensor, std::string_view location);
  [[noreturn]] void fail(const Tensor &tensor, const std::string &what) const;

  std::shared_ptr<const MappedFile> model;
  std::map<std::string, std::shared_ptr<const MappedFile>> externalFiles;
};

} // namespace tilewright::onnxfile

#endif
