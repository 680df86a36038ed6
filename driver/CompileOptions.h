//===- CompileOptions.h - what a user can ask of the compiler ---*- C++ -*-===//
//
// The words of the command line and of the Python module; both fill this structure.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_COMPILEOPTIONS_H
#define TILEWRIGHT_DRIVER_COMPILEOPTIONS_H

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tilewright {

struct CompileOptions {
  std::string target = "systolic";      ///< systolic | cpu | cuda
  std::string config = "4x16x4";        ///< name in configs/ or a file
  std::string quantize = "none";        ///< none | int8
  std::string calibration;              ///< folder of .npz, an .npz, or random:SEED
  std::string calibrationRange = "mse"; ///< mse | min-max | percentile:99.99
  std::string activations = "int8";     ///< int8 | uint8
  std::optional<int64_t> batch;
  std::vector<std::string> inputShapes; ///< NAME:1x3x224x224; several for one input: several specialisations
  std::string emit = "package";         ///< package | onnx | tile | target | llvm | asm | quantized
  bool allTensors = false;              ///< every layer's 8-bit result becomes an output
  bool explain = false;
  /// Called with the name of each stage when it begins.
  std::function<void(const std::string &)> begins;
  /// Called with a line for each stage when it has ended: its name and the time that it took.
  std::function<void(const std::string &)> progress;

  /// Called with something that the user should know although nothing is wrong.
  std::function<void(const std::string &)> note;

  /// Throws Error for a word that is none of those above, and for combinations that make no sense.
  void validate() const;
};

/// Input shapes by name.
using InputShapeMap = std::map<std::string, std::vector<int64_t>>;

/// One map for each specialisation: the i-th shape given for an input belongs to the i-th, an input with a single shape
/// has it in all. Throws Error for text that is no shape and for counts that do not fit together. At least one map.
std::vector<InputShapeMap> parseInputShapes(const std::vector<std::string> &texts);

} // namespace tilewright

#endif
