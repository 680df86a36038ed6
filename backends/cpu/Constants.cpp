//===- Constants.cpp - operands known at compile time ---------------------===//

#include "backends/cpu/Constants.h"
#include "backends/cpu/KernelBuilder.h"

#include "mlir/IR/DialectResourceBlobManager.h"

#include <cstring>

using namespace mlir;

namespace tilewright::cpu {

static unsigned storageBytes(Type element) { return (storageType(element).getIntOrFloatBitWidth() + 7) / 8; }

ArrayRef<char> constantBytes(Value value, std::vector<char> &storage) {
  ElementsAttr elements = onnx::constantValue(value);
  if (!elements)
    return {};
  Type element = elements.getElementType();
  if (!element.isIntOrFloat())
    return {};
  size_t bytes = elements.getNumElements() * storageBytes(element);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() < bytes)
      return {};
    return blob->getData().take_front(bytes);
  }
  auto dense = dyn_cast<DenseElementsAttr>(elements);
  if (!dense)
    return {};
  ArrayRef<char> raw = dense.getRawData();
  if (!dense.isSplat() && raw.size() == bytes)
    return raw;
  storage.resize(bytes);
  unsigned width = storageBytes(element);
  if (element.isInteger(1)) {
    for (auto [i, bit] : llvm::enumerate(dense.getValues<bool>()))
      storage[i] = bit;
  } else {
    for (size_t i = 0; i < bytes; i += width)
      std::memcpy(storage.data() + i, raw.data(), width);
  }
  return storage;
}

static APInt bitsAt(const char *bytes, unsigned width) {
  uint64_t bits = 0;
  std::memcpy(&bits, bytes, width / 8);
  return APInt(width, bits);
}

std::optional<SmallVector<int64_t>> constantInts(Value value) {
  std::vector<char> storage;
  ElementsAttr elements = onnx::constantValue(value);
  if (!elements || !elements.getElementType().isInteger())
    return std::nullopt;
  ArrayRef<char> bytes = constantBytes(value, storage);
  unsigned width = storageBytes(elements.getElementType());
  if (bytes.size() != static_cast<size_t>(elements.getNumElements()) * width)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (size_t i = 0; i < bytes.size(); i += width) {
    APInt bits = bitsAt(bytes.data() + i, width * 8);
    values.push_back(isUnsignedType(elements.getElementType()) ? bits.getZExtValue() : bits.getSExtValue());
  }
  return values;
}

std::optional<SmallVector<double>> constantFloats(Value value) {
  std::vector<char> storage;
  ElementsAttr elements = onnx::constantValue(value);
  auto type = elements ? dyn_cast<FloatType>(elements.getElementType()) : FloatType();
  if (!type)
    return std::nullopt;
  ArrayRef<char> bytes = constantBytes(value, storage);
  unsigned width = storageBytes(type);
  if (bytes.size() != static_cast<size_t>(elements.getNumElements()) * width)
    return std::nullopt;
  SmallVector<double> values;
  for (size_t i = 0; i < bytes.size(); i += width) {
    APFloat number(type.getFloatSemantics(), bitsAt(bytes.data() + i, width * 8));
    bool inexact;
    number.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &inexact);
    values.push_back(number.convertToDouble());
  }
  return values;
}

TypedAttr constantScalar(Value value) {
  ElementsAttr elements = onnx::constantValue(value);
  if (!elements || elements.getNumElements() == 0 || !elements.getElementType().isIntOrFloat())
    return nullptr;
  Type element = elements.getElementType();
  unsigned width = storageBytes(element);
  if (elements.getNumElements() * width > 1024)
    return nullptr;
  std::vector<char> storage;
  ArrayRef<char> bytes = constantBytes(value, storage);
  if (bytes.empty())
    return nullptr;
  for (size_t i = width; i < bytes.size(); i += width)
    if (std::memcmp(bytes.data(), bytes.data() + i, width) != 0)
      return nullptr;
  APInt bits = bitsAt(bytes.data(), width * 8);
  Type compute = computeType(element);
  if (auto type = dyn_cast<FloatType>(element)) {
    APFloat number(type.getFloatSemantics(), bits);
    bool inexact;
    number.convert(cast<FloatType>(compute).getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
    return FloatAttr::get(compute, number);
  }
  return IntegerAttr::get(compute, element.isInteger(1) ? APInt(1, !bits.isZero()) : bits);
}

} // namespace tilewright::cpu
