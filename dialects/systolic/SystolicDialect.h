//===- SystolicDialect.h - the systolic dialect -----------------*- C++ -*-===//
//
// See SystolicOps.td for what the dialect is, and docs/dialects/systolic.md for why.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DIALECTS_SYSTOLIC_SYSTOLICDIALECT_H
#define TILEWRIGHT_DIALECTS_SYSTOLIC_SYSTOLICDIALECT_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "backends/systolic/isa/Descriptor.h"
#include "dialects/systolic/SystolicDialect.h.inc"

#define GET_OP_CLASSES
#include "dialects/systolic/SystolicOps.h.inc"

namespace tilewright::systolic {

/// The op of a descriptor, and back. `op` must be verified (or come from createOp).
mlir::Operation *createOp(mlir::OpBuilder &builder, mlir::Location loc, const isa::Descriptor &descriptor);
isa::Descriptor toDescriptor(mlir::Operation *op);

} // namespace tilewright::systolic

#endif
