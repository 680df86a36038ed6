//===- run-host-function.cpp - runs onnx nodes without a package ----------===//
//
// The CPU back end without the rest: compiles @main of a file in the onnx dialect, or a model, runs it, prints or
// writes every result. Tests of kernels use it, and whoever debugs one.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/HostRunner.h"
#include "backends/cpu/KernelBuilder.h"
#include "backends/cpu/Passes.h"
#include "common/Error.h"
#include "frontend/OnnxImporter.h"
#include "passes/OnnxPipeline.h"

#include "mlir/Parser/Parser.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstring>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::cpu;
namespace cl = llvm::cl;

static cl::OptionCategory category("Options");
static cl::opt<std::string> inputFile(cl::Positional, cl::desc("FILE.mlir or FILE.onnx"), cl::cat(category));
static cl::opt<bool> listOperators("list-operators", cl::desc("print the table of operators and stop"),
                                   cl::cat(category));
static cl::opt<std::string>
    data("data", cl::desc("folder of arg0.bin, arg1.bin, ...: dense bytes; default: 0, 1, 2, ..."), cl::cat(category));
static cl::opt<std::string> output("output", cl::desc("folder for out0.bin, ...; default: results are printed"),
                                   cl::cat(category));
static cl::opt<std::string> cpuName("cpu", cl::desc("CPU to compile for"), cl::init("x86-64-v3"), cl::cat(category));
static cl::opt<bool> keepAll("keep-all", cl::desc("fuse nothing: every node is a kernel of its own"),
                             cl::cat(category));
static cl::opt<bool> times("times", cl::desc("print the time of every kernel"), cl::cat(category));
static cl::opt<int> repeat("repeat", cl::desc("number of runs"), cl::init(1), cl::cat(category));
static cl::list<std::string> inputShapes("input-shape", cl::desc("shape of a model's input, NAME:1x3x8x8"),
                                         cl::cat(category));
static cl::opt<std::string> emit("emit", cl::desc("print linalg, llvm or asm"), cl::cat(category));

static double element(const char *bytes, Type type) {
  auto as = [&]<typename T>(T value) {
    std::memcpy(&value, bytes, sizeof value);
    return static_cast<double>(value);
  };
  if (type.isF32())
    return as(float());
  if (type.isF64())
    return as(double());
  if (type.isF16() || type.isBF16()) {
    uint16_t bits;
    std::memcpy(&bits, bytes, 2);
    return APFloat(cast<FloatType>(type).getFloatSemantics(), APInt(16, bits)).convertToFloat();
  }
  bool isUnsigned = isUnsignedType(type) || type.isInteger(1);
  switch (storageType(type).getIntOrFloatBitWidth()) {
  case 8:
    return isUnsigned ? as(uint8_t()) : as(int8_t());
  case 16:
    return isUnsigned ? as(uint16_t()) : as(int16_t());
  case 32:
    return isUnsigned ? as(uint32_t()) : as(int32_t());
  default:
    return isUnsigned ? as(uint64_t()) : as(int64_t());
  }
}

/// 0, 1, 2, ... in any element type.
static void count(Value argument, char *bytes) {
  Type type = elementOf(argument);
  int64_t size = product(shapeOf(argument)), width = storageType(type).getIntOrFloatBitWidth() / 8;
  for (int64_t i = 0; i < size; ++i) {
    APInt bits(64, i);
    if (auto floating = dyn_cast<FloatType>(type)) {
      APFloat number(static_cast<float>(i));
      bool inexact;
      number.convert(floating.getFloatSemantics(), APFloat::rmNearestTiesToEven, &inexact);
      bits = number.bitcastToAPInt().zext(64);
    }
    if (type.isInteger(1))
      bits = APInt(64, i & 1);
    uint64_t raw = bits.getZExtValue();
    std::memcpy(bytes + i * width, &raw, width);
  }
}

/// A model, imported and normalized.
static OwningOpRef<ModuleOp> importModel(MLIRContext &context) {
  ImportOptions options;
  for (StringRef text : inputShapes) {
    auto [name, sizes] = text.rsplit(':');
    std::vector<int64_t> &shape = options.inputShapes[name.str()];
    SmallVector<StringRef> numbers;
    sizes.split(numbers, 'x', -1, /*KeepEmpty=*/false);
    for (StringRef number : numbers)
      if (number.getAsInteger(10, shape.emplace_back()))
        throw Error("--input-shape=" + text.str() + ": '" + number.str() + "' is not a number");
  }
  OwningOpRef<ModuleOp> module = importOnnx(context, MappedFile::open(inputFile.getValue()), options);
  PassManager passes(&context);
  buildOnnxPipeline(passes);
  passes.addNestedPass<func::FuncOp>(createFuseQuantizedPass());
  if (failed(passes.run(*module)))
    return nullptr;
  return module;
}

/// The table of docs/cpu-operators.md.
static void printOperators() {
  llvm::outs() << "| operator | from version |\n|---|---|\n";
  for (const SupportedOperator &entry : supportedHostOperators())
    llvm::outs() << "| " << entry.name << " | " << entry.sinceVersion << " |\n";
}

static int runMain() {
  if (listOperators) {
    printOperators();
    return 0;
  }
  if (inputFile.empty())
    throw Error("which file? See --help");
  MLIRContext context;
  context.loadDialect<onnx::OnnxDialect, func::FuncDialect>();
  OwningOpRef<ModuleOp> module =
      StringRef(inputFile).ends_with(".onnx") ? importModel(context) : parseSourceFile<ModuleOp>(inputFile, &context);
  if (!module)
    return 1;
  auto function = module->lookupSymbol<func::FuncOp>("main");
  if (!function)
    throw Error(inputFile + ": no func.func @main");

  llvm::DenseSet<Value> keep;
  if (keepAll)
    function.walk([&](onnx::NodeOp node) { keep.insert(node->result_begin(), node->result_end()); });
  std::string text;
  HostOptions options;
  options.cpu = cpuName;
  if (emit == "linalg")
    options.linalgText = &text;
  else if (emit == "llvm")
    options.llvmText = &text;
  else if (emit == "asm")
    options.assemblyText = &text;
  else if (!emit.empty())
    throw Error("--emit: linalg, llvm or asm");
  auto start = std::chrono::steady_clock::now();
  HostRunner runner(function, keep, options);
  if (times)
    llvm::outs() << "compiled in "
                 << llvm::format("%.2f",
                                 std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count())
                 << " s\n";
  if (!emit.empty()) {
    llvm::outs() << text;
    return 0;
  }

  std::vector<AlignedBytes> storage;
  std::vector<ArrayRef<char>> arguments;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    storage.push_back(AlignedBytes::allocate(bytesOf(argument)));
    AlignedBytes &bytes = storage.back();
    if (data.empty()) {
      count(argument, bytes.data.get());
    } else {
      std::string path = data + "/arg" + std::to_string(i) + ".bin";
      auto file = llvm::MemoryBuffer::getFile(path, false, false);
      if (!file || (*file)->getBufferSize() != bytes.size)
        throw Error(path + ": cannot be read, or is not " + std::to_string(bytes.size) + " bytes long");
      std::memcpy(bytes.data.get(), (*file)->getBufferStart(), bytes.size);
    }
    arguments.push_back({bytes.data.get(), bytes.size});
  }
  for (int i = 0; i < repeat; ++i)
    runner.run(arguments);
  if (times) {
    double all = 0;
    for (auto [kernel, seconds] : llvm::zip(runner.code().kernels, runner.seconds())) {
      llvm::outs() << llvm::format("%9.3f ms  ", seconds * 1e3) << kernel.symbol << " " << kernel.outputs[0].getType()
                   << "\n";
      all += seconds;
    }
    llvm::outs() << llvm::format("%9.3f ms  in all\n", all * 1e3);
  }

  Operation *terminator = function.getBody().front().getTerminator();
  for (auto [i, result] : llvm::enumerate(terminator->getOperands())) {
    ArrayRef<char> bytes = runner.bytes(result);
    if (auto argument = dyn_cast<BlockArgument>(result))
      bytes = arguments[argument.getArgNumber()];
    if (!output.empty()) {
      std::error_code error;
      llvm::raw_fd_ostream stream(output + "/out" + std::to_string(i) + ".bin", error);
      stream.write(bytes.data(), bytes.size());
      if (error)
        throw Error(output + ": " + error.message());
      llvm::outs() << result.getType() << "\n";
      continue;
    }
    llvm::outs() << result.getType() << ":";
    Type type = elementOf(result);
    for (size_t at = 0, width = storageType(type).getIntOrFloatBitWidth() / 8; at < bytes.size(); at += width)
      llvm::outs() << llvm::format(" %.7g", element(bytes.data() + at, type));
    llvm::outs() << "\n";
  }
  return 0;
}

int main(int argc, char **argv) {
  cl::HideUnrelatedOptions(category);
  cl::ParseCommandLineOptions(argc, argv, "Compiles @main of a file in the onnx dialect for this CPU and runs it\n");
  try {
    return runMain();
  } catch (const Error &error) {
    llvm::errs() << "error: " << error.what() << "\n";
    return 1;
  }
}
