//===- HostCode.h - a package's host kernels --------------------*- C++ -*-===//

#ifndef TILEWRIGHT_RUNTIME_HOSTCODE_H
#define TILEWRIGHT_RUNTIME_HOSTCODE_H

#include "backends/cpu/HostAbi.h"

#include <cstddef>
#include <span>
#include <string>

namespace tilewright::runtime {

/// The shared object of a package, loaded from memory.
class HostCode {
public:
  /// Throws Error when this machine's CPU lacks one of `cpuFeatures` (LLVM's names, comma-separated), or the object
  /// cannot be loaded. `origin` is the package's path.
  HostCode(std::span<const std::byte> sharedObject, const std::string &cpuFeatures, const std::string &origin);
  ~HostCode();
  HostCode(const HostCode &) = delete;
  HostCode &operator=(const HostCode &) = delete;

  /// Throws Error when there is none.
  TwHostKernel kernel(const std::string &symbol) const;

private:
  std::string origin;
  // Open as long as the object is loaded: the loader knows objects by path, and a number used again would give it the
  // object that had the number before.
  int descriptor = -1;
  void *handle = nullptr;
};

/// Those of `features` (LLVM's names, comma-separated) that this machine's CPU lacks.
std::string missingCpuFeatures(const std::string &features);

} // namespace tilewright::runtime

#endif
