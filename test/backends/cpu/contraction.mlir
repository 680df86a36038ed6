// RUN: run-host-function %s | FileCheck %s

func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %c: tensor<2xf32>, %v: tensor<3xi32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<i32>) {
  // CHECK: tensor<2x2xf32>: 10 13 28 40
  %product = onnx.node "MatMul" since 13 (%a, %b) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  // A times A transposed, half of it, plus twice the bias.
  // CHECK: tensor<2x2xf32>: 2.5 9 7 27
  %gemm = onnx.node "Gemm" since 13 (%a, %a, %c) {transB = 1, alpha = 0.5 : f32, beta = 2.0 : f32}
    : (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // CHECK: tensor<i32>: 5
  %dot = onnx.node "MatMul" since 13 (%v, %v) : (tensor<3xi32>, tensor<3xi32>) -> tensor<i32>
  return %product, %gemm, %dot : tensor<2x2xf32>, tensor<2x2xf32>, tensor<i32>
}
