//===- compile-model.cpp - the compiler on the command line ---------------===//

#include "common/Error.h"
#include "common/StandardOutput.h"
#include "driver/Compiler.h"
#include "runtime/OutputFile.h"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <iostream>

using namespace tilewright;

static const char *kDescription = R"(Compiles an ONNX model to a package that run-model and Python run.

  compile-model net.onnx --target=cpu
      everything on this machine's CPU, in floating point: the reference
  compile-model net.onnx --quantize=int8 --calibration=samples.npz
      8-bit integers on the systolic array; what the array cannot do stays on the CPU. samples.npz
      holds an array for each input of the model, samples along the first axis
  compile-model net.int8.onnx
      a network that is quantized already (QDQ or QOperator form)
  compile-model net.onnx --quantize=int8 --calibration=random:1 --emit=tile --explain
      looks at an intermediate form, and at what was decided for each layer and why)";

/// What goes on, on stderr: a stage's name when it begins, on the same line its time when it has ended.
class Progress {
public:
  void begin(const std::string &stage) {
    std::cerr << "compile-model: " << stage << std::flush;
    begun = stage;
  }
  void end(const std::string &line) {
    if (begun.empty())
      std::cerr << "compile-model: ";
    std::cerr << line.substr(begun.size()) << std::endl;
    begun.clear();
  }
  /// Anything else begins a line of its own.
  void interrupt() {
    if (!begun.empty())
      std::cerr << std::endl;
    begun.clear();
  }

private:
  std::string begun;
};

static Progress progress;

static void addOptions(CLI::App &app, CompileOptions &options) {
  app.add_option("--target", options.target, "systolic: the array, with the CPU for the rest; cpu; cuda: not there yet")
      ->capture_default_str();
  app.add_option("--config", options.config, "the array: a name in configs/ or a .toml file")->capture_default_str();
  app.add_option("--quantize", options.quantize, "none: as the model is; int8: post-training quantization")
      ->capture_default_str();
  app.add_option("--calibration", options.calibration,
                 "data to learn activation ranges from: a folder of .npz files or one .npz; random:SEED for "
                 "performance work only");
  app.add_option("--calibration-range", options.calibrationRange,
                 "how wide ranges are: mse (least error), min-max, or percentile:P (99.99 cuts off one value in "
                 "10,000 at either end)")
      ->capture_default_str();
  app.add_option("--activations", options.activations, "type of quantized activations: uint8 or int8")
      ->capture_default_str();
  app.add_option("--batch", options.batch, "samples per pass where the model leaves the first size open");
  app.add_option("--input-shape", options.inputShapes,
                 "NAME:1x3x224x224; several shapes for an input give a package with several specialisations")
      ->allow_extra_args(false);
  app.add_option("--emit", options.emit,
                 "package, or a form on the way: onnx, tile, target (descriptors or linalg), llvm, asm, quantized (an "
                 "ONNX file)")
      ->capture_default_str();
  app.add_flag("--all-tensors", options.allTensors, "every layer's 8-bit result becomes an output, LAYER:8bit");
  app.add_flag("--explain", options.explain,
               "say for each layer where it runs, its tile and predicted cycles, and why something stays on the CPU");
}

static std::string defaultOutput(const std::string &model, const std::string &emit) {
  std::string stem = std::filesystem::path(model).stem().string();
  return emit == "package" ? stem + ".twp" : emit == "quantized" ? stem + ".int8.onnx" : "-";
}

static int run(int argc, char **argv) {
  CLI::App app(kDescription, "compile-model");
  std::string model, output;
  bool quiet = false;
  CompileOptions options;
  app.add_option("MODEL.onnx", model, "the model")->required();
  app.add_option("-o,--output", output, "where to write; default: beside you, named after the model; - is stdout");
  addOptions(app, options);
  app.add_flag("-q,--quiet", quiet, "no progress");
  app.set_version_flag("--version", compilerVersion());
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    throw Error(std::string(error.what()) + "\nRun with --help for the options");
  }
  if (options.target == "cpu" && app.count("--config"))
    throw Error("--config describes an array: it needs --target=systolic");
  for (const char *option : {"--calibration-range", "--activations"})
    if (options.quantize == "none" && app.count(option))
      throw Error(std::string(option) + " is about quantization: add --quantize=int8");
  if (!quiet) {
    options.begins = [](const std::string &stage) { progress.begin(stage); };
    options.progress = [](const std::string &line) { progress.end(line); };
  }
  options.note = [](const std::string &text) {
    progress.interrupt();
    std::cerr << "compile-model: note: " << text << std::endl;
  };
  if (output.empty())
    output = defaultOutput(model, options.emit);
  options.validate();
  std::error_code none;
  if (output != runtime::kStandardOutput && std::filesystem::equivalent(model, output, none))
    throw Error(output + ": is the model itself; choose another name with -o");
  CompileResult result = compileModel(MappedFile::open(model), options, output);
  if (!result.explanation.empty())
    (output != runtime::kStandardOutput ? std::cout : std::cerr) << result.explanation;
  if (options.emit != "package")
    runtime::writeFile(output, result.emitted);
  return 0;
}

int main(int argc, char **argv) {
  try {
    int code = run(argc, argv);
    flushStandardOutput();
    return code;
  } catch (const Error &error) {
    progress.interrupt();
    std::cerr << "compile-model: error: " << error.what() << "\n";
  } catch (const std::exception &error) {
    progress.interrupt();
    std::cerr << "compile-model: internal error: " << error.what() << "\n";
  }
  return 1;
}
