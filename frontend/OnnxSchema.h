//===- OnnxSchema.h - what each ONNX operator may look like -----*- C++ -*-===//
//
// The operator schemas of ai.onnx, all versions, and of the com.microsoft operators that the compiler knows: generated
// into OnnxSchemas.inc. A schema says which inputs, outputs and attributes a node has and which element types go
// together; it says nothing about what is supported.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_FRONTEND_ONNXSCHEMA_H
#define TILEWRIGHT_FRONTEND_ONNXSCHEMA_H

#include <cstdint>
#include <map>
#include <string_view>
#include <vector>

namespace tilewright {

struct OnnxSchema {
  struct Parameter {
    /// A type variable of `types`, or an element type ("f32", "u8", "other") when it is spelled out.
    std::string_view type;
    enum Kind { Single, Optional, Variadic, MixedVariadic } kind;
  };
  struct Attribute {
    std::string_view name;
    /// f i s t g p y: float, int, string, tensor, graph, sparse tensor, type; capitals are lists.
    char kind;
    bool required;
  };

  std::string_view domain, name;
  int64_t sinceVersion;
  bool deprecated;
  /// −1: any number.
  int64_t minInputs, maxInputs, minOutputs, maxOutputs;
  std::vector<Parameter> inputs, outputs;
  std::vector<Attribute> attributes;
  /// The element types each type variable may stand for.
  std::map<std::string_view, std::vector<std::string_view>> types;

  const Attribute *attribute(std::string_view name) const;
  /// Whether a node may have that many inputs and outputs.
  bool fits(size_t inputCount, size_t outputCount) const;
  /// The formal parameter of actual input `i` (the last one repeats when it is variadic), or null.
  const Parameter *input(size_t i) const;
  const Parameter *output(size_t i) const;
};

/// The newest ai.onnx opset there are schemas for.
int64_t newestOnnxOpset();
/// The schema that `opset` of `domain` selects for operator `name`; null when there is none.
const OnnxSchema *findOnnxSchema(std::string_view domain, std::string_view name, int64_t opset);
/// The schema of exactly that version, or null.
const OnnxSchema *onnxSchemaOfVersion(std::string_view domain, std::string_view name, int64_t sinceVersion);
/// All versions of an operator, oldest first; empty for an unknown one.
std::vector<int64_t> onnxSchemaVersions(std::string_view domain, std::string_view name);

} // namespace tilewright

#endif
