//===- OnnxWriter.cpp - writes ONNX files ---------------------------------===//
//
// The numbers are the field numbers of onnx.proto.
//
//===----------------------------------------------------------------------===//

#include "frontend/OnnxWriter.h"

#include <protozero/pbf_writer.hpp>

using namespace tilewright::onnxfile;
using protozero::pbf_writer;

static protozero::data_view view(std::string_view text) { return {text.data(), text.size()}; }

static std::string tensorMessage(std::string_view name, const Writer::TensorValue &value) {
  std::string message;
  pbf_writer tensor(message);
  tensor.add_packed_int64(1, value.dims.begin(), value.dims.end());
  tensor.add_int32(2, static_cast<int32_t>(value.type));
  if (!name.empty())
    tensor.add_string(8, view(name));
  tensor.add_bytes(9, view(value.bytes));
  return message;
}

namespace {
struct AttributeWriter {
  pbf_writer &message;
  AttributeKind operator()(int64_t value) const { return message.add_int64(3, value), AttributeKind::Int; }
  AttributeKind operator()(float value) const { return message.add_float(2, value), AttributeKind::Float; }
  AttributeKind operator()(const std::string &value) const {
    return message.add_bytes(4, value), AttributeKind::String;
  }
  AttributeKind operator()(const std::vector<int64_t> &values) const {
    for (int64_t value : values)
      message.add_int64(8, value);
    return AttributeKind::Ints;
  }
  AttributeKind operator()(const std::vector<float> &values) const {
    for (float value : values)
      message.add_float(7, value);
    return AttributeKind::Floats;
  }
  AttributeKind operator()(const std::vector<std::string> &values) const {
    for (const std::string &value : values)
      message.add_bytes(9, value);
    return AttributeKind::Strings;
  }
  AttributeKind operator()(const Writer::TensorValue &value) const {
    message.add_message(5, tensorMessage({}, value));
    return AttributeKind::Tensor;
  }
};
} // namespace

void Writer::node(std::string_view opType, const std::vector<std::string> &inputs,
                  const std::vector<std::string> &outputs, const Attributes &attributes, std::string_view name,
                  std::string_view domain) {
  pbf_writer graphMessage(graph);
  pbf_writer message(graphMessage, 1);
  for (const std::string &input : inputs)
    message.add_string(1, input);
  for (const std::string &output : outputs)
    message.add_string(2, output);
  if (!name.empty())
    message.add_string(3, view(name));
  message.add_string(4, view(opType));
  for (const auto &[key, value] : attributes) {
    pbf_writer attribute(message, 5);
    attribute.add_string(1, key);
    AttributeKind kind = std::visit(AttributeWriter{attribute}, value);
    attribute.add_int32(20, static_cast<int32_t>(kind));
  }
  if (!domain.empty())
    message.add_string(7, view(domain));
}

void Writer::initializer(std::string_view name, const TensorValue &value) {
  pbf_writer(graph).add_message(5, tensorMessage(name, value));
}

static void addValueInfo(std::string &graph, uint32_t field, std::string_view name, DataType type,
                         const std::vector<Writer::Dim> &dims) {
  pbf_writer graphMessage(graph);
  pbf_writer info(graphMessage, field);
  info.add_string(1, view(name));
  pbf_writer typeMessage(info, 2);
  pbf_writer tensor(typeMessage, 1);
  tensor.add_int32(1, static_cast<int32_t>(type));
  pbf_writer shape(tensor, 2);
  for (const Writer::Dim &dim : dims) {
    pbf_writer message(shape, 1);
    if (const int64_t *size = std::get_if<int64_t>(&dim))
      message.add_int64(1, *size);
    else if (const std::string &symbol = std::get<std::string>(dim); !symbol.empty())
      message.add_string(2, symbol);
  }
}

void Writer::input(std::string_view name, DataType type, const std::vector<Dim> &dims) {
  addValueInfo(graph, 11, name, type, dims);
}

void Writer::output(std::string_view name, DataType type, const std::vector<Dim> &dims) {
  addValueInfo(graph, 12, name, type, dims);
}

std::string Writer::finish(std::string_view graphName, const std::map<std::string, int64_t> &opsets,
                           int64_t irVersion) const {
  std::string bytes;
  pbf_writer model(bytes);
  model.add_int64(1, irVersion);
  model.add_string(2, "tilewright");
  for (const auto &[domain, version] : opsets) {
    pbf_writer opset(model, 8);
    opset.add_string(1, domain);
    opset.add_int64(2, version);
  }
  std::string named = graph;
  pbf_writer(named).add_string(2, view(graphName));
  model.add_message(7, named);
  return bytes;
}
