//===- run-model.cpp - runs a package on the command line -----------------===//

#include "common/Error.h"
#include "common/StandardOutput.h"
#include "runtime/Model.h"
#include "runtime/NumpyFile.h"
#include "runtime/OutputFile.h"
#include "runtime/RandomInputs.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <filesystem>
#include <iostream>
#include <unistd.h>

using namespace tilewright;
using namespace tilewright::runtime;

static const char *kDescription = R"(Runs a package and reports how much of the array's peak each layer reached.

  run-model net.twp --input=image:photo.npy --output-dir=answers
      runs it on the array's RTL, writes one .npy per output, prints the report
  run-model net.twp --random-inputs=1 --executor=model --report=net.json
      made-up inputs; cycles from the cycle model; the report as JSON
  run-model net.twp --list
      what it takes and gives)";

namespace {
struct Arguments {
  std::string package, outputDir, executor = "rtl", report;
  std::vector<std::string> inputs;
  std::optional<uint64_t> seed;
  bool quiet = false, list = false;
};
} // namespace

static std::map<std::string, Tensor> readInputs(const std::vector<std::string> &texts) {
  std::map<std::string, Tensor> tensors;
  for (const std::string &text : texts) {
    // Names may hold colons; file names seldom do.
    size_t colon = text.rfind(':');
    if (colon == std::string::npos || colon == 0)
      throw Error("--input=" + text + ": expected NAME:FILE.npy");
    std::string name = text.substr(0, colon);
    if (!tensors.emplace(name, readNpy(text.substr(colon + 1))).second)
      throw Error("--input=" + text + ": '" + name + "' is given twice");
  }
  return tensors;
}

/// A tensor's name as a file's: names in a model are arbitrary.
static std::string fileName(const std::string &name) {
  std::string result;
  for (char c : name)
    result += c == '/' || static_cast<unsigned char>(c) < ' ' ? '_' : c;
  return (result.empty() || result[0] == '.' ? "_" : "") + result + ".npy";
}

/// A file for each output. Names that differ in characters that a file's cannot have get numbers.
static std::vector<std::string> outputFiles(const Model &model) {
  std::vector<std::string> files;
  for (const TensorInfo &output : model.outputs()) {
    std::string name = fileName(output.name), file = name;
    for (int number = 2; std::find(files.begin(), files.end(), file) != files.end(); ++number)
      file = name.substr(0, name.size() - 4) + "." + std::to_string(number) + ".npy";
    if (file != name)
      std::cerr << "run-model: output '" << output.name << "' goes to " << file << "\n";
    files.push_back(file);
  }
  return files;
}

/// Said before the run, which may take long.
static void requireFolderOrNothing(const std::string &path) {
  std::error_code none;
  if (std::filesystem::exists(path, none) && !std::filesystem::is_directory(path, none))
    throw Error("--output-dir=" + path + ": is no folder");
}

static void makeFolder(const std::string &path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (!std::filesystem::is_directory(path))
    throw Error("--output-dir=" + path + ": cannot be made a folder" + (error ? ": " + error.message() : ""));
}

static void listTensors(const Model &model) {
  for (const auto *tensors : {&model.inputs(), &model.outputs()})
    for (const TensorInfo &tensor : *tensors)
      std::cout << (tensors == &model.inputs() ? "input  " : "output ") << tensor.name << "  "
                << elementTypeName(tensor.type) << " " << shapeText(tensor.sizes, tensor.symbols) << "\n";
  for (const std::string &line : model.specialisations())
    std::cout << "serves " << line << "\n";
}

static void writeReport(const Report &report, const std::string &path) {
  std::string suffix = std::filesystem::path(path).extension().string();
  writeFile(path, suffix == ".json" ? report.toJson() : report.toCsv());
}

/// Waves are written through memory that maps their file: a disk that is full shows as a signal.
static std::string waves, hierarchy;
static void tellWavesDoNotFit(int) {
  static const char text[] = "run-model: error: --wave: the file cannot be written: no space left on the device?\n";
  [[maybe_unused]] ssize_t written = write(STDERR_FILENO, text, sizeof text - 1);
  unlink(waves.c_str());
  unlink(hierarchy.c_str()); // the writer's second file, which it removes at the end
  _exit(1);
}
static void watchWaves(const std::string &path) {
  waves = path;
  hierarchy = path + ".hier";
  struct sigaction action = {};
  action.sa_handler = tellWavesDoNotFit;
  sigaction(SIGBUS, &action, nullptr);
}

static void runPackage(const Arguments &arguments, const RunOptions &options) {
  std::shared_ptr<Model> model = Model::load(arguments.package);
  if (arguments.list)
    return listTensors(*model);
  if (arguments.seed && !arguments.inputs.empty())
    throw Error("--input and --random-inputs exclude each other");
  std::map<std::string, Tensor> inputs =
      arguments.seed ? randomInputs(*model, *arguments.seed) : readInputs(arguments.inputs);
  std::map<std::string, TensorView> views;
  for (const auto &[name, tensor] : inputs)
    views[name] = tensor.view();
  std::vector<std::string> files = outputFiles(*model);
  requireFolderOrNothing(arguments.outputDir);
  if (!options.waveFile.empty())
    watchWaves(options.waveFile);
  RunResult result = model->run(views, options);
  if (options.progress)
    std::cerr << (isatty(STDERR_FILENO) ? "\r\033[K" : "");

  if (!arguments.outputDir.empty()) {
    makeFolder(arguments.outputDir);
    for (size_t i = 0; i < result.outputs.size(); ++i)
      writeNpy(std::filesystem::path(arguments.outputDir) / files[i], result.outputs[i].view());
  }
  if (!arguments.report.empty())
    writeReport(result.report, arguments.report);
  if (!arguments.quiet)
    std::cout << result.report.toTable();
}

/// CLI11 takes -1 and what is too large for a number near them.
static std::string isSeed(const std::string &text) {
  uint64_t seed = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seed);
  bool good = error == std::errc() && end == text.data() + text.size();
  return good ? "" : text + " is no seed: a whole number from 0 to 2^64 - 1";
}

static int run(int argc, char **argv) {
  CLI::App app(kDescription, "run-model");
  Arguments arguments;
  RunOptions options;
  app.add_option("PACKAGE.twp", arguments.package, "made by compile-model")->required();
  app.add_option("--input", arguments.inputs, "NAME:FILE.npy, once for each input")->allow_extra_args(false);
  app.add_option("--random-inputs", arguments.seed, "made-up inputs from this seed")->check(isSeed);
  app.add_option("--output-dir", arguments.outputDir, "one .npy per output goes there, named after it");
  app.add_option("--executor", arguments.executor,
                 "what runs the array's code: rtl (Verilator), model (cycles estimated), golden (no cycles, fast)")
      ->capture_default_str();
  app.add_option("--report", arguments.report, "also write the report: FILE.json or FILE.csv");
  app.add_option("--wave", options.waveFile, "rtl: write the signals to this .fst file");
  app.add_option("--dram-bytes-per-cycle", options.dramBytesPerCycle,
                 "DRAM rate, reads and writes together (default: the configuration's)");
  app.add_flag("--check", options.check, "run golden beside it and compare every word written to scratchpad and DRAM");
  app.add_flag("--list", arguments.list, "list inputs, outputs and specialisations; run nothing");
  app.add_flag("-q,--quiet", arguments.quiet, "no progress, no table");
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &success) {
    return app.exit(success);
  } catch (const CLI::ParseError &error) {
    throw Error(std::string(error.what()) + "\nRun with --help for the options");
  }
  options.executor = parseExecutor(arguments.executor);
  std::string suffix = std::filesystem::path(arguments.report).extension().string();
  if (!arguments.report.empty() && suffix != ".json" && suffix != ".csv")
    throw Error("--report=" + arguments.report + ": a report is written as .json or .csv");
  if (app.count("--dram-bytes-per-cycle") && options.dramBytesPerCycle < 1)
    throw Error("--dram-bytes-per-cycle=" + std::to_string(options.dramBytesPerCycle) + ": must be at least 1");
  options.progressInterval = isatty(STDERR_FILENO) ? 0 : 2;
  if (!arguments.quiet)
    options.progress = [](const std::string &line) {
      // One line that is overwritten on a terminal; elsewhere lines of their own.
      std::cerr << (isatty(STDERR_FILENO) ? "\r\033[K" + line : line + "\n") << std::flush;
    };
  runPackage(arguments, options);
  return 0;
}

int main(int argc, char **argv) {
  try {
    int code = run(argc, argv);
    flushStandardOutput();
    return code;
  } catch (const Error &error) {
    std::cerr << "run-model: error: " << error.what() << "\n";
  } catch (const std::exception &error) {
    std::cerr << "run-model: internal error: " << error.what() << "\n";
  }
  return 1;
}
