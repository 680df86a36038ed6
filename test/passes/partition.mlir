// RUN: tilewright-opt %s --partition | FileCheck %s

// Two programs with host operators between; the map that the second one reads of the first passes through the host. The
// operators that the first program does not need come after it.
// CHECK-LABEL: func.func @two_programs
func.func @two_programs(%x0: tensor<1x16x2x2xi8>, %u: tensor<4xf32>) -> (tensor<1x16x2x2xi8>, tensor<4xf32>) {
  %x = tile.to_map %x0 strides [0, 4, 2, 1] : tensor<1x16x2x2xi8> -> tensor<1x16x2x2xi8>
  // CHECK: onnx.node "Sin" since 7 (%{{.*}}) attributes {tile.host_reason = "Sin: its operand, an input of the model, is not quantized"}
  // CHECK: tile.to_map
  // CHECK: %[[A:.*]] = tile.elementwise {{.*}}layer = "a"
  %a = tile.elementwise %x {layer = "a"} epilogue {
  ^bb0(%e: i8):
    %t = tile.table %e {table = dense<7> : tensor<256xi8>} : i8
    tile.yield %t : i8
  } : tensor<1x16x2x2xi8> -> tensor<1x16x2x2xi8>
  // CHECK: tile.from_map %[[A]]
  // CHECK: %[[OUT:.*]] = tile.from_map %[[A]]
  // CHECK: onnx.node "Abs"
  // CHECK: "passes from one program of the array to a later one"
  // CHECK: tile.to_map
  // CHECK: tile.elementwise {{.*}} residual(%{{.*}}) {layer = "b"}
  %h = tile.from_map %a strides [0, 4, 2, 1] : tensor<1x16x2x2xi8> -> tensor<1x16x2x2xi8>
  %n = onnx.node "Abs" since 13 (%h) : (tensor<1x16x2x2xi8>) -> tensor<1x16x2x2xi8>
  %m = tile.to_map %n strides [0, 4, 2, 1] : tensor<1x16x2x2xi8> -> tensor<1x16x2x2xi8>
  %b = tile.elementwise %m residual(%a : tensor<1x16x2x2xi8>) {layer = "b"} epilogue {
  ^bb0(%e: i8, %r: i8):
    %s = tile.residual_add %e, %r {ra = 0.5 : f32, rb = 0.75 : f32, fix = 1.5 : f32, clamp_min = -128 : i64,
      clamp_max = 127 : i64} : i8, i8 -> i8
    tile.yield %s : i8
  } : tensor<1x16x2x2xi8> -> tensor<1x16x2x2xi8>
  %y = tile.from_map %b strides [0, 4, 2, 1] : tensor<1x16x2x2xi8> -> tensor<1x16x2x2xi8>
  %v = onnx.node "Sin" since 7 (%u) : (tensor<4xf32>) -> tensor<4xf32>
  return %y, %v : tensor<1x16x2x2xi8>, tensor<4xf32>
}

// What one layer makes is read again in another layout: by a later program, once more through the host.
// CHECK-LABEL: func.func @two_layouts
func.func @two_layouts(%x0: tensor<1x16x2x2xi8>) -> tensor<1x16x2x2xi8> {
  %x = tile.to_map %x0 strides [0, 4, 2, 1] : tensor<1x16x2x2xi8> -> tensor<1x16x2x2xi8>
  // CHECK: %[[A:.*]] = tile.elementwise {{.*}}layer = "a"
  %a = tile.elementwise %x {layer = "a"} epilogue {
  ^bb0(%e: i8):
    %t = tile.table %e {table = dense<7> : tensor<256xi8>} : i8
    tile.yield %t : i8
  } : tensor<1x16x2x2xi8> -> tensor<1x16x2x2xi8>
  // CHECK: %[[F:.*]] = tile.from_map %[[A]]
  // CHECK: %[[H:.*]] = onnx.node "Identity" since 16 (%[[F]]) attributes {tile.host_reason = "is read again in another layout than it was made in"}
  // CHECK-NOT: Identity
  // CHECK: tile.to_map %[[H]] strides [0, 1, 4, 2]
  // CHECK: tile.to_map %[[H]] strides [0, 1, 4, 2]
  %h = tile.from_map %a strides [0, 4, 2, 1] : tensor<1x16x2x2xi8> -> tensor<1x16x2x2xi8>
  %m = tile.to_map %h strides [0, 1, 4, 2] : tensor<1x16x2x2xi8> -> tensor<1x2x16x2xi8>
  %n = tile.to_map %h strides [0, 1, 4, 2] : tensor<1x16x2x2xi8> -> tensor<1x2x16x2xi8>
  %b = tile.elementwise %m residual(%n : tensor<1x2x16x2xi8>) {layer = "b"} epilogue {
  ^bb0(%e: i8, %r: i8):
    %s = tile.residual_add %e, %r {ra = 0.5 : f32, rb = 0.75 : f32, fix = 1.5 : f32, clamp_min = -128 : i64,
      clamp_max = 127 : i64} : i8, i8 -> i8
    tile.yield %s : i8
  } : tensor<1x2x16x2xi8> -> tensor<1x2x16x2xi8>
  %y = tile.from_map %b strides [0, 1, 4, 2] : tensor<1x2x16x2xi8> -> tensor<1x16x2x2xi8>
  return %y : tensor<1x16x2x2xi8>
}

// What stays on the host says why.
// CHECK-LABEL: func.func @reasons
func.func @reasons(%x: tensor<1x4x8xf32>, %y: tensor<1x8x4xf32>, %q: tensor<1x4x8xi8>) -> (tensor<1x4x4xf32>, tensor<1x4x8xf32>, tensor<1x8x4xi8>) {
  %c = onnx.constant dense<[0.5, 1.5, 2.5, 3.5, 4.5, 5.5, 6.5, 7.5]> : tensor<8xf32>
  // CHECK: "MatMul" {{.*}}"MatMul: a product of two activations; the array multiplies by constants"
  %m = onnx.node "MatMul" since 13 (%x, %y) : (tensor<1x4x8xf32>, tensor<1x8x4xf32>) -> tensor<1x4x4xf32>
  // CHECK: "Softmax" {{.*}}"Softmax has no form on systolic:4x16x4"
  %s = onnx.node "Softmax" since 13 (%m) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  // CHECK: "Exp" {{.*}}"Exp: its operand, made by Softmax, is not quantized"
  %e = onnx.node "Exp" since 13 (%s) : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  // CHECK: "Add" {{.*}}"Add with a constant tensor has no form on systolic:4x16x4"
  %a = onnx.node "Add" since 14 (%x, %c) : (tensor<1x4x8xf32>, tensor<8xf32>) -> tensor<1x4x8xf32>
  // CHECK: "Transpose" {{.*}}"Transpose of 8-bit data that operators of the host read"
  %t = onnx.node "Transpose" since 21 (%q) {perm = [0, 2, 1]} : (tensor<1x4x8xi8>) -> tensor<1x8x4xi8>
  return %e, %a, %t : tensor<1x4x4xf32>, tensor<1x4x8xf32>, tensor<1x8x4xi8>
}
