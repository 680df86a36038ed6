// RUN: tilewright-opt %s --quantized-to-qdq | FileCheck %s

// The bias takes the product of the scales, one per output channel.
// CHECK-LABEL: func.func @conv
// CHECK-DAG: %[[X:.*]] = onnx.node "DequantizeLinear" since {{.*}} (%arg0, %[[XS:.*]], %[[XZ:.*]]) :
// CHECK-DAG: %[[W:.*]] = onnx.node "DequantizeLinear" {{.*}} {axis = 0 : i64} : (tensor<2x3x1x1xi8>
// CHECK-DAG: %[[BS:.*]] = onnx.constant dense<[1.250000e-01, 2.500000e-01]> : tensor<2xf32>
// CHECK: %[[B:.*]] = onnx.node "DequantizeLinear" since {{.*}} (%{{.*}}, %[[BS]]) {axis = 0 : i64} : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xf32>
// CHECK: %[[C:.*]] = onnx.node "Conv" since {{.*}} (%[[X]], %[[W]], %[[B]]) {kernel_shape = [1, 1]} {{.*}} -> tensor<1x2x4x4xf32>
// CHECK: %[[Y:.*]] = onnx.node "QuantizeLinear" since {{.*}} (%[[C]], %{{.*}}, %{{.*}}) attributes {onnx.output_names = ["y"]} {{.*}} -> tensor<1x2x4x4xui8>
// CHECK: return %[[Y]]
func.func @conv(%x: tensor<1x3x4x4xui8>) -> tensor<1x2x4x4xui8> {
  %xs = onnx.constant dense<0.5> : tensor<f32>
  %xz = onnx.constant dense<128> : tensor<ui8>
  %w = onnx.constant dense<1> : tensor<2x3x1x1xi8>
  %ws = onnx.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %wz = onnx.constant dense<0> : tensor<2xi8>
  %b = onnx.constant dense<[7, -7]> : tensor<2xi32>
  %y = onnx.node "QLinearConv" since 10 (%x, %xs, %xz, %w, %ws, %wz, %xs, %xz, %b) {kernel_shape = [1, 1]}
    attributes {onnx.output_names = ["y"]}
    : (tensor<1x3x4x4xui8>, tensor<f32>, tensor<ui8>, tensor<2x3x1x1xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>,
       tensor<ui8>, tensor<2xi32>) -> tensor<1x2x4x4xui8>
  return %y : tensor<1x2x4x4xui8>
}

// Column scales are along the last dimension; an absent zero point is 0 of the result's type.
// CHECK-LABEL: func.func @matmul_add
// CHECK: onnx.node "DequantizeLinear" {{.*}} {axis = 1 : i64} : (tensor<3x2xi8>
// CHECK: onnx.node "MatMul"
// CHECK: onnx.node "QuantizeLinear"
// CHECK: onnx.node "Add" {{.*}} -> tensor<4x2xf32>
// CHECK: %[[ZERO:.*]] = onnx.constant dense<0> : tensor<i8>
// CHECK: onnx.node "QuantizeLinear" since {{.*}} (%{{.*}}, %{{.*}}, %[[ZERO]]) attributes {onnx.rounds_with_zero_point}
func.func @matmul_add(%x: tensor<4x3xi8>, %w: tensor<3x2xi8>, %ws: tensor<2xf32>, %wz: tensor<2xi8>, %s: tensor<f32>,
                      %z: tensor<i8>) -> tensor<4x2xi8> {
  %none = onnx.none
  %m = onnx.node "QLinearMatMul" since 10 (%x, %s, %z, %w, %ws, %wz, %s, %z)
    : (tensor<4x3xi8>, tensor<f32>, tensor<i8>, tensor<3x2xi8>, tensor<2xf32>, tensor<2xi8>, tensor<f32>, tensor<i8>)
    -> tensor<4x2xi8>
  %y = onnx.node "com.microsoft::QLinearAdd" since 1 (%m, %s, %none, %m, %s, %none, %s)
    : (tensor<4x2xi8>, tensor<f32>, none, tensor<4x2xi8>, tensor<f32>, none, tensor<f32>) -> tensor<4x2xi8>
  return %y : tensor<4x2xi8>
}

// alpha scales the units of C; without an output scale the result stays float.
// CHECK-LABEL: func.func @qgemm
// CHECK: %[[CS:.*]] = onnx.constant dense<1.250000e-01> : tensor<f32>
// CHECK: onnx.node "DequantizeLinear" since {{.*}} (%arg2, %[[CS]]) :
// CHECK: %[[G:.*]] = onnx.node "Gemm" {{.*}} {alpha = 2.000000e+00 : f32, transB = 1 : i64}
// CHECK: return %[[G]]
func.func @qgemm(%a: tensor<4x3xui8>, %b: tensor<2x3xui8>, %c: tensor<2xi32>) -> tensor<4x2xf32> {
  %s = onnx.constant dense<0.25> : tensor<f32>
  %z = onnx.constant dense<128> : tensor<ui8>
  %y = onnx.node "com.microsoft::QGemm" since 1 (%a, %s, %z, %b, %s, %z, %c) {alpha = 2.0 : f32, transB = 1 : i64}
    : (tensor<4x3xui8>, tensor<f32>, tensor<ui8>, tensor<2x3xui8>, tensor<f32>, tensor<ui8>, tensor<2xi32>)
    -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @channels_last
// CHECK: "Transpose" {{.*}} {perm = [0, 3, 1, 2]}
// CHECK: "AveragePool" {{.*}} {kernel_shape = [2, 2], strides = [2, 2]} {{.*}} -> tensor<1x3x2x2xf32>
// CHECK: "Transpose" {{.*}} {perm = [0, 2, 3, 1]}
// CHECK: "QuantizeLinear"
func.func @channels_last(%x: tensor<1x4x4x3xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<1x2x2x3xui8> {
  %y = onnx.node "com.microsoft::QLinearAveragePool" since 1 (%x, %s, %z, %s, %z)
    {channels_last = 1 : i64, kernel_shape = [2, 2], strides = [2, 2]}
    : (tensor<1x4x4x3xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x2x2x3xui8>
  return %y : tensor<1x2x2x3xui8>
}

// The old meaning of Softmax keeps its version, for normalize-opsets.
// CHECK-LABEL: func.func @concat_softmax
// CHECK-COUNT-2: "DequantizeLinear"
// CHECK: "Concat" {{.*}} {axis = 1 : i64}
// CHECK: "Softmax" since 11 {{.*}} {axis = 1 : i64}
func.func @concat_softmax(%x: tensor<1x2xui8>, %s: tensor<f32>, %z: tensor<ui8>) -> tensor<1x4xui8> {
  %c = onnx.node "com.microsoft::QLinearConcat" since 1 (%s, %z, %x, %s, %z, %x, %s, %z) {axis = 1 : i64}
    : (tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>, tensor<1x2xui8>, tensor<f32>, tensor<ui8>)
    -> tensor<1x4xui8>
  %y = onnx.node "com.microsoft::QLinearSoftmax" since 1 (%c, %s, %z, %s, %z) {axis = 1 : i64, opset = 12 : i64}
    : (tensor<1x4xui8>, tensor<f32>, tensor<ui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4xui8>
  return %y : tensor<1x4xui8>
}
