//===- Passes.td - Tilewright's passes ------------------------------------===//
//
// In the order in which a model goes through them. A pass is one file named after it, its test is
// test/passes/<its name>.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES
#define TILEWRIGHT_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// onnx dialect
//===----------------------------------------------------------------------===//

def InlineFunctionsPass : Pass<"inline-functions", "::mlir::ModuleOp"> {
  let summary = "replace calls of model-local functions by their bodies";
  let description = [{
    A node whose domain and operator type name a private function marked `onnx.function` is replaced by that function's
    body; references to the function's attributes take the call's values, or the function's defaults, or vanish. Functions
    may call others; one that calls itself is an error. Function definitions are removed. Inlined nodes carry the call's
    name before their own (`call/inner`).
  }];
}

#endif
