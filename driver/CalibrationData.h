//===- CalibrationData.h - samples to run a model on ------------*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_CALIBRATIONDATA_H
#define TILEWRIGHT_DRIVER_CALIBRATIONDATA_H

#include "driver/CompileOptions.h"
#include "runtime/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace tilewright {

/// What --calibration gives. An .npz (or a folder of them) has an array for each model input, named after it; a model
/// of one input also takes .npy files. An array's first axis is the samples: either the model's batch, or one more
/// axis. "random:SEED" makes data up.
class CalibrationData {
public:
  /// Reads everything. Throws Error naming the file that is wrong.
  explicit CalibrationData(const std::string &source);

  bool isRandom() const { return random; }
  /// The shapes to import the model for, so that a sample fits: those of the arrays, one sample at a time. `declared`
  /// is
  /// @main as imported, before anything else. Random data take `preferred`. Throws Error where the model cannot take
  /// them.
  InputShapeMap sampleShapes(mlir::func::FuncOp declared, const InputShapeMap &preferred) const;
  /// Number of samples for the inputs of `main`, which has static shapes.
  size_t count(mlir::func::FuncOp main) const;
  /// Sample `index` as dense bytes, one vector per input of `main`.
  std::vector<std::vector<char>> sample(mlir::func::FuncOp main, size_t index) const;

private:
  /// Arrays of one file, by input; "" in a .npy file.
  using File = std::map<std::string, runtime::Tensor>;
  const runtime::Tensor &array(const File &file, mlir::func::FuncOp main, unsigned input) const;
  size_t samplesIn(const File &file, mlir::func::FuncOp main) const;
  std::vector<char> randomValues(mlir::RankedTensorType type, const std::string &name, uint64_t seed) const;

  std::string source;
  std::vector<std::string> fileNames;
  std::vector<File> files;
  bool random = false;
  uint64_t seed = 0;
};

} // namespace tilewright

#endif
