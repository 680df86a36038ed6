// RUN: tilewright-opt %s --fold-constants | FileCheck %s

// CHECK-LABEL: func.func @moves
// CHECK-DAG: %[[T:.*]] = onnx.constant dense<{{\[\[}}1, 4], [2, 5], [3, 6]]> : tensor<3x2xi64>
// CHECK-DAG: %[[S:.*]] = onnx.constant dense<{{\[\[}}3, 2], [6, 5]]> : tensor<2x2xi64>
// CHECK-DAG: %[[C:.*]] = onnx.constant dense<{{\[\[}}1, 2, 3, 1, 2, 3], [4, 5, 6, 4, 5, 6]]> : tensor<2x6xi64>
// CHECK-DAG: %[[G:.*]] = onnx.constant dense<{{\[\[}}3, 1], [6, 4]]> : tensor<2x2xi64>
// CHECK-DAG: %[[P:.*]] = onnx.constant dense<{{\[\[}}0, 1, 2, 3], [0, 4, 5, 6]]> : tensor<2x4xi64>
// CHECK: return %[[T]], %[[S]], %[[C]], %[[G]], %[[P]]
func.func @moves() -> (tensor<3x2xi64>, tensor<2x2xi64>, tensor<2x6xi64>, tensor<2x2xi64>, tensor<2x4xi64>) {
  %x = onnx.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi64>
  %end = onnx.constant dense<-1> : tensor<1xi64>
  %start = onnx.constant dense<0> : tensor<1xi64>
  %axis = onnx.constant dense<1> : tensor<1xi64>
  %at = onnx.constant dense<[2, -3]> : tensor<2xi64>
  %pads = onnx.constant dense<[0, 1, 0, 0]> : tensor<4xi64>
  %t = onnx.node "Transpose" since 13 (%x) {perm = [1, 0]} : (tensor<2x3xi64>) -> tensor<3x2xi64>
  %s = onnx.node "Slice" since 13 (%x, %end, %start, %axis, %end)
    : (tensor<2x3xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x2xi64>
  %c = onnx.node "Concat" since 13 (%x, %x) {axis = 1 : i64} : (tensor<2x3xi64>, tensor<2x3xi64>) -> tensor<2x6xi64>
  %g = onnx.node "Gather" since 13 (%x, %at) {axis = 1 : i64} : (tensor<2x3xi64>, tensor<2xi64>) -> tensor<2x2xi64>
  %p = onnx.node "Pad" since 21 (%x, %pads) : (tensor<2x3xi64>, tensor<4xi64>) -> tensor<2x4xi64>
  return %t, %s, %c, %g, %p : tensor<3x2xi64>, tensor<2x2xi64>, tensor<2x6xi64>, tensor<2x2xi64>, tensor<2x4xi64>
}

// CHECK-LABEL: func.func @arithmetic
// CHECK-DAG: onnx.constant dense<{{\[\[}}1.500000e+00, 3.000000e+00], [2.500000e+00, 4.000000e+00]]> : tensor<2x2xf32>
// CHECK-DAG: onnx.constant dense<[-2, 2]> : tensor<2xi32>
// CHECK-DAG: onnx.constant dense<[true, false]> : tensor<2xi1>
// CHECK-DAG: onnx.constant dense<[0, 255]> : tensor<2xui8>
// CHECK-NOT: onnx.node
func.func @arithmetic() -> (tensor<2x2xf32>, tensor<2xi32>, tensor<2xi1>, tensor<2xui8>) {
  %a = onnx.constant dense<[[0.5], [1.5]]> : tensor<2x1xf32>
  %b = onnx.constant dense<[1.0, 2.5]> : tensor<2xf32>
  %i = onnx.constant dense<[-7, 7]> : tensor<2xi32>
  %three = onnx.constant dense<3> : tensor<i32>
  %zero = onnx.constant dense<0> : tensor<i32>
  %f = onnx.constant dense<[-0.6, 1000.0]> : tensor<2xf32>
  %scale = onnx.constant dense<0.5> : tensor<f32>
  %s = onnx.node "Add" since 14 (%a, %b) : (tensor<2x1xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  // Integer division truncates.
  %d = onnx.node "Div" since 14 (%i, %three) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi32>
  %l = onnx.node "Less" since 13 (%i, %zero) : (tensor<2xi32>, tensor<i32>) -> tensor<2xi1>
  %q = onnx.node "QuantizeLinear" since 13 (%f, %scale) : (tensor<2xf32>, tensor<f32>) -> tensor<2xui8>
  return %s, %d, %l, %q : tensor<2x2xf32>, tensor<2xi32>, tensor<2xi1>, tensor<2xui8>
}

// What targets may answer differently is left to them, and quantized weights stay recognizable.
// CHECK-LABEL: func.func @left
// CHECK: "Cast"
// CHECK: "Div"
// CHECK: "Max"
// CHECK: "DequantizeLinear"
func.func @left() -> (tensor<1xi32>, tensor<1xi32>, tensor<2xf32>, tensor<2xf32>) {
  %big = onnx.constant dense<1.0e10> : tensor<1xf32>
  %one = onnx.constant dense<1> : tensor<1xi32>
  %zero = onnx.constant dense<0> : tensor<1xi32>
  %nan = onnx.constant dense<[0x7FC00000, 1.0]> : tensor<2xf32>
  %w = onnx.constant dense<[1, 2]> : tensor<2xi8>
  %s = onnx.constant dense<0.5> : tensor<f32>
  %c = onnx.node "Cast" since 21 (%big) {to = 6 : i64} : (tensor<1xf32>) -> tensor<1xi32>
  %d = onnx.node "Div" since 14 (%one, %zero) : (tensor<1xi32>, tensor<1xi32>) -> tensor<1xi32>
  %m = onnx.node "Max" since 13 (%nan, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  %q = onnx.node "DequantizeLinear" since 13 (%w, %s) : (tensor<2xi8>, tensor<f32>) -> tensor<2xf32>
  return %c, %d, %m, %q : tensor<1xi32>, tensor<1xi32>, tensor<2xf32>, tensor<2xf32>
}

// An argument with a default value is no constant: a caller may override it.
// CHECK-LABEL: func.func @overridable
// CHECK: "Neg"
func.func @overridable(%k: tensor<1xf32> {onnx.default_value = dense<1.0> : tensor<1xf32>}) -> tensor<1xf32> {
  %y = onnx.node "Neg" since 13 (%k) : (tensor<1xf32>) -> tensor<1xf32>
  return %y : tensor<1xf32>
}

// A view of a large constant is the same memory.
// CHECK-LABEL: func.func @view
// CHECK: onnx.constant dense_resource<big> : tensor<4x1xf32>
func.func @view() -> tensor<4x1xf32> {
  %x = onnx.constant dense_resource<big> : tensor<4xf32>
  %axes = onnx.constant dense<1> : tensor<1xi64>
  %y = onnx.node "Unsqueeze" since 13 (%x, %axes) : (tensor<4xf32>, tensor<1xi64>) -> tensor<4x1xf32>
  return %y : tensor<4x1xf32>
}

{-#
  dialect_resources: { builtin: { big: "0x040000000000803F000000400000404000008040" } }
#-}
