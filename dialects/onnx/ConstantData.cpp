//===- ConstantData.cpp - the bytes and numbers behind constants ----------===//

#include "dialects/onnx/ConstantData.h"

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/IR/AsmState.h"

using namespace mlir;
using namespace tilewright;

/// Up to this size a constant is printed and stored in the IR; shapes, axes and scales stay readable.
static constexpr size_t kInlineBytes = 256;

size_t onnx::elementBytes(Type type) {
  if (type.isIntOrFloat())
    return (type.getIntOrFloatBitWidth() + 7) / 8;
  if (auto complex = dyn_cast<ComplexType>(type))
    return 2 * elementBytes(complex.getElementType());
  return 0;
}

bool onnx::hasValues(ElementsAttr elements) {
  auto resource = dyn_cast<DenseResourceElementsAttr>(elements);
  return !resource || resource.getRawHandle().getBlob();
}

onnx::ConstantBytes::ConstantBytes(ElementsAttr elements) {
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(elements)) {
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      data = blob->getData();
    return;
  }
  auto dense = cast<DenseElementsAttr>(elements);
  Type type = dense.getElementType();
  size_t count = static_cast<size_t>(dense.getNumElements()), size = elementBytes(type);
  owned = std::make_shared<std::vector<char>>(count * size);
  if (type.isInteger(1)) {
    // Booleans may be packed in the attribute.
    size_t i = 0;
    for (bool value : dense.getValues<bool>())
      (*owned)[i++] = value;
  } else if (dense.isSplat()) {
    for (size_t i = 0; i < count; ++i)
      std::memcpy(owned->data() + i * size, dense.getRawData().data(), size);
  } else if (size) {
    std::memcpy(owned->data(), dense.getRawData().data(), count * size);
  }
  data = *owned;
}

ElementsAttr onnx::makeConstant(RankedTensorType type, ArrayRef<char> bytes, std::shared_ptr<const void> owner) {
  size_t size = elementBytes(type.getElementType());
  assert(bytes.size() == static_cast<size_t>(type.getNumElements()) * size);
  // Equal from one element to the next; linear, and over at once for weights that differ.
  bool splat = bytes.size() > size && std::memcmp(bytes.data(), bytes.data() + size, bytes.size() - size) == 0;
  if (splat || bytes.size() <= kInlineBytes) {
    ArrayRef<char> stored = splat ? bytes.take_front(size) : bytes;
    if (type.getElementType().isInteger(1)) {
      SmallVector<bool> values;
      for (char value : stored)
        values.push_back(value != 0);
      return DenseElementsAttr::get(type, values);
    }
    return DenseElementsAttr::getFromRawBuffer(type, stored);
  }
  if (!owner) {
    auto copy = std::make_shared<std::vector<char>>(bytes.begin(), bytes.end());
    bytes = *copy;
    owner = copy;
  }
  auto blob = UnmanagedAsmResourceBlob::allocateWithAlign(
      bytes, /*align=*/1, [owner = std::move(owner)](void *, size_t, size_t) mutable { owner.reset(); });
  return DenseResourceElementsAttr::get(type, "weights", std::move(blob));
}

std::optional<SmallVector<int64_t>> onnx::integers(ElementsAttr elements, int64_t limit) {
  auto type = elements ? dyn_cast<IntegerType>(elements.getElementType()) : IntegerType();
  if (!type || elements.getNumElements() > limit)
    return std::nullopt;
  ConstantBytes data(elements);
  SmallVector<int64_t> values;
  size_t size = elementBytes(type);
  if (data.bytes().size() != size * elements.getNumElements())
    return std::nullopt;
  for (int64_t i = 0, n = elements.getNumElements(); i < n; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, data.bytes().data() + i * size, size);
    bool isUnsigned = type.isUnsigned() || type.getWidth() == 1;
    values.push_back(isUnsigned ? static_cast<int64_t>(bits)
                                : static_cast<int64_t>(bits << (64 - 8 * size)) >> (64 - 8 * size));
  }
  return values;
}

std::optional<SmallVector<double>> onnx::floats(ElementsAttr elements, int64_t limit) {
  auto type = elements ? dyn_cast<FloatType>(elements.getElementType()) : FloatType();
  if (!type || elements.getNumElements() > limit)
    return std::nullopt;
  ConstantBytes data(elements);
  SmallVector<double> values;
  size_t size = elementBytes(type);
  if (data.bytes().size() != size * elements.getNumElements())
    return std::nullopt;
  for (int64_t i = 0, n = elements.getNumElements(); i < n; ++i) {
    uint64_t bits = 0;
    std::memcpy(&bits, data.bytes().data() + i * size, size);
    APFloat value(type.getFloatSemantics(), APInt(type.getWidth(), bits));
    bool losesInfo;
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &losesInfo);
    values.push_back(value.convertToDouble());
  }
  return values;
}
