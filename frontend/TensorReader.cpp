//===- TensorReader.cpp - TensorProto to views of its data ----------------===//

#include "frontend/TensorReader.h"

#include "common/Error.h"

#include <charconv>
#include <cstring>

using namespace tilewright;
using namespace tilewright::onnxfile;
using protozero::pbf_reader;
using protozero::pbf_wire_type;
using protozero::tag_and_type;

static const struct {
  const char *name;
  size_t size;
} kTypes[] = {{"undefined", 0},      {"float", 4},    {"uint8", 1},        {"int8", 1},           {"uint16", 2},
              {"int16", 2},          {"int32", 4},    {"int64", 8},        {"string", 0},         {"bool", 1},
              {"float16", 2},        {"double", 8},   {"uint32", 4},       {"uint64", 8},         {"complex64", 8},
              {"complex128", 16},    {"bfloat16", 2}, {"float8e4m3fn", 1}, {"float8e4m3fnuz", 1}, {"float8e5m2", 1},
              {"float8e5m2fnuz", 1}, {"uint4", 0},    {"int4", 0}};

std::string onnxfile::dataTypeName(int32_t type) {
  return type >= 0 && type < static_cast<int32_t>(std::size(kTypes)) ? kTypes[type].name
                                                                     : "type number " + std::to_string(type);
}

size_t onnxfile::dataTypeSize(int32_t type) {
  return type >= 0 && type < static_cast<int32_t>(std::size(kTypes)) ? kTypes[type].size : 0;
}

int64_t Tensor::elements() const {
  int64_t product = 1;
  for (int64_t dim : dims)
    product *= dim; // the reader has made sure that this does not overflow
  return product;
}

/// What a TensorProto says before the element type, which may come last, tells how to read it.
struct TensorReader::Fields {
  std::optional<std::string_view> raw;
  /// Values of typed fields: their bytes when fixed-size, their varints otherwise, in order.
  std::string fixed;
  std::vector<std::string_view> varints;
  std::vector<std::string_view> strings;
  std::string_view location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
  bool external = false;
};

static std::string describe(const Tensor &tensor) {
  std::string text = "tensor '" + std::string(tensor.name) + "' (" + dataTypeName(tensor.dataType) + " [";
  for (size_t i = 0; i < tensor.dims.size(); ++i)
    text += (i ? ", " : "") + std::to_string(tensor.dims[i]);
  return text + "])";
}

void TensorReader::fail(const Tensor &tensor, const std::string &what) const {
  throw Error(model->name() + ": " + describe(tensor) + " " + what);
}

static uint64_t toNumber(std::string_view text) {
  uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? value : UINT64_MAX;
}

/// Packed or single varints to little-endian elements of `size` bytes.
static std::string decodeVarints(const std::vector<std::string_view> &pieces, size_t size) {
  std::string result;
  for (std::string_view piece : pieces) {
    const char *at = piece.data(), *end = at + piece.size();
    while (at != end) {
      uint64_t value = protozero::decode_varint(&at, end);
      result.append(reinterpret_cast<const char *>(&value), size);
    }
  }
  return result;
}

Tensor TensorReader::tensor(pbf_reader reader) {
  Tensor result;
  Fields fields;
  auto view = [&] {
    auto data = reader.get_view();
    return std::string_view(data.data(), data.size());
  };
  auto oneVarint = [&] {
    const char *begin = reader.data().data();
    reader.get_uint64();
    return std::string_view(begin, reader.data().data() - begin);
  };
  auto oneFixed = [&](auto value) { fields.fixed.append(reinterpret_cast<const char *>(&value), sizeof(value)); };
  constexpr auto packed = pbf_wire_type::length_delimited;
  while (reader.next())
    switch (reader.tag_and_type()) {
    case tag_and_type(1, packed):
      for (int64_t dim : reader.get_packed_int64())
        result.dims.push_back(dim);
      break;
    case tag_and_type(1, pbf_wire_type::varint):
      result.dims.push_back(reader.get_int64());
      break;
    case tag_and_type(2, pbf_wire_type::varint):
      result.dataType = static_cast<int32_t>(reader.get_int64());
      break;
    case tag_and_type(4, packed):
    case tag_and_type(10, packed):
      fields.fixed += view();
      break;
    case tag_and_type(4, pbf_wire_type::fixed32):
      oneFixed(reader.get_fixed32());
      break;
    case tag_and_type(10, pbf_wire_type::fixed64):
      oneFixed(reader.get_fixed64());
      break;
    case tag_and_type(5, packed):
    case tag_and_type(7, packed):
    case tag_and_type(11, packed):
      fields.varints.push_back(view());
      break;
    case tag_and_type(5, pbf_wire_type::varint):
    case tag_and_type(7, pbf_wire_type::varint):
    case tag_and_type(11, pbf_wire_type::varint):
      fields.varints.push_back(oneVarint());
      break;
    case tag_and_type(6, packed):
      fields.strings.push_back(view());
      break;
    case tag_and_type(8, packed):
      result.name = view();
      break;
    case tag_and_type(9, packed):
      fields.raw = view();
      break;
    case tag_and_type(13, packed): {
      std::string_view key, value;
      pbf_reader entry = reader.get_message();
      while (entry.next()) {
        if (entry.tag_and_type() != tag_and_type(1, packed) && entry.tag_and_type() != tag_and_type(2, packed)) {
          entry.skip();
          continue;
        }
        bool isKey = entry.tag() == 1;
        auto data = entry.get_view();
        (isKey ? key : value) = {data.data(), data.size()};
      }
      if (key == "location")
        fields.location = value;
      else if (key == "offset")
        fields.offset = toNumber(value);
      else if (key == "length")
        fields.length = toNumber(value);
      break;
    }
    case tag_and_type(14, pbf_wire_type::varint):
      fields.external = reader.get_int64() == 1;
      break;
    default:
      reader.skip();
    }

  int64_t count = 1;
  for (int64_t dim : result.dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > (int64_t(1) << 48))
      fail(result, "has impossible dimensions");
  if (result.dataType == static_cast<int32_t>(DataType::String)) {
    result.strings = std::move(fields.strings);
    if (static_cast<int64_t>(result.strings.size()) != count)
      fail(result, "holds " + std::to_string(result.strings.size()) + " strings");
    return result;
  }
  size_t size = dataTypeSize(result.dataType);
  if (size == 0)
    fail(result, "has an element type that is not supported");
  if (fields.external) {
    takeExternal(result, fields);
  } else if (fields.raw) {
    result.data = *fields.raw;
    result.owner = model;
  } else {
    bool isFixed = result.dataType == static_cast<int32_t>(DataType::Float) ||
                   result.dataType == static_cast<int32_t>(DataType::Double) ||
                   result.dataType == static_cast<int32_t>(DataType::Complex64) ||
                   result.dataType == static_cast<int32_t>(DataType::Complex128);
    auto decoded =
        std::make_shared<std::string>(isFixed ? std::move(fields.fixed) : decodeVarints(fields.varints, size));
    result.data = *decoded;
    result.owner = decoded;
  }
  if (result.data.size() != static_cast<uint64_t>(count) * size)
    fail(result, "holds " + std::to_string(result.data.size()) + " bytes of data instead of " +
                     std::to_string(static_cast<uint64_t>(count) * size));
  return result;
}

SparseTensor TensorReader::sparse(pbf_reader reader) {
  SparseTensor result;
  while (reader.next())
    switch (reader.tag_and_type()) {
    case tag_and_type(1, pbf_wire_type::length_delimited):
      result.values = tensor(reader.get_message());
      break;
    case tag_and_type(2, pbf_wire_type::length_delimited):
      result.indices = tensor(reader.get_message());
      break;
    case tag_and_type(3, pbf_wire_type::length_delimited):
      for (int64_t dim : reader.get_packed_int64())
        result.dims.push_back(dim);
      break;
    case tag_and_type(3, pbf_wire_type::varint):
      result.dims.push_back(reader.get_int64());
      break;
    default:
      reader.skip();
    }
  return result;
}

void TensorReader::takeExternal(Tensor &tensor, const Fields &fields) {
  auto file = externalFile(tensor, fields.location);
  std::string_view all = file->bytes();
  uint64_t expected = static_cast<uint64_t>(tensor.elements()) * dataTypeSize(tensor.dataType);
  uint64_t length = fields.length.value_or(expected);
  if (fields.offset > all.size() || length > all.size() - fields.offset)
    fail(tensor, "lies outside its external file '" + std::string(fields.location) + "' of " +
                     std::to_string(all.size()) + " bytes");
  tensor.data = all.substr(fields.offset, length);
  tensor.owner = file;
}

/// A model must not make the compiler read what its owner did not put beside it.
std::shared_ptr<const MappedFile> TensorReader::externalFile(const Tensor &tensor, std::string_view location) {
  namespace fs = std::filesystem;
  std::string name(location);
  if (auto known = externalFiles.find(name); known != externalFiles.end())
    return known->second;
  std::string quoted = "external file '" + name + "'";
  if (model->folder().empty())
    fail(tensor, "is in the " + quoted + ", but a model given as bytes has no folder to look in");
  fs::path relative(name);
  if (name.empty() || name.find('\0') != std::string::npos || relative.is_absolute())
    fail(tensor, "names the " + quoted + "; only paths relative to the model's folder are read");
  for (const fs::path &part : relative)
    if (part == "..")
      fail(tensor, "names the " + quoted + "; '..' is not allowed in it");
  std::error_code error;
  fs::path folder = fs::canonical(model->folder(), error);
  fs::path target = fs::canonical(folder / relative, error);
  if (error)
    fail(tensor, "names the " + quoted + ": " + error.message());
  if (std::mismatch(folder.begin(), folder.end(), target.begin(), target.end()).first != folder.end())
    fail(tensor, "names the " + quoted + ", which links to a place outside the model's folder");
  try {
    return externalFiles[name] = MappedFile::open(target);
  } catch (const Error &problem) {
    fail(tensor, "names the " + quoted + ": " + problem.what());
  }
}
