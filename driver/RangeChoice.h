//===- RangeChoice.h - which range of values gets 8 bits --------*- C++ -*-===//
//
// A wide range rounds coarsely, a narrow one clips. What counts is the error behind the tensor: where nothing but
// functions of its elements read it (hard-swish, sigmoid, ... : tables), values on which those are flat need no range.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DRIVER_RANGECHOICE_H
#define TILEWRIGHT_DRIVER_RANGECHOICE_H

#include "passes/quantization/RangeTable.h"

#include "llvm/ADT/ArrayRef.h"

#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace tilewright {

/// How a tensor's range is chosen from the values it had. In each method, values on which all readers are flat to half
/// a quantum of their results are left out.
struct RangeMethod {
  enum Kind {
    MinMax,     ///< the smallest and the largest value
    Percentile, ///< what is left when (100 − percentile) % are cut off at either end
    MeanSquare, ///< the least mean square error, rounding and clipping together, in what reads the tensor
  };
  Kind kind = MeanSquare;
  double percentile = 100;
  /// "min-max", "percentile:99.99" or "mse". Throws Error.
  static RangeMethod parse(const std::string &text);
};

/// The values of one tensor over all samples, gathered in two rounds: their ends, then how they lie between.
class ValueStatistics {
public:
  void extend(llvm::ArrayRef<float> values);
  /// Sorts `values` into bins; `results`: what each function that alone reads the tensor made of them, in the same
  /// order each time.
  void fill(llvm::ArrayRef<float> values, llvm::ArrayRef<llvm::ArrayRef<float>> results = {});

  float min = INFINITY, max = -INFINITY;
  CalibratedRange choose(const RangeMethod &method) const;

private:
  static constexpr size_t kBins = 4096;
  /// A function's result, by bin.
  struct Reader {
    std::vector<double> sums;
    float min = INFINITY, max = -INFINITY;
  };
  size_t binOf(float value) const;
  double centre(size_t bin) const;
  CalibratedRange rangeOf(size_t low, size_t high) const;
  void cutPercentile(double percentile, size_t &low, size_t &high) const;
  void cutFlat(const std::vector<std::vector<double>> &results, size_t &low, size_t &high) const;
  void cutLeastSquares(const std::vector<std::vector<double>> &results, size_t &low, size_t &high) const;

  std::vector<uint64_t> counts;
  uint64_t zeros = 0; ///< exact in every range
  std::vector<Reader> readers;
};

} // namespace tilewright

#endif
