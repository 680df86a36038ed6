//===- Passes.td - passes of the systolic back end ------------------------===//

#ifndef TILEWRIGHT_BACKENDS_SYSTOLIC_PASSES
#define TILEWRIGHT_BACKENDS_SYSTOLIC_PASSES

include "mlir/Pass/PassBase.td"

def LowerToSystolicPass : Pass<"lower-to-systolic", "::mlir::ModuleOp"> {
  let summary = "turn decided tile layers into programs of the array";
  let description = [{
    Tile operations of a function become one `systolic.program` for each stretch of layers that no host operator
    interrupts, and one `systolic.run` that takes and gives the tensors at its borders; operations of the host stay, in an
    order in which each program's inputs come before it. Layers need their tiling and placements.
  }];
  let options = [Option<"array", "array", "std::string", "\"4x16x4\"",
                        "array configuration: a name in configs/ or a file">];
  let dependentDialects = ["::tilewright::systolic::SystolicDialect"];
}

#endif
