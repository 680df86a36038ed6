//===- profile-program.cpp - a systolic.program on an executor ------------===//
//
//   tilewright-opt MODEL.mlir ... --lower-to-systolic | profile-program - --executor=rtl --check
//
// For work on the scheduler: runs the first systolic.program of a file with random inputs and prints, per layer,
// cycles, the share that was useful, and what the rest was lost to. --check compares every write with golden.
//
//===----------------------------------------------------------------------===//

#include "backends/systolic/ProgramTranslation.h"
#include "backends/systolic/isa/ProgramVerifier.h"
#include "common/StandardOutput.h"
#include "sim/RtlExecutor.h"

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/SourceMgr.h"

#include <chrono>

using namespace tilewright;
using namespace tilewright::systolic;

static llvm::cl::OptionCategory category("Options");
static llvm::cl::opt<std::string> file(llvm::cl::Positional, llvm::cl::init("-"), llvm::cl::desc("FILE.mlir"),
                                       llvm::cl::cat(category));
static llvm::cl::opt<std::string> executorName("executor", llvm::cl::init("model"),
                                               llvm::cl::desc("golden, model or rtl"), llvm::cl::cat(category));
static llvm::cl::opt<bool> check("check", llvm::cl::desc("compare every write with golden"), llvm::cl::cat(category));
static llvm::cl::opt<unsigned> dramRate("dram-bytes-per-cycle", llvm::cl::init(0), llvm::cl::desc("0: as configured"),
                                        llvm::cl::cat(category));

static llvm::cl::opt<int> traceLayer("trace-layer", llvm::cl::init(-1),
                                     llvm::cl::desc("list the jobs of this layer with their times"),
                                     llvm::cl::cat(category));

/// Calls visit(element's number in [n][c][y][x] order, its address) for a tensor in DRAM.
template <typename Visitor> static void forEachElement(const DeviceTensor &tensor, Visitor visit) {
  auto [samples, channels, height, width] = tensor.shape;
  int64_t words = (channels + 15) / 16, index = 0;
  for (int64_t n = 0; n < samples; ++n)
    for (int64_t c = 0; c < channels; ++c)
      for (int64_t y = 0; y < height; ++y)
        for (int64_t x = 0; x < width; ++x, ++index) {
          int64_t at = tensor.layout == DramLayout::Nchw ? index
                       : tensor.layout == DramLayout::Nhwc
                           ? ((n * height + y) * width + x) * channels + c
                           : (((n * words + c / 16) * height + y) * width + x) * 16 + c % 16;
          visit(index, tensor.address + at);
        }
}

/// DRAM before the run. Inputs depend on their elements' positions alone, not on the layout or the array.
static std::vector<uint8_t> image(const DeviceProgram &program) {
  std::vector<uint8_t> memory(program.dramBytes);
  for (const DeviceTensor &input : program.inputs)
    forEachElement(input, [&](uint64_t index, uint64_t address) {
      memory[address] = static_cast<uint8_t>((index * 0x9E3779B97F4A7C15u) >> 56);
    });
  for (const Segment &segment : program.constants)
    std::copy(segment.bytes.begin(), segment.bytes.end(), memory.begin() + segment.address);
  std::copy(program.descriptors.begin(), program.descriptors.end(), memory.begin() + program.programAddress);
  return memory;
}

/// A number that is the same for every array and every tiling that computes the same outputs.
static uint64_t digest(const DeviceProgram &program, const std::vector<uint8_t> &memory) {
  uint64_t hash = 14695981039346656037u;
  for (const DeviceTensor &output : program.outputs)
    forEachElement(output, [&](uint64_t, uint64_t address) { hash = (hash ^ memory[address]) * 1099511628211u; });
  return hash;
}

static void print(const DeviceProgram &program, const sim::RunResult &result, const ArrayConfig &config) {
  struct Row {
    uint64_t steps = 0, lost[TilewrightCauseCount] = {};
  };
  std::vector<Row> rows(program.layers.size());
  for (const sim::JobRecord &job : result.jobs) {
    if (job.layer >= rows.size())
      continue;
    rows[job.layer].steps += job.steps;
    for (size_t i = 0; i < TilewrightCauseCount; ++i)
      rows[job.layer].lost[i] += job.lost[i];
  }
  int64_t ideal = 0;
  std::printf("%-34s %-34s %-26s %10s %7s  lost\n", "layer", "shape", "tile", "cycles", "useful");
  for (size_t i = 0; i < rows.size(); ++i) {
    const LayerInfo &layer = program.layers[i];
    uint64_t cycles = rows[i].steps;
    for (uint64_t lost : rows[i].lost)
      cycles += lost;
    ideal += layer.idealCycles;
    std::printf("%-34.34s %-34.34s %-26.26s %10llu %6.1f%%  mapping %lld", layer.name.c_str(), layer.shape.c_str(),
                layer.tile.c_str(), static_cast<unsigned long long>(cycles),
                cycles ? 100.0 * layer.idealCycles / cycles : 0,
                static_cast<long long>(rows[i].steps - layer.idealCycles));
    for (size_t c = 0; c < TilewrightCauseCount; ++c)
      if (rows[i].lost[c])
        std::printf(", %s %llu", sim::causeNames[c], static_cast<unsigned long long>(rows[i].lost[c]));
    std::printf("\n");
  }
  std::printf("total: %llu cycles, %lld ideal, %.2f %% useful;", static_cast<unsigned long long>(result.cycles),
              static_cast<long long>(ideal), result.cycles ? 100.0 * ideal / result.cycles : 0);
  for (size_t c = 0; c < TilewrightCauseCount; ++c)
    std::printf(" %s %llu", sim::causeNames[c], static_cast<unsigned long long>(result.lost()[c]));
  std::printf("; tail %llu\n", static_cast<unsigned long long>(result.tail));
}

static int profile(ProgramOp op) {
  auto program = toDeviceProgram(op);
  if (failed(program))
    return 1;
  ArrayConfig config = ArrayConfig::load(op.getArray().str());
  std::vector<isa::Descriptor> descriptors = isa::decodeProgram(program->descriptors);
  isa::verifyProgram(descriptors, config, program->dramBytes);
  std::printf("%zu descriptors, %zu bytes of constants, %llu cycles expected by the scheduler\n", descriptors.size(),
              program->constants.front().bytes.size(), static_cast<unsigned long long>(op.getExpectedCycles()));
  std::unique_ptr<sim::Executor> golden = sim::makeGoldenExecutor(), executor;
  if (executorName == "rtl")
    executor = sim::makeRtlExecutor();
  else
    executor = executorName == "golden" ? sim::makeGoldenExecutor() : sim::makeModelExecutor();
  sim::RunOptions options;
  options.collectWrites = check;
  options.cyclesOnly = !check;
  options.dramBytesPerCycle = dramRate;
  std::vector<uint8_t> memory = image(*program);
  auto start = std::chrono::steady_clock::now();
  sim::RunResult result = executor->run(config, memory, program->programAddress, options);
  double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  print(*program, result, config);
  for (const sim::JobRecord &job : result.jobs)
    if (static_cast<int>(job.layer) == traceLayer)
      std::printf("%8llu %8llu  %6u  %s\n", static_cast<unsigned long long>(job.start),
                  static_cast<unsigned long long>(job.end), job.descriptor,
                  isa::disassemble(descriptors[job.descriptor]).c_str());
  std::printf("%.2f s\n", seconds);
  if (!options.cyclesOnly || executorName == "rtl")
    std::printf("outputs: %016llx\n", static_cast<unsigned long long>(digest(*program, memory)));
  if (!check)
    return 0;
  std::vector<uint8_t> other = image(*program);
  options.strict = true;
  sim::RunResult expected = golden->run(config, other, program->programAddress, options);
  std::string difference = sim::compareWrites(config, image(*program), program->programAddress, *golden, expected,
                                              *executor, result, options);
  std::printf("%s\n", difference.empty() ? "every write equals golden's" : difference.c_str());
  return difference.empty() ? 0 : 1;
}

int main(int argc, char **argv) {
  llvm::cl::HideUnrelatedOptions(category);
  llvm::cl::ParseCommandLineOptions(argc, argv, "runs a systolic.program and prints where its cycles went\n");
  mlir::DialectRegistry registry;
  registry.insert<mlir::func::FuncDialect, onnx::OnnxDialect, SystolicDialect>();
  mlir::MLIRContext context(registry);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(file, &context);
  if (!module)
    return 1;
  int status = 0;
  try {
    for (auto op : module->getOps<ProgramOp>())
      status |= profile(op);
    flushStandardOutput();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "profile-program: %s\n", error.what());
    return 1;
  }
  return status;
}
