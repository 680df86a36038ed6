//===- NumpyFile.cpp - arrays in .npy and .npz files ----------------------===//
//
// .npy: the magic, a version, a Python dictionary as text, the elements. .npz: a zip archive of .npy files; only what
// numpy writes is read: no encryption, stored or deflated, sizes in the central directory (Zip64 where they need it).
//
//===----------------------------------------------------------------------===//

#include "runtime/NumpyFile.h"

#include "common/Error.h"
#include "runtime/OutputFile.h"

#include <zlib.h>

#include <cstring>
#include <fstream>
#include <string_view>

using namespace tilewright;
using namespace tilewright::runtime;

namespace {

[[noreturn]] void fail(const std::string &where, const std::string &what) { throw Error(where + ": " + what); }

std::string readFile(const std::filesystem::path &path) {
  std::ifstream stream(path, std::ios::binary | std::ios::ate);
  if (!stream || !std::filesystem::is_regular_file(path))
    fail(path.string(), "cannot be read");
  std::string bytes(static_cast<size_t>(stream.tellg()), '\0');
  stream.seekg(0).read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  if (!stream)
    fail(path.string(), "cannot be read");
  return bytes;
}

/// Little-endian number at `offset`; the caller has checked that it is inside.
template <typename T> T number(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

//===----------------------------------------------------------------------===//
// .npy
//===----------------------------------------------------------------------===//

struct NumpyType {
  const char *code;
  ElementType type;
};
constexpr NumpyType kTypes[] = {
    {"f4", ElementType::F32}, {"f8", ElementType::F64}, {"f2", ElementType::F16}, {"i1", ElementType::I8},
    {"i2", ElementType::I16}, {"i4", ElementType::I32}, {"i8", ElementType::I64}, {"u1", ElementType::U8},
    {"u2", ElementType::U16}, {"u4", ElementType::U32}, {"u8", ElementType::U64}, {"b1", ElementType::Bool},
};

/// The text after `'key':` in the header's dictionary, from its first character that is no blank.
std::string_view headerValue(std::string_view header, std::string_view key, const std::string &where) {
  size_t at = header.find("'" + std::string(key) + "':");
  if (at == std::string_view::npos)
    fail(where, "its header has no '" + std::string(key) + "'");
  header.remove_prefix(at + key.size() + 3);
  header.remove_prefix(std::min(header.find_first_not_of(' '), header.size()));
  return header;
}

ElementType parseType(std::string_view text, const std::string &where) {
  std::string_view name = text.substr(0, text.find_first_of(",}"));
  if (text.size() > 1 && text[0] == '\'') {
    name = text.substr(1, text.find('\'', 1) - 1);
    if (name.size() == 3 && (name[0] == '<' || name[0] == '|' || name[0] == '='))
      for (const NumpyType &known : kTypes)
        if (name.substr(1) == known.code)
          return known.type;
  }
  fail(where, "arrays of type " + std::string(name) + " cannot be used; numbers of up to 8 bytes, little-endian, can");
}

Shape parseShape(std::string_view text, const std::string &where) {
  Shape shape;
  if (text.empty() || text[0] != '(')
    fail(where, "its header has no shape");
  for (size_t at = 1; at < text.size() && text[at] != ')';) {
    int64_t size = 0;
    size_t digits = 0;
    for (; at < text.size() && text[at] >= '0' && text[at] <= '9'; ++at, ++digits)
      size = digits < 18 ? size * 10 + (text[at] - '0') : INT64_MAX;
    if (digits)
      shape.push_back(size);
    else if (text[at] == ' ' || text[at] == ',')
      ++at;
    else
      fail(where, "its header has no shape");
  }
  return shape;
}

/// Copies column-major elements to row-major ones.
void copyTransposed(const Tensor &to, const char *from) {
  size_t bytes = elementSize(to.type), count = elementCount(to.shape), rank = to.shape.size();
  std::vector<int64_t> index(rank, 0), stride(rank, 1);
  for (size_t axis = 1; axis < rank; ++axis)
    stride[axis] = stride[axis - 1] * to.shape[axis - 1];
  for (size_t i = 0; i < count; ++i) {
    int64_t source = 0;
    for (size_t axis = 0; axis < rank; ++axis)
      source += index[axis] * stride[axis];
    std::memcpy(to.data.get() + i * bytes, from + source * bytes, bytes);
    for (size_t axis = rank; axis-- > 0 && ++index[axis] == to.shape[axis];)
      index[axis] = 0;
  }
}

Tensor parseNpy(std::string_view bytes, const std::string &where) {
  if (bytes.size() < 12 || bytes.substr(0, 6) != "\x93NUMPY")
    fail(where, "is no .npy file");
  unsigned version = static_cast<unsigned char>(bytes[6]);
  size_t start = version == 1 ? 10 : 12;
  size_t length = version == 1 ? number<uint16_t>(bytes, 8) : number<uint32_t>(bytes, 8);
  if (version < 1 || version > 3 || length > bytes.size() - start)
    fail(where, "is no .npy file of version 1 to 3, or is cut short");
  std::string_view header = bytes.substr(start, length), elements = bytes.substr(start + length);
  Shape shape = parseShape(headerValue(header, "shape", where), where);
  ElementType type = parseType(headerValue(header, "descr", where), where);
  uint64_t size = elementCount(shape) * elementSize(type);
  if (size > elements.size())
    fail(where, "is cut short: " + shapeText(shape) + " " + elementTypeName(type) + " takes " + std::to_string(size) +
                    " bytes, there are " + std::to_string(elements.size()));
  Tensor tensor(type, shape);
  if (headerValue(header, "fortran_order", where).substr(0, 4) == "True")
    copyTransposed(tensor, elements.data());
  else
    std::memcpy(tensor.data.get(), elements.data(), size);
  return tensor;
}

//===----------------------------------------------------------------------===//
// .npz
//===----------------------------------------------------------------------===//

std::string inflateRaw(std::string_view compressed, uint64_t size, const std::string &where) {
  // Deflate cannot make more than 1032 bytes of one: a larger claim is damage, not a reason to allocate.
  if (size / 1032 > compressed.size() + 1)
    fail(where, "is damaged");
  std::string result(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK)
    fail(where, "cannot be decompressed");
  stream.next_in = reinterpret_cast<Bytef *>(const_cast<char *>(compressed.data()));
  stream.next_out = reinterpret_cast<Bytef *>(result.data());
  uint64_t in = compressed.size(), out = size;
  int status = Z_OK;
  // zlib counts in 32 bits.
  while (status == Z_OK) {
    if (stream.avail_in == 0)
      in -= stream.avail_in = static_cast<uInt>(std::min<uint64_t>(in, 1u << 30));
    if (stream.avail_out == 0)
      out -= stream.avail_out = static_cast<uInt>(std::min<uint64_t>(out, 1u << 30));
    status = inflate(&stream, Z_NO_FLUSH);
  }
  bool whole = status == Z_STREAM_END && out == 0 && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole)
    fail(where, "is damaged");
  return result;
}

struct ZipEntry {
  std::string name;
  uint16_t method = 0;
  uint64_t compressed = 0, size = 0, offset = 0;
};

/// The Zip64 values that replace fields which are all ones, in their fixed order.
void readZip64(std::string_view extra, ZipEntry &entry) {
  while (extra.size() >= 4) {
    uint16_t id = number<uint16_t>(extra, 0);
    size_t length = number<uint16_t>(extra, 2);
    std::string_view body = extra.substr(4, length);
    extra.remove_prefix(std::min(4 + length, extra.size()));
    if (id != 1)
      continue;
    for (uint64_t *field : {&entry.size, &entry.compressed, &entry.offset})
      if (*field == UINT32_MAX && body.size() >= 8) {
        *field = number<uint64_t>(body, 0);
        body.remove_prefix(8);
      }
  }
}

std::vector<ZipEntry> readDirectory(std::string_view bytes, const std::string &where) {
  size_t end = bytes.rfind("PK\5\6");
  if (end == std::string_view::npos || bytes.size() - end < 22)
    fail(where, "is no .npz file, or is cut short");
  uint64_t count = number<uint16_t>(bytes, end + 10), at = number<uint32_t>(bytes, end + 16);
  if (count == UINT16_MAX || at == UINT32_MAX) {
    size_t end64 = bytes.rfind("PK\6\6", end);
    if (end64 == std::string_view::npos || bytes.size() - end64 < 56)
      fail(where, "is damaged");
    count = number<uint64_t>(bytes, end64 + 32);
    at = number<uint64_t>(bytes, end64 + 48);
  }
  std::vector<ZipEntry> entries;
  for (uint64_t i = 0; i < count; ++i) {
    if (at > bytes.size() || bytes.size() - at < 46 || bytes.substr(at, 4) != "PK\1\2")
      fail(where, "is damaged");
    size_t nameSize = number<uint16_t>(bytes, at + 28), extraSize = number<uint16_t>(bytes, at + 30);
    size_t commentSize = number<uint16_t>(bytes, at + 32);
    if (bytes.size() - at - 46 < nameSize + extraSize + commentSize)
      fail(where, "is damaged");
    ZipEntry entry;
    entry.method = number<uint16_t>(bytes, at + 10);
    entry.compressed = number<uint32_t>(bytes, at + 20);
    entry.size = number<uint32_t>(bytes, at + 24);
    entry.offset = number<uint32_t>(bytes, at + 42);
    entry.name = bytes.substr(at + 46, nameSize);
    readZip64(bytes.substr(at + 46 + nameSize, extraSize), entry);
    entries.push_back(std::move(entry));
    at += 46 + nameSize + extraSize + commentSize;
  }
  return entries;
}

std::string_view entryData(std::string_view bytes, const ZipEntry &entry, const std::string &where) {
  if (entry.offset > bytes.size() || bytes.size() - entry.offset < 30)
    fail(where, "is damaged");
  uint64_t start =
      entry.offset + 30 + number<uint16_t>(bytes, entry.offset + 26) + number<uint16_t>(bytes, entry.offset + 28);
  if (start > bytes.size() || bytes.size() - start < entry.compressed)
    fail(where, "is damaged or cut short");
  return bytes.substr(start, entry.compressed);
}

} // namespace

Tensor runtime::readNpy(const std::filesystem::path &path) { return parseNpy(readFile(path), path.string()); }

std::map<std::string, Tensor> runtime::readNpz(const std::filesystem::path &path) {
  std::string bytes = readFile(path);
  std::map<std::string, Tensor> arrays;
  for (const ZipEntry &entry : readDirectory(bytes, path.string())) {
    std::string where = path.string() + ": '" + entry.name + "'";
    std::string_view name = entry.name, data = entryData(bytes, entry, where);
    if (!name.ends_with(".npy"))
      continue;
    name.remove_suffix(4);
    if (entry.method == 0)
      arrays[std::string(name)] = parseNpy(data, where);
    else if (entry.method == 8)
      arrays[std::string(name)] = parseNpy(inflateRaw(data, entry.size, where), where);
    else
      fail(where, "is compressed by method " + std::to_string(entry.method) + "; stored and deflated can be read");
  }
  return arrays;
}

void runtime::writeNpy(const std::filesystem::path &path, const TensorView &tensor) {
  const char *code = nullptr;
  for (const NumpyType &known : kTypes)
    if (known.type == tensor.type)
      code = known.code;
  if (!code)
    fail(path.string(), std::string(elementTypeName(tensor.type)) + " has no numpy type");
  std::string header = std::string("{'descr': '") + (elementSize(tensor.type) == 1 ? "|" : "<") + code +
                       "', 'fortran_order': False, 'shape': (";
  for (int64_t size : tensor.shape)
    header += std::to_string(size) + ",";
  header += "), }";
  // The elements begin at a multiple of 64; the header ends with a newline.
  header.resize((10 + header.size() + 1 + 63) / 64 * 64 - 10 - 1, ' ');
  header += '\n';
  OutputFile file(path.string());
  uint16_t length = static_cast<uint16_t>(header.size());
  file.write("\x93NUMPY\1\0", 8);
  file.write(&length, 2);
  file.write(header.data(), header.size());
  file.write(tensor.data, elementCount(tensor.shape) * elementSize(tensor.type));
  file.commit();
}
