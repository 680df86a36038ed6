//===- Passes.td - passes of the CPU back end -----------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CPU_PASSES
#define TILEWRIGHT_BACKENDS_CPU_PASSES

include "mlir/Pass/PassBase.td"

def FuseQuantizedPass : Pass<"fuse-quantized", "::mlir::func::FuncOp"> {
  let summary = "join DequantizeLinear, Conv, Gemm, MatMul, Add or Mul, and QuantizeLinear into one operator on integers";
  let description = [{
    The float operator between 8-bit tensors becomes QLinearConv, QLinearMatMul or QGemm, which the host computes exactly: an
    int32 sum, requantized as docs/numerics.md says. A Relu or Clip before the QuantizeLinear becomes a Clip of integers. The
    bias must be int32 with the product of the other two scales; others, and shapes of scales that the integer operators do
    not have, stay in floating point. An Add whose QuantizeLinear is marked to round with its zero point (it was a QLinearAdd, or the
    compiler quantized it) becomes a QLinearAdd, the array's addition; a Mul of this kind becomes the QLinearMul that it was. An average over the
    spatial dimensions is the integers' exact sum, by ConvInteger with ones, times one factor.
  }];
  let options = [Option<"additionsOnly", "additions-only", "bool", /*default=*/"false",
                        "join additions and QLinearMul alone: what is written to a file keeps its products in floating point, for "
                        "some runtimes saturate products of unsigned and signed bytes">];
  let dependentDialects = ["::tilewright::onnx::OnnxDialect"];
}

#endif
