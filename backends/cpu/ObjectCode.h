//===- ObjectCode.h - from kernels to a shared object -----------*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_CPU_OBJECTCODE_H
#define TILEWRIGHT_BACKENDS_CPU_OBJECTCODE_H

#include "mlir/IR/BuiltinOps.h"

#include <string>
#include <vector>

namespace llvm {
class TargetMachine;
}

namespace tilewright::cpu {

/// Loops, vectors and memrefs to the LLVM dialect.
mlir::LogicalResult convertToLlvmDialect(mlir::ModuleOp module);

/// The machine to compile for; throws tilewright::Error when LLVM does not know the CPU.
std::unique_ptr<llvm::TargetMachine> hostMachine(const std::string &cpu);
/// Comma-separated features that `cpu` switches on.
std::string featuresOf(const llvm::TargetMachine &machine);
/// Optimizes at -O3 and emits a relocatable ELF object. `irText` and `assemblyText` are filled when not null.
std::vector<char> emitObject(mlir::ModuleOp module, llvm::TargetMachine &machine, std::string *irText,
                             std::string *assemblyText);

/// Links relocatable objects into one shared object that needs libm. Throws tilewright::Error.
std::vector<char> linkSharedObject(llvm::ArrayRef<std::vector<char>> objects, const std::string &linker);

} // namespace tilewright::cpu

#endif
