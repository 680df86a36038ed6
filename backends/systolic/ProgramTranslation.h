//===- ProgramTranslation.h - systolic.program and its bytes ----*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_PROGRAMTRANSLATION_H
#define TILEWRIGHT_BACKENDS_SYSTOLIC_PROGRAMTRANSLATION_H

#include "backends/systolic/CompileProgram.h"
#include "dialects/systolic/SystolicDialect.h"

namespace tilewright::systolic {

/// A systolic.program of a scheduled one; the constants become a resource of the module, without a copy.
ProgramOp createProgramOp(mlir::OpBuilder &builder, mlir::Location loc, llvm::StringRef array,
                          ScheduledProgram program);

/// The inverse. Emits an error at the op and fails where its dictionaries do not hold what LowerToSystolic writes.
llvm::FailureOr<ScheduledProgram> toScheduledProgram(ProgramOp op);

/// Encodes and checks the program. Emits errors that name layer, field and range.
llvm::FailureOr<DeviceProgram> toDeviceProgram(ProgramOp op);

/// For people: one line per descriptor with its layer's name, then tensors and sizes.
void printListing(ProgramOp op, llvm::raw_ostream &os);

} // namespace tilewright::systolic

#endif
