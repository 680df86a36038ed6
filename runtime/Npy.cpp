//===- Npy.cpp ------------------------------------------------------------===//

#include "runtime/Npy.h"

#include "common/Error.h"
#include "runtime/OutputFile.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>

namespace tilewright::runtime {

namespace {

struct Descriptor {
  const char *text;
  ElementType type;
};
// bfloat16 comes last: for reading, <u2 is uint16.
constexpr Descriptor kDescriptors[] = {{"<f4", ElementType::F32}, {"<f8", ElementType::F64}, {"<f2", ElementType::F16},
                                       {"|i1", ElementType::I8},  {"<i2", ElementType::I16}, {"<i4", ElementType::I32},
                                       {"<i8", ElementType::I64}, {"|u1", ElementType::U8},  {"<u2", ElementType::U16},
                                       {"<u4", ElementType::U32}, {"<u8", ElementType::U64}, {"|b1", ElementType::Bool},
                                       {"<u2", ElementType::BF16}};

/// The value behind `key` in the header, a Python dictionary literal; up to the next comma outside parentheses.
std::optional<std::string> headerValue(const std::string &header, const std::string &key) {
  size_t at = header.find("'" + key + "'");
  if (at == std::string::npos)
    return std::nullopt;
  at = header.find(':', at);
  if (at == std::string::npos)
    return std::nullopt;
  std::string value;
  for (int depth = 0; ++at < header.size();) {
    char c = header[at];
    if (depth == 0 && (c == ',' || c == '}'))
      break;
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c != ' ')
      value += c;
  }
  return value;
}

std::optional<Shape> parseShape(const std::string &text) {
  if (text.size() < 2 || text.front() != '(' || text.back() != ')')
    return std::nullopt;
  Shape shape;
  size_t at = 1;
  while (at < text.size() - 1) {
    size_t end = text.find_first_of(",)", at);
    std::string digits = text.substr(at, end - at);
    if (digits.empty() || digits.size() > 18 || digits.find_first_not_of("0123456789") != std::string::npos)
      return std::nullopt;
    shape.push_back(std::stoll(digits));
    at = end + 1;
  }
  return shape;
}

/// The elements of a column-major file, row-major.
void transpose(const std::vector<char> &bytes, Tensor &tensor) {
  size_t size = elementSize(tensor.type);
  uint64_t count = elementCount(tensor.shape);
  std::vector<int64_t> index(tensor.shape.size(), 0);
  for (uint64_t i = 0; i < count; ++i) {
    uint64_t from = 0, stride = 1;
    for (size_t d = 0; d < index.size(); ++d) {
      from += static_cast<uint64_t>(index[d]) * stride;
      stride *= static_cast<uint64_t>(tensor.shape[d]);
    }
    std::memcpy(tensor.data.get() + i * size, bytes.data() + from * size, size);
    for (size_t d = index.size(); d-- > 0;) {
      if (++index[d] < tensor.shape[d])
        break;
      index[d] = 0;
    }
  }
}

} // namespace

Tensor readNpy(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw Error(path + ": " + std::strerror(errno));
  char start[10] = {};
  file.read(start, sizeof start);
  if (!file || std::memcmp(start, "\x93NUMPY", 6) != 0)
    throw Error(path + ": not a .npy file");
  int version = start[6];
  uint32_t headerSize = static_cast<uint8_t>(start[8]) | static_cast<uint8_t>(start[9]) << 8;
  if (version >= 2) {
    char more[2] = {};
    file.read(more, sizeof more);
    headerSize |= static_cast<uint32_t>(static_cast<uint8_t>(more[0])) << 16 |
                  static_cast<uint32_t>(static_cast<uint8_t>(more[1])) << 24;
  }
  if (version < 1 || version > 3 || headerSize > (1u << 20))
    throw Error(path + ": .npy of version " + std::to_string(version) + "; 1 to 3 are supported");
  std::string header(headerSize, ' ');
  file.read(header.data(), headerSize);
  auto type = headerValue(header, "descr"), order = headerValue(header, "fortran_order");
  auto shapeValue = headerValue(header, "shape");
  auto shape = shapeValue ? parseShape(*shapeValue) : std::nullopt;
  if (!file || !type || !order || !shape)
    throw Error(path + ": its .npy header cannot be read");

  for (const Descriptor &known : kDescriptors) {
    if (*type != "'" + std::string(known.text) + "'")
      continue;
    Tensor tensor(known.type, *shape);
    std::vector<char> bytes(tensor.byteSize());
    file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!file)
      throw Error(path + ": cut short");
    if (*order == "True")
      transpose(bytes, tensor);
    else if (!bytes.empty())
      std::memcpy(tensor.data.get(), bytes.data(), bytes.size());
    return tensor;
  }
  throw Error(path + ": elements of type " + *type + " are not supported; little-endian numbers and bool are");
}

void writeNpy(const std::string &path, const TensorView &tensor) {
  std::string shape;
  for (int64_t size : tensor.shape)
    shape += std::to_string(size) + ", ";
  if (tensor.shape.size() > 1)
    shape.resize(shape.size() - 2);
  const char *type = "";
  for (const Descriptor &known : kDescriptors)
    if (known.type == tensor.type)
      type = known.text;
  std::string header = "{'descr': '" + std::string(type) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  // The whole header is a multiple of 64 bytes and ends in a newline.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string start = std::string("\x93NUMPY\x01\x00", 8);
  start += static_cast<char>(header.size() & 0xff);
  start += static_cast<char>(header.size() >> 8);
  OutputFile file(path);
  file.write(start.data(), start.size());
  file.write(header.data(), header.size());
  file.write(tensor.data, elementCount(tensor.shape) * elementSize(tensor.type));
  file.commit();
}

} // namespace tilewright::runtime
