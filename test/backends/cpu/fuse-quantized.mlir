// RUN: tilewright-opt %s --fuse-quantized | FileCheck %s
// RUN: tilewright-opt %s --fuse-quantized=additions-only | FileCheck %s --check-prefix=ADDITIONS

// ADDITIONS-LABEL: func.func @conv
// ADDITIONS-NOT: QLinearConv

// CHECK-LABEL: func.func @conv
// CHECK: %[[B:.*]] = onnx.constant dense<[7, 2147000000]> : tensor<2xi32>
// CHECK: %[[Q:.*]] = onnx.node "QLinearConv" since 10 (%arg0, %[[XS:.*]], %[[XZ:.*]], %arg1, %[[WS:.*]], %{{.*}}, %{{.*}}, %{{.*}}, %[[B]]) {kernel_shape = [1, 1]}
// The bounds 0 and 6 in units of 0.5, above the zero point 3.
// CHECK: %[[LOW:.*]] = onnx.constant dense<3> : tensor<ui8>
// CHECK: %[[HIGH:.*]] = onnx.constant dense<15> : tensor<ui8>
// CHECK: %[[C:.*]] = onnx.node "Clip" since 13 (%[[Q]], %[[LOW]], %[[HIGH]])
// CHECK: return %[[C]]
func.func @conv(%x: tensor<1x3x4x4xui8>, %w: tensor<2x3x1x1xi8>) -> tensor<1x2x4x4xui8> {
  %b = onnx.constant dense<[7, 2147000000]> : tensor<2xi32>
  %xs = onnx.constant dense<0.5> : tensor<f32>
  %xz = onnx.constant dense<3> : tensor<ui8>
  %ws = onnx.constant dense<[0.25, 0.5]> : tensor<2xf32>
  %bs = onnx.constant dense<[0.125, 0.25]> : tensor<2xf32>
  %six = onnx.constant dense<6.0> : tensor<f32>
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %xf = onnx.node "DequantizeLinear" since 21 (%x, %xs, %xz) : (tensor<1x3x4x4xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x4x4xf32>
  %wf = onnx.node "DequantizeLinear" since 21 (%w, %ws) {axis = 0} : (tensor<2x3x1x1xi8>, tensor<2xf32>) -> tensor<2x3x1x1xf32>
  %bf = onnx.node "DequantizeLinear" since 21 (%b, %bs) {axis = 0} : (tensor<2xi32>, tensor<2xf32>) -> tensor<2xf32>
  %y = onnx.node "Conv" since 11 (%xf, %wf, %bf) {kernel_shape = [1, 1]}
    : (tensor<1x3x4x4xf32>, tensor<2x3x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %c = onnx.node "Clip" since 13 (%y, %zero, %six) : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  %q = onnx.node "QuantizeLinear" since 21 (%c, %xs, %xz) : (tensor<1x2x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x2x4x4xui8>
  return %q : tensor<1x2x4x4xui8>
}

// A Relu at the lowest integer says nothing.
// CHECK-LABEL: func.func @matmul
// CHECK: %[[Q:.*]] = onnx.node "QLinearMatMul" since 10
// CHECK-NEXT: return %[[Q]]
func.func @matmul(%a: tensor<2x3xui8>, %b: tensor<3x2xi8>, %s: tensor<f32>) -> tensor<2x2xui8> {
  %zero = onnx.constant dense<0> : tensor<ui8>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %af = onnx.node "DequantizeLinear" since 21 (%a, %s, %zero) : (tensor<2x3xui8>, tensor<f32>, tensor<ui8>) -> tensor<2x3xf32>
  %bf = onnx.node "DequantizeLinear" since 21 (%b, %s) : (tensor<3x2xi8>, tensor<f32>) -> tensor<3x2xf32>
  %y = onnx.node "MatMul" since 13 (%af, %bf) : (tensor<2x3xf32>, tensor<3x2xf32>) -> tensor<2x2xf32>
  %r = onnx.node "Relu" since 14 (%y) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %q = onnx.node "QuantizeLinear" since 21 (%r, %half, %zero) : (tensor<2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<2x2xui8>
  return %q : tensor<2x2xui8>
}

// 3 · 255 · 128 may be too much beside this bias: the sums stay in floating point.
// CHECK-LABEL: func.func @beyond
// CHECK: "Conv"
// CHECK: "QuantizeLinear"
func.func @beyond(%x: tensor<1x3x4x4xui8>, %w: tensor<1x3x1x1xi8>) -> tensor<1x1x4x4xui8> {
  %b = onnx.constant dense<2147400000> : tensor<1xi32>
  %one = onnx.constant dense<1.0> : tensor<f32>
  %xf = onnx.node "DequantizeLinear" since 21 (%x, %one) : (tensor<1x3x4x4xui8>, tensor<f32>) -> tensor<1x3x4x4xf32>
  %wf = onnx.node "DequantizeLinear" since 21 (%w, %one) : (tensor<1x3x1x1xi8>, tensor<f32>) -> tensor<1x3x1x1xf32>
  %bf = onnx.node "DequantizeLinear" since 21 (%b, %one) : (tensor<1xi32>, tensor<f32>) -> tensor<1xf32>
  %y = onnx.node "Conv" since 11 (%xf, %wf, %bf) {kernel_shape = [1, 1]}
    : (tensor<1x3x4x4xf32>, tensor<1x3x1x1xf32>, tensor<1xf32>) -> tensor<1x1x4x4xf32>
  %q = onnx.node "QuantizeLinear" since 21 (%y, %one) : (tensor<1x1x4x4xf32>, tensor<f32>) -> tensor<1x1x4x4xui8>
  return %q : tensor<1x1x4x4xui8>
}

// A bias with a scale of its own, and a float result somebody reads, stay in floating point.
// CHECK-LABEL: func.func @unlike
// CHECK: "Gemm"
// CHECK: "QuantizeLinear"
func.func @unlike(%a: tensor<2x3xui8>, %b: tensor<3x2xi8>, %c: tensor<2xi32>) -> tensor<2x2xui8> {
  %half = onnx.constant dense<0.5> : tensor<f32>
  %af = onnx.node "DequantizeLinear" since 21 (%a, %half) : (tensor<2x3xui8>, tensor<f32>) -> tensor<2x3xf32>
  %bf = onnx.node "DequantizeLinear" since 21 (%b, %half) : (tensor<3x2xi8>, tensor<f32>) -> tensor<3x2xf32>
  %cf = onnx.node "DequantizeLinear" since 21 (%c, %half) : (tensor<2xi32>, tensor<f32>) -> tensor<2xf32>
  %y = onnx.node "Gemm" since 13 (%af, %bf, %cf) : (tensor<2x3xf32>, tensor<3x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  %q = onnx.node "QuantizeLinear" since 21 (%y, %half) : (tensor<2x2xf32>, tensor<f32>) -> tensor<2x2xui8>
  return %q : tensor<2x2xui8>
}

// QLinearAdd's rounding, with a Relu at zero point -3.
// CHECK-LABEL: func.func @addition
// CHECK: %[[Q:.*]] = onnx.node "com.microsoft::QLinearAdd" since 1 (%arg0, %[[S:.*]], %[[Z:.*]], %arg1, %{{.*}}, %{{.*}}, %[[S]], %[[Z]])
// CHECK: %[[LOW:.*]] = onnx.constant dense<-3> : tensor<i8>
// CHECK: %[[C:.*]] = onnx.node "Clip" since 13 (%[[Q]], %[[LOW]], %{{.*}})
// CHECK: return %[[C]]
// ADDITIONS-LABEL: func.func @addition
// ADDITIONS: com.microsoft::QLinearAdd
func.func @addition(%a: tensor<2x3xi8>, %b: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<-3> : tensor<i8>
  %t = onnx.constant dense<0.25> : tensor<f32>
  %zero = onnx.constant dense<0> : tensor<i8>
  %af = onnx.node "DequantizeLinear" since 21 (%a, %s, %z) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %bf = onnx.node "DequantizeLinear" since 21 (%b, %t, %zero) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %y = onnx.node "Add" since 14 (%af, %bf) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %r = onnx.node "Relu" since 14 (%y) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = onnx.node "QuantizeLinear" since 21 (%r, %s, %z) attributes {onnx.rounds_with_zero_point} : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// Without the mark the three operators are themselves.
// CHECK-LABEL: func.func @float_addition
// CHECK: onnx.node "Add"
func.func @float_addition(%a: tensor<2x3xi8>, %b: tensor<2x3xi8>) -> tensor<2x3xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<-3> : tensor<i8>
  %af = onnx.node "DequantizeLinear" since 21 (%a, %s, %z) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %bf = onnx.node "DequantizeLinear" since 21 (%b, %s, %z) : (tensor<2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3xf32>
  %y = onnx.node "Add" since 14 (%af, %bf) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = onnx.node "QuantizeLinear" since 21 (%y, %s, %z) : (tensor<2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3xi8>
  return %q : tensor<2x3xi8>
}

// An average of integers: their sum, and one factor per position, for windows at the edge count fewer.
// CHECK-LABEL: func.func @average
// CHECK-DAG: %[[ONES:.*]] = onnx.constant dense<1> : tensor<2x1x2xi8>
// CHECK: %[[S:.*]] = onnx.node "ConvInteger" since 10 (%arg0, %[[ONES]], %[[Z:.*]]) {dilations = [1], group = 2 : i64, kernel_shape = [2], pads = [1, 0], strides = [2]} {{.*}} -> tensor<1x2x2xi32>
// CHECK: %[[R:.*]] = onnx.node "Cast" since 13 (%[[S]])
// CHECK: %[[M:.*]] = onnx.constant dense<{{\[\[\[}}2.000000e+00, 1.000000e+00]]]> : tensor<1x1x2xf32>
// CHECK: %[[P:.*]] = onnx.node "Mul" since 14 (%[[R]], %[[M]])
// CHECK: %[[ONE:.*]] = onnx.constant dense<1.000000e+00> : tensor<f32>
// CHECK: %[[Q:.*]] = onnx.node "QuantizeLinear" since 21 (%[[P]], %[[ONE]], %[[Z]])
// CHECK: return %[[Q]]
func.func @average(%x: tensor<1x2x3xi8>) -> tensor<1x2x2xi8> {
  %xs = onnx.constant dense<0.5> : tensor<f32>
  %ys = onnx.constant dense<0.25> : tensor<f32>
  %z = onnx.constant dense<3> : tensor<i8>
  %xf = onnx.node "DequantizeLinear" since 21 (%x, %xs, %z) : (tensor<1x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x3xf32>
  %y = onnx.node "AveragePool" since 19 (%xf) {kernel_shape = [2], strides = [2], pads = [1, 0]} : (tensor<1x2x3xf32>) -> tensor<1x2x2xf32>
  %q = onnx.node "QuantizeLinear" since 21 (%y, %ys, %z) : (tensor<1x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2xi8>
  return %q : tensor<1x2x2xi8>
}
