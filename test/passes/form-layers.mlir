// RUN: tilewright-opt %s --form-layers | FileCheck %s

// Conv + Relu: the clamp starts at the zero point; the image enters with the strides of NCHW. Max pool shares its scale.
// CHECK-LABEL: func.func @conv
func.func @conv(%q: tensor<1x3x8x8xui8>) -> tensor<1x16x4x4xui8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<129> : tensor<ui8>
  %none = onnx.none
  %w = onnx.constant dense<2> : tensor<16x3x3x3xi8>
  %ws = onnx.constant dense<0.25> : tensor<16xf32>
  %b = onnx.constant dense<7> : tensor<16xi32>
  %bs = onnx.constant dense<0.125> : tensor<16xf32>
  // CHECK: %[[X:.*]] = tile.to_map %arg0 strides [0, 64, 8, 1]
  // CHECK: %[[C:.*]] = tile.contraction %[[X]]
  // CHECK-SAME: layer = "conv1", nodes = ["conv1: Conv", "relu1: Relu"], pad_value = 1 : i64, pads = array<i64: 1, 1, 1, 1>
  // The zero point's share of the bias: 7 - 1 * 27 * 2.
  // CHECK: tile.requantize %{{.*}} {bias = dense<-47> : tensor<16xi32>, clamp_max = 127 : i64, clamp_min = 1 : i64
  // CHECK-SAME: scale = dense<2.500000e-01> : tensor<16xf32>, zero_point = 1 : i64} : i32 -> ui8
  // CHECK: tile.pooling max %[[C]] {{.*}}pad_value = -128
  // CHECK-NOT: onnx.node
  %d = onnx.node "DequantizeLinear" since 13 (%q, %s, %z) : (tensor<1x3x8x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x3x8x8xf32>
  %dw = onnx.node "DequantizeLinear" since 13 (%w, %ws, %none) {axis = 0} : (tensor<16x3x3x3xi8>, tensor<16xf32>, none) -> tensor<16x3x3x3xf32>
  %db = onnx.node "DequantizeLinear" since 13 (%b, %bs, %none) {axis = 0} : (tensor<16xi32>, tensor<16xf32>, none) -> tensor<16xf32>
  %c = onnx.node "Conv" since 11 (%d, %dw, %db) {kernel_shape = [3, 3], pads = [1, 1, 1, 1]} : (tensor<1x3x8x8xf32>, tensor<16x3x3x3xf32>, tensor<16xf32>) -> tensor<1x16x8x8xf32> loc("conv1")
  %r = onnx.node "Relu" since 14 (%c) : (tensor<1x16x8x8xf32>) -> tensor<1x16x8x8xf32> loc("relu1")
  %q1 = onnx.node "QuantizeLinear" since 13 (%r, %s, %z) : (tensor<1x16x8x8xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x16x8x8xui8>
  %d1 = onnx.node "DequantizeLinear" since 13 (%q1, %s, %z) : (tensor<1x16x8x8xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x16x8x8xf32>
  %p = onnx.node "MaxPool" since 12 (%d1) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x16x8x8xf32>) -> tensor<1x16x4x4xf32> loc("pool1")
  %q2 = onnx.node "QuantizeLinear" since 13 (%p, %s, %z) : (tensor<1x16x4x4xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x16x4x4xui8>
  return %q2 : tensor<1x16x4x4xui8>
}

// Transpose -> Flatten -> MatMul + bias on a map from the device: a window as large as the map, weights in its order.
// CHECK-LABEL: func.func @dense_behind_transpose
func.func @dense_behind_transpose(%q: tensor<2x3x2x2xi8>) -> tensor<2x1xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %one = onnx.constant dense<1.0> : tensor<f32>
  %z = onnx.constant dense<0> : tensor<i8>
  %none = onnx.none
  // Row r of the matrix is 12 numbers of which only row 1 differs: position (x=0, y=0, channel=1) in [W, H, C] order.
  %w = onnx.constant dense<[[0],[9],[0],[0],[0],[0],[0],[0],[0],[0],[0],[7]]> : tensor<12x1xi8>
  %b = onnx.constant dense<1.5> : tensor<1xf32>
  %d = onnx.node "DequantizeLinear" since 13 (%q, %s, %z) : (tensor<2x3x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x2x2xf32>
  %p = onnx.node "MaxPool" since 12 (%d) {kernel_shape = [1, 1]} : (tensor<2x3x2x2xf32>) -> tensor<2x3x2x2xf32>
  %q1 = onnx.node "QuantizeLinear" since 13 (%p, %s, %z) : (tensor<2x3x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<2x3x2x2xi8>
  %d1 = onnx.node "DequantizeLinear" since 13 (%q1, %s, %z) : (tensor<2x3x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x2x2xf32>
  %t = onnx.node "Transpose" since 13 (%d1) {perm = [0, 3, 2, 1]} : (tensor<2x3x2x2xf32>) -> tensor<2x2x2x3xf32>
  %q2 = onnx.node "QuantizeLinear" since 13 (%t, %s, %z) : (tensor<2x2x2x3xf32>, tensor<f32>, tensor<i8>) -> tensor<2x2x2x3xi8>
  %d2 = onnx.node "DequantizeLinear" since 13 (%q2, %s, %z) : (tensor<2x2x2x3xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x2x3xf32>
  %f = onnx.node "Flatten" since 13 (%d2) : (tensor<2x2x2x3xf32>) -> tensor<2x12xf32>
  %dw = onnx.node "DequantizeLinear" since 13 (%w, %one, %none) : (tensor<12x1xi8>, tensor<f32>, none) -> tensor<12x1xf32>
  %m = onnx.node "MatMul" since 13 (%f, %dw) : (tensor<2x12xf32>, tensor<12x1xf32>) -> tensor<2x1xf32> loc("fc")
  %a = onnx.node "Add" since 14 (%m, %b) : (tensor<2x1xf32>, tensor<1xf32>) -> tensor<2x1xf32> loc("fc_bias")
  %q3 = onnx.node "QuantizeLinear" since 13 (%a, %s, %z) : (tensor<2x1xf32>, tensor<f32>, tensor<i8>) -> tensor<2x1xi8>
  // CHECK: %[[W:.*]] = onnx.constant dense<{{\[\[\[\[}}0, 0], [0, 0]], {{\[\[}}9, 0], [0, 0]], {{\[\[}}0, 0], [0, 7]]]]> : tensor<1x3x2x2xi8>
  // CHECK: tile.contraction %{{.*}}, %[[W]]
  // CHECK-SAME: nodes = ["fc: MatMul", "fc_bias: Add"]
  // CHECK: bias = dense<3> : tensor<1xi32>
  // CHECK: tensor<2x3x2x2xi8>, tensor<1x3x2x2xi8> -> tensor<2x1x1x1xi8>
  // CHECK-NOT: onnx.node
  return %q3 : tensor<2x1xi8>
}

// An addition, then a function that becomes a table; a product of two activations stays, with its reason.
// CHECK-LABEL: func.func @elementwise
func.func @elementwise(%a: tensor<1x4x2x2xui8>, %b: tensor<1x4x2x2xui8>) -> (tensor<1x4x2x2xui8>, tensor<1x4x2x2xui8>) {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %s2 = onnx.constant dense<0.25> : tensor<f32>
  %z = onnx.constant dense<128> : tensor<ui8>
  %da = onnx.node "DequantizeLinear" since 13 (%a, %s, %z) : (tensor<1x4x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x2x2xf32>
  %db = onnx.node "DequantizeLinear" since 13 (%b, %s2, %z) : (tensor<1x4x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x2x2xf32>
  // CHECK: tile.elementwise %{{.*}} residual(%{{.*}} : tensor<1x4x2x2xui8>)
  // CHECK: tile.residual_add {{.*}} {clamp_max = 127 : i64, clamp_min = 0 : i64, fix = -1.920000e+02 : f32
  // CHECK-SAME: ra = 1.000000e+00 : f32, rb = 5.000000e-01 : f32, zero_point = 0 : i64} : ui8, ui8 -> ui8
  %sum = onnx.node "Add" since 14 (%da, %db) : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %r = onnx.node "Relu" since 14 (%sum) : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %q = onnx.node "QuantizeLinear" since 13 (%r, %s, %z) : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x2x2xui8>
  %d = onnx.node "DequantizeLinear" since 13 (%q, %s, %z) : (tensor<1x4x2x2xui8>, tensor<f32>, tensor<ui8>) -> tensor<1x4x2x2xf32>
  // CHECK: tile.elementwise
  // CHECK: tile.table
  %sig = onnx.node "Sigmoid" since 13 (%d) : (tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %swish = onnx.node "Mul" since 14 (%d, %sig) : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %q1 = onnx.node "QuantizeLinear" since 13 (%swish, %s, %z) : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x2x2xui8>
  // CHECK: onnx.node "Mul"
  %mul = onnx.node "Mul" since 14 (%da, %db) : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %q2 = onnx.node "QuantizeLinear" since 13 (%mul, %s, %z) : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<ui8>) -> tensor<1x4x2x2xui8>
  return %q1, %q2 : tensor<1x4x2x2xui8>, tensor<1x4x2x2xui8>
}

// QuantizeLinear adds its zero point after rounding, unless the sum was one of onnxruntime's; half of 0.1 + 0.1 is at ties
// that no fused sum rounds as ONNX does.
// CHECK-LABEL: func.func @additions
func.func @additions(%a: tensor<1x4x2x2xi8>, %b: tensor<1x4x2x2xi8>) -> (tensor<1x4x2x2xi8>, tensor<1x4x2x2xi8>, tensor<1x4x2x2xi8>) {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %s2 = onnx.constant dense<0.25> : tensor<f32>
  %z = onnx.constant dense<3> : tensor<i8>
  %da = onnx.node "DequantizeLinear" since 13 (%a, %s2, %z) : (tensor<1x4x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xf32>
  %db = onnx.node "DequantizeLinear" since 13 (%b, %s2, %z) : (tensor<1x4x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xf32>
  %sum = onnx.node "Add" since 14 (%da, %db) : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  // CHECK: tile.residual_add {{.*}} {clamp_max = 127 : i64, clamp_min = -128 : i64, fix = -3.000000e+00 : f32
  // CHECK-SAME: ra = 5.000000e-01 : f32, rb = 5.000000e-01 : f32, zero_point = 3 : i64} : i8, i8 -> i8
  %q = onnx.node "QuantizeLinear" since 13 (%sum, %s, %z) : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xi8>
  %sum1 = onnx.node "Add" since 14 (%da, %db) : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  // CHECK: tile.residual_add {{.*}} {clamp_max = 127 : i64, clamp_min = -128 : i64, fix = 0.000000e+00 : f32
  // CHECK-SAME: ra = 5.000000e-01 : f32, rb = 5.000000e-01 : f32} : i8, i8 -> i8
  %q1 = onnx.node "QuantizeLinear" since 13 (%sum1, %s, %z) attributes {onnx.rounds_with_zero_point} : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xi8>
  %tenth = onnx.constant dense<0.1> : tensor<f32>
  %fifth = onnx.constant dense<0.2> : tensor<f32>
  %ta = onnx.node "DequantizeLinear" since 13 (%a, %tenth, %z) : (tensor<1x4x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xf32>
  %tb = onnx.node "DequantizeLinear" since 13 (%b, %tenth, %z) : (tensor<1x4x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xf32>
  // CHECK: onnx.node "Add"
  // CHECK-SAME: tile.host_reason = "no constants of the array's fused addition give
  %sum2 = onnx.node "Add" since 14 (%ta, %tb) : (tensor<1x4x2x2xf32>, tensor<1x4x2x2xf32>) -> tensor<1x4x2x2xf32>
  %q2 = onnx.node "QuantizeLinear" since 13 (%sum2, %fifth, %z) : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xi8>
  return %q, %q1, %q2 : tensor<1x4x2x2xi8>, tensor<1x4x2x2xi8>, tensor<1x4x2x2xi8>
}

// Concatenation along channels; a part with another scale passes through a table. Split at 8 channels.
// CHECK-LABEL: func.func @concat_split
func.func @concat_split(%a: tensor<1x8x2x2xi8>, %b: tensor<1x8x2x2xi8>) -> tensor<1x8x2x2xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %s2 = onnx.constant dense<0.25> : tensor<f32>
  %z = onnx.constant dense<0> : tensor<i8>
  %da = onnx.node "DequantizeLinear" since 13 (%a, %s, %z) : (tensor<1x8x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8x2x2xf32>
  %db = onnx.node "DequantizeLinear" since 13 (%b, %s2, %z) : (tensor<1x8x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8x2x2xf32>
  // CHECK: tile.elementwise
  // CHECK: tile.table
  // CHECK: %[[C:.*]] = tile.move concat
  %c = onnx.node "Concat" since 13 (%da, %db) {axis = 1} : (tensor<1x8x2x2xf32>, tensor<1x8x2x2xf32>) -> tensor<1x16x2x2xf32>
  %q = onnx.node "QuantizeLinear" since 13 (%c, %s, %z) : (tensor<1x16x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x16x2x2xi8>
  %d = onnx.node "DequantizeLinear" since 13 (%q, %s, %z) : (tensor<1x16x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x2x2xf32>
  // CHECK: tile.move slice %[[C]] {{.*}}offsets = array<i64: 0, 8, 0, 0>
  %h:2 = onnx.node "Split" since 13 (%d) {axis = 1} : (tensor<1x16x2x2xf32>) -> (tensor<1x8x2x2xf32>, tensor<1x8x2x2xf32>)
  %q1 = onnx.node "QuantizeLinear" since 13 (%h#1, %s, %z) : (tensor<1x8x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x8x2x2xi8>
  return %q1 : tensor<1x8x2x2xi8>
}

// A reason in words.
// CHECK-LABEL: func.func @refused
func.func @refused(%q: tensor<1x2x4x4x4xi8>) -> tensor<1x2x4x4x4xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<0> : tensor<i8>
  %none = onnx.none
  %w = onnx.constant dense<2> : tensor<2x2x1x1x1xi8>
  %d = onnx.node "DequantizeLinear" since 13 (%q, %s, %z) : (tensor<1x2x4x4x4xi8>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4x4xf32>
  %dw = onnx.node "DequantizeLinear" since 13 (%w, %s, %z) : (tensor<2x2x1x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x2x1x1x1xf32>
  // CHECK: onnx.node "Conv"
  // CHECK-SAME: tile.host_reason = "a convolution over 3 dimensions; the array has 1 and 2"
  %c = onnx.node "Conv" since 11 (%d, %dw, %none) : (tensor<1x2x4x4x4xf32>, tensor<2x2x1x1x1xf32>, none) -> tensor<1x2x4x4x4xf32>
  %q1 = onnx.node "QuantizeLinear" since 13 (%c, %s, %z) : (tensor<1x2x4x4x4xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x4x4x4xi8>
  return %q1 : tensor<1x2x4x4x4xi8>
}

// A maximum on the integers themselves; a Flatten behind what leaves the array is other strides of from_map.
// CHECK-LABEL: func.func @integer_pool
func.func @integer_pool(%q: tensor<1x3x4x4xi8>) -> tensor<1x12xi8> {
  // CHECK: %[[P:.*]] = tile.pooling max
  // CHECK: tile.from_map %[[P]] strides [0, 4, 2, 1] : tensor<1x3x2x2xi8> -> tensor<1x12xi8>
  // CHECK-NOT: onnx.node
  %p = onnx.node "MaxPool" since 12 (%q) {kernel_shape = [2, 2], strides = [2, 2]} : (tensor<1x3x4x4xi8>) -> tensor<1x3x2x2xi8>
  %f = onnx.node "Flatten" since 13 (%p) : (tensor<1x3x2x2xi8>) -> tensor<1x12xi8>
  return %f : tensor<1x12xi8>
}

// NHWC: the transposes around a convolution are strides of what enters and leaves.
// CHECK-LABEL: func.func @nhwc
func.func @nhwc(%q: tensor<1x4x5x3xi8>) -> tensor<1x4x5x2xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<0> : tensor<i8>
  %none = onnx.none
  %w = onnx.constant dense<2> : tensor<2x3x1x1xi8>
  // CHECK: tile.to_map %arg0 strides [0, 1, 15, 3] : tensor<1x4x5x3xi8> -> tensor<1x3x4x5xi8>
  // CHECK: tile.from_map %{{.*}} strides [0, 1, 10, 2] : tensor<1x2x4x5xi8> -> tensor<1x4x5x2xi8>
  // CHECK-NOT: onnx.node
  %d = onnx.node "DequantizeLinear" since 13 (%q, %s, %z) : (tensor<1x4x5x3xi8>, tensor<f32>, tensor<i8>) -> tensor<1x4x5x3xf32>
  %t = onnx.node "Transpose" since 13 (%d) {perm = [0, 3, 1, 2]} : (tensor<1x4x5x3xf32>) -> tensor<1x3x4x5xf32>
  %dw = onnx.node "DequantizeLinear" since 13 (%w, %s, %z) : (tensor<2x3x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x3x1x1xf32>
  %c = onnx.node "Conv" since 11 (%t, %dw, %none) : (tensor<1x3x4x5xf32>, tensor<2x3x1x1xf32>, none) -> tensor<1x2x4x5xf32>
  %u = onnx.node "Transpose" since 13 (%c) {perm = [0, 2, 3, 1]} : (tensor<1x2x4x5xf32>) -> tensor<1x4x5x2xf32>
  %q1 = onnx.node "QuantizeLinear" since 13 (%u, %s, %z) : (tensor<1x4x5x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x5x2xi8>
  return %q1 : tensor<1x4x5x2xi8>
}

// Channel shuffle: no strides describe it, so the map gets its channels in order (a gather) before the next convolution.
// CHECK-LABEL: func.func @shuffle
func.func @shuffle(%q: tensor<1x6x2x2xi8>) -> tensor<1x2x2x2xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<0> : tensor<i8>
  %none = onnx.none
  %w = onnx.constant dense<2> : tensor<2x6x1x1xi8>
  %r1 = onnx.constant dense<[1, 2, 3, 2, 2]> : tensor<5xi64>
  %r2 = onnx.constant dense<[1, 6, 2, 2]> : tensor<4xi64>
  // CHECK: %[[P:.*]] = tile.pooling
  // CHECK: %[[G:.*]] = tile.move gather %[[P]] {indices = array<i64: 0, 3, 1, 4, 2, 5>
  // CHECK: tile.contraction %[[G]]
  // CHECK-NOT: onnx.node
  %p = onnx.node "MaxPool" since 12 (%q) {kernel_shape = [1, 1]} : (tensor<1x6x2x2xi8>) -> tensor<1x6x2x2xi8>
  %d = onnx.node "DequantizeLinear" since 13 (%p, %s, %z) : (tensor<1x6x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x6x2x2xf32>
  %a = onnx.node "Reshape" since 13 (%d, %r1) : (tensor<1x6x2x2xf32>, tensor<5xi64>) -> tensor<1x2x3x2x2xf32>
  %t = onnx.node "Transpose" since 13 (%a) {perm = [0, 2, 1, 3, 4]} : (tensor<1x2x3x2x2xf32>) -> tensor<1x3x2x2x2xf32>
  %b = onnx.node "Reshape" since 13 (%t, %r2) : (tensor<1x3x2x2x2xf32>, tensor<4xi64>) -> tensor<1x6x2x2xf32>
  %dw = onnx.node "DequantizeLinear" since 13 (%w, %s, %z) : (tensor<2x6x1x1xi8>, tensor<f32>, tensor<i8>) -> tensor<2x6x1x1xf32>
  %c = onnx.node "Conv" since 11 (%b, %dw, %none) : (tensor<1x6x2x2xf32>, tensor<2x6x1x1xf32>, none) -> tensor<1x2x2x2xf32>
  %q1 = onnx.node "QuantizeLinear" since 13 (%c, %s, %z) : (tensor<1x2x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x2x2x2xi8>
  return %q1 : tensor<1x2x2x2xi8>
}

// Arithmetic with float constants is a function of one activation: a table.
// CHECK-LABEL: func.func @scale_and_shift
func.func @scale_and_shift(%q: tensor<1x3x2x2xi8>) -> tensor<1x3x2x2xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<0> : tensor<i8>
  %a = onnx.constant dense<-1.0> : tensor<f32>
  %b = onnx.constant dense<0.5> : tensor<f32>
  // q -> 1 - q: from -128 upward 127 (saturated), 127, 127, 126, ...
  // CHECK: tile.table %{{.*}} {quant = #tile.quant<5.000000e-01 : f32, 0>, table = dense<"0x7F7F7F7E7D
  // CHECK-NOT: onnx.node
  %d = onnx.node "DequantizeLinear" since 13 (%q, %s, %z) : (tensor<1x3x2x2xi8>, tensor<f32>, tensor<i8>) -> tensor<1x3x2x2xf32>
  %m = onnx.node "Mul" since 14 (%d, %a) : (tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
  %n = onnx.node "Add" since 14 (%m, %b) : (tensor<1x3x2x2xf32>, tensor<f32>) -> tensor<1x3x2x2xf32>
  %q1 = onnx.node "QuantizeLinear" since 13 (%n, %s, %z) : (tensor<1x3x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x3x2x2xi8>
  return %q1 : tensor<1x3x2x2xi8>
}

// Rows of a dense layer lie along the height where the function behind it has no room beside its operand otherwise.
// CHECK-LABEL: func.func @wide_dense
func.func @wide_dense(%x: tensor<1x128x768xi8>) -> tensor<1x128x3072xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<0> : tensor<i8>
  %w = onnx.constant dense<1> : tensor<768x3072xi8>
  %dx = onnx.node "DequantizeLinear" since 13 (%x, %s, %z) : (tensor<1x128x768xi8>, tensor<f32>, tensor<i8>) -> tensor<1x128x768xf32>
  %dw = onnx.node "DequantizeLinear" since 13 (%w, %s, %z) : (tensor<768x3072xi8>, tensor<f32>, tensor<i8>) -> tensor<768x3072xf32>
  // CHECK: tile.contraction {{.*}}
  // CHECK: -> tensor<1x3072x128x1xi8>
  %y = onnx.node "MatMul" since 13 (%dx, %dw) : (tensor<1x128x768xf32>, tensor<768x3072xf32>) -> tensor<1x128x3072xf32>
  %q = onnx.node "QuantizeLinear" since 13 (%y, %s, %z) : (tensor<1x128x3072xf32>, tensor<f32>, tensor<i8>) -> tensor<1x128x3072xi8>
  %d = onnx.node "DequantizeLinear" since 13 (%q, %s, %z) : (tensor<1x128x3072xi8>, tensor<f32>, tensor<i8>) -> tensor<1x128x3072xf32>
  // CHECK: tile.elementwise
  // CHECK: tile.table
  // CHECK-NOT: onnx.node
  %g = onnx.node "Gelu" since 20 (%d) : (tensor<1x128x3072xf32>) -> tensor<1x128x3072xf32>
  %qg = onnx.node "QuantizeLinear" since 13 (%g, %s, %z) : (tensor<1x128x3072xf32>, tensor<f32>, tensor<i8>) -> tensor<1x128x3072xi8>
  return %qg : tensor<1x128x3072xi8>
}
