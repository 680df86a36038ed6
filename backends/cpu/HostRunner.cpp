//===- HostRunner.cpp - runs a function at compile time -------------------===//

#include "backends/cpu/HostRunner.h"
#include "backends/cpu/Constants.h"
#include "backends/cpu/KernelBuilder.h"
#include "common/Error.h"

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

using namespace mlir;

namespace tilewright::cpu {

AlignedBytes AlignedBytes::allocate(size_t size) {
  size_t rounded = (std::max<size_t>(size, 1) + 63) / 64 * 64;
  char *memory = static_cast<char *>(std::aligned_alloc(64, rounded));
  if (!memory)
    throw Error("out of memory: " + std::to_string(size) + " bytes for one tensor");
  return {std::shared_ptr<char>(memory, std::free), size};
}

size_t bytesOf(Value value) {
  return product(shapeOf(value)) * storageType(elementOf(value)).getIntOrFloatBitWidth() / 8;
}

/// Two threads, made for the call: this runs at compile time, where a kernel's work outweighs a thread's start.
static void parallelFor(void *, int64_t count, void (*body)(void *, int64_t, int64_t), void *arg) {
  int64_t middle = count / 2;
  std::thread other([=] { body(arg, middle, count); });
  body(arg, 0, middle);
  other.join();
}

HostRunner::HostRunner(func::FuncOp function, const llvm::DenseSet<Value> &keep, const HostOptions &options)
    : function(function) {
  std::vector<HostGroup> groups = formHostGroups(function, keep);
  FailureOr<HostCode> compiled = compileHostGroups(groups, options);
  if (failed(compiled))
    throw Error("the model has nodes that cannot run on the host");
  hostCode = std::move(*compiled);
  // Open as long as the library: a second one under the same number would be taken for the first by dlopen.
  file = memfd_create("tilewright-host", MFD_CLOEXEC);
  const std::vector<char> &object = hostCode.sharedObject;
  if (file < 0 || write(file, object.data(), object.size()) != static_cast<ssize_t>(object.size()))
    throw Error("cannot write host code to memory");
  library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    throw Error(std::string("cannot load host code: ") + dlerror());
  int64_t most = 0;
  for (const HostKernel &kernel : hostCode.kernels) {
    entries.push_back(reinterpret_cast<TwHostKernel>(dlsym(library, kernel.symbol.c_str())));
    for (Value output : kernel.outputs)
      buffers[output] = AlignedBytes::allocate(bytesOf(output));
    most = std::max(most, kernel.scratchBytes);
    for (Value input : kernel.inputs)
      if (onnx::constantValue(input) && !buffers.contains(input)) {
        std::vector<char> storage;
        ArrayRef<char> bytes = constantBytes(input, storage);
        buffers[input] = AlignedBytes::allocate(bytes.size());
        std::memcpy(buffers[input].data.get(), bytes.data(), bytes.size());
      }
  }
  scratch = AlignedBytes::allocate(most);
}

HostRunner::~HostRunner() {
  if (library)
    dlclose(library);
  if (file >= 0)
    close(file);
}

void HostRunner::setArguments(ArrayRef<ArrayRef<char>> arguments) {
  if (arguments.size() != function.getNumArguments())
    throw Error("expected " + std::to_string(function.getNumArguments()) + " inputs, got " +
                std::to_string(arguments.size()));
  for (auto [argument, bytes] : llvm::zip_equal(function.getArguments(), arguments)) {
    if (bytes.size() != bytesOf(argument))
      throw Error("an input has " + std::to_string(bytes.size()) + " bytes instead of " +
                  std::to_string(bytesOf(argument)));
    AlignedBytes &buffer = buffers[argument];
    if (!buffer.data)
      buffer = AlignedBytes::allocate(bytes.size());
    std::memcpy(buffer.data.get(), bytes.data(), bytes.size());
  }
}

void HostRunner::runKernel(size_t index, const Overlay &overlay) {
  const HostKernel &kernel = hostCode.kernels[index];
  auto place = [&](Value value) -> void * {
    auto other = overlay.find(value);
    return (other != overlay.end() ? other->second : buffers.find(value)->second).data.get();
  };
  std::vector<void *> pointers;
  for (Value input : kernel.inputs)
    pointers.push_back(place(input));
  for (Value output : kernel.outputs)
    pointers.push_back(place(output));
  pointers.push_back(scratch.data.get());
  TwHostContext context{parallelFor, nullptr};
  entries[index](pointers.data(), &context);
}

void HostRunner::run(ArrayRef<ArrayRef<char>> arguments) {
  setArguments(arguments);
  kernelSeconds.clear();
  for (size_t index = 0; index < entries.size(); ++index) {
    auto start = std::chrono::steady_clock::now();
    runKernel(index);
    kernelSeconds.push_back(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
}

ArrayRef<char> HostRunner::bytes(Value value) const {
  auto it = buffers.find(value);
  if (it == buffers.end()) {
    // A result that is a constant of the model.
    thread_local std::vector<char> storage;
    return constantBytes(value, storage);
  }
  return {it->second.data.get(), it->second.size};
}

} // namespace tilewright::cpu
