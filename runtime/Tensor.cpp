//===- Tensor.cpp ---------------------------------------------------------===//

#include "runtime/Tensor.h"

#include "common/Error.h"

#include <cstdlib>
#include <cstring>
#include <limits>

namespace tilewright::runtime {

namespace {
struct ElementTypeRow {
  const char *name;
  size_t size;
};
// In the order of package.fbs.
constexpr ElementTypeRow kElementTypes[] = {
    {"float32", 4}, {"float64", 8}, {"float16", 2}, {"bfloat16", 2}, {"int8", 1},   {"int16", 2}, {"int32", 4},
    {"int64", 8},   {"uint8", 1},   {"uint16", 2},  {"uint32", 4},   {"uint64", 8}, {"bool", 1}};
static_assert(std::size(kElementTypes) == static_cast<size_t>(ElementType::MAX) + 1);

const ElementTypeRow &row(ElementType type) { return kElementTypes[static_cast<size_t>(type)]; }
} // namespace

const char *elementTypeName(ElementType type) { return row(type).name; }
size_t elementSize(ElementType type) { return row(type).size; }

uint64_t elementCount(const Shape &shape) {
  uint64_t count = 1;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(count, static_cast<uint64_t>(size), &count) ||
        count > std::numeric_limits<int64_t>::max() / 8)
      throw Error("a tensor of shape " + shapeText(shape) + " is too large");
  return count;
}

std::string shapeText(const Shape &shape, const std::vector<std::string> &symbols) {
  if (shape.empty())
    return "scalar";
  std::string text;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (i)
      text += 'x';
    if (shape[i] >= 0)
      text += std::to_string(shape[i]);
    else
      text += i < symbols.size() && !symbols[i].empty() ? symbols[i] : "?";
  }
  return text;
}

AlignedBytes allocateAligned(size_t bytes) {
  size_t rounded = (bytes / kAlignment + 1) * kAlignment;
  auto *memory = static_cast<std::byte *>(std::aligned_alloc(kAlignment, rounded));
  if (!memory)
    throw Error("out of memory: " + std::to_string(bytes) + " bytes could not be allocated");
  std::memset(memory, 0, rounded);
  return {memory, [](std::byte *pointer) { std::free(pointer); }};
}

Tensor::Tensor(ElementType type, Shape shape)
    : type(type), shape(std::move(shape)), data(allocateAligned(byteSize())) {}

} // namespace tilewright::runtime
