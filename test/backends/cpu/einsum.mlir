// RUN: run-host-function %s | FileCheck %s

func.func @main(%a: tensor<2x3xf32>, %b: tensor<3x2xf32>, %s: tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<f32>, tensor<2x2xf32>) {
  // CHECK: tensor<2x2xf32>: 10 28 13 40
  %transposed = onnx.node "Einsum" since 12 (%a, %b) {equation = "ij, jk -> ki"} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  // The diagonal of 0 1; 2 3.
  // CHECK: tensor<f32>: 3
  %trace = onnx.node "Einsum" since 12 (%s) {equation = "ii"} : (tensor<2x2xf32>) -> tensor<f32>
  // Without an arrow: labels that occur once, in alphabetical order.
  // CHECK: tensor<2x2xf32>: 10 13 28 40
  %implicit = onnx.node "Einsum" since 12 (%a, %b) {equation = "ij,jk"} : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  return %transposed, %trace, %implicit : tensor<2x2xf32>, tensor<f32>, tensor<2x2xf32>
}
