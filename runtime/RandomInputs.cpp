//===- RandomInputs.cpp ---------------------------------------------------===//

#include "runtime/RandomInputs.h"

#include <cstring>

namespace tilewright::runtime {

namespace {

/// SplitMix64: tiny, and the same on every machine, which std's distributions are not.
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}
  uint64_t next() {
    uint64_t z = state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
  }
  /// [-1, 1), exact in bfloat16 and everything wider.
  float real() { return static_cast<float>(static_cast<int64_t>(next() >> 56) - 128) / 128.0f; }

private:
  uint64_t state;
};

void fill(Tensor &tensor, Random &random) {
  std::byte *at = tensor.data.get();
  size_t size = elementSize(tensor.type);
  for (uint64_t i = 0, count = elementCount(tensor.shape); i < count; ++i, at += size) {
    if (tensor.type == ElementType::F32) {
      float value = random.real();
      std::memcpy(at, &value, size);
    } else if (tensor.type == ElementType::F64) {
      double value = random.real();
      std::memcpy(at, &value, size);
    } else if (tensor.type == ElementType::BF16) {
      float value = random.real();
      std::memcpy(at, reinterpret_cast<const char *>(&value) + 2, size);
    } else if (tensor.type == ElementType::F16) {
      _Float16 value = static_cast<_Float16>(random.real());
      std::memcpy(at, &value, size);
    } else if (tensor.type == ElementType::I8 || tensor.type == ElementType::U8) {
      *at = static_cast<std::byte>(random.next() >> 56);
    } else {
      uint64_t value = random.next() >> 63;
      std::memcpy(at, &value, size);
    }
  }
}

} // namespace

std::map<std::string, Tensor> randomInputs(const Model &model, uint64_t seed) {
  Random random(seed);
  std::map<std::string, Shape> shapes = model.exampleShapes();
  std::map<std::string, Tensor> result;
  for (const TensorInfo &input : model.inputs()) {
    Tensor tensor(input.type, shapes.at(input.name));
    fill(tensor, random);
    result.emplace(input.name, std::move(tensor));
  }
  return result;
}

} // namespace tilewright::runtime
