//===- Device.h - the array as the runtime sees it --------------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_DEVICE_H
#define TILEWRIGHT_RUNTIME_DEVICE_H

#include "runtime/Model.h"

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tilewright {
struct ArrayConfig;
}

namespace tilewright::runtime {

/// What one program took. Figures are absent for executors that do not count cycles.
struct DeviceRun {
  std::optional<ArrayCycles> total;
  std::map<uint32_t, ArrayCycles> layers;                  ///< by the layer number in the descriptors
  uint64_t outsideLayers = 0;                              ///< cycles after the last step
  std::vector<std::pair<std::string, uint64_t>> dramBytes; ///< by who moved them
  double seconds = 0;                                      ///< wall time
};

/// One simulated array.
class Device {
public:
  /// `name`, `configText`: as in the package. Throws Error for a DRAM rate that the configuration does not allow, and
  /// when the simulator cannot be built.
  Device(const std::string &name, const std::string &configText, const RunOptions &options);
  ~Device();

  const ArrayConfig &config() const;
  /// Runs the program in `memory` (the device's DRAM) until it is done. `layerNames` are for progress and errors.
  DeviceRun run(std::span<uint8_t> memory, uint64_t programAddress, uint32_t descriptorCount,
                const std::vector<std::string> &layerNames, const RunOptions &options);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace tilewright::runtime

#endif
