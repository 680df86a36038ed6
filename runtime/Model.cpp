//===- Model.cpp - picks the specialisation, cuts batches into passes -----===//

#include "runtime/Model.h"

#include "backends/systolic/isa/Descriptor.h"
#include "common/Error.h"
#include "config/ArrayConfig.h"
#include "runtime/Device.h"
#include "runtime/HostCode.h"
#include "runtime/PackageFile.h"
#include "runtime/PlanRunner.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <mutex>

namespace tilewright::runtime {

namespace {

// What the CPU back end's kernels are made for.
constexpr unsigned kThreads = 2;

constexpr const char *kExecutorNames[] = {"rtl", "model", "golden"};

std::vector<TensorInfo> describe(const flatbuffers::Vector<flatbuffers::Offset<package::Tensor>> &tensors) {
  std::vector<TensorInfo> result;
  for (const package::Tensor *tensor : tensors) {
    TensorInfo info{tensor->name()->str(), tensor->type(), {tensor->sizes()->begin(), tensor->sizes()->end()}, {}, {}};
    if (tensor->sqnr_db())
      info.sqnrDb = *tensor->sqnr_db();
    if (tensor->symbols())
      for (const flatbuffers::String *symbol : *tensor->symbols())
        info.symbols.push_back(symbol->str());
    result.push_back(std::move(info));
  }
  return result;
}

Shape shapeOf(const package::Shape &shape) { return {shape.sizes()->begin(), shape.sizes()->end()}; }

bool isBatched(const flatbuffers::Vector<uint8_t> *flags, uint32_t index) { return flags && flags->Get(index); }

/// A plan's shape of a tensor as a caller sees it: a batched first size is "N".
std::string callerShape(const package::Plan &plan, const package::Shape &shape, bool batched) {
  Shape sizes = shapeOf(shape);
  if (!plan.batch() || !batched)
    return shapeText(sizes);
  sizes[0] = -1;
  return shapeText(sizes, {"N"});
}

std::string listText(const std::vector<TensorInfo> &tensors) {
  std::string text;
  for (const TensorInfo &tensor : tensors)
    text += (text.empty() ? "" : ", ") + tensor.name + " (" + elementTypeName(tensor.type) + " " +
            shapeText(tensor.sizes, tensor.symbols) + ")";
  return text.empty() ? "none" : text;
}

} // namespace

const char *executorName(ExecutorKind kind) { return kExecutorNames[static_cast<int>(kind)]; }

ExecutorKind parseExecutor(const std::string &name) {
  for (int i = 0; i < 3; ++i)
    if (name == kExecutorNames[i])
      return static_cast<ExecutorKind>(i);
  throw Error("no executor '" + name + "'; there are: rtl, model, golden");
}

struct Model::State {
  std::shared_ptr<const PackageFile> file;
  std::string name; ///< in messages
  std::vector<TensorInfo> inputs, outputs;
  std::unique_ptr<HostCode> hostCode;
  ThreadPool threads{kThreads};
  std::mutex mutex;
  std::map<const package::Plan *, std::unique_ptr<PlanRunner>> runners;
  std::map<ExecutorKind, std::unique_ptr<Device>> devices;

  const package::Package &tables() const { return file->tables(); }
  const package::Plan *findPlan(const std::vector<TensorView> &views) const;
  std::vector<TensorView> orderInputs(const std::map<std::string, TensorView> &given) const;
  RunResult run(const std::vector<TensorView> &views, const RunOptions &options);
  void checkArrayOptions(const PlanRunner &runner, const RunOptions &options) const;
  void runPass(PlanRunner &runner, const std::vector<TensorView> &views, uint64_t pass, uint64_t samples,
               const RunOptions &options, Device *device, RunResult &result);
};

Model::Model(std::unique_ptr<State> state) : state(std::move(state)) {}
Model::~Model() = default;

std::shared_ptr<Model> Model::load(const std::string &path, const std::string &name) {
  auto state = std::make_unique<State>();
  state->name = name.empty() ? path : name;
  state->file = PackageFile::open(path);
  const package::Package &tables = state->tables();
  state->inputs = describe(*tables.inputs());
  state->outputs = describe(*tables.outputs());
  if (tables.host_code() >= 0)
    state->hostCode = std::make_unique<HostCode>(
        state->file->segment(static_cast<uint64_t>(tables.host_code())),
        tables.host_cpu_features() ? tables.host_cpu_features()->str() : std::string(), path);
  return std::shared_ptr<Model>(new Model(std::move(state)));
}

const std::vector<TensorInfo> &Model::inputs() const { return state->inputs; }
const std::vector<TensorInfo> &Model::outputs() const { return state->outputs; }
const std::string &Model::path() const { return state->file->path(); }

std::vector<std::vector<uint8_t>> Model::programs() const {
  std::vector<std::vector<uint8_t>> programs;
  for (const package::Plan *plan : *state->tables().plans())
    for (const package::Step *step : *plan->steps()) {
      const package::DeviceJob *job = step->action_as_DeviceJob();
      if (!job || !plan->preload())
        continue;
      for (const package::Preload *part : *plan->preload()) {
        std::span<const std::byte> bytes = state->file->segment(part->segment());
        uint64_t size = uint64_t(job->descriptor_count()) * isa::descriptorBytes;
        if (job->program_address() < part->address() || job->program_address() + size > part->address() + bytes.size())
          continue;
        const auto *first =
            reinterpret_cast<const uint8_t *>(bytes.data()) + (job->program_address() - part->address());
        programs.emplace_back(first, first + size);
      }
    }
  return programs;
}

std::vector<std::string> Model::specialisations() const {
  std::vector<std::string> lines;
  for (const package::Plan *plan : *state->tables().plans()) {
    std::string line;
    for (uint32_t i = 0; i < state->inputs.size(); ++i)
      line += (i ? ", " : "") + state->inputs[i].name + " " +
              callerShape(*plan, *plan->input_shapes()->Get(i), isBatched(plan->batched_inputs(), i));
    if (plan->batch())
      line += " (any N, " + std::to_string(plan->batch()) + " per pass)";
    else if (plan->batch_obstacle())
      line += " (no other number of samples: " + plan->batch_obstacle()->str() + ")";
    lines.push_back(line);
  }
  return lines;
}

std::map<std::string, Shape> Model::exampleShapes() const {
  const package::Plan *plan = state->tables().plans()->Get(0);
  std::map<std::string, Shape> shapes;
  for (uint32_t i = 0; i < state->inputs.size(); ++i)
    shapes[state->inputs[i].name] = shapeOf(*plan->input_shapes()->Get(i));
  return shapes;
}

std::vector<TensorView> Model::State::orderInputs(const std::map<std::string, TensorView> &given) const {
  for (const auto &[input, view] : given)
    if (std::none_of(inputs.begin(), inputs.end(), [&n = input](const TensorInfo &info) { return info.name == n; }))
      throw Error(name + ": the model has no input '" + input + "'; it takes: " + listText(inputs) +
                  " (an input that has a default value was compiled in, unless --input-shape named it)");
  std::vector<TensorView> views;
  for (const TensorInfo &info : inputs) {
    auto found = given.find(info.name);
    if (found == given.end())
      throw Error(name + ": input '" + info.name + "' is not given; the model takes: " + listText(inputs));
    if (found->second.type != info.type)
      throw Error(name + ": input '" + info.name + "' is " + elementTypeName(found->second.type) +
                  "; the model takes " + elementTypeName(info.type));
    views.push_back(found->second);
  }
  return views;
}

/// The first plan whose input shapes are those of `views`, or null.
const package::Plan *Model::State::findPlan(const std::vector<TensorView> &views) const {
  for (const package::Plan *plan : *tables().plans()) {
    bool fits = true;
    int64_t samples = -1;
    for (uint32_t i = 0; i < views.size() && fits; ++i) {
      Shape want = shapeOf(*plan->input_shapes()->Get(i));
      if (plan->batch() && isBatched(plan->batched_inputs(), i) && !views[i].shape.empty()) {
        want[0] = views[i].shape[0];
        fits = samples < 0 || samples == want[0];
        samples = want[0];
      }
      fits = fits && want == views[i].shape;
    }
    if (fits)
      return plan;
  }
  return nullptr;
}

RunResult Model::run(const std::map<std::string, TensorView> &inputs, const RunOptions &options) {
  std::vector<TensorView> views = state->orderInputs(inputs);
  std::lock_guard lock(state->mutex);
  const package::Plan *plan = state->findPlan(views);
  if (!plan) {
    std::string given, known;
    for (size_t i = 0; i < views.size(); ++i)
      given += (i ? ", " : "") + state->inputs[i].name + " " + shapeText(views[i].shape);
    for (const std::string &line : specialisations())
      known += "\n  " + line;
    throw Error(state->name + ": compiled for other input shapes than " + given + "; it holds:" + known);
  }
  auto &runner = state->runners[plan];
  if (!runner)
    runner = std::make_unique<PlanRunner>(*state->file, *plan, state->hostCode.get(), state->threads);
  return state->run(views, options);
}

/// What is asked of the array must be answered.
void Model::State::checkArrayOptions(const PlanRunner &runner, const RunOptions &options) const {
  if (!runner.usesArray() && (options.check || !options.waveFile.empty() || options.dramBytesPerCycle != 0))
    throw Error(name + ": nothing in it runs on an array, so there is nothing to check, no wave to write and no "
                       "DRAM rate to set");
  if (!options.waveFile.empty() && !std::ofstream(options.waveFile, std::ios::app))
    throw Error(options.waveFile + ": cannot be written: " + std::strerror(errno));
}

RunResult Model::State::run(const std::vector<TensorView> &views, const RunOptions &options) {
  PlanRunner &runner = *runners.at(findPlan(views));
  const package::Plan &plan = runner.plan();
  uint64_t batch = plan.batch() ? plan.batch() : 1, samples = 1;
  if (plan.batch())
    for (uint32_t i = 0; i < views.size(); ++i)
      if (isBatched(plan.batched_inputs(), i))
        samples = static_cast<uint64_t>(views[i].shape[0]);

  checkArrayOptions(runner, options);
  RunResult result;
  Report &report = result.report;
  report.model = tables().model_name()->str();
  report.target = tables().target()->str();
  report.quantization = tables().quantization() ? tables().quantization()->str() : "";
  report.uncalibrated = tables().uncalibrated();
  report.samples = samples;
  report.passes = (samples + batch - 1) / batch;
  // Of no samples at all, outputs that are the same for any number still want a run.
  for (uint32_t i = 0; i < outputs.size(); ++i)
    if (!isBatched(plan.batched_outputs(), i))
      report.passes = std::max<uint64_t>(report.passes, 1);
  runner.describe(report);
  for (const TensorInfo &output : outputs)
    if (output.sqnrDb)
      report.outputSqnrDb.emplace_back(output.name, *output.sqnrDb);

  Device *device = nullptr;
  if (tables().array_config()) {
    auto &slot = devices[options.executor];
    if (!slot)
      slot = std::make_unique<Device>(tables().array_name()->str(), tables().array_config()->str(), options.executor);
    device = slot.get();
    ArrayConfig config = device->config(options);
    report.executor = executorName(options.executor);
    report.arrayName = config.name;
    report.macsPerCycle = static_cast<uint64_t>(config.macsPerCycle());
    report.nominalMhz = config.nominalMhz;
    report.dramBytesPerCycle = config.effectiveDramBytesPerCycle();
  }

  for (uint32_t i = 0; i < outputs.size(); ++i) {
    Shape shape = shapeOf(*plan.output_shapes()->Get(i));
    if (plan.batch() && isBatched(plan.batched_outputs(), i))
      shape[0] = static_cast<int64_t>(samples);
    result.outputs.emplace_back(outputs[i].type, std::move(shape));
  }
  if (runner.usesArray())
    device->prepare(options);
  // The build of a simulator, once, is not the run's.
  auto start = std::chrono::steady_clock::now();
  for (uint64_t pass = 0; pass < report.passes; ++pass)
    runPass(runner, views, pass, std::min(batch, samples - pass * batch), options, device, result);
  report.wallSeconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  report.check();
  return result;
}

/// Runs samples [pass * batch, + samples). A tensor is handed on where it lies when it is aligned and whole; otherwise
/// it goes through an aligned copy, whose missing samples are zero.
void Model::State::runPass(PlanRunner &runner, const std::vector<TensorView> &views, uint64_t pass, uint64_t samples,
                           const RunOptions &options, Device *device, RunResult &result) {
  const package::Plan &plan = runner.plan();
  std::vector<AlignedBytes> copies;
  std::vector<const void *> in;
  std::vector<void *> out;
  // Bytes of one sample of a batched tensor, and whether it is one.
  auto part = [&](const package::Shape &shape, ElementType type, bool batched) {
    uint64_t bytes = elementCount(shapeOf(shape)) * elementSize(type);
    return std::pair(plan.batch() && batched ? bytes / plan.batch() : bytes, plan.batch() && batched);
  };
  for (uint32_t i = 0; i < views.size(); ++i) {
    auto [bytes, batched] = part(*plan.input_shapes()->Get(i), views[i].type, isBatched(plan.batched_inputs(), i));
    const auto *data = static_cast<const std::byte *>(views[i].data) + (batched ? pass * plan.batch() * bytes : 0);
    bool whole = !batched || samples == plan.batch();
    if (!whole || reinterpret_cast<uintptr_t>(data) % kAlignment) {
      copies.push_back(allocateAligned(batched ? bytes * plan.batch() : bytes));
      uint64_t count = batched ? bytes * samples : bytes;
      if (count)
        std::memcpy(copies.back().get(), data, count);
      data = copies.back().get();
    }
    in.push_back(data);
  }
  struct Return {
    std::byte *from, *to;
    uint64_t bytes;
  };
  std::vector<Return> returns;
  for (uint32_t i = 0; i < outputs.size(); ++i) {
    auto [bytes, batched] = part(*plan.output_shapes()->Get(i), outputs[i].type, isBatched(plan.batched_outputs(), i));
    std::byte *data = result.outputs[i].data.get() + (batched ? pass * plan.batch() * bytes : 0);
    bool whole = !batched || samples == plan.batch();
    if (!whole || reinterpret_cast<uintptr_t>(data) % kAlignment) {
      copies.push_back(allocateAligned(batched ? bytes * plan.batch() : bytes));
      returns.push_back({copies.back().get(), data, batched ? bytes * samples : bytes});
      data = copies.back().get();
    }
    out.push_back(data);
  }
  runner.run(in, out, samples, options, device, result.report);
  for (const Return &done : returns)
    std::memcpy(done.to, done.from, done.bytes);
}

} // namespace tilewright::runtime
