//===- SystolicVerifiers.cpp - what a descriptor may say -----------------===//
//
// Field by field against the instruction set's table, then the rules of docs/accelerator.md that concern one descriptor
// alone. Messages name the layer, because that is what the user knows.
//
//===----------------------------------------------------------------------===//

#include "dialects/systolic/SystolicDialect.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::systolic;

static InFlightDiagnostic refuse(Operation *op, DictionaryAttr fields) {
  InFlightDiagnostic error = op->emitOpError();
  auto number = fields.getAs<IntegerAttr>("layer");
  auto program = dyn_cast<ProgramOp>(op->getParentOp());
  StringRef name = program ? program.layerName(number ? number.getInt() : 0) : StringRef();
  if (!name.empty())
    error << "of layer '" << name << "': ";
  return error;
}

static LogicalResult verifyField(Operation *op, DictionaryAttr fields, const isa::FieldInfo &info, Attribute value) {
  switch (info.type) {
  case isa::FieldType::Uint:
  case isa::FieldType::Int: {
    auto integer = dyn_cast<IntegerAttr>(value);
    if (!integer || !integer.getType().isInteger(64))
      return refuse(op, fields) << "field " << info.name << " is an i64 integer";
    bool isSigned = info.type == isa::FieldType::Int;
    int64_t low = isSigned ? -(int64_t(1) << (info.width - 1)) : 0;
    int64_t high = (int64_t(1) << (isSigned ? info.width - 1 : info.width)) - 1;
    if (integer.getInt() < low || integer.getInt() > high)
      return refuse(op, fields) << "field " << info.name << " = " << integer.getInt() << " does not fit its "
                                << info.width << " bits (" << low << " to " << high << ")";
    return success();
  }
  case isa::FieldType::Bool:
    return llvm::isa<BoolAttr>(value)
               ? success()
               : LogicalResult(refuse(op, fields) << "field " << info.name << " is true or false");
  case isa::FieldType::Float: {
    auto number = dyn_cast<FloatAttr>(value);
    if (!number || !number.getType().isF32() || !number.getValue().isFinite())
      return refuse(op, fields) << "field " << info.name << " is a finite f32";
    return success();
  }
  case isa::FieldType::Enum: {
    auto text = dyn_cast<StringAttr>(value);
    std::string known;
    for (auto [name, number] : info.enumeration->values) {
      if (text && text.getValue() == name)
        return success();
      known += (known.empty() ? "" : ", ") + std::string(name);
    }
    return refuse(op, fields) << "field " << info.name << " is one of " << known;
  }
  }
  return success();
}

template <typename OpTy> static LogicalResult verifyFields(OpTy op, ArrayRef<isa::FieldInfo> table) {
  for (NamedAttribute field : op.getFields()) {
    const auto *info = llvm::find_if(table, [&](const isa::FieldInfo &i) { return field.getName() == i.name; });
    if (info == table.end())
      return refuse(op, op.getFields()) << "has no field " << field.getName().getValue();
    if (failed(verifyField(op, op.getFields(), *info, field.getValue())))
      return failure();
  }
  return success();
}

static bool isMultiple(int64_t value, int64_t unit) { return value % unit == 0; }

LogicalResult LoadOp::verify() {
  if (failed(verifyFields(*this, isa::loadFields)))
    return failure();
  auto load = std::get<isa::Load>(toDescriptor(*this));
  if (load.mode == isa::LoadMode::Planar && load.planes > 4)
    return refuse(*this, getFields()) << "a planar load interleaves up to 4 planes, not " << load.planes;
  if (load.rowCount > load.out.ringRows)
    return refuse(*this, getFields()) << "loads " << load.rowCount << " rows into a ring of " << load.out.ringRows;
  return success();
}

LogicalResult WeightsOp::verify() {
  if (failed(verifyFields(*this, isa::weightsFields)))
    return failure();
  auto weights = std::get<isa::Weights>(toDescriptor(*this));
  if (weights.source != isa::WeightsSource::Dram)
    return refuse(*this, getFields()) << "weights from the scratchpad are not built yet: source must be dram";
  if (weights.order != isa::WeightsOrder::AsStored)
    return refuse(*this, getFields()) << "order " << cast<StringAttr>(getFields().get("order"))
                                      << " is not built yet: it must be as_stored";
  if (!isMultiple(weights.dramAddress, 16))
    return refuse(*this, getFields()) << "dram_address = " << weights.dramAddress << " must be a multiple of 16";
  if (weights.destination == isa::WeightsDestination::Table && weights.byteCount != 256)
    return refuse(*this, getFields()) << "a table has 256 bytes, not " << weights.byteCount;
  return success();
}

LogicalResult ExecuteOp::verify() {
  if (failed(verifyFields(*this, isa::executeFields)))
    return failure();
  auto execute = std::get<isa::Execute>(toDescriptor(*this));
  if (execute.storeInt32)
    return refuse(*this, getFields()) << "storing raw accumulators (store_int32) is not built yet";
  if (execute.release != isa::Release::Keep && execute.ringOffset != 0)
    return refuse(*this, getFields()) << "ring_offset = " << execute.ringOffset << " needs release = keep";
  if ((execute.mode == isa::ExecuteMode::Packed) != (execute.packedChannels != 0) || execute.packedChannels > 4)
    return refuse(*this, getFields()) << "packed_channels is 1 to 4 in mode packed, 0 otherwise";
  if (execute.mode == isa::ExecuteMode::Depthwise) {
    const isa::Window &w = execute.window;
    if (w.kernelHeight > 7 || w.kernelWidth > 7 || w.dilationHeight != 1 || w.dilationWidth != 1 ||
        w.strideHeight > 2 || w.strideWidth > 2)
      return refuse(*this, getFields()) << "mode depthwise takes kernels up to 7, strides 1 and 2, no dilation";
  }
  if (execute.clampMin > execute.clampMax)
    return refuse(*this, getFields()) << "clamp_min is above clamp_max";
  return success();
}

LogicalResult VectorOp::verify() {
  if (failed(verifyFields(*this, isa::vectorFields)))
    return failure();
  auto vector = std::get<isa::Vector>(toDescriptor(*this));
  if (vector.op == isa::VectorOp::Add && (vector.window.kernelHeight != 1 || vector.window.kernelWidth != 1))
    return refuse(*this, getFields()) << "an addition has a 1x1 window";
  return success();
}

LogicalResult StoreOp::verify() {
  if (failed(verifyFields(*this, isa::storeFields)))
    return failure();
  auto store = std::get<isa::Store>(toDescriptor(*this));
  if (!isMultiple(store.dramAddress, 16) || !isMultiple(store.dramRowStride, 16) ||
      !isMultiple(store.dramPlaneStride, 16) || !isMultiple(store.dramSampleStride, 16))
    return refuse(*this, getFields()) << "store addresses and strides are multiples of 16";
  return success();
}

LogicalResult SyncOp::verify() { return verifyFields(*this, isa::syncFields); }

LogicalResult ProgramOp::verify() {
  Block &block = getBody().front();
  for (Operation &op : block)
    if (!llvm::isa<LoadOp, WeightsOp, ExecuteOp, VectorOp, StoreOp, SyncOp>(op))
      return op.emitOpError("is no descriptor: a systolic.program holds only those");
  auto last = block.empty() ? SyncOp() : dyn_cast<SyncOp>(block.back());
  auto end = last ? last.getFields().getAs<BoolAttr>("end") : BoolAttr();
  if (!end || !end.getValue())
    return emitOpError("must end with systolic.sync {end = true}");
  return success();
}
