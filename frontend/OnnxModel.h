//===- OnnxModel.h - an ONNX file as plain structs --------------*- C++ -*-===//
//
// What OnnxReader gives: the messages of onnx.proto, field by field, with names and tensor data as views into the
// mapped file. Nothing here is checked beyond the wire format and the size of each tensor's data.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_ONNXMODEL_H
#define TILEWRIGHT_FRONTEND_ONNXMODEL_H

#include "frontend/MappedFile.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace tilewright::onnxfile {

/// TensorProto.DataType, with ONNX's numbers.
enum class DataType : int32_t {
  Undefined = 0,
  Float = 1,
  UInt8 = 2,
  Int8 = 3,
  UInt16 = 4,
  Int16 = 5,
  Int32 = 6,
  Int64 = 7,
  String = 8,
  Bool = 9,
  Float16 = 10,
  Double = 11,
  UInt32 = 12,
  UInt64 = 13,
  Complex64 = 14,
  Complex128 = 15,
  BFloat16 = 16,
  Float8E4M3FN = 17,
  Float8E4M3FNUZ = 18,
  Float8E5M2 = 19,
  Float8E5M2FNUZ = 20,
  UInt4 = 21,
  Int4 = 22,
};
/// "float", "uint8" ...; a number for a type unknown to us.
std::string dataTypeName(int32_t type);
/// Bytes per element; 0 for strings, 4-bit and unknown types.
size_t dataTypeSize(int32_t type);

struct Tensor {
  std::string_view name;
  std::vector<int64_t> dims;
  int32_t dataType = 0;
  /// Row-major little-endian elements, dims' product × dataTypeSize bytes, possibly unaligned; empty for strings.
  std::string_view data;
  std::vector<std::string_view> strings;
  /// What keeps `data` alive: the model's file, an external file, or bytes decoded from typed fields.
  std::shared_ptr<const void> owner;
  int64_t elements() const;
};

struct SparseTensor {
  Tensor values, indices;
  std::vector<int64_t> dims;
};

struct Dimension {
  /// −1 when the model gives no number (or a negative one).
  int64_t value = -1;
  std::string_view symbol;
};

struct ValueType {
  enum Kind { Absent, Dense, Sequence, Map, Optional, Sparse, Opaque } kind = Absent;
  int32_t elementType = 0;
  /// Absent when the rank is unknown.
  std::optional<std::vector<Dimension>> shape;
};

struct ValueInfo {
  std::string_view name;
  ValueType type;
};

struct Graph;

/// AttributeProto.AttributeType, with ONNX's numbers.
enum class AttributeKind : int32_t {
  Undefined = 0,
  Float = 1,
  Int = 2,
  String = 3,
  Tensor = 4,
  Graph = 5,
  Floats = 6,
  Ints = 7,
  Strings = 8,
  Tensors = 9,
  Graphs = 10,
  SparseTensor = 11,
  SparseTensors = 12,
  TypeProto = 13,
  TypeProtos = 14,
};

struct Attribute {
  std::string_view name;
  AttributeKind kind = AttributeKind::Undefined;
  /// In a function's node: the function's attribute that the value is taken from.
  std::string_view reference;
  float f = 0;
  int64_t i = 0;
  std::string_view s;
  std::vector<float> floats;
  std::vector<int64_t> ints;
  std::vector<std::string_view> strings;
  std::optional<Tensor> tensor;
  std::optional<SparseTensor> sparse;
  std::optional<ValueType> type;
  std::shared_ptr<Graph> graph;
};

struct Node {
  std::string_view name, opType, domain, overload;
  std::vector<std::string_view> inputs, outputs;
  std::vector<Attribute> attributes;
};

struct Graph {
  std::string_view name;
  std::vector<Node> nodes;
  std::vector<Tensor> initializers;
  std::vector<SparseTensor> sparseInitializers;
  std::vector<ValueInfo> inputs, outputs, valueInfo;
};

using OpsetImports = std::map<std::string_view, int64_t>;

struct Function {
  std::string_view name, domain, overload;
  std::vector<std::string_view> inputs, outputs, attributes;
  std::vector<Attribute> defaults;
  std::vector<Node> nodes;
  OpsetImports opsets;
};

struct Model {
  std::shared_ptr<const MappedFile> file;
  int64_t irVersion = 0;
  std::string_view producerName, producerVersion;
  OpsetImports opsets;
  Graph graph;
  std::vector<Function> functions;
};

} // namespace tilewright::onnxfile

#endif
