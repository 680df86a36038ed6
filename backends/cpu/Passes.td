//===- Passes.td - passes of the CPU back end -----------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CPU_PASSES
#define TILEWRIGHT_BACKENDS_CPU_PASSES

include "mlir/Pass/PassBase.td"

def FuseQuantizedPass : Pass<"fuse-quantized", "::mlir::func::FuncOp"> {
  let summary = "join DequantizeLinear, Conv, Gemm or MatMul, and QuantizeLinear into one operator on integers";
  let description = [{
    The float operator between 8-bit tensors becomes QLinearConv, QLinearMatMul or QGemm, which the host computes exactly: an
    int32 sum, requantized as docs/numerics.md says. A Relu or Clip before the QuantizeLinear becomes a Clip of integers. The
    bias must be int32 with the product of the other two scales; others, and shapes of scales that the integer operators do
    not have, stay in floating point.
  }];
  let dependentDialects = ["::tilewright::onnx::OnnxDialect"];
}

#endif
