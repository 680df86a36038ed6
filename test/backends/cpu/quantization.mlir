// RUN: run-host-function %s | FileCheck %s

func.func @main(%b: tensor<1x1x2x2xui8>, %w: tensor<2x1x1x1xi8>)
    -> (tensor<6xui8>, tensor<3xi8>, tensor<2x2xf32>, tensor<1x2x2x2xui8>, tensor<2x2xui8>, tensor<2x2xi32>) {
  %half = onnx.constant dense<0.5> : tensor<f32>
  %one = onnx.constant dense<1.0> : tensor<f32>
  %zero8 = onnx.constant dense<0> : tensor<ui8>
  %three = onnx.constant dense<3> : tensor<ui8>
  %zeroI8 = onnx.constant dense<0> : tensor<i8>
  // Half to even, then plus the zero point, saturated.
  // CHECK: tensor<6xui8>: 3 5 5 2 0 255
  %ties = onnx.constant dense<[0.25, 0.75, 1.25, -0.5, -100.0, 1000.0]> : tensor<6xf32>
  %q = onnx.node "QuantizeLinear" since 21 (%ties, %half, %three) : (tensor<6xf32>, tensor<f32>, tensor<ui8>) -> tensor<6xui8>
  // CHECK: tensor<3xi8>: -128 -2 127
  %ends = onnx.constant dense<[-1000.0, -1.5, 1000.0]> : tensor<3xf32>
  %qi = onnx.node "QuantizeLinear" since 21 (%ends, %one, %zeroI8) : (tensor<3xf32>, tensor<f32>, tensor<i8>) -> tensor<3xi8>
  // One scale per column.
  // CHECK: tensor<2x2xf32>: -1.5 -1 -0.5 0
  %scales = onnx.constant dense<[0.5, 0.5]> : tensor<2xf32>
  %threes = onnx.constant dense<[3, 3]> : tensor<2xui8>
  %rows = onnx.node "Reshape" since 21 (%b) : (tensor<1x1x2x2xui8>) -> tensor<2x2xui8>
  %d = onnx.node "DequantizeLinear" since 21 (%rows, %scales, %threes) {axis = 1}
    : (tensor<2x2xui8>, tensor<2xf32>, tensor<2xui8>) -> tensor<2x2xf32>
  // Weights 0 and 1, input zero point 3: (x - 3) * w * (1 * 1 / 0.5) + 10, padding none.
  // CHECK: tensor<1x2x2x2xui8>: 10 10 10 10 4 6 8 10
  %ten = onnx.constant dense<10> : tensor<ui8>
  %qc = onnx.node "QLinearConv" since 10 (%b, %one, %three, %w, %one, %zeroI8, %half, %ten)
    : (tensor<1x1x2x2xui8>, tensor<f32>, tensor<ui8>, tensor<2x1x1x1xi8>, tensor<f32>, tensor<i8>, tensor<f32>, tensor<ui8>)
    -> tensor<1x2x2x2xui8>
  // [0 1; 2 3]^2 = [2 3; 6 11], halved: ties go to the even number.
  // CHECK: tensor<2x2xui8>: 1 2 3 6
  %qm = onnx.node "QLinearMatMul" since 21 (%rows, %half, %zero8, %rows, %one, %zero8, %one, %zero8)
    : (tensor<2x2xui8>, tensor<f32>, tensor<ui8>, tensor<2x2xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>)
    -> tensor<2x2xui8>
  // CHECK: tensor<2x2xi32>: 2 3 6 11
  %mi = onnx.node "MatMulInteger" since 10 (%rows, %rows) : (tensor<2x2xui8>, tensor<2x2xui8>) -> tensor<2x2xi32>
  return %q, %qi, %d, %qc, %qm, %mi
    : tensor<6xui8>, tensor<3xi8>, tensor<2x2xf32>, tensor<1x2x2x2xui8>, tensor<2x2xui8>, tensor<2x2xi32>
}
