//===- SystolicDialect.cpp - the systolic dialect -------------------------===//

#include "dialects/systolic/SystolicDialect.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::systolic;

#include "dialects/systolic/SystolicDialect.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/systolic/SystolicOps.cpp.inc"

void SystolicDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "dialects/systolic/SystolicOps.cpp.inc"
      >();
}

StringRef ProgramOp::layerName(int64_t index) {
  if (index < 0 || index >= static_cast<int64_t>(getLayers().size()))
    return {};
  auto layer = dyn_cast<DictionaryAttr>(getLayers()[index]);
  auto name = layer ? dyn_cast_or_null<StringAttr>(layer.get("name")) : nullptr;
  return name ? name.getValue() : StringRef();
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

namespace {

/// Turns one member into an attribute; null for zero, which is not printed.
struct ToAttribute {
  Builder &builder;
  Attribute operator()(const isa::FieldInfo &, int64_t value) const {
    return value ? builder.getI64IntegerAttr(value) : Attribute();
  }
  Attribute operator()(const isa::FieldInfo &, bool value) const {
    return value ? builder.getBoolAttr(true) : Attribute();
  }
  Attribute operator()(const isa::FieldInfo &, float value) const {
    return value != 0 || std::signbit(value) ? builder.getF32FloatAttr(value) : Attribute();
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  Attribute operator()(const isa::FieldInfo &info, Enum value) const {
    for (auto [name, number] : info.enumeration->values)
      if (number == static_cast<int>(value))
        return builder.getStringAttr(name);
    return {};
  }
};

struct FromAttribute {
  DictionaryAttr fields;
  void operator()(const isa::FieldInfo &info, int64_t &value) const {
    if (auto attr = fields.getAs<IntegerAttr>(info.name))
      value = attr.getInt();
  }
  void operator()(const isa::FieldInfo &info, bool &value) const {
    if (auto attr = fields.getAs<BoolAttr>(info.name))
      value = attr.getValue();
  }
  void operator()(const isa::FieldInfo &info, float &value) const {
    if (auto attr = fields.getAs<FloatAttr>(info.name))
      value = static_cast<float>(attr.getValueAsDouble());
  }
  template <typename Enum>
    requires std::is_enum_v<Enum>
  void operator()(const isa::FieldInfo &info, Enum &value) const {
    if (auto attr = fields.getAs<StringAttr>(info.name))
      for (auto [name, number] : info.enumeration->values)
        if (attr.getValue() == name)
          value = static_cast<Enum>(number);
  }
};

template <typename Visitor> auto dispatch(Operation *op, Visitor visitor) {
  if (auto load = dyn_cast<LoadOp>(op))
    return visitor(load, isa::Load());
  if (auto weights = dyn_cast<WeightsOp>(op))
    return visitor(weights, isa::Weights());
  if (auto execute = dyn_cast<ExecuteOp>(op))
    return visitor(execute, isa::Execute());
  if (auto vector = dyn_cast<VectorOp>(op))
    return visitor(vector, isa::Vector());
  if (auto store = dyn_cast<StoreOp>(op))
    return visitor(store, isa::Store());
  return visitor(cast<SyncOp>(op), isa::Sync());
}

} // namespace

Operation *systolic::createOp(OpBuilder &builder, Location loc, const isa::Descriptor &descriptor) {
  NamedAttrList fields;
  std::visit(
      [&](const auto &d) {
        isa::visitFields(d, [&](const isa::FieldInfo &info, const auto &value) {
          if (Attribute attr = ToAttribute{builder}(info, value))
            fields.append(info.name, attr);
        });
      },
      descriptor);
  DictionaryAttr dictionary = fields.getDictionary(builder.getContext());
  switch (isa::opcode(descriptor)) {
  case isa::Opcode::Load:
    return LoadOp::create(builder, loc, dictionary);
  case isa::Opcode::Weights:
    return WeightsOp::create(builder, loc, dictionary);
  case isa::Opcode::Execute:
    return ExecuteOp::create(builder, loc, dictionary);
  case isa::Opcode::Vector:
    return VectorOp::create(builder, loc, dictionary);
  case isa::Opcode::Store:
    return StoreOp::create(builder, loc, dictionary);
  case isa::Opcode::Sync:
    break;
  }
  return SyncOp::create(builder, loc, dictionary);
}

isa::Descriptor systolic::toDescriptor(Operation *op) {
  return dispatch(op, [](auto descriptorOp, auto descriptor) -> isa::Descriptor {
    isa::visitFields(descriptor, FromAttribute{descriptorOp.getFields()});
    return descriptor;
  });
}
