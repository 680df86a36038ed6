//===- HostCode.cpp -------------------------------------------------------===//

#include "runtime/HostCode.h"

#include "common/Error.h"

#include <cerrno>
#include <cstring>
#include <dlfcn.h>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>
#include <sys/mman.h>
#include <unistd.h>

namespace tilewright::runtime {

namespace {

/// The kernel's list of CPU features.
std::set<std::string> cpuFlags() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line))
    if (line.rfind("flags", 0) == 0) {
      std::istringstream words(line.substr(line.find(':') + 1));
      return {std::istream_iterator<std::string>(words), {}};
    }
  return {};
}

/// LLVM's name of a feature in the kernel's words; "" for what every x86-64 has.
std::string kernelName(const std::string &feature) {
  static const std::map<std::string, std::string> names = {{"64bit", ""},
                                                           {"cx8", ""},
                                                           {"fxsr", ""},
                                                           {"mmx", ""},
                                                           {"x87", ""},
                                                           {"sse", ""},
                                                           {"sse2", ""},
                                                           {"cmov", ""},
                                                           {"sse3", "pni"},
                                                           {"sse4.1", "sse4_1"},
                                                           {"sse4.2", "sse4_2"},
                                                           {"crc32", "sse4_2"},
                                                           {"lzcnt", "abm"},
                                                           {"bmi", "bmi1"},
                                                           {"sahf", "lahf_lm"},
                                                           {"pclmul", "pclmulqdq"},
                                                           {"prfchw", "3dnowprefetch"},
                                                           {"rdrnd", "rdrand"},
                                                           {"sha", "sha_ni"}};
  auto found = names.find(feature);
  return found == names.end() ? feature : found->second;
}

} // namespace

std::string missingCpuFeatures(const std::string &features) {
  std::set<std::string> flags = cpuFlags();
  std::string missing, feature;
  std::istringstream list(features);
  while (std::getline(list, feature, ',')) {
    if (!feature.empty() && feature.front() == '+')
      feature.erase(0, 1);
    std::string name = kernelName(feature);
    if (!name.empty() && !flags.count(name))
      missing += (missing.empty() ? "" : ", ") + feature;
  }
  return missing;
}

HostCode::HostCode(std::span<const std::byte> sharedObject, const std::string &cpuFeatures, const std::string &origin)
    : origin(origin) {
  if (std::string missing = missingCpuFeatures(cpuFeatures); !missing.empty())
    throw Error(origin + ": its host code was compiled for CPUs with " + missing + ", which this machine's has not");
  descriptor = memfd_create("tilewright-host-code", MFD_CLOEXEC);
  if (descriptor < 0)
    throw Error(origin + ": cannot load its host code: " + std::strerror(errno));
  for (size_t done = 0; done < sharedObject.size();) {
    ssize_t written = write(descriptor, sharedObject.data() + done, sharedObject.size() - done);
    if (written <= 0) {
      int error = errno;
      close(descriptor);
      throw Error(origin + ": cannot load its host code: " + std::strerror(error));
    }
    done += static_cast<size_t>(written);
  }
  handle = dlopen(("/proc/self/fd/" + std::to_string(descriptor)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle) {
    std::string problem = dlerror();
    close(descriptor);
    throw Error(origin + ": cannot load its host code: " + problem);
  }
}

HostCode::~HostCode() {
  dlclose(handle);
  close(descriptor);
}

TwHostKernel HostCode::kernel(const std::string &symbol) const {
  void *address = dlsym(handle, symbol.c_str());
  if (!address)
    throw Error(origin + ": damaged: its host code has no kernel " + symbol);
  return reinterpret_cast<TwHostKernel>(address);
}

} // namespace tilewright::runtime
