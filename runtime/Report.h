//===- Report.h - achieved against peak, layer by layer ---------*- C++ -*-===//
//
// docs/report.md says what each figure means. JSON is the source; CSV and the table are made from the same rows.
// Slots are multiply-accumulate opportunities: P*K*C each cycle. Every slot is useful, mapping (a lane without work in
// a cycle in which the array takes a step) or lost in a cycle without a step, for one cause.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_RUNTIME_REPORT_H
#define TILEWRIGHT_RUNTIME_REPORT_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tilewright::runtime {

/// What the array did in some stretch of cycles.
struct ArrayCycles {
  uint64_t cycles = 0;                                ///< steps + all lost cycles
  uint64_t steps = 0;                                 ///< cycles in which the array took a step
  std::vector<std::pair<std::string, uint64_t>> lost; ///< cycles by cause, in the order of priority
};

struct LayerReport {
  std::string name, kind, unit, shape, tile, reason;
  std::vector<std::string> nodes;
  uint64_t macs = 0;        ///< of real samples
  uint64_t idealCycles = 0; ///< macs / (P*K*C)
  uint64_t predictedCycles = 0;
  uint64_t bytesWeights = 0, bytesIn = 0, bytesOut = 0, bytesResidual = 0; ///< DRAM, as scheduled
  std::optional<ArrayCycles> array; ///< layers on the array, executors that count cycles
  double hostMicroseconds = 0;      ///< host steps, measured
  /// The result's signal to quantization noise against float on calibration samples; 200 when they are equal. With all
  /// layers quantized, and with this one alone. Known of networks that the compiler quantized.
  std::optional<double> sqnrDb, sqnrAloneDb;

  bool onHost() const { return unit == "host"; }
};

struct Report {
  std::string model, target, executor, quantization;
  bool uncalibrated = false;
  bool checked = false;             ///< golden ran beside the executor, and wrote the same
  uint64_t samples = 0, passes = 0; ///< of a batched package; otherwise 1 and 1

  // The array; macsPerCycle is 0 when the package does not use it.
  std::string arrayName;
  uint64_t macsPerCycle = 0;
  double nominalMhz = 0, dramBytesPerCycle = 0; ///< the latter after refused beats

  std::vector<LayerReport> layers;
  /// From start register to done, over all device jobs; absent for executors that do not count.
  std::optional<ArrayCycles> total;
  /// Cycles before the first and after the last layer's: not in any layer.
  uint64_t outsideLayers = 0;
  std::vector<std::pair<std::string, uint64_t>> dramBytes; ///< moved over the bus, by who moved them
  double deviceSeconds = 0;                                ///< wall time of simulation
  double wallSeconds = 0;
  /// Of the outputs, by name: as LayerReport::sqnrDb.
  std::vector<std::pair<std::string, double>> outputSqnrDb;

  uint64_t macs() const;
  double hostMicroseconds() const;
  /// A host step lies between the first and the last layer on the array: the headline covers the array only.
  bool arrayOnly() const;

  std::string toJson() const;
  std::string toCsv() const;
  /// For people; `width` columns at least 80.
  std::string toTable() const;

  /// Throws std::logic_error when slots do not add up: useful + mapping + lost = P*K*C * cycles, for the total and each
  /// layer.
  void check() const;
};

} // namespace tilewright::runtime

#endif
