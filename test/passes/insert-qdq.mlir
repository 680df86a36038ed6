// RUN: echo '{"x": [-1.28, 1.27], "r": [0, 2.55], "s": [-0.5, 2.05], "p": [0, 2.55], "c": [0, 5.1], "g": [0, 1], "t": [-0.28, 2.27], "f": [0, 255], "y": [-128, 127]}' > %t.json
// RUN: tilewright-opt %s --insert-qdq=ranges=%t.json --canonicalize | FileCheck %s
// RUN: tilewright-opt %s --insert-qdq="ranges=%t.json unsigned=true" --canonicalize | FileCheck %s --check-prefix=UNSIGNED
// RUN: echo '{"x": [-1, 1]}' > %t.short.json
// RUN: not tilewright-opt %s --insert-qdq=ranges=%t.short.json 2>&1 | FileCheck %s --check-prefix=MISSING
// RUN: echo '{"x": [1, -1]}' > %t.wrong.json
// RUN: not tilewright-opt %s --insert-qdq=ranges=%t.wrong.json 2>&1 | FileCheck %s --check-prefix=WRONG
// RUN: not tilewright-opt %s --insert-qdq=ranges=%t.none.json 2>&1 | FileCheck %s --check-prefix=NONE
// RUN: not tilewright-opt %s --insert-qdq 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: error: insert-qdq needs its option ranges=FILE.json

// MISSING: error: no calibration range for tensor 'r'
// WRONG: wrong.json: 'x': expected [min, max], two finite numbers in this order
// NONE: none.json: cannot be read: No such file

// Weights per channel: 0.254 / 127 and 0.0; bias 2.0 at scale 0.01 * 0.002. The Relu is part of the layer.
// CHECK-LABEL: func.func @conv
// CHECK-DAG: %[[WS:.*]] = onnx.constant dense<[2.000000e-03, 1.000000e+00]> : tensor<2xf32>
// CHECK-DAG: %[[W:.*]] = onnx.constant dense<{{\[\[\[\[}}127]]], {{\[\[\[}}0]]]]> : tensor<2x1x1x1xi8>
// CHECK-DAG: %[[B:.*]] = onnx.constant dense<[100000, 0]> : tensor<2xi32>
// CHECK-DAG: %[[S:.*]] = onnx.constant dense<0.00999999977> : tensor<f32>
// CHECK-DAG: %[[Z:.*]] = onnx.constant dense<0> : tensor<i8>
// CHECK: %[[Q:.*]] = onnx.node "QuantizeLinear" since {{[0-9]+}} (%arg0, %[[S]], %[[Z]]) attributes {onnx.output_names = ["x_quantized"]} {{.*}} -> tensor<1x1x4x4xi8>
// CHECK: %[[X:.*]] = onnx.node "DequantizeLinear" since {{[0-9]+}} (%[[Q]], %[[S]], %[[Z]])
// CHECK: %[[WF:.*]] = onnx.node "DequantizeLinear" since {{[0-9]+}} (%[[W]], %[[WS]], %{{.*}}) {axis = 0 : i64}
// CHECK: %[[BF:.*]] = onnx.node "DequantizeLinear" since {{[0-9]+}} (%[[B]], %{{.*}}, %{{.*}}) {axis = 0 : i64}
// CHECK: %[[C:.*]] = onnx.node "Conv" since 11 (%[[X]], %[[WF]], %[[BF]])
// CHECK: %[[R:.*]] = onnx.node "Relu" since 14 (%[[C]])
// CHECK: %[[RQ:.*]] = onnx.node "QuantizeLinear" since {{[0-9]+}} (%[[R]], %[[S]], %{{.*}})
// CHECK: %[[RF:.*]] = onnx.node "DequantizeLinear" since {{[0-9]+}} (%[[RQ]], %[[S]], %{{.*}})
// CHECK: return %[[RF]]
// UNSIGNED-LABEL: func.func @conv
// UNSIGNED-DAG: onnx.constant dense<128> : tensor<ui8>
// UNSIGNED: "QuantizeLinear" {{.*}} -> tensor<1x1x4x4xui8>
func.func @conv(%x: tensor<1x1x4x4xf32> {onnx.name = "x"}) -> tensor<1x2x4x4xf32> {
  %w = onnx.constant dense<[[[[0.254]]], [[[0.0]]]]> : tensor<2x1x1x1xf32>
  %b = onnx.constant dense<[2.0, 0.0]> : tensor<2xf32>
  %c = onnx.node "Conv" since 11 (%x, %w, %b) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %r = onnx.node "Relu" since 14 (%c) attributes {onnx.output_names = ["r"]} : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %r : tensor<1x2x4x4xf32>
}

// The max pool and both inputs of the concatenation have one scale: that of [-0.28, 5.1].
// CHECK-LABEL: func.func @shared
// CHECK-DAG: %[[WIDE:.*]] = onnx.constant dense<0.0210980382> : tensor<f32>
// CHECK: %[[R:.*]] = onnx.node "Relu"
// CHECK: "QuantizeLinear" since {{[0-9]+}} (%[[R]], %[[WIDE]],
// CHECK: %[[P:.*]] = onnx.node "MaxPool"
// CHECK: "QuantizeLinear" since {{[0-9]+}} (%[[P]], %[[WIDE]],
// CHECK: %[[T:.*]] = onnx.node "Add"
// CHECK: "QuantizeLinear" since {{[0-9]+}} (%[[T]], %[[WIDE]],
// CHECK: %[[C:.*]] = onnx.node "Concat"
// CHECK: "QuantizeLinear" since {{[0-9]+}} (%[[C]], %[[WIDE]],
func.func @shared(%x: tensor<1x1x4x4xf32> {onnx.name = "x"}) -> tensor<1x2x4x4xf32> {
  %w = onnx.constant dense<0.254> : tensor<1x1x1x1xf32>
  %c = onnx.node "Conv" since 11 (%x, %w) : (tensor<1x1x4x4xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x4x4xf32>
  %r = onnx.node "Relu" since 14 (%c) attributes {onnx.output_names = ["r"]} : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %p = onnx.node "MaxPool" since 12 (%r) {kernel_shape = [1, 1]} attributes {onnx.output_names = ["p"]} : (tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %t = onnx.node "Add" since 14 (%r, %p) attributes {onnx.output_names = ["t"]} : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x1x4x4xf32>
  %y = onnx.node "Concat" since 13 (%p, %t) {axis = 1} attributes {onnx.output_names = ["c"]} : (tensor<1x1x4x4xf32>, tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// x * sigmoid(x) is one function of an element: one table, no 8-bit tensor between its nodes. Softmax stays float.
// CHECK-LABEL: func.func @table
// CHECK: %[[M:.*]] = onnx.node "MatMul"
// CHECK: %[[Y:.*]] = onnx.node "Add" since 14 (%[[M]], %{{.*}})
// CHECK: %[[YQ:.*]] = onnx.node "QuantizeLinear" since {{[0-9]+}} (%[[Y]],
// CHECK: %[[YF:.*]] = onnx.node "DequantizeLinear" since {{[0-9]+}} (%[[YQ]],
// CHECK-NEXT: %[[S:.*]] = onnx.node "Sigmoid" since 13 (%[[YF]])
// CHECK-NEXT: %[[G:.*]] = onnx.node "Mul" since 14 (%[[YF]], %[[S]])
// CHECK-NEXT: %[[GQ:.*]] = onnx.node "QuantizeLinear" since {{[0-9]+}} (%[[G]],
// CHECK-NEXT: %[[GF:.*]] = onnx.node "DequantizeLinear" since {{[0-9]+}} (%[[GQ]],
// CHECK-NEXT: %[[SM:.*]] = onnx.node "Softmax" since 13 (%[[GF]])
// CHECK-NEXT: return %[[SM]]
func.func @table(%x: tensor<3x2xf32> {onnx.name = "x"}) -> tensor<3x2xf32> {
  %w = onnx.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %k = onnx.constant dense<[10.0, 100.0]> : tensor<2xf32>
  %m = onnx.node "MatMul" since 13 (%x, %w) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %y = onnx.node "Add" since 14 (%m, %k) attributes {onnx.output_names = ["y"]} : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %s = onnx.node "Sigmoid" since 13 (%y) : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %g = onnx.node "Mul" since 14 (%y, %s) attributes {onnx.output_names = ["g"]} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %f = onnx.node "Softmax" since 13 (%g) attributes {onnx.output_names = ["f"]} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  return %f : tensor<3x2xf32>
}

// What float nodes make and also read stays exact for them; the matrix product alone sees 8 bits of it.
// CHECK-LABEL: func.func @float_around
// CHECK: %[[F:.*]] = onnx.node "Exp"
// CHECK: %[[Q:.*]] = onnx.node "QuantizeLinear" since {{[0-9]+}} (%[[F]],
// CHECK: %[[D:.*]] = onnx.node "DequantizeLinear" since {{[0-9]+}} (%[[Q]],
// CHECK: %[[M:.*]] = onnx.node "MatMul" since 13 (%[[D]],
// CHECK: %[[YQ:.*]] = onnx.node "QuantizeLinear" since {{[0-9]+}} (%[[M]],
// CHECK: %[[YF:.*]] = onnx.node "DequantizeLinear" since {{[0-9]+}} (%[[YQ]],
// CHECK: %[[A:.*]] = onnx.node "Add" since 14 (%[[F]], %[[YF]])
// CHECK: return %[[A]]
func.func @float_around(%x: tensor<3x2xf32> {onnx.name = "x"}) -> tensor<3x2xf32> {
  %w = onnx.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %e = onnx.node "Exp" since 13 (%x) attributes {onnx.output_names = ["f"]} : (tensor<3x2xf32>) -> tensor<3x2xf32>
  %m = onnx.node "MatMul" since 13 (%e, %w) attributes {onnx.output_names = ["y"]} : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %a = onnx.node "Add" since 14 (%e, %m) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %a : tensor<3x2xf32>
}

// An image is rounded before it is transposed, not after; PRelu with a slope per channel is part of the layer.
// CHECK-LABEL: func.func @transposed_input
// CHECK: "QuantizeLinear" since {{[0-9]+}} (%arg0,
// CHECK: "DequantizeLinear"
// CHECK: "Transpose"
// CHECK: "QuantizeLinear"
// CHECK: "DequantizeLinear"
// CHECK: %[[C:.*]] = onnx.node "Conv"
// CHECK: %[[P:.*]] = onnx.node "PRelu" since 16 (%[[C]],
// CHECK: "QuantizeLinear" since {{[0-9]+}} (%[[P]],
func.func @transposed_input(%x: tensor<1x4x4x1xf32> {onnx.name = "x"}) -> tensor<1x2x4x4xf32> {
  %w = onnx.constant dense<[[[[0.254]]], [[[0.1]]]]> : tensor<2x1x1x1xf32>
  %slope = onnx.constant dense<[[[0.25]], [[0.5]]]> : tensor<2x1x1xf32>
  %t = onnx.node "Transpose" since 13 (%x) {perm = [0, 3, 1, 2]} attributes {onnx.output_names = ["s"]} : (tensor<1x4x4x1xf32>) -> tensor<1x1x4x4xf32>
  %c = onnx.node "Conv" since 11 (%t, %w) : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>) -> tensor<1x2x4x4xf32>
  %p = onnx.node "PRelu" since 16 (%c, %slope) attributes {onnx.output_names = ["y"]} : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %p : tensor<1x2x4x4xf32>
}

// A model that comes quantized is taken as it is.
// CHECK-LABEL: func.func @already
// CHECK-COUNT-1: "QuantizeLinear"
// CHECK-NOT: "QuantizeLinear"
// CHECK: return
func.func @already(%x: tensor<2x2xf32>) -> tensor<2x2xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<0> : tensor<i8>
  %w = onnx.constant dense<1.0> : tensor<2x2xf32>
  %m = onnx.node "MatMul" since 13 (%x, %w) : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %q = onnx.node "QuantizeLinear" since 25 (%m, %s, %z) : (tensor<2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}
