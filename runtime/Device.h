//===- Device.h - the array as the runtime sees it --------------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_DEVICE_H
#define TILEWRIGHT_RUNTIME_DEVICE_H

#include "config/ArrayConfig.h"
#include "runtime/Model.h"
#include "runtime/package_generated.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilewright::runtime {

/// What one program took. Figures are absent for executors that do not count cycles.
struct DeviceRun {
  std::optional<ArrayCycles> total;
  std::map<uint32_t, ArrayCycles> layers;                  ///< by the layer number in the descriptors
  uint64_t outsideLayers = 0;                              ///< cycles after the last step
  std::vector<std::pair<std::string, uint64_t>> dramBytes; ///< by who moved them
  double seconds = 0;                                      ///< wall time, without a check's
};

/// A simulated array and what runs on it; kept from run to run, since opening a simulator takes a while.
class Device {
public:
  /// `name`, `text`: the configuration as in the package.
  Device(const std::string &name, const std::string &text, ExecutorKind executor);
  ~Device();

  /// The configuration with the DRAM rate that `options` ask for. Throws Error for one that the bus does not allow.
  ArrayConfig config(const RunOptions &options) const;
  /// Builds or opens the simulator, which run() would do otherwise. Throws Error when that cannot be.
  void prepare(const RunOptions &options);
  /// Runs `job` in `memory` (the device's DRAM) until it is done. `layerNames` are for progress and errors.
  DeviceRun run(std::span<uint8_t> memory, const package::DeviceJob &job, const std::vector<std::string> &layerNames,
                const RunOptions &options);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tilewright::runtime

#endif
