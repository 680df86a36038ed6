//===- ProgramTranslation.cpp - systolic.program and its bytes ------------===//

#include "backends/systolic/ProgramTranslation.h"

#include "mlir/IR/AsmState.h"
#include "mlir/IR/DialectResourceBlobManager.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::systolic;

static constexpr const char *layoutNames[] = {"nhwc", "nchw", "blocked"};

//===----------------------------------------------------------------------===//
// To IR
//===----------------------------------------------------------------------===//

static DictionaryAttr tensorAttr(Builder &builder, const DeviceTensor &tensor) {
  return builder.getDictionaryAttr({
      builder.getNamedAttr("name", builder.getStringAttr(tensor.name)),
      builder.getNamedAttr("address", builder.getI64IntegerAttr(tensor.address)),
      builder.getNamedAttr("bytes", builder.getI64IntegerAttr(tensor.bytes)),
      builder.getNamedAttr("layout", builder.getStringAttr(layoutNames[static_cast<int>(tensor.layout)])),
      builder.getNamedAttr("unsigned", builder.getBoolAttr(tensor.isUnsigned)),
      builder.getNamedAttr("shape", builder.getDenseI64ArrayAttr(tensor.shape)),
      builder.getNamedAttr("host_strides", builder.getDenseI64ArrayAttr(tensor.hostStrides)),
  });
}

static DictionaryAttr layerAttr(Builder &builder, const LayerInfo &layer) {
  SmallVector<StringRef> nodes(layer.onnxNodes.begin(), layer.onnxNodes.end());
  return builder.getDictionaryAttr({
      builder.getNamedAttr("name", builder.getStringAttr(layer.name)),
      builder.getNamedAttr("nodes", builder.getStrArrayAttr(nodes)),
      builder.getNamedAttr("kind", builder.getStringAttr(layer.kind)),
      builder.getNamedAttr("shape", builder.getStringAttr(layer.shape)),
      builder.getNamedAttr("tile", builder.getStringAttr(layer.tile)),
      builder.getNamedAttr("macs", builder.getI64IntegerAttr(layer.macs)),
      builder.getNamedAttr("ideal_cycles", builder.getI64IntegerAttr(layer.idealCycles)),
      builder.getNamedAttr("predicted_cycles", builder.getI64IntegerAttr(layer.predictedCycles)),
      builder.getNamedAttr("bytes_weights", builder.getI64IntegerAttr(layer.bytesWeights)),
      builder.getNamedAttr("bytes_in", builder.getI64IntegerAttr(layer.bytesIn)),
      builder.getNamedAttr("bytes_out", builder.getI64IntegerAttr(layer.bytesOut)),
      builder.getNamedAttr("bytes_residual", builder.getI64IntegerAttr(layer.bytesResidual)),
  });
}

ProgramOp systolic::createProgramOp(OpBuilder &builder, Location loc, StringRef array, ScheduledProgram program) {
  SmallVector<Attribute> inputs, outputs, layers;
  for (const DeviceTensor &tensor : program.inputs)
    inputs.push_back(tensorAttr(builder, tensor));
  for (const DeviceTensor &tensor : program.outputs)
    outputs.push_back(tensorAttr(builder, tensor));
  for (const LayerInfo &layer : program.layers)
    layers.push_back(layerAttr(builder, layer));
  ElementsAttr constants;
  if (!program.constants.empty()) {
    auto type = RankedTensorType::get(static_cast<int64_t>(program.constants.size()), builder.getI8Type());
    auto *owner = new std::vector<uint8_t>(std::move(program.constants));
    AsmResourceBlob blob(
        ArrayRef<char>(reinterpret_cast<const char *>(owner->data()), owner->size()), 64,
        [owner](void *, size_t, size_t) { delete owner; }, /*dataIsMutable=*/false);
    constants = DenseResourceElementsAttr::get(type, program.name + "_constants", std::move(blob));
  }
  auto op = ProgramOp::create(builder, loc, program.name, array, program.constantsAddress, program.programAddress,
                              program.dramBytes, program.expectedCycles, builder.getArrayAttr(inputs),
                              builder.getArrayAttr(outputs), builder.getArrayAttr(layers), constants);
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&op.getBody());
  for (const isa::Descriptor &descriptor : program.descriptors)
    createOp(builder, loc, descriptor);
  return op;
}

//===----------------------------------------------------------------------===//
// From IR
//===----------------------------------------------------------------------===//

namespace {

/// Reads members of a dictionary; remembers whether one was missing or of another type.
struct DictionaryReader {
  DictionaryAttr dictionary;
  std::string missing;

  template <typename AttrTy> AttrTy get(StringRef name) {
    auto attr = dictionary ? dictionary.getAs<AttrTy>(name) : AttrTy();
    if (!attr && missing.empty())
      missing = name.str();
    return attr;
  }
  int64_t integer(StringRef name) {
    auto attr = get<IntegerAttr>(name);
    return attr ? attr.getInt() : 0;
  }
  std::string text(StringRef name) {
    auto attr = get<StringAttr>(name);
    return attr ? attr.str() : std::string();
  }
  std::array<int64_t, 4> four(StringRef name) {
    std::array<int64_t, 4> values = {};
    if (auto attr = get<DenseI64ArrayAttr>(name); attr && attr.size() == 4)
      llvm::copy(attr.asArrayRef(), values.begin());
    else if (missing.empty())
      missing = name.str();
    return values;
  }
};

} // namespace

static DeviceTensor readTensor(DictionaryReader &reader) {
  DeviceTensor tensor;
  tensor.name = reader.text("name");
  tensor.address = reader.integer("address");
  tensor.bytes = reader.integer("bytes");
  std::string layout = reader.text("layout");
  const auto *known = llvm::find(layoutNames, layout);
  if (known == std::end(layoutNames))
    reader.missing = "layout";
  else
    tensor.layout = static_cast<DramLayout>(known - layoutNames);
  auto isUnsigned = reader.get<BoolAttr>("unsigned");
  tensor.isUnsigned = isUnsigned && isUnsigned.getValue();
  tensor.shape = reader.four("shape");
  tensor.hostStrides = reader.four("host_strides");
  return tensor;
}

static LayerInfo readLayer(DictionaryReader &reader) {
  LayerInfo layer;
  layer.name = reader.text("name");
  if (auto nodes = reader.get<ArrayAttr>("nodes"))
    for (auto node : nodes.getAsRange<StringAttr>())
      layer.onnxNodes.push_back(node.str());
  layer.kind = reader.text("kind");
  layer.shape = reader.text("shape");
  layer.tile = reader.text("tile");
  layer.macs = reader.integer("macs");
  layer.idealCycles = reader.integer("ideal_cycles");
  layer.predictedCycles = reader.integer("predicted_cycles");
  layer.bytesWeights = reader.integer("bytes_weights");
  layer.bytesIn = reader.integer("bytes_in");
  layer.bytesOut = reader.integer("bytes_out");
  layer.bytesResidual = reader.integer("bytes_residual");
  return layer;
}

FailureOr<ScheduledProgram> systolic::toScheduledProgram(ProgramOp op) {
  ScheduledProgram program;
  program.name = op.getSymName().str();
  program.constantsAddress = op.getConstantsAddress();
  program.programAddress = op.getProgramAddress();
  program.dramBytes = op.getDramBytes();
  program.expectedCycles = op.getExpectedCycles();
  auto readAll = [&](ArrayAttr attrs, auto read, auto &into) -> LogicalResult {
    for (Attribute attr : attrs) {
      DictionaryReader reader{dyn_cast<DictionaryAttr>(attr), {}};
      into.push_back(read(reader));
      if (!reader.missing.empty())
        return op.emitError("lacks '") << reader.missing << "' in " << attr;
    }
    return success();
  };
  if (failed(readAll(op.getInputs(), readTensor, program.inputs)) ||
      failed(readAll(op.getOutputs(), readTensor, program.outputs)) ||
      failed(readAll(op.getLayers(), readLayer, program.layers)))
    return failure();
  if (auto constants = op.getConstants()) {
    ArrayRef<char> raw;
    if (auto resource = dyn_cast<DenseResourceElementsAttr>(*constants)) {
      if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
        raw = blob->getData();
    } else if (auto dense = dyn_cast<DenseElementsAttr>(*constants); dense && !dense.isSplat()) {
      raw = dense.getRawData();
    }
    if (static_cast<int64_t>(raw.size()) != constants->getNumElements())
      return op.emitError("the bytes of its constants are not there");
    program.constants.assign(raw.begin(), raw.end());
  }
  for (Operation &descriptor : op.getBody().front())
    program.descriptors.push_back(toDescriptor(&descriptor));
  return program;
}

FailureOr<DeviceProgram> systolic::toDeviceProgram(ProgramOp op) {
  FailureOr<ScheduledProgram> program = toScheduledProgram(op);
  if (failed(program))
    return failure();
  try {
    return encodeProgram(std::move(*program));
  } catch (const Error &error) {
    return op.emitError(error.what());
  }
}

void systolic::printListing(ProgramOp op, raw_ostream &os) {
  os << "program " << op.getSymName() << " for " << op.getArray() << ": "
     << std::distance(op.getBody().front().begin(), op.getBody().front().end()) << " descriptors at "
     << op.getProgramAddress() << ", constants at " << op.getConstantsAddress() << ", " << op.getDramBytes()
     << " bytes of DRAM, " << op.getExpectedCycles() << " cycles expected\n";
  auto tensors = [&](StringRef what, ArrayAttr attrs) {
    for (Attribute attr : attrs) {
      DictionaryReader reader{dyn_cast<DictionaryAttr>(attr), {}};
      os << "  " << what << " '" << reader.text("name") << "' at " << reader.integer("address") << ", "
         << reader.integer("bytes") << " bytes, " << reader.text("layout") << "\n";
    }
  };
  tensors("input", op.getInputs());
  tensors("output", op.getOutputs());
  int64_t index = 0, layer = -1;
  for (Operation &descriptorOp : op.getBody().front()) {
    isa::Descriptor descriptor = toDescriptor(&descriptorOp);
    int64_t current = isa::header(descriptor).layer;
    if (current != layer && isa::opcode(descriptor) != isa::Opcode::Sync)
      os << op.layerName(layer = current) << ":\n";
    os << "  " << index++ << "  " << isa::disassemble(descriptor) << "\n";
  }
}
