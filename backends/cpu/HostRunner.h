//===- HostRunner.h - runs a function at compile time -----------*- C++ -*-===//
//
// Compiles a function of `onnx.node` operations for the host and runs it in this process: calibration, tests, and the
// fp32 reference.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CPU_HOSTRUNNER_H
#define TILEWRIGHT_BACKENDS_CPU_HOSTRUNNER_H

#include "backends/cpu/CpuBackend.h"
#include "backends/cpu/HostAbi.h"

#include <memory>

namespace tilewright::cpu {

/// 64-byte aligned memory.
struct AlignedBytes {
  std::shared_ptr<char> data;
  size_t size = 0;
  static AlignedBytes allocate(size_t size);
};

class HostRunner {
public:
  /// `function` must outlive the runner. Values in `keep` can be asked for after a run, besides the function's results.
  /// Throws tilewright::Error; nodes that cannot be compiled have got their errors by then.
  HostRunner(mlir::func::FuncOp function, const llvm::DenseSet<mlir::Value> &keep = {},
             const HostOptions &options = {});
  ~HostRunner();
  HostRunner(const HostRunner &) = delete;
  HostRunner &operator=(const HostRunner &) = delete;

  /// Runs once. `arguments`: dense bytes of each function argument (bool one byte per element), borrowed for the call.
  void run(llvm::ArrayRef<llvm::ArrayRef<char>> arguments);

  /// Other memory for some tensors: what a kernel reads or writes instead of this runner's.
  using Overlay = llvm::DenseMap<mlir::Value, AlignedBytes>;
  /// run() in steps: the arguments, then each of code().kernels in order.
  void setArguments(llvm::ArrayRef<llvm::ArrayRef<char>> arguments);
  void runKernel(size_t index, const Overlay &overlay = Overlay());

  /// The bytes of a function result or kept value, valid until the next run.
  llvm::ArrayRef<char> bytes(mlir::Value value) const;
  const HostCode &code() const { return hostCode; }
  /// Seconds that each kernel took in the last run.
  llvm::ArrayRef<double> seconds() const { return kernelSeconds; }

private:
  mlir::func::FuncOp function;
  HostCode hostCode;
  void *library = nullptr;
  int file = -1;
  std::vector<TwHostKernel> entries;
  llvm::DenseMap<mlir::Value, AlignedBytes> buffers;
  AlignedBytes scratch;
  std::vector<double> kernelSeconds;
};

/// Bytes of a tensor as kernels see it.
size_t bytesOf(mlir::Value value);

} // namespace tilewright::cpu

#endif
