// RUN: tilewright-opt %s --choose-tiles --place-buffers | FileCheck %s

// The sum is written over the residual, which nobody reads afterwards; the convolution's input keeps its own place.
// CHECK-LABEL: func.func @residual_in_place
func.func @residual_in_place(%x0: tensor<1x16x8x8xi8>) -> tensor<1x16x8x8xi8> {
  %w = onnx.constant dense<1> : tensor<16x16x1x1xi8>
  %x = tile.to_map %x0 strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  // CHECK: layer = "a"
  // CHECK-SAME: result_placement = #tile.placement<base = [[A:[0-9]+]],
  %a = tile.contraction %x, %w {layer = "a"} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x8x8xi8>, tensor<16x16x1x1xi8> -> tensor<1x16x8x8xi8>
  // CHECK: layer = "b"
  // CHECK-SAME: operand_placements = [#tile.placement<base = [[A]],
  // CHECK-SAME: result_placement = #tile.placement<base = [[B:[0-9]+]],
  %b = tile.contraction %a, %w {layer = "b"} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x8x8xi8>, tensor<16x16x1x1xi8> -> tensor<1x16x8x8xi8>
  // CHECK: layer = "c"
  // CHECK-SAME: operand_placements = [#tile.placement<base = [[B]], {{.*}}>, #tile.placement<base = [[A]],
  // CHECK-SAME: result_placement = #tile.placement<base = [[A]],
  %c = tile.contraction %b, %w residual(%a : tensor<1x16x8x8xi8>) {layer = "c"} epilogue {
  ^bb0(%acc: i32, %r: i8):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    %s = tile.residual_add %q, %r {ra = 0.5 : f32, rb = 0.75 : f32, fix = 1.5 : f32, clamp_min = -128 : i64,
      clamp_max = 127 : i64} : i8, i8 -> i8
    tile.yield %s : i8
  } : tensor<1x16x8x8xi8>, tensor<16x16x1x1xi8> -> tensor<1x16x8x8xi8>
  %y = tile.from_map %c strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  return %y : tensor<1x16x8x8xi8>
}

// The second part is also read by itself: at 8 channels it would begin within a word, so it keeps words of its own and is copied.
// CHECK-LABEL: func.func @concat_read_twice
func.func @concat_read_twice(%x0: tensor<1x8x8x8xi8>) -> (tensor<1x16x8x8xi8>, tensor<1x8x8x8xi8>) {
  %x = tile.to_map %x0 strides [0, 64, 8, 1] : tensor<1x8x8x8xi8> -> tensor<1x8x8x8xi8>
  %a = tile.pooling max %x {kernel = array<i64: 1, 1>, pad_value = -128 : i64} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x8x8x8xi8> -> tensor<1x8x8x8xi8>
  %b = tile.pooling max %a {kernel = array<i64: 1, 1>, pad_value = -128 : i64} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x8x8x8xi8> -> tensor<1x8x8x8xi8>
  // CHECK: tile.elementwise
  // CHECK-SAME: channel_offset = 8
  // CHECK: tile.move concat
  %c = tile.move concat %a, %b epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x8x8x8xi8>, tensor<1x8x8x8xi8> -> tensor<1x16x8x8xi8>
  %d = tile.pooling max %b {kernel = array<i64: 1, 1>, pad_value = -128 : i64} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x8x8x8xi8> -> tensor<1x8x8x8xi8>
  %y = tile.from_map %c strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  %z = tile.from_map %d strides [0, 64, 8, 1] : tensor<1x8x8x8xi8> -> tensor<1x8x8x8xi8>
  return %y, %z : tensor<1x16x8x8xi8>, tensor<1x8x8x8xi8>
}

// Both parts of a concatenation at 8 channels are written into its words; nothing runs for it.
// CHECK-LABEL: func.func @concat
func.func @concat(%x0: tensor<1x16x8x8xi8>) -> tensor<1x16x8x8xi8> {
  %w = onnx.constant dense<1> : tensor<8x16x1x1xi8>
  %v = onnx.constant dense<1> : tensor<16x16x1x1xi8>
  %x = tile.to_map %x0 strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  // CHECK: result_placement = #tile.placement<base = [[C:[0-9]+]], pitch = 8, plane_pitch = 64, sample_pitch = 64, ring_rows = 8>
  %a = tile.contraction %x, %w epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x8x8xi8>, tensor<8x16x1x1xi8> -> tensor<1x8x8x8xi8>
  // CHECK: result_placement = #tile.placement<base = [[C]], pitch = 8, plane_pitch = 64, sample_pitch = 64, ring_rows = 8, channel_offset = 8>
  %b = tile.contraction %x, %w epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.25> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x8x8xi8>, tensor<8x16x1x1xi8> -> tensor<1x8x8x8xi8>
  // CHECK: tile.move concat {{.*}}unit = "none"
  %c = tile.move concat %a, %b epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x8x8x8xi8>, tensor<1x8x8x8xi8> -> tensor<1x16x8x8xi8>
  // CHECK: operand_placements = [#tile.placement<base = [[C]],
  %d = tile.contraction %c, %v epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x8x8xi8>, tensor<16x16x1x1xi8> -> tensor<1x16x8x8xi8>
  %y = tile.from_map %d strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  return %y : tensor<1x16x8x8xi8>
}

// Two results that leave: the second one does not wait until the first one's store has read its place.
// CHECK-LABEL: func.func @two_heads
func.func @two_heads(%x0: tensor<1x16x8x8xi8>) -> (tensor<1x16x8x8xi8>, tensor<1x16x8x8xi8>) {
  %w = onnx.constant dense<1> : tensor<16x16x1x1xi8>
  %x = tile.to_map %x0 strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  // CHECK: layer = "a"
  // CHECK-SAME: result_placement = #tile.placement<base = 0,
  %a = tile.contraction %x, %w {layer = "a"} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x8x8xi8>, tensor<16x16x1x1xi8> -> tensor<1x16x8x8xi8>
  // CHECK: layer = "b"
  // CHECK-SAME: result_placement = #tile.placement<base = {{[1-9][0-9]*}},
  %b = tile.contraction %x, %w {layer = "b"} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.25> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x8x8xi8>, tensor<16x16x1x1xi8> -> tensor<1x16x8x8xi8>
  %y = tile.from_map %a strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  %z = tile.from_map %b strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  return %y, %z : tensor<1x16x8x8xi8>, tensor<1x16x8x8xi8>
}
