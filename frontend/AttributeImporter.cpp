//===- AttributeImporter.cpp - tensors, types, attributes to MLIR ---------===//

#include "frontend/AttributeImporter.h"

#include "common/Error.h"
#include "dialects/onnx/ConstantData.h"
#include "dialects/onnx/OnnxDialect.h"

using namespace mlir;
using namespace tilewright;
using onnxfile::AttributeKind;
using onnxfile::DataType;

Type AttributeImporter::elementType(int32_t type, const std::string &what) {
  switch (static_cast<DataType>(type)) {
  case DataType::Float:
    return builder.getF32Type();
  case DataType::Float16:
    return builder.getF16Type();
  case DataType::BFloat16:
    return builder.getBF16Type();
  case DataType::Double:
    return builder.getF64Type();
  case DataType::Bool:
    return builder.getI1Type();
  case DataType::Int8:
    return builder.getI8Type();
  case DataType::Int16:
    return builder.getI16Type();
  case DataType::Int32:
    return builder.getI32Type();
  case DataType::Int64:
    return builder.getI64Type();
  case DataType::UInt8:
    return builder.getIntegerType(8, false);
  case DataType::UInt16:
    return builder.getIntegerType(16, false);
  case DataType::UInt32:
    return builder.getIntegerType(32, false);
  case DataType::UInt64:
    return builder.getIntegerType(64, false);
  case DataType::String:
    return onnx::StringType::get(builder.getContext());
  case DataType::Complex64:
    return ComplexType::get(builder.getF32Type());
  case DataType::Complex128:
    return ComplexType::get(builder.getF64Type());
  case DataType::Float8E4M3FN:
    return builder.getType<Float8E4M3FNType>();
  case DataType::Float8E4M3FNUZ:
    return builder.getType<Float8E4M3FNUZType>();
  case DataType::Float8E5M2:
    return builder.getType<Float8E5M2Type>();
  case DataType::Float8E5M2FNUZ:
    return builder.getType<Float8E5M2FNUZType>();
  default:
    throw Error(file + ": " + what + " has element type " + onnxfile::dataTypeName(type) +
                "; supported are bool, (u)int8 to 64, float16, bfloat16, float, double, float8, complex and string");
  }
}

ElementsAttr AttributeImporter::elements(const onnxfile::Tensor &tensor) {
  Type element = elementType(tensor.dataType, "tensor '" + std::string(tensor.name) + "'");
  auto type = RankedTensorType::get(tensor.dims, element);
  if (isa<onnx::StringType>(element)) {
    SmallVector<StringRef> strings(tensor.strings.begin(), tensor.strings.end());
    return DenseStringElementsAttr::get(type, strings);
  }
  return onnx::makeConstant(type, {tensor.data.data(), tensor.data.size()}, tensor.owner);
}

/// Indices are positions in the flattened tensor, or one row of coordinates per value.
ElementsAttr AttributeImporter::elements(const onnxfile::SparseTensor &sparse) {
  auto fail = [&](const char *what) {
    throw Error(file + ": sparse tensor '" + std::string(sparse.values.name) + "' " + what);
  };
  int64_t count = 1;
  for (int64_t dim : sparse.dims)
    if (dim < 0 || __builtin_mul_overflow(count, dim, &count) || count > (int64_t(1) << 31))
      fail("has dimensions too large to store densely");
  if (sparse.indices.dataType != static_cast<int32_t>(DataType::Int64))
    fail("has indices of another type than int64");
  int64_t values = sparse.values.elements(), rank = static_cast<int64_t>(sparse.dims.size());
  size_t size = onnxfile::dataTypeSize(sparse.values.dataType);
  bool flat = sparse.indices.dims.size() == 1;
  if (size == 0 || sparse.indices.elements() != values * (flat ? 1 : rank))
    fail("has values and indices that do not go together");
  auto dense = std::make_shared<std::vector<char>>(static_cast<size_t>(count) * size);
  for (int64_t i = 0; i < values; ++i) {
    int64_t position = 0;
    for (int64_t d = 0; d < (flat ? 1 : rank); ++d) {
      int64_t index;
      std::memcpy(&index, sparse.indices.data.data() + 8 * (flat ? i : i * rank + d), 8);
      int64_t bound = flat ? count : sparse.dims[d];
      if (index < 0 || index >= bound)
        fail("has an index outside its dimensions");
      position = flat ? index : position * bound + index;
    }
    std::memcpy(dense->data() + position * size, sparse.values.data.data() + i * size, size);
  }
  Type element = elementType(sparse.values.dataType, "sparse tensor '" + std::string(sparse.values.name) + "'");
  return onnx::makeConstant(RankedTensorType::get(sparse.dims, element), *dense, dense);
}

Attribute AttributeImporter::attribute(const onnxfile::Attribute &attribute, const std::string &node) {
  if (!attribute.reference.empty())
    return onnx::AttributeReferenceAttr::get(builder.getContext(), builder.getStringAttr(attribute.reference));
  switch (attribute.kind) {
  case AttributeKind::Float:
    return builder.getF32FloatAttr(attribute.f);
  case AttributeKind::Int:
    return builder.getI64IntegerAttr(attribute.i);
  case AttributeKind::String:
    return builder.getStringAttr(attribute.s);
  case AttributeKind::Tensor:
    return elements(*attribute.tensor);
  case AttributeKind::SparseTensor:
    return elements(*attribute.sparse);
  case AttributeKind::Floats:
    return builder.getF32ArrayAttr(attribute.floats);
  case AttributeKind::Ints:
    return builder.getI64ArrayAttr(attribute.ints);
  case AttributeKind::Strings: {
    SmallVector<StringRef> strings(attribute.strings.begin(), attribute.strings.end());
    return builder.getStrArrayAttr(strings);
  }
  case AttributeKind::TypeProto:
    if (attribute.type->kind == onnxfile::ValueType::Dense)
      return TypeAttr::get(elementType(attribute.type->elementType, node));
    [[fallthrough]];
  default:
    throw Error(file + ": " + node + ": attribute '" + std::string(attribute.name) +
                "' is of a kind that is not supported (a list of tensors or graphs, or a type that is no tensor's)");
  }
}
