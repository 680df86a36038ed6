// RUN: tilewright-opt %s --choose-tiles -split-input-file | FileCheck %s
// RUN: tilewright-opt %s --choose-tiles=target=cuda -split-input-file | FileCheck %s --check-prefix=GPU

// The stem of a ResNet: the 112x112x64 map is larger than the scratchpad, so convolution and pooling take turns over a
// ring of its rows. On the GPU each layer has its block of threads' tile.
// CHECK-LABEL: func.func @stem
// GPU-LABEL: func.func @stem
func.func @stem(%image: tensor<1x3x224x224xi8>) -> tensor<1x64x56x56xi8> {
  %w = onnx.constant dense<1> : tensor<64x3x7x7xi8>
  %x = tile.to_map %image strides [0, 50176, 224, 1] : tensor<1x3x224x224xi8> -> tensor<1x3x224x224xi8>
  // CHECK: tile.group attributes {layer = "pool", tiling = #tile.tiling<[1, 1, 64, [[ROWS:[0-9]+]], 56], reduction = [], order = [height], unit = "vector", weights = none>}
  // CHECK: tile.contraction
  // CHECK-SAME: packed = 3, dram = <planar
  // CHECK-SAME: unit = "packed", weights = kept
  // CHECK: tile.pooling
  // GPU: tile.contraction
  // GPU-SAME: unit = "tensor_core"
  // GPU: tile.pooling
  // GPU-SAME: unit = "simt"
  %c = tile.contraction %x, %w {layer = "conv1", strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 2, 2>} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x3x224x224xi8>, tensor<64x3x7x7xi8> -> tensor<1x64x112x112xi8>
  %m = tile.pooling max %c {layer = "pool", kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>,
    pad_value = -128 : i64} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x64x112x112xi8> -> tensor<1x64x56x56xi8>
  %y = tile.from_map %m strides [0, 3136, 56, 1] : tensor<1x64x56x56xi8> -> tensor<1x64x56x56xi8>
  return %y : tensor<1x64x56x56xi8>
}

// -----

// A map of 784 KB between two layers with weights is streamed: row tiles, stored behind the first and loaded ahead of the
// second.
// CHECK-LABEL: func.func @streamed
// GPU-LABEL: func.func @streamed
func.func @streamed(%x0: tensor<1x64x56x56xi8>) -> tensor<1x64x56x56xi8> {
  %w1 = onnx.constant dense<1> : tensor<256x64x1x1xi8>
  %w2 = onnx.constant dense<1> : tensor<64x256x1x1xi8>
  %x = tile.to_map %x0 strides [0, 3136, 56, 1] : tensor<1x64x56x56xi8> -> tensor<1x64x56x56xi8>
  // CHECK: tile.contraction
  // CHECK-SAME: result_placement = #tile.placement<base = -1, pitch = 56, {{.*}}dram = <words
  // CHECK-SAME: streamed
  // CHECK-SAME: order = [height], unit = "dense", weights = kept
  // GPU: tile.contraction
  %a = tile.contraction %x, %w1 {layer = "expand"} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x64x56x56xi8>, tensor<256x64x1x1xi8> -> tensor<1x256x56x56xi8>
  // CHECK: tile.contraction
  // CHECK-SAME: operand_placements = [#tile.placement<base = -1, pitch = 56, {{.*}}dram = <words
  // CHECK-SAME: order = [height], unit = "dense", weights = kept
  %b = tile.contraction %a, %w2 {layer = "reduce"} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x256x56x56xi8>, tensor<64x256x1x1xi8> -> tensor<1x64x56x56xi8>
  %y = tile.from_map %b strides [0, 3136, 56, 1] : tensor<1x64x56x56xi8> -> tensor<1x64x56x56xi8>
  return %y : tensor<1x64x56x56xi8>
}

// -----

// A split at 8 channels does not begin at a word: on the array a 1x1 contraction selects them. At 16 it is a placement.
// CHECK-LABEL: func.func @splits
// GPU-LABEL: func.func @splits
func.func @splits(%x0: tensor<1x32x4x4xi8>) -> (tensor<1x8x2x2xi8>, tensor<1x16x2x2xi8>) {
  %x = tile.to_map %x0 strides [0, 16, 4, 1] : tensor<1x32x4x4xi8> -> tensor<1x32x4x4xi8>
  // CHECK: tile.contraction
  // CHECK: scale = dense<1.000000e+00>
  // CHECK: tile.move slice {{.*}}unit = "none"
  // CHECK-NOT: tile.move
  // GPU: tile.move
  %a = tile.move slice %x {offsets = array<i64: 0, 8, 0, 0>} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x32x4x4xi8> -> tensor<1x8x4x4xi8>
  %b = tile.move slice %x {offsets = array<i64: 0, 16, 0, 0>} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x32x4x4xi8> -> tensor<1x16x4x4xi8>
  %p = tile.pooling max %a {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pad_value = -128 : i64} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x8x4x4xi8> -> tensor<1x8x2x2xi8>
  %r = tile.pooling max %b {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pad_value = -128 : i64} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x16x4x4xi8> -> tensor<1x16x2x2xi8>
  %y = tile.from_map %p strides [0, 4, 2, 1] : tensor<1x8x2x2xi8> -> tensor<1x8x2x2xi8>
  %z = tile.from_map %r strides [0, 4, 2, 1] : tensor<1x16x2x2xi8> -> tensor<1x16x2x2xi8>
  return %y, %z : tensor<1x8x2x2xi8>, tensor<1x16x2x2xi8>
}

// -----

// GPU-LABEL: func.func @grouped
// CHECK-LABEL: func.func @grouped
func.func @grouped(%x0: tensor<1x64x28x28xi8>) -> tensor<1x128x14x14xi8> {
  %w = onnx.constant dense<1> : tensor<128x16x3x3xi8>
  %x = tile.to_map %x0 strides [0, 784, 28, 1] : tensor<1x64x28x28xi8> -> tensor<1x64x28x28xi8>
  // GPU: tile.contraction
  // GPU-SAME: tiling = #tile.tiling<[1, 1, {{[0-9]+}}, {{[0-9]+}}, {{[0-9]+}}]
  // CHECK: tile.contraction
  // CHECK-SAME: tiling = #tile.tiling<[1, 4, 32,
  // CHECK-SAME: unit = "dense"
  %y = tile.contraction %x, %w {group = 4 : i64, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x64x28x28xi8>, tensor<128x16x3x3xi8> -> tensor<1x128x14x14xi8>
  %z = tile.from_map %y strides [0, 196, 14, 1] : tensor<1x128x14x14xi8> -> tensor<1x128x14x14xi8>
  return %z : tensor<1x128x14x14xi8>
}
