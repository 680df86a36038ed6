//===- PlanBuilder.h - a function's steps over one buffer table -*- C++ -*-===//

#ifndef TILEWRIGHT_DRIVER_PLANBUILDER_H
#define TILEWRIGHT_DRIVER_PLANBUILDER_H

#include "backends/cpu/CpuBackend.h"
#include "backends/systolic/DeviceProgram.h"
#include "dialects/onnx/ConstantData.h"
#include "runtime/PackageWriter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

#include <deque>
#include <memory>
#include <span>
#include <string>

namespace tilewright {

/// The package's name of an element type. Throws Error, naming `what`, for one that has none (strings).
package::ElementType elementTypeOf(mlir::Type type, const std::string &what);

/// Builds the plan of one specialisation. Steps are added in execution order; finish() lays out the arena.
class PlanBuilder {
public:
  /// `main`: static shapes. `constants` keeps the bytes that `writer` was given alive; both outlive the builder.
  PlanBuilder(runtime::PackageWriter &writer, std::deque<onnx::ConstantBytes> &constants, mlir::func::FuncOp main);

  /// `reason`: why it runs on the host; `shown`: the one of its nodes that it is called after in reports.
  void addHostCall(const cpu::HostKernel &kernel, const std::string &reason, onnx::NodeOp shown);
  /// One execution of a device program, with the copies of its tensors to and from the device's memory. `program` stays
  /// alive until the package is written.
  void addDeviceRun(const systolic::DeviceProgram &program, mlir::ValueRange inputs, mlir::ValueRange outputs);

  std::unique_ptr<package::PlanT> finish();

private:
  /// The buffer of a tensor value: argument, constant, result or intermediate.
  uint32_t bufferOf(mlir::Value value);
  uint32_t dramBuffer(const systolic::DeviceTensor &tensor);
  void addCopy(package::CopyKind kind, uint32_t source, uint32_t target, const systolic::DeviceTensor &tensor);
  void preload(uint64_t address, std::span<const uint8_t> bytes);
  uint32_t addLayer(package::LayerT layer);
  uint32_t addBuffer(package::BufferT buffer);
  uint32_t addStep(package::StepT step);
  void use(uint32_t buffer, uint32_t step);
  void returnValues();
  void layOutArena();

  runtime::PackageWriter &writer;
  std::deque<onnx::ConstantBytes> &constants;
  mlir::func::FuncOp main;
  std::unique_ptr<package::PlanT> result = std::make_unique<package::PlanT>();
  llvm::DenseMap<mlir::Value, uint32_t> buffers;
  /// Result index of values that are written straight to an output.
  llvm::DenseMap<mlir::Value, unsigned> outputs;
  /// Buffers that lie where another does.
  llvm::DenseMap<uint32_t, uint32_t> aliases;
  std::vector<bool> used;
};

} // namespace tilewright

#endif
