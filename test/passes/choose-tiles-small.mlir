// RUN: tilewright-opt %s --choose-tiles=target=systolic:%S/Inputs/small.toml -split-input-file | FileCheck %s
// RUN: tilewright-opt %s --choose-tiles=target=systolic:%S/Inputs/small.toml --place-buffers=target=systolic:%S/Inputs/small.toml -split-input-file -o /dev/null

// 8 KB of scratchpad, 4 KB of weights: the map is cut into rows, and the weights (39,936 bytes with headers) do not stay.
// Loading them again for every tile would take longer than the computation; a channel tile stays while all rows pass.
// CHECK-LABEL: func.func @rows_and_channels
func.func @rows_and_channels(%x0: tensor<1x16x16x8xi8>) -> tensor<1x256x16x8xi8> {
  %w = onnx.constant dense<1> : tensor<256x16x3x3xi8>
  %x = tile.to_map %x0 strides [0, 128, 8, 1] : tensor<1x16x16x8xi8> -> tensor<1x16x16x8xi8>
  // CHECK: tile.contraction
  // CHECK-SAME: operand_placements = [#tile.placement<base = -1, pitch = 8, {{[^>]*}}dram = <words
  // CHECK-SAME: result_placement = #tile.placement<base = -1, pitch = 8, {{[^>]*}}dram = <words
  // CHECK-SAME: order = [channels, height], unit = "dense", weights = kept
  %a = tile.contraction %x, %w {layer = "a", pads = array<i64: 1, 1, 1, 1>} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x16x8xi8>, tensor<256x16x3x3xi8> -> tensor<1x256x16x8xi8>
  %y = tile.from_map %a strides [0, 128, 8, 1] : tensor<1x256x16x8xi8> -> tensor<1x256x16x8xi8>
  return %y : tensor<1x256x16x8xi8>
}

// -----

// One block (9 taps of 64 channels: 144 words of 64 bytes) is longer than the ring: its words stream.
// CHECK-LABEL: func.func @streamed_weights
func.func @streamed_weights(%x0: tensor<1x64x4x4xi8>) -> tensor<1x16x4x4xi8> {
  %w = onnx.constant dense<1> : tensor<16x64x3x3xi8>
  %x = tile.to_map %x0 strides [0, 16, 4, 1] : tensor<1x64x4x4xi8> -> tensor<1x64x4x4xi8>
  // CHECK: weights = streamed
  %a = tile.contraction %x, %w {layer = "a", pads = array<i64: 1, 1, 1, 1>} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x64x4x4xi8>, tensor<16x64x3x3xi8> -> tensor<1x16x4x4xi8>
  %y = tile.from_map %a strides [0, 16, 4, 1] : tensor<1x16x4x4xi8> -> tensor<1x16x4x4xi8>
  return %y : tensor<1x16x4x4xi8>
}

// -----

// Convolution and pooling would take turns, but their rings do not fit together: one after the other, the map between them
// passes through DRAM.
// CHECK-LABEL: func.func @group_too_large
// CHECK-NOT: tile.group
func.func @group_too_large(%x0: tensor<1x3x64x64xi8>) -> tensor<1x64x15x15xi8> {
  %w = onnx.constant dense<1> : tensor<64x3x3x3xi8>
  %x = tile.to_map %x0 strides [0, 4096, 64, 1] : tensor<1x3x64x64xi8> -> tensor<1x3x64x64xi8>
  // CHECK: tile.contraction
  // CHECK-SAME: streamed
  %a = tile.contraction %x, %w {layer = "a", strides = array<i64: 2, 2>} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x3x64x64xi8>, tensor<64x3x3x3xi8> -> tensor<1x64x31x31xi8>
  // CHECK: tile.pooling
  %p = tile.pooling max %a {layer = "p", kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pad_value = -128 : i64} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x64x31x31xi8> -> tensor<1x64x15x15xi8>
  %y = tile.from_map %p strides [0, 225, 15, 1] : tensor<1x64x15x15xi8> -> tensor<1x64x15x15xi8>
  return %y : tensor<1x64x15x15xi8>
}
