// RUN: tilewright-opt %s --canonicalize | FileCheck %s

// Leaving the device and entering it again in the same layout is nothing.
// CHECK-LABEL: func.func @round_trip
func.func @round_trip(%m: tensor<1x4x2x3xi8>) -> tensor<1x4x2x3xi8> {
  // CHECK-NEXT: return %arg0
  %t = tile.from_map %m strides [0, 6, 3, 1] : tensor<1x4x2x3xi8> -> tensor<24xi8>
  %n = tile.to_map %t strides [0, 6, 3, 1] : tensor<24xi8> -> tensor<1x4x2x3xi8>
  return %n : tensor<1x4x2x3xi8>
}

// In another layout it is a transpose, and stays.
// CHECK-LABEL: func.func @relayout
func.func @relayout(%m: tensor<1x4x2x3xi8>) -> tensor<1x4x2x3xi8> {
  // CHECK: tile.from_map
  // CHECK: tile.to_map
  %t = tile.from_map %m strides [0, 6, 3, 1] : tensor<1x4x2x3xi8> -> tensor<24xi8>
  %n = tile.to_map %t strides [0, 1, 12, 4] : tensor<24xi8> -> tensor<1x4x2x3xi8>
  return %n : tensor<1x4x2x3xi8>
}

// CHECK-LABEL: func.func @nothing_to_do
func.func @nothing_to_do(%m: tensor<1x4x2x3xi8>) -> tensor<1x4x2x3xi8> {
  // CHECK-NEXT: return %arg0
  %a = tile.elementwise %m epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x4x2x3xi8> -> tensor<1x4x2x3xi8>
  %b = tile.move concat %a epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x4x2x3xi8> -> tensor<1x4x2x3xi8>
  return %b : tensor<1x4x2x3xi8>
}

// CHECK-LABEL: func.func @slope_of_one
func.func @slope_of_one(%x: tensor<1x4x2x3xi8>, %w: tensor<4x4x1x1xi8>) -> tensor<1x4x2x3xi8> {
  // CHECK: tile.requantize
  // CHECK-NOT: negative_scale
  // CHECK-SAME: : i32 -> i8
  %y = tile.contraction %x, %w epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      negative_scale = dense<0.5> : tensor<1xf32>, zero_point = 0 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64}
      : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x4x2x3xi8>, tensor<4x4x1x1xi8> -> tensor<1x4x2x3xi8>
  return %y : tensor<1x4x2x3xi8>
}
