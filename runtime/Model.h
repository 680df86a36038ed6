//===- Model.h - a compiled model, ready to run -----------------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_MODEL_H
#define TILEWRIGHT_RUNTIME_MODEL_H

#include "runtime/Report.h"
#include "runtime/Tensor.h"

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tilewright::runtime {

enum class ExecutorKind { Rtl, Model, Golden };
/// "rtl", "model", "golden". The inverse throws Error on anything else.
const char *executorName(ExecutorKind kind);
ExecutorKind parseExecutor(const std::string &name);

struct RunOptions {
  /// What simulates the array; no matter for packages that do not use it.
  ExecutorKind executor = ExecutorKind::Rtl;
  /// RTL: an FST file to write the signals to.
  std::string waveFile;
  /// Overrides the configuration's DRAM rate; 0 keeps it.
  int64_t dramBytesPerCycle = 0;
  /// Golden runs beside the chosen executor, and run() throws Error if a word written to scratchpad or DRAM differs.
  bool check = false;
  /// Called now and then with one line about how far it is.
  std::function<void(const std::string &)> progress;
  /// Seconds between two such lines at least; what is built is said at once.
  double progressInterval = 0;
};

struct RunResult {
  std::vector<Tensor> outputs; ///< in the order of Model::outputs()
  Report report;
};

/// A package that was loaded and verified. Calls of run() from several threads take turns.
class Model {
public:
  /// `name` stands for the model in messages about inputs; by default the path does. Throws Error (PackageFile::open,
  /// HostCode).
  static std::shared_ptr<Model> load(const std::string &path, const std::string &name = "");
  ~Model();

  const std::vector<TensorInfo> &inputs() const;
  const std::vector<TensorInfo> &outputs() const;
  const std::string &path() const;
  /// One line per specialisation: the input shapes it serves.
  std::vector<std::string> specialisations() const;
  /// The array's programs, all specialisations, each its descriptors as the array fetches them (docs/descriptors.md).
  std::vector<std::vector<uint8_t>> programs() const;
  /// The shapes a run with arbitrary data may use: those of the first specialisation, one sample for a symbolic batch.
  std::map<std::string, Shape> exampleShapes() const;

  /// Throws Error on inputs that are missing, unknown, or of a type or shape that no specialisation serves.
  RunResult run(const std::map<std::string, TensorView> &inputs, const RunOptions &options = {});

private:
  struct State;
  explicit Model(std::unique_ptr<State> state);
  std::unique_ptr<State> state;
};

} // namespace tilewright::runtime

#endif
