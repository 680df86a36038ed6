// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @window(%x: tensor<1x3x8x8xi8>, %w: tensor<16x3x3x3xi8>) {
  // expected-error @below {{result has height 8; window and padding give 6}}
  %y = tile.contraction %x, %w epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x3x8x8xi8>, tensor<16x3x3x3xi8> -> tensor<1x16x8x8xi8>
  return
}

// -----

func.func @channels(%x: tensor<1x4x8x8xi8>, %w: tensor<16x3x1x1xi8>) {
  // expected-error @below {{do not fit 4 input channels in 1 groups and 16 output channels}}
  %y = tile.contraction %x, %w epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x4x8x8xi8>, tensor<16x3x1x1xi8> -> tensor<1x16x8x8xi8>
  return
}

// -----

func.func @bad_scale(%x: tensor<1x4x8x8xi8>, %w: tensor<16x4x1x1xi8>) {
  %y = tile.contraction %x, %w epilogue {
  ^bb0(%acc: i32):
    // expected-error @below {{scale must be finite and positive}}
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0x7fc00000> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x4x8x8xi8>, tensor<16x4x1x1xi8> -> tensor<1x16x8x8xi8>
  return
}

// -----

func.func @per_channel(%x: tensor<1x4x8x8xi8>, %w: tensor<16x4x1x1xi8>) {
  %y = tile.contraction %x, %w epilogue {
  ^bb0(%acc: i32):
    // expected-error @below {{'bias' has 15 entries for 16 channels}}
    %q = tile.requantize %acc {bias = dense<0> : tensor<15xi32>, scale = dense<1.0> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x4x8x8xi8>, tensor<16x4x1x1xi8> -> tensor<1x16x8x8xi8>
  return
}

// -----

func.func @float_epilogue(%x: tensor<1x4x8x8xi8>) {
  %y = tile.elementwise %x epilogue {
  ^bb0(%e: i8):
    // expected-error @below {{cannot follow tile.elementwise of this element type}}
    %q = tile.activation relu %e : i8
    tile.yield %q : i8
  } : tensor<1x4x8x8xi8> -> tensor<1x4x8x8xi8>
  return
}

// -----

func.func @tile_too_large(%x: tensor<1x4x8x8xi8>) {
  // expected-error @below {{tile of 9 in height exceeds the extent 8}}
  %y = tile.pooling max %x {kernel = array<i64: 1, 1>,
    tiling = #tile.tiling<[1, 1, 4, 9, 8], reduction = [], order = [height], unit = "vector", weights = none>} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x4x8x8xi8> -> tensor<1x4x8x8xi8>
  return
}

// -----

// expected-error @below {{tiling has 4 sizes; it has 5: batch, group, channels, height, width}}
#t = #tile.tiling<[1, 1, 4, 9], reduction = [], order = [height], unit = "vector", weights = none>

// -----

func.func @strides(%x: tensor<1x4x8x8xi8>) {
  // expected-error @below {{do not enumerate the tensor's elements once}}
  %y = tile.to_map %x strides [0, 64, 8, 2] : tensor<1x4x8x8xi8> -> tensor<1x4x8x8xi8>
  return
}

// -----

func.func @mixed_signs(%x: tensor<1x4x8x8xi8>, %r: tensor<1x4x8x8xui8>) {
  %y = tile.elementwise %x residual(%r : tensor<1x4x8x8xui8>) epilogue {
  ^bb0(%e: i8, %f: ui8):
    // expected-error @below {{operands and result must all be i8 or all ui8}}
    %s = tile.residual_add %e, %f {ra = 0.5 : f32, rb = 0.75 : f32, fix = 1.5 : f32, clamp_min = -128 : i64,
      clamp_max = 127 : i64} : i8, ui8 -> i8
    tile.yield %s : i8
  } : tensor<1x4x8x8xi8> -> tensor<1x4x8x8xi8>
  return
}

// -----

func.func @addition_zero_point(%x: tensor<1x4x8x8xi8>, %r: tensor<1x4x8x8xi8>) {
  %y = tile.elementwise %x residual(%r : tensor<1x4x8x8xi8>) epilogue {
  ^bb0(%e: i8, %f: i8):
    // expected-error @below {{zero point 128 is not within [-128, 127]}}
    %s = tile.residual_add %e, %f {ra = 0.5 : f32, rb = 0.75 : f32, fix = 1.5 : f32, zero_point = 128 : i64,
      clamp_min = -128 : i64, clamp_max = 127 : i64} : i8, i8 -> i8
    tile.yield %s : i8
  } : tensor<1x4x8x8xi8> -> tensor<1x4x8x8xi8>
  return
}

// -----

func.func @concat(%x: tensor<1x4x8x8xi8>, %r: tensor<1x4x8x7xi8>) {
  // expected-error @below {{concat inputs differ outside the channels}}
  %y = tile.move concat %x, %r epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x4x8x8xi8>, tensor<1x4x8x7xi8> -> tensor<1x8x8x8xi8>
  return
}

// -----

func.func @escape(%x: tensor<1x4x8x8xi8>) {
  // expected-error @below {{must end with a yield of its results}}
  %y = tile.group {
    tile.yield
  } : tensor<1x4x8x8xi8>
  return
}
