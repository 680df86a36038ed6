//===- CpuBackend.h - onnx nodes to host object code ------------*- C++ -*-===//
//
// Compiles groups of `onnx.node` operations (static shapes, newest spelling of each operator) ahead of time into one
// shared object. See HostAbi.h for how its kernels are called and docs/cpu-backend.md for how they are made.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CPU_CPUBACKEND_H
#define TILEWRIGHT_BACKENDS_CPU_CPUBACKEND_H

#include "dialects/onnx/OnnxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

#include <string>
#include <vector>

namespace tilewright::cpu {

/// Nodes that become one kernel: a root, then the elementwise nodes that are applied to its result before it is stored.
/// In execution order; only the last node's results are visible outside.
struct HostGroup {
  llvm::SmallVector<onnx::NodeOp> nodes;
  onnx::NodeOp root() const { return nodes.front(); }
};

struct HostKernel {
  /// Exported symbol. Groups with the same structure share one.
  std::string symbol;
  /// The values behind the kernel's buffers, in the order of TwHostKernel. Values that the kernel needs at compile time
  /// only (axes, shapes) and scalar constants are not among the inputs.
  llvm::SmallVector<mlir::Value> inputs, outputs;
  int64_t scratchBytes = 0;
  /// Names of the group's nodes in the model; empty strings for unnamed ones.
  std::vector<std::string> nodeNames;
  /// True when the output is a byte copy of the only input (Reshape, Flatten, Identity, ...): the caller may let them
  /// share memory and leave the call out.
  bool isCopy = false;
};

struct HostCode {
  /// An ELF shared object for memfd + dlopen.
  std::vector<char> sharedObject;
  std::vector<HostKernel> kernels;
  /// Comma-separated LLVM feature names that the code needs, e.g. "avx2,fma,f16c,...".
  std::string cpuFeatures;
};

struct HostOptions {
  /// LLVM's name of the CPU to compile for: "x86-64-v3" or "native".
  std::string cpu = "x86-64-v3";
  /// The ELF linker (ld.lld); empty: $TILEWRIGHT_LLD, LLVM's own tools folder, then the PATH.
  std::string linker;
  /// When not null, receives the textual forms asked for by `--emit`.
  std::string *linalgText = nullptr, *llvmText = nullptr, *assemblyText = nullptr;
};

/// Splits all nodes of `function` into groups, in execution order. Values in `keep` stay visible: no group swallows
/// them.
std::vector<HostGroup> formHostGroups(mlir::func::FuncOp function, const llvm::DenseSet<mlir::Value> &keep = {});
/// The same for a subset of the nodes, given in execution order.
std::vector<HostGroup> formHostGroups(llvm::ArrayRef<onnx::NodeOp> nodes, const llvm::DenseSet<mlir::Value> &keep = {});

/// Why `node` cannot run on the host, in words ("Conv(11): ..."); empty when it can.
std::string whyNotOnHost(onnx::NodeOp node);

/// Compiles the groups; kernels[i] belongs to groups[i]. Every node that cannot be compiled gets an error of its own
/// before this fails. Throws tilewright::Error when the linker is missing or fails.
mlir::FailureOr<HostCode> compileHostGroups(llvm::ArrayRef<HostGroup> groups, const HostOptions &options = {});

/// One line per supported operator: name, lowest since_version accepted.
struct SupportedOperator {
  std::string name;
  int64_t sinceVersion;
};
std::vector<SupportedOperator> supportedHostOperators();

} // namespace tilewright::cpu

#endif
