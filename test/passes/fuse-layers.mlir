// RUN: tilewright-opt %s --fuse-layers | FileCheck %s

// Of two convolutions that feed an addition the later one takes it. Its result is the addition's second operand: swapped.
// CHECK-LABEL: func.func @residual
func.func @residual(%x0: tensor<1x16x8x8xi8>) -> tensor<1x16x8x8xi8> {
  %w = onnx.constant dense<1> : tensor<16x16x1x1xi8>
  %x = tile.to_map %x0 strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  // CHECK: %[[A:.*]] = tile.contraction %{{.*}}, %{{.*}} {layer = "a"
  %a = tile.contraction %x, %w {layer = "a", nodes = ["a: Conv"]} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x8x8xi8>, tensor<16x16x1x1xi8> -> tensor<1x16x8x8xi8>
  %b = tile.contraction %x, %w {layer = "b", nodes = ["b: Conv"]} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.25> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x8x8xi8>, tensor<16x16x1x1xi8> -> tensor<1x16x8x8xi8>
  // CHECK: tile.contraction %{{.*}}, %{{.*}} residual(%[[A]] : tensor<1x16x8x8xi8>) {layer = "b", nodes = ["b: Conv", "add: Add", "act: Sigmoid"]}
  // CHECK-NEXT: ^bb0(%[[ACC:.*]]: i32, %[[R:.*]]: i8)
  // CHECK-NEXT: %[[Q:.*]] = tile.requantize %[[ACC]]
  // CHECK-NEXT: %[[S:.*]] = tile.residual_add %[[Q]], %[[R]] {{.*}}swap
  // CHECK-NEXT: %[[T:.*]] = tile.table %[[S]]
  // CHECK-NEXT: tile.yield %[[T]]
  // CHECK-NOT: tile.elementwise
  %c = tile.elementwise %a residual(%b : tensor<1x16x8x8xi8>) {layer = "add", nodes = ["add: Add"]} epilogue {
  ^bb0(%e: i8, %r: i8):
    %s = tile.residual_add %e, %r {ra = 0.5 : f32, rb = 0.75 : f32, fix = 1.5 : f32, clamp_min = -128 : i64,
      clamp_max = 127 : i64} : i8, i8 -> i8
    tile.yield %s : i8
  } : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  %d = tile.elementwise %c {layer = "act", nodes = ["act: Sigmoid"]} epilogue {
  ^bb0(%e: i8):
    %t = tile.table %e {table = dense<7> : tensor<256xi8>} : i8
    tile.yield %t : i8
  } : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  %y = tile.from_map %d strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  return %y : tensor<1x16x8x8xi8>
}

// A second reader: the layer's own result is needed, the addition stays a layer (its output goes through a table once).
// CHECK-LABEL: func.func @two_readers
func.func @two_readers(%x0: tensor<1x16x8x8xi8>) -> (tensor<1x16x8x8xi8>, tensor<1x16x8x8xi8>) {
  %w = onnx.constant dense<1> : tensor<16x16x1x1xi8>
  %x = tile.to_map %x0 strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  %a = tile.contraction %x, %w {layer = "a"} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x8x8xi8>, tensor<16x16x1x1xi8> -> tensor<1x16x8x8xi8>
  // CHECK: tile.elementwise
  %d = tile.elementwise %a epilogue {
  ^bb0(%e: i8):
    %t = tile.table %e {table = dense<7> : tensor<256xi8>} : i8
    tile.yield %t : i8
  } : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  %y = tile.from_map %d strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  %z = tile.from_map %a strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  return %y, %z : tensor<1x16x8x8xi8>, tensor<1x16x8x8xi8>
}
