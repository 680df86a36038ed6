//===- OnnxReader.cpp - ONNX's wire format to plain structs ---------------===//
//
// Field numbers are onnx.proto's. Every field is matched by number and wire type together, so a field with a wrong wire
// type is skipped like an unknown one and never reaches an accessor that would assert.
//
//===----------------------------------------------------------------------===//

#include "frontend/OnnxReader.h"

#include "common/Error.h"
#include "frontend/TensorReader.h"

#include <protozero/pbf_reader.hpp>

#include <bit>
#include <cstring>

using namespace tilewright;
using namespace tilewright::onnxfile;
using protozero::pbf_reader;
using protozero::pbf_wire_type;

namespace {

constexpr uint32_t bytes(uint32_t field) { return protozero::tag_and_type(field, pbf_wire_type::length_delimited); }
constexpr uint32_t varint(uint32_t field) { return protozero::tag_and_type(field, pbf_wire_type::varint); }
constexpr uint32_t fixed32(uint32_t field) { return protozero::tag_and_type(field, pbf_wire_type::fixed32); }

std::string_view view(pbf_reader &reader) {
  auto data = reader.get_view();
  return {data.data(), data.size()};
}

/// The default domain has two spellings.
std::string_view domainView(pbf_reader &reader) {
  std::string_view name = view(reader);
  return name == "ai.onnx" ? std::string_view() : name;
}

class Reader {
public:
  explicit Reader(std::shared_ptr<const MappedFile> file) : file(std::move(file)), tensors(this->file) {}

  Model model() {
    Model result;
    result.file = file;
    int graphs = 0;
    pbf_reader reader(file->bytes().data(), file->bytes().size());
    while (reader.next())
      switch (reader.tag_and_type()) {
      case varint(1):
        result.irVersion = reader.get_int64();
        break;
      case bytes(2):
        result.producerName = view(reader);
        break;
      case bytes(3):
        result.producerVersion = view(reader);
        break;
      case bytes(7):
        result.graph = graph(reader.get_message());
        ++graphs;
        break;
      case bytes(8):
        opset(reader.get_message(), result.opsets);
        break;
      case bytes(25):
        result.functions.push_back(function(reader.get_message()));
        break;
      default:
        reader.skip();
      }
    if (graphs != 1)
      throw Error(file->name() + ": is not an ONNX model: it holds " + (graphs ? "several graphs" : "no graph"));
    if (result.opsets.empty())
      throw Error(file->name() + ": is not a whole ONNX model: it imports no opset");
    return result;
  }

private:
  /// Subgraphs nest; a file can nest them deeper than the stack is.
  struct Nesting {
    explicit Nesting(Reader &reader) : depth(reader.depth) {
      if (++depth > 64)
        throw Error(reader.file->name() + ": graphs are nested more than 64 deep");
    }
    ~Nesting() { --depth; }
    int &depth;
  };

  void opset(pbf_reader reader, OpsetImports &imports) {
    std::string_view domain;
    int64_t version = 0;
    while (reader.next())
      switch (reader.tag_and_type()) {
      case bytes(1):
        domain = domainView(reader);
        break;
      case varint(2):
        version = reader.get_int64();
        break;
      default:
        reader.skip();
      }
    imports[domain] = version;
  }

  Graph graph(pbf_reader reader) {
    Nesting nesting(*this);
    Graph result;
    while (reader.next())
      switch (reader.tag_and_type()) {
      case bytes(1):
        result.nodes.push_back(node(reader.get_message()));
        break;
      case bytes(2):
        result.name = view(reader);
        break;
      case bytes(5):
        result.initializers.push_back(tensors.tensor(reader.get_message()));
        break;
      case bytes(11):
        result.inputs.push_back(valueInfo(reader.get_message()));
        break;
      case bytes(12):
        result.outputs.push_back(valueInfo(reader.get_message()));
        break;
      case bytes(13):
        result.valueInfo.push_back(valueInfo(reader.get_message()));
        break;
      case bytes(15):
        result.sparseInitializers.push_back(tensors.sparse(reader.get_message()));
        break;
      default:
        reader.skip();
      }
    return result;
  }

  Function function(pbf_reader reader) {
    Function result;
    while (reader.next())
      switch (reader.tag_and_type()) {
      case bytes(1):
        result.name = view(reader);
        break;
      case bytes(4):
        result.inputs.push_back(view(reader));
        break;
      case bytes(5):
        result.outputs.push_back(view(reader));
        break;
      case bytes(6):
        result.attributes.push_back(view(reader));
        break;
      case bytes(7):
        result.nodes.push_back(node(reader.get_message()));
        break;
      case bytes(9):
        opset(reader.get_message(), result.opsets);
        break;
      case bytes(10):
        result.domain = domainView(reader);
        break;
      case bytes(11):
        result.defaults.push_back(attribute(reader.get_message()));
        break;
      case bytes(13):
        result.overload = view(reader);
        break;
      default:
        reader.skip();
      }
    return result;
  }

  Node node(pbf_reader reader) {
    Node result;
    while (reader.next())
      switch (reader.tag_and_type()) {
      case bytes(1):
        result.inputs.push_back(view(reader));
        break;
      case bytes(2):
        result.outputs.push_back(view(reader));
        break;
      case bytes(3):
        result.name = view(reader);
        break;
      case bytes(4):
        result.opType = view(reader);
        break;
      case bytes(5):
        result.attributes.push_back(attribute(reader.get_message()));
        break;
      case bytes(7):
        result.domain = domainView(reader);
        break;
      case bytes(8):
        result.overload = view(reader);
        break;
      default:
        reader.skip();
      }
    return result;
  }

  Attribute attribute(pbf_reader reader) {
    Attribute result;
    AttributeKind held = AttributeKind::Undefined;
    int32_t declared = 0;
    while (reader.next()) {
      switch (reader.tag_and_type()) {
      case bytes(1):
        result.name = view(reader);
        continue;
      case varint(20):
        declared = static_cast<int32_t>(reader.get_int64());
        continue;
      case bytes(21):
        result.reference = view(reader);
        continue;
      case fixed32(2):
        result.f = reader.get_float();
        held = AttributeKind::Float;
        break;
      case varint(3):
        result.i = reader.get_int64();
        held = AttributeKind::Int;
        break;
      case bytes(4):
        result.s = view(reader);
        held = AttributeKind::String;
        break;
      case bytes(5):
        result.tensor = tensors.tensor(reader.get_message());
        held = AttributeKind::Tensor;
        break;
      case bytes(6):
        result.graph = std::make_shared<Graph>(graph(reader.get_message()));
        held = AttributeKind::Graph;
        break;
      case fixed32(7):
        result.floats.push_back(reader.get_float());
        held = AttributeKind::Floats;
        break;
      case bytes(7):
        for (float value : reader.get_packed_float())
          result.floats.push_back(value);
        held = AttributeKind::Floats;
        break;
      case varint(8):
        result.ints.push_back(reader.get_int64());
        held = AttributeKind::Ints;
        break;
      case bytes(8):
        for (int64_t value : reader.get_packed_int64())
          result.ints.push_back(value);
        held = AttributeKind::Ints;
        break;
      case bytes(9):
        result.strings.push_back(view(reader));
        held = AttributeKind::Strings;
        break;
      case bytes(10):
        reader.skip();
        held = AttributeKind::Tensors;
        break;
      case bytes(11):
        reader.skip();
        held = AttributeKind::Graphs;
        break;
      case bytes(14):
        result.type = valueType(reader.get_message());
        held = AttributeKind::TypeProto;
        break;
      case bytes(15):
        reader.skip();
        held = AttributeKind::TypeProtos;
        break;
      case bytes(22):
        result.sparse = tensors.sparse(reader.get_message());
        held = AttributeKind::SparseTensor;
        break;
      case bytes(23):
        reader.skip();
        held = AttributeKind::SparseTensors;
        break;
      default:
        reader.skip();
        continue;
      }
    }
    // Zero and empty values may be left out on the wire, so the declared kind decides when there is one; models of the
    // first IR versions declare none. A kind whose message is missing would be dereferenced later.
    result.kind = declared ? static_cast<AttributeKind>(declared) : held;
    bool whole = (result.kind != AttributeKind::Tensor || result.tensor) &&
                 (result.kind != AttributeKind::Graph || result.graph) &&
                 (result.kind != AttributeKind::SparseTensor || result.sparse) &&
                 (result.kind != AttributeKind::TypeProto || result.type);
    if (!whole && result.reference.empty())
      throw Error(file->name() + ": attribute '" + std::string(result.name) +
                  "' declares a value that it does not hold");
    return result;
  }

  ValueInfo valueInfo(pbf_reader reader) {
    ValueInfo result;
    while (reader.next())
      switch (reader.tag_and_type()) {
      case bytes(1):
        result.name = view(reader);
        break;
      case bytes(2):
        result.type = valueType(reader.get_message());
        break;
      default:
        reader.skip();
      }
    return result;
  }

  ValueType valueType(pbf_reader reader) {
    ValueType result;
    while (reader.next())
      switch (reader.tag_and_type()) {
      case bytes(1):
        result.kind = ValueType::Dense;
        tensorType(reader.get_message(), result);
        break;
      case bytes(4):
        result.kind = ValueType::Sequence;
        reader.skip();
        break;
      case bytes(5):
        result.kind = ValueType::Map;
        reader.skip();
        break;
      case bytes(7):
        result.kind = ValueType::Opaque;
        reader.skip();
        break;
      case bytes(8):
        result.kind = ValueType::Sparse;
        reader.skip();
        break;
      case bytes(9):
        result.kind = ValueType::Optional;
        reader.skip();
        break;
      default:
        reader.skip();
      }
    return result;
  }

  void tensorType(pbf_reader reader, ValueType &result) {
    while (reader.next())
      switch (reader.tag_and_type()) {
      case varint(1):
        result.elementType = static_cast<int32_t>(reader.get_int64());
        break;
      case bytes(2): {
        result.shape.emplace();
        pbf_reader shape = reader.get_message();
        while (shape.next(1, pbf_wire_type::length_delimited))
          result.shape->push_back(dimension(shape.get_message()));
        break;
      }
      default:
        reader.skip();
      }
  }

  Dimension dimension(pbf_reader reader) {
    Dimension result;
    while (reader.next())
      switch (reader.tag_and_type()) {
      case varint(1):
        result.value = std::max<int64_t>(reader.get_int64(), -1); // some exporters write −1 for an unknown size
        break;
      case bytes(2):
        result.symbol = view(reader);
        break;
      default:
        reader.skip();
      }
    return result;
  }

  std::shared_ptr<const MappedFile> file;
  TensorReader tensors;
  int depth = 0;
};

} // namespace

Model tilewright::readOnnx(std::shared_ptr<const MappedFile> file) {
  std::string name = file->name();
  try {
    return Reader(std::move(file)).model();
  } catch (const protozero::exception &problem) {
    throw Error(name + ": is not an ONNX model, or is cut short (" + problem.what() + ")");
  }
}
