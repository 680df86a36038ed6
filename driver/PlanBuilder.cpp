//===- PlanBuilder.cpp ----------------------------------------------------===//

#include "driver/PlanBuilder.h"

#include "backends/systolic/isa/Descriptor.h"
#include "common/Error.h"
#include "dialects/onnx/OnnxDialect.h"
#include "driver/ArenaPlanner.h"
#include "runtime/Tensor.h"

using namespace mlir;

namespace tilewright {

using package::ElementType;

ElementType elementTypeOf(Type type, const std::string &what) {
  if (type.isF32())
    return ElementType::F32;
  if (type.isF64())
    return ElementType::F64;
  if (type.isF16())
    return ElementType::F16;
  if (type.isBF16())
    return ElementType::BF16;
  if (auto integer = dyn_cast<IntegerType>(type)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return ElementType::Bool;
    case 8:
      return isUnsigned ? ElementType::U8 : ElementType::I8;
    case 16:
      return isUnsigned ? ElementType::U16 : ElementType::I16;
    case 32:
      return isUnsigned ? ElementType::U32 : ElementType::I32;
    case 64:
      return isUnsigned ? ElementType::U64 : ElementType::I64;
    default:
      break;
    }
  }
  std::string text;
  llvm::raw_string_ostream(text) << type;
  throw Error(what + ": element type " + text +
              " is not supported; supported are float16, bfloat16, float32, float64, "
              "bool and the integers of 8 to 64 bits");
}

static package::BufferT describe(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  package::BufferT buffer;
  buffer.type = elementTypeOf(type.getElementType(), "a tensor");
  buffer.shape.assign(type.getShape().begin(), type.getShape().end());
  buffer.bytes = runtime::elementCount(buffer.shape) * runtime::elementSize(buffer.type);
  return buffer;
}

PlanBuilder::PlanBuilder(runtime::PackageWriter &writer, std::deque<onnx::ConstantBytes> &constants, func::FuncOp main)
    : writer(writer), constants(constants), main(main) {
  auto shapeOf = [](Type type) {
    auto shape = std::make_unique<package::ShapeT>();
    ArrayRef<int64_t> sizes = cast<RankedTensorType>(type).getShape();
    shape->sizes.assign(sizes.begin(), sizes.end());
    return shape;
  };
  for (Type type : main.getArgumentTypes())
    result->input_shapes.push_back(shapeOf(type));
  for (Type type : main.getResultTypes())
    result->output_shapes.push_back(shapeOf(type));
  for (OpOperand &returned : main.front().getTerminator()->getOpOperands()) {
    Value value = returned.get();
    // An argument, a constant or a value returned twice is copied in the end.
    if (value.getDefiningOp() && !onnx::constantValue(value))
      outputs.try_emplace(value, returned.getOperandNumber());
  }
}

uint32_t PlanBuilder::addBuffer(package::BufferT buffer) {
  result->buffers.push_back(std::make_unique<package::BufferT>(std::move(buffer)));
  used.push_back(false);
  return static_cast<uint32_t>(result->buffers.size() - 1);
}

uint32_t PlanBuilder::bufferOf(Value value) {
  if (auto found = buffers.find(value); found != buffers.end())
    return found->second;
  package::BufferT buffer = describe(value);
  if (ElementsAttr elements = onnx::constantValue(value)) {
    ArrayRef<char> bytes = constants.emplace_back(elements).bytes();
    buffer.storage = package::Storage::Weight;
    buffer.place = writer.addSegment(std::as_bytes(std::span<const char>(bytes.data(), bytes.size())));
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    buffer.storage = package::Storage::Input;
    buffer.place = argument.getArgNumber();
  } else if (auto output = outputs.find(value); output != outputs.end()) {
    buffer.storage = package::Storage::Output;
    buffer.place = output->second;
  } else {
    buffer.storage = package::Storage::Arena;
  }
  uint32_t index = addBuffer(std::move(buffer));
  buffers[value] = index;
  return index;
}

uint32_t PlanBuilder::addStep(package::StepT step) {
  result->steps.push_back(std::make_unique<package::StepT>(std::move(step)));
  return static_cast<uint32_t>(result->steps.size() - 1);
}

uint32_t PlanBuilder::addLayer(package::LayerT layer) {
  result->layers.push_back(std::make_unique<package::LayerT>(std::move(layer)));
  return static_cast<uint32_t>(result->layers.size() - 1);
}

void PlanBuilder::use(uint32_t buffer, uint32_t step) {
  for (;;) {
    package::BufferT &entry = *result->buffers[buffer];
    if (!used[buffer])
      entry.first_step = step;
    used[buffer] = true;
    entry.last_step = step;
    auto alias = aliases.find(buffer);
    if (alias == aliases.end())
      return;
    buffer = alias->second;
  }
}

/// "2x3xf32" as the report writes it: "2x3 float32".
static std::string typeText(Value value) {
  package::BufferT buffer = describe(value);
  return runtime::shapeText(buffer.shape) + " " + runtime::elementTypeName(buffer.type);
}

void PlanBuilder::addHostCall(const cpu::HostKernel &kernel, const std::string &reason, onnx::NodeOp shown) {
  // A Reshape inside the network costs nothing: its result lies where its operand does.
  if (kernel.isCopy && kernel.inputs.size() == 1 && kernel.outputs.size() == 1 && !outputs.count(kernel.outputs[0])) {
    uint32_t source = bufferOf(kernel.inputs[0]);
    package::BufferT buffer = describe(kernel.outputs[0]);
    const package::BufferT &place = *result->buffers[source];
    if (place.bytes == buffer.bytes) {
      buffer.storage = place.storage;
      buffer.place = place.place;
      uint32_t index = addBuffer(std::move(buffer));
      buffers[kernel.outputs[0]] = index;
      aliases[index] = source;
      return;
    }
  }
  package::LayerT layer;
  for (const std::string &name : kernel.nodeNames)
    if (!name.empty())
      layer.nodes.push_back(name);
  layer.kind = shown.getQualifiedName();
  layer.name = shown.nodeName().str();
  if (layer.name.empty())
    layer.name = layer.nodes.empty() ? layer.kind : layer.nodes.front();
  layer.unit = "host";
  layer.shape = kernel.outputs.empty() ? "" : typeText(kernel.outputs[0]);
  layer.reason = reason;

  package::HostCallT call;
  call.symbol = kernel.symbol;
  auto step = static_cast<uint32_t>(result->steps.size());
  for (const auto *values : {&kernel.inputs, &kernel.outputs})
    for (Value value : *values) {
      call.buffers.push_back(bufferOf(value));
      use(call.buffers.back(), step);
    }
  if (kernel.scratchBytes) {
    package::BufferT scratch;
    scratch.storage = package::Storage::Arena;
    scratch.type = ElementType::U8;
    scratch.shape = {kernel.scratchBytes};
    scratch.bytes = static_cast<uint64_t>(kernel.scratchBytes);
    call.scratch = static_cast<int32_t>(addBuffer(std::move(scratch)));
    use(static_cast<uint32_t>(call.scratch), step);
  }
  package::StepT entry;
  entry.action.Set(std::move(call));
  entry.layer = static_cast<int32_t>(addLayer(std::move(layer)));
  addStep(std::move(entry));
}

uint32_t PlanBuilder::dramBuffer(const systolic::DeviceTensor &tensor) {
  package::BufferT buffer;
  buffer.storage = package::Storage::Dram;
  buffer.type = tensor.isUnsigned ? ElementType::U8 : ElementType::I8;
  buffer.shape.assign(tensor.shape.begin(), tensor.shape.end());
  buffer.bytes = tensor.bytes;
  buffer.place = tensor.address;
  buffer.name = tensor.name;
  return addBuffer(std::move(buffer));
}

void PlanBuilder::addCopy(package::CopyKind kind, uint32_t source, uint32_t target,
                          const systolic::DeviceTensor &tensor) {
  bool toDevice = kind == package::CopyKind::ToDevice;
  package::CopyT copy;
  copy.kind = kind;
  copy.source = source;
  copy.target = target;
  copy.layout = static_cast<package::DramLayout>(tensor.layout);
  auto [samples, channels, height, width] = tensor.shape;
  auto [s0, s1, s2, s3] = tensor.hostStrides;
  copy.view = std::make_unique<package::MapView>(samples, channels, height, width, s0, s1, s2, s3);
  package::LayerT layer;
  layer.name = tensor.name.empty() ? "(unnamed tensor)" : tensor.name;
  layer.kind = toDevice ? "copy to array" : "copy from array";
  layer.unit = "host";
  layer.shape = runtime::shapeText({samples, channels, height, width}) + (tensor.isUnsigned ? " uint8" : " int8");
  bool blocked = tensor.layout == systolic::DramLayout::Blocked;
  layer.reason = toDevice ? blocked ? "the array reads blocks of 16 channels" : "the array reads images as they are"
                          : "the array writes blocks of 16 channels";
  package::StepT entry;
  entry.action.Set(std::move(copy));
  entry.layer = static_cast<int32_t>(addLayer(std::move(layer)));
  uint32_t step = addStep(std::move(entry));
  use(source, step);
  use(target, step);
}

void PlanBuilder::preload(uint64_t address, std::span<const uint8_t> bytes) {
  if (!bytes.empty())
    result->preload.emplace_back(address, writer.addSegment(std::as_bytes(bytes)));
}

static package::LayerT toLayer(const systolic::LayerInfo &info) {
  package::LayerT layer;
  layer.name = info.name;
  layer.nodes = info.onnxNodes;
  layer.kind = info.kind;
  layer.unit = info.macs ? "array" : "vector";
  layer.shape = info.shape;
  layer.tile = info.tile;
  layer.macs = static_cast<uint64_t>(info.macs);
  layer.ideal_cycles = static_cast<uint64_t>(info.idealCycles);
  layer.predicted_cycles = static_cast<uint64_t>(info.predictedCycles);
  layer.bytes_weights = static_cast<uint64_t>(info.bytesWeights);
  layer.bytes_in = static_cast<uint64_t>(info.bytesIn);
  layer.bytes_out = static_cast<uint64_t>(info.bytesOut);
  layer.bytes_residual = static_cast<uint64_t>(info.bytesResidual);
  return layer;
}

void PlanBuilder::addDeviceRun(const systolic::DeviceProgram &program, ValueRange inputs, ValueRange outputs) {
  package::DeviceJobT job;
  for (auto [tensor, value] : llvm::zip_equal(program.inputs, inputs)) {
    uint32_t source = bufferOf(value);
    job.reads.push_back(dramBuffer(tensor));
    addCopy(package::CopyKind::ToDevice, source, job.reads.back(), tensor);
  }
  job.program_address = program.programAddress;
  job.descriptor_count = static_cast<uint32_t>(program.descriptors.size() / isa::descriptorBytes);
  job.first_layer = static_cast<uint32_t>(result->layers.size());
  job.layer_count = static_cast<uint32_t>(program.layers.size());
  job.expected_cycles = program.expectedCycles;
  for (const systolic::LayerInfo &info : program.layers)
    addLayer(toLayer(info));
  for (const systolic::DeviceTensor &tensor : program.outputs)
    job.writes.push_back(dramBuffer(tensor));
  std::vector<uint32_t> written = job.writes;
  auto step = static_cast<uint32_t>(result->steps.size());
  for (const auto *list : {&job.reads, &job.writes})
    for (uint32_t buffer : *list)
      use(buffer, step);
  package::StepT entry;
  entry.action.Set(std::move(job));
  addStep(std::move(entry));
  for (auto [tensor, value, source] : llvm::zip_equal(program.outputs, outputs, written))
    addCopy(package::CopyKind::FromDevice, source, bufferOf(value), tensor);

  result->dram_bytes = std::max(result->dram_bytes, program.dramBytes);
  preload(program.programAddress, program.descriptors);
  for (const systolic::Segment &segment : program.constants)
    preload(segment.address, segment.bytes);
}

/// Results that no step writes: arguments, constants, aliases, values returned more than once.
void PlanBuilder::returnValues() {
  for (OpOperand &returned : main.front().getTerminator()->getOpOperands()) {
    Value value = returned.get();
    unsigned index = returned.getOperandNumber();
    auto output = outputs.find(value);
    if (output != outputs.end() && output->second == index)
      continue;
    package::BufferT buffer = describe(value);
    buffer.storage = package::Storage::Output;
    buffer.place = index;
    uint32_t source = bufferOf(value), target = addBuffer(std::move(buffer));
    package::CopyT copy;
    copy.kind = package::CopyKind::Bytes;
    copy.source = source;
    copy.target = target;
    package::StepT entry;
    entry.action.Set(std::move(copy));
    uint32_t step = addStep(std::move(entry));
    use(source, step);
    use(target, step);
  }
}

void PlanBuilder::layOutArena() {
  std::vector<ArenaBuffer> arena;
  std::vector<uint32_t> indices;
  for (uint32_t i = 0; i < result->buffers.size(); ++i) {
    const package::BufferT &buffer = *result->buffers[i];
    if (buffer.storage != package::Storage::Arena || aliases.count(i))
      continue;
    arena.push_back({buffer.bytes, buffer.first_step, buffer.last_step, 0});
    indices.push_back(i);
  }
  result->arena_bytes = planArena(arena);
  for (size_t i = 0; i < arena.size(); ++i)
    result->buffers[indices[i]]->place = arena[i].offset;
  for (uint32_t i = 0; i < result->buffers.size(); ++i)
    if (auto alias = aliases.find(i); alias != aliases.end())
      result->buffers[i]->place = result->buffers[alias->second]->place; // the source comes first
}

std::unique_ptr<package::PlanT> PlanBuilder::finish() {
  returnValues();
  layOutArena();
  return std::move(result);
}

} // namespace tilewright
