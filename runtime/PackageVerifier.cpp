//===- PackageVerifier.cpp ------------------------------------------------===//

#include "runtime/PackageVerifier.h"

#include "runtime/Tensor.h"

namespace tilewright::runtime {

namespace {

/// Checks one plan; the first problem wins.
class PlanVerifier {
public:
  PlanVerifier(const package::Package &package, const package::Plan &plan) : package(package), plan(plan) {}

  std::string find() {
    checkSignature();
    for (const package::Buffer *buffer : *plan.buffers())
      checkBuffer(*buffer);
    for (const package::Step *step : *plan.steps())
      checkStep(*step);
    if (plan.preload())
      for (const package::Preload *preload : *plan.preload()) {
        if (preload->segment() >= package.segments()->size())
          fail("a preload names no segment");
        else if (!inside(preload->address(), package.segments()->Get(preload->segment())->size(), plan.dram_bytes()))
          fail("a preload lies outside the device's memory");
      }
    return problem;
  }

private:
  static bool inside(uint64_t offset, uint64_t size, uint64_t limit) {
    return offset <= limit && size <= limit - offset;
  }

  static bool tensorFits(const Shape &shape, uint64_t bytes, uint64_t limit) {
    for (int64_t size : shape)
      if (size < 0 || __builtin_mul_overflow(bytes, static_cast<uint64_t>(size), &bytes))
        return false;
    return bytes <= limit;
  }

  void fail(const std::string &message) {
    if (problem.empty())
      problem = message;
  }

  void checkSignature() {
    if (plan.input_shapes()->size() != package.inputs()->size() ||
        plan.output_shapes()->size() != package.outputs()->size())
      fail("a plan's signature is not the model's");
    if (plan.batch() && (!plan.batched_inputs() || plan.batched_inputs()->size() != package.inputs()->size() ||
                         !plan.batched_outputs() || plan.batched_outputs()->size() != package.outputs()->size()))
      fail("a batched plan does not say which tensors are batched");
    for (const auto *shapes : {plan.input_shapes(), plan.output_shapes()})
      for (const package::Shape *shape : *shapes)
        for (int64_t size : *shape->sizes())
          if (size < 0)
            fail("a plan has a negative size");
  }

  void checkBuffer(const package::Buffer &buffer) {
    Shape shape;
    if (buffer.shape())
      shape.assign(buffer.shape()->begin(), buffer.shape()->end());
    if (buffer.type() > ElementType::MAX || !tensorFits(shape, elementSize(buffer.type()), buffer.bytes()))
      fail("a buffer is smaller than its tensor");
    switch (buffer.storage()) {
    case package::Storage::Arena:
      if (!inside(buffer.place(), buffer.bytes(), plan.arena_bytes()) || buffer.place() % kAlignment)
        fail("a buffer lies outside the arena");
      break;
    case package::Storage::Input:
      if (buffer.place() >= package.inputs()->size())
        fail("a buffer names no input");
      break;
    case package::Storage::Output:
      if (buffer.place() >= package.outputs()->size())
        fail("a buffer names no output");
      break;
    case package::Storage::Weight:
      if (buffer.place() >= package.segments()->size() ||
          buffer.bytes() > package.segments()->Get(static_cast<uint32_t>(buffer.place()))->size())
        fail("a buffer names no weight");
      break;
    case package::Storage::Dram:
      if (!inside(buffer.place(), buffer.bytes(), plan.dram_bytes()))
        fail("a buffer lies outside the device's memory");
      break;
    default:
      fail("a buffer is stored nowhere");
    }
  }

  const package::Buffer *buffer(uint64_t index) {
    if (index < plan.buffers()->size())
      return plan.buffers()->Get(static_cast<uint32_t>(index));
    fail("a step names no buffer");
    return nullptr;
  }

  /// A buffer that a host kernel or copy can reach, writable if asked for.
  void checkHostBuffer(uint64_t index) {
    const package::Buffer *found = buffer(index);
    if (found && found->storage() == package::Storage::Dram)
      fail("a host kernel names a buffer in the device's memory");
  }

  void checkStep(const package::Step &step) {
    if (step.layer() < -1 || step.layer() >= static_cast<int64_t>(plan.layers()->size()))
      fail("a step names no layer");
    if (const auto *call = step.action_as_HostCall()) {
      if (package.host_code() < 0)
        fail("a step calls host code and there is none");
      for (uint32_t index : *call->buffers())
        checkHostBuffer(index);
      if (call->scratch() >= 0)
        checkHostBuffer(static_cast<uint64_t>(call->scratch()));
    } else if (const auto *job = step.action_as_DeviceJob()) {
      if (!package.array_name() || !package.array_config() || job->program_address() >= plan.dram_bytes())
        fail("a device job has no program");
      if (uint64_t{job->first_layer()} + job->layer_count() > plan.layers()->size())
        fail("a device job names no layer");
      for (const auto *list : {job->reads(), job->writes()})
        if (list)
          for (uint32_t index : *list)
            buffer(index);
    } else if (const auto *copy = step.action_as_Copy()) {
      checkCopy(*copy);
    } else {
      fail("a step does nothing");
    }
  }

  void checkCopy(const package::Copy &copy) {
    const package::Buffer *source = buffer(copy.source()), *target = buffer(copy.target());
    if (!source || !target)
      return;
    if (target->storage() == package::Storage::Weight || target->storage() == package::Storage::Input)
      fail("a copy writes to a constant or an input");
    if (copy.kind() == package::CopyKind::Bytes) {
      if (source->bytes() > target->bytes())
        fail("a copy is larger than its target");
      return;
    }
    const package::MapView *view = copy.view();
    if (!view || copy.kind() > package::CopyKind::MAX || copy.layout() > package::DramLayout::MAX) {
      fail("a copy has no view");
      return;
    }
    bool toDevice = copy.kind() == package::CopyKind::ToDevice;
    const package::Buffer *tensor = toDevice ? source : target, *device = toDevice ? target : source;
    // In 128 bits no product of the fields' possible values below overflows before it is compared.
    using Wide = unsigned __int128;
    uint64_t sizes[] = {view->samples(), view->channels(), view->height(), view->width()};
    uint64_t strides[] = {view->sample_stride(), view->channel_stride(), view->row_stride(), view->column_stride()};
    Wide last = 0, bytes = 1;
    bool blocked = copy.layout() == package::DramLayout::Blocked;
    for (int i = 0; i < 4; ++i) {
      if (sizes[i] == 0 || sizes[i] > UINT32_MAX || strides[i] > INT64_MAX) {
        fail("a copy's view has an impossible size");
        return;
      }
      last += static_cast<Wide>(sizes[i] - 1) * strides[i];
      bytes *= i == 1 && blocked ? (sizes[i] + 15) / 16 * 16 : sizes[i];
      if (bytes > UINT64_MAX) {
        fail("a copy's view has an impossible size");
        return;
      }
    }
    if (elementSize(tensor->type()) != 1 || last >= tensor->bytes() || bytes > device->bytes())
      fail("a copy is larger than its buffers");
  }

  const package::Package &package;
  const package::Plan &plan;
  std::string problem;
};

} // namespace

std::string findPackageProblem(const package::Package &package, uint64_t segmentsSize) {
  for (const package::Segment *segment : *package.segments())
    if (segment->offset() > segmentsSize || segment->size() > segmentsSize - segment->offset() ||
        segment->offset() % kAlignment)
      return "a segment lies outside the file";
  if (package.host_code() >= static_cast<int64_t>(package.segments()->size()))
    return "the host code is missing";
  for (const auto *tensors : {package.inputs(), package.outputs()})
    for (const package::Tensor *tensor : *tensors)
      if (tensor->type() > ElementType::MAX ||
          (tensor->symbols() && tensor->symbols()->size() != tensor->sizes()->size()))
        return "tensor " + tensor->name()->str() + " is not described well";
  for (const package::Plan *plan : *package.plans())
    if (std::string problem = PlanVerifier(package, *plan).find(); !problem.empty())
      return problem;
  return "";
}

} // namespace tilewright::runtime
