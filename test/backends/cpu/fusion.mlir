// RUN: run-host-function %s --times | FileCheck %s
// RUN: run-host-function %s --times --keep-all | FileCheck %s --check-prefix=APART

// Bias, residual and activation leave with the convolution in one kernel; so does x * sigmoid(x), which needs two users
// of one value. A value somebody else reads ends a group. Equal kernels share their code.
// CHECK: tw_0_Conv tensor<1x1x2x2xf32>
// CHECK-NEXT: tw_1_Sigmoid
// CHECK-NEXT: tw_1_Sigmoid
// CHECK-NEXT: in all
// APART: tw_0_Conv
// APART-NEXT: tw_1_Add
// APART-NEXT: tw_2_Relu
// APART-NEXT: tw_3_Sigmoid
// APART-NEXT: tw_4_Mul
// APART-NEXT: tw_3_Sigmoid
// APART-NEXT: tw_4_Mul

// CHECK: tensor<1x1x2x2xf32>: 19 26 39 46
// CHECK: tensor<2xf32>: 0 0.7310586
// CHECK: tensor<2xf32>: 0 0.7310586
func.func @main(%x: tensor<1x1x3x3xf32>, %w: tensor<1x1x2x2xf32>, %r: tensor<1x1x2x2xf32>, %s: tensor<2xf32>,
                %t: tensor<2xf32>) -> (tensor<1x1x2x2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %conv = onnx.node "Conv" since 11 (%x, %w) : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %sum = onnx.node "Add" since 14 (%conv, %r) : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %relu = onnx.node "Relu" since 14 (%sum) : (tensor<1x1x2x2xf32>) -> tensor<1x1x2x2xf32>
  %g = onnx.node "Sigmoid" since 13 (%s) : (tensor<2xf32>) -> tensor<2xf32>
  %silu = onnx.node "Mul" since 14 (%s, %g) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %h = onnx.node "Sigmoid" since 13 (%t) : (tensor<2xf32>) -> tensor<2xf32>
  %silu2 = onnx.node "Mul" since 14 (%t, %h) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %relu, %silu, %silu2 : tensor<1x1x2x2xf32>, tensor<2xf32>, tensor<2xf32>
}
