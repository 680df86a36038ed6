//===- RtlExecutor.h - the RTL under Verilator as an executor ---*- C++ -*-===//
//
// The simulator of a configuration is a shared object (sim/SimulatorAbi.h).
// sim/verilator/build_simulator.py builds it when it is first needed and keeps it in
// a cache, so any configuration file can be simulated.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_RTLEXECUTOR_H
#define TILEWRIGHT_SIM_RTLEXECUTOR_H

#include "sim/Executor.h"
#include <memory>
#include <string>
#include <vector>

namespace tilewright::sim {

struct RtlOptions {
  /// Verilog defines, for tests that plant a fault in the RTL. Part of the cache's key.
  std::vector<std::string> defines;
  /// Called once before a simulator is built, which takes a minute, with a line for the user.
  std::function<void(const std::string &)> notice;
  /// Able to write waves (RunOptions::waveFile); simulates more slowly. Set by the executor for runs that ask for one.
  bool trace = false;
};

std::unique_ptr<Executor> makeRtlExecutor(RtlOptions options = {});

/// Path of the simulator's shared object; builds it if there is none. Throws Error with the build's last lines if that
/// fails.
///
/// The command run is `build_simulator.py --pixels P --channels K --reduction C --scratchpad-bytes B
/// --weight-ring-bytes B
/// --table-slots N --bus-bytes B [--trace] [--define NAME]...`; it builds unless the cache has the object for these and
/// the RTL's sources, holding a lock, and prints the object's path as its only line on stdout.
std::string buildSimulator(const ArrayConfig &config, const RtlOptions &options = {});

} // namespace tilewright::sim

#endif
