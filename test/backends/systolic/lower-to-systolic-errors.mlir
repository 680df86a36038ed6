// RUN: tilewright-opt %s --lower-to-systolic -split-input-file -verify-diagnostics

func.func @unplaced(%x: tensor<1x16x4x4xi8>) -> tensor<1x16x4x4xi8> {
  // expected-error @+1 {{has no place in DRAM: place-buffers must run before}}
  %m = tile.to_map %x strides [0, 16, 4, 1] : tensor<1x16x4x4xi8> -> tensor<1x16x4x4xi8>
  %y = tile.from_map %m strides [0, 16, 4, 1] : tensor<1x16x4x4xi8> -> tensor<1x16x4x4xi8>
  return %y : tensor<1x16x4x4xi8>
}

// -----

func.func @two_maps(%x: tensor<1x16x4x4xi8>, %w: tensor<16x16x1x1xi8>) -> tensor<1x16x4x4xi8> {
  // expected-error @+1 {{the array multiplies by constant weights; a product of two maps is not built yet}}
  %y = tile.contraction %x, %w {layer = "conv",
    operand_placements = [#tile.placement<base = 0, pitch = 4, plane_pitch = 16, sample_pitch = 16, ring_rows = 4>],
    result_placement = #tile.placement<base = 16, pitch = 4, plane_pitch = 16, sample_pitch = 16, ring_rows = 4>
  } epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<5> : tensor<1xi32>, scale = dense<0.078125> : tensor<1xf32>,
      zero_point = -128 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x4x4xi8>, tensor<16x16x1x1xi8> -> tensor<1x16x4x4xi8>
  return %y : tensor<1x16x4x4xi8>
}

// -----

// expected-error @+1 {{layer 'pool': its placement reaches 40016 of 32768 words of the scratchpad}}
func.func @outside(%x: tensor<1x16x4x4xi8>) -> tensor<1x16x4x4xi8> {
  %p = tile.pooling max %x {layer = "pool", kernel = array<i64: 1, 1>,
    operand_placements = [#tile.placement<base = 0, pitch = 4, plane_pitch = 16, sample_pitch = 16, ring_rows = 4>],
    result_placement = #tile.placement<base = 40000, pitch = 4, plane_pitch = 16, sample_pitch = 16, ring_rows = 4>} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x16x4x4xi8> -> tensor<1x16x4x4xi8>
  return %p : tensor<1x16x4x4xi8>
}
