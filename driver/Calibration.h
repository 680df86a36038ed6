//===- Calibration.h - what a float network does on samples -----*- C++ -*-===//
//
// The network is compiled for the host once, with every tensor of interest kept. That gives the ranges of activations,
// and how close the network stays to itself when those tensors and the weights are rounded to 8 bits.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_CALIBRATION_H
#define TILEWRIGHT_DRIVER_CALIBRATION_H

#include "backends/cpu/HostRunner.h"
#include "driver/CalibrationData.h"
#include "driver/RangeChoice.h"
#include "passes/quantization/LayerParameters.h"

#include <optional>

namespace tilewright {

/// Signal to noise of a tensor: 10·log10(Σ float² / Σ (float − quantized)²); infinity when they are equal.
struct TensorAccuracy {
  std::string tensor; ///< its calibration key
  std::string layer;  ///< "NODE: OPERATOR" of the layer that makes it, as in the package; "" for what enters
  /// With everything before it quantized too, as the network will run.
  double signalToNoiseDb;
  /// With only what makes it quantized: its layer's weights, and its own rounding and clipping. None where that says
  /// nothing: moves and max pools pass 8-bit values on, and what only tables read counts behind them.
  std::optional<double> aloneDb;
};

struct NetworkAccuracy {
  /// Tensors that become 8 bits, in program order.
  std::vector<TensorAccuracy> tensors;
  /// By result of the function; none where it is not float.
  std::vector<std::optional<double>> outputsDb;
};

class Calibration {
public:
  /// `main`: the float network, prepared for insert-qdq, with the shapes of a sample. Both outlive this. Throws Error.
  Calibration(mlir::func::FuncOp main, const CalibrationData &data);

  /// The range of each tensor that insert-qdq will ask for, from all samples. Throws Error for values that are not
  /// finite.
  RangeTable ranges(const RangeMethod &method);
  /// From up to `samples` samples, in float arithmetic on rounded values: weights and layers' results are those of the
  /// quantized network up to ties in its roundings.
  NetworkAccuracy accuracy(const RangeTable &table, bool isSigned, size_t samples);

private:
  void run(size_t sample);
  llvm::ArrayRef<float> values(mlir::Value value) const;
  /// Tensors that only tables read, each with the tables' results.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> readOnlyByTables() const;

  mlir::func::FuncOp main;
  const CalibrationData &data;
  llvm::DenseMap<mlir::Value, std::string> keys;
  std::vector<QuantizedLayer> layers;
  llvm::MapVector<mlir::Value, ValueStatistics> tensors;
  std::optional<cpu::HostRunner> runner;
};

} // namespace tilewright

#endif
