//===- PlanRunner.h - runs the steps of one plan ----------------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_PLANRUNNER_H
#define TILEWRIGHT_RUNTIME_PLANRUNNER_H

#include "runtime/Device.h"
#include "runtime/HostCode.h"
#include "runtime/Model.h"
#include "runtime/PackageFile.h"
#include "runtime/ThreadPool.h"

#include <vector>

namespace tilewright::runtime {

/// A plan with its memory: the host arena and the device's DRAM with the constants in it.
class PlanRunner {
public:
  PlanRunner(const PackageFile &file, const package::Plan &plan, const HostCode *hostCode, ThreadPool &threads);

  /// One pass. `inputs` and `outputs`: one 64-byte aligned pointer per tensor of the model, of the plan's shapes.
  /// Adds what it measured to `report`, whose layers are this plan's (describe()). Of a batched plan `samples` of the
  /// batch are real: the others' multiply-accumulates do not count.
  void run(const std::vector<const void *> &inputs, const std::vector<void *> &outputs, uint64_t samples,
           const RunOptions &options, Device *device, Report &report);

  /// Fills in the layer rows, without figures.
  void describe(Report &report) const;
  /// A step of it is the array's.
  bool usesArray() const;
  const package::Plan &plan() const { return plan_; }

private:
  void runJob(const package::DeviceJob &job, const RunOptions &options, Device &device, Report &report);
  void copy(const package::Copy &copy);
  std::byte *address(uint32_t buffer) const;

  const PackageFile &file;
  const package::Plan &plan_;
  ThreadPool &threads;
  std::vector<TwHostKernel> kernels; ///< by step; null for the others
  AlignedBytes arena, dram;
  std::vector<std::byte *> addresses; ///< by buffer
};

} // namespace tilewright::runtime

#endif
