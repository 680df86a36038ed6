// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// A convolution as it leaves form-layers, with every decision on it. The weights are int8, the activations uint8 in the
// model: numbers in the epilogue are in the device's domain (value - 128).
// CHECK-LABEL: func.func @conv
func.func @conv(%image: tensor<1x3x8x8xui8>) -> tensor<1x16x8x8xui8> {
  // CHECK: tile.to_map %{{.*}} strides [0, 64, 8, 1] {placement = #tile.dram<planar, offset = 0, row_stride = 8, plane_stride = 64, sample_stride = 192>}
  %x = tile.to_map %image strides [0, 64, 8, 1]
    {placement = #tile.dram<planar, offset = 0, row_stride = 8, plane_stride = 64, sample_stride = 192>}
    : tensor<1x3x8x8xui8> -> tensor<1x3x8x8xui8>
  %w = onnx.constant dense<1> : tensor<16x3x3x3xi8>
  // CHECK: tile.contraction
  // CHECK-SAME: estimate = #tile.estimate<cycles = 150, ideal = 108, dram_bytes = 1216, bound = "mapping">
  // CHECK-SAME: operand_placements = [#tile.placement<base = 0, pitch = 2, plane_pitch = 16, sample_pitch = 16, ring_rows = 8, packed = 3, dram = <planar, offset = 0, row_stride = 8, plane_stride = 64, sample_stride = 192>>]
  // CHECK-SAME: tiling = #tile.tiling<[1, 1, 16, 8, 8], reduction = [], order = [], unit = "packed", weights = kept>
  %y = tile.contraction %x, %w {
    layer = "conv1", nodes = ["conv1: Conv", "relu1: Relu"], pads = array<i64: 1, 1, 1, 1>, pad_value = 0 : i64,
    input_quants = [#tile.quant<1.562500e-02 : f32, 128>], weight_scales = dense<2.500000e-01> : tensor<1xf32>,
    tiling = #tile.tiling<[1, 1, 16, 8, 8], reduction = [], order = [], unit = "packed", weights = kept>,
    operand_placements = [#tile.placement<base = 0, pitch = 2, plane_pitch = 16, sample_pitch = 16, ring_rows = 8,
      packed = 3, dram = <planar, offset = 0, row_stride = 8, plane_stride = 64, sample_stride = 192>>],
    result_placement = #tile.placement<base = 16, pitch = 8, plane_pitch = 64, sample_pitch = 64, ring_rows = 8,
      dram = <words, offset = 192, row_stride = 128, plane_stride = 1024, sample_stride = 1024>>,
    estimate = #tile.estimate<cycles = 150, ideal = 108, dram_bytes = 1216, bound = "mapping">
  } epilogue {
  ^bb0(%acc: i32):
    // CHECK: tile.requantize %{{.*}} {bias = dense<5> : tensor<16xi32>, clamp_max = 127 : i64, clamp_min = -128 : i64, quant = #tile.quant<5.000000e-02 : f32, 0>, scale = dense<7.812500e-02> : tensor<16xf32>, zero_point = -128 : i64} : i32 -> ui8
    %q = tile.requantize %acc {bias = dense<5> : tensor<16xi32>, scale = dense<0.078125> : tensor<16xf32>,
      zero_point = -128 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64, quant = #tile.quant<5.000000e-02 : f32, 0>}
      : i32 -> ui8
    // CHECK: tile.yield %{{.*}} : ui8
    tile.yield %q : ui8
  } : tensor<1x3x8x8xui8>, tensor<16x3x3x3xi8> -> tensor<1x16x8x8xui8>
  // CHECK: tile.from_map %{{.*}} strides [0, 64, 8, 1]
  %out = tile.from_map %y strides [0, 64, 8, 1]
    {placement = #tile.dram<words, offset = 192, row_stride = 128, plane_stride = 1024, sample_stride = 1024>}
    : tensor<1x16x8x8xui8> -> tensor<1x16x8x8xui8>
  return %out : tensor<1x16x8x8xui8>
}

// A residual block's last convolution: requantize, add the skip connection, table. 56 rows in tiles of 14, input and
// residual loaded from DRAM into rings of two tiles, the result stored behind.
// CHECK-LABEL: func.func @residual
func.func @residual(%x: tensor<1x64x56x56xi8>, %skip: tensor<1x256x56x56xi8>) -> tensor<1x256x56x56xi8> {
  %w = onnx.constant dense<1> : tensor<256x64x1x1xi8>
  // CHECK: tile.contraction %{{.*}}, %{{.*}} residual(%{{.*}} : tensor<1x256x56x56xi8>)
  // CHECK-SAME: tiling = #tile.tiling<[1, 1, 256, 14, 56], reduction = [], order = [height], unit = "dense", weights = kept>
  %y = tile.contraction %x, %w residual(%skip : tensor<1x256x56x56xi8>) {layer = "res2a",
    tiling = #tile.tiling<[1, 1, 256, 14, 56], reduction = [], order = [height], unit = "dense", weights = kept>,
    operand_placements = [
      #tile.placement<base = 0, pitch = 56, plane_pitch = 3136, sample_pitch = 12544, ring_rows = 56>,
      #tile.placement<base = 12544, pitch = 56, plane_pitch = 1568, sample_pitch = 25088, ring_rows = 28,
        dram = <words, offset = 0, row_stride = 896, plane_stride = 50176, sample_stride = 802816>>],
    result_placement = #tile.placement<base = 12544, pitch = 56, plane_pitch = 1568, sample_pitch = 25088, ring_rows = 28,
        dram = <words, offset = 802816, row_stride = 896, plane_stride = 50176, sample_stride = 802816>>
  } epilogue {
  ^bb0(%acc: i32, %r: i8):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 3 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64} : i32 -> i8
    // CHECK: tile.residual_add %{{.*}}, %{{.*}} {clamp_max = 127 : i64, clamp_min = 3 : i64, fix = 1.500000e+00 : f32, ra = 5.000000e-01 : f32, rb = 7.500000e-01 : f32, swap} : i8, i8 -> i8
    %s = tile.residual_add %q, %r {ra = 0.5 : f32, rb = 0.75 : f32, fix = 1.5 : f32, swap, clamp_min = 3 : i64,
      clamp_max = 127 : i64} : i8, i8 -> i8
    // CHECK: tile.table %{{.*}} {table = dense<7> : tensor<256xi8>} : i8
    %t = tile.table %s {table = dense<7> : tensor<256xi8>} : i8
    tile.yield %t : i8
  } : tensor<1x64x56x56xi8>, tensor<256x64x1x1xi8> -> tensor<1x256x56x56xi8>
  return %y : tensor<1x256x56x56xi8>
}

// The stem: convolution and pooling run tile by tile; only a ring of the 112x112 map exists.
// CHECK-LABEL: func.func @stem
func.func @stem(%x: tensor<1x3x224x224xi8>, %w: tensor<64x3x7x7xi8>) -> tensor<1x64x56x56xi8> {
  // CHECK: tile.group attributes {tiling = #tile.tiling<[1, 1, 64, 4, 56], reduction = [], order = [height], unit = "vector", weights = none>}
  %p = tile.group attributes {
    tiling = #tile.tiling<[1, 1, 64, 4, 56], reduction = [], order = [height], unit = "vector", weights = none>} {
    %c = tile.contraction %x, %w {strides = array<i64: 2, 2>, pads = array<i64: 3, 3, 3, 3>,
      result_placement = #tile.placement<base = 11000, pitch = 112, plane_pitch = 1792, sample_pitch = 7168, ring_rows = 16>}
    epilogue {
    ^bb0(%acc: i32):
      %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
        zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
      tile.yield %q : i8
    } : tensor<1x3x224x224xi8>, tensor<64x3x7x7xi8> -> tensor<1x64x112x112xi8>
    // CHECK: tile.pooling max %{{.*}} {kernel = array<i64: 3, 3>, pad_value = -128 : i64, pads = array<i64: 1, 1, 0, 0>, strides = array<i64: 2, 2>} epilogue
    %m = tile.pooling max %c {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 0, 0>,
      pad_value = -128 : i64} epilogue {
    ^bb0(%e: i8):
      tile.yield %e : i8
    } : tensor<1x64x112x112xi8> -> tensor<1x64x56x56xi8>
    tile.yield %m : tensor<1x64x56x56xi8>
  } : tensor<1x64x56x56xi8>
  return %p : tensor<1x64x56x56xi8>
}

// The other roots of the array.
// CHECK-LABEL: func.func @roots
func.func @roots(%x: tensor<2x24x14x14xui8>, %w: tensor<24x1x3x3xi8>) -> (tensor<2x48x14x14xui8>, tensor<2x24x1x1xui8>) {
  // CHECK: tile.depthwise
  %d = tile.depthwise %x, %w {pads = array<i64: 1, 1, 1, 1>} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<24xi32>, scale = dense<0.5> : tensor<24xf32>,
      negative_scale = dense<0.125> : tensor<24xf32>, zero_point = 0 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64}
      : i32 -> ui8
    tile.yield %q : ui8
  } : tensor<2x24x14x14xui8>, tensor<24x1x3x3xi8> -> tensor<2x24x14x14xui8>
  // CHECK: tile.elementwise %{{.*}} residual(%{{.*}} : tensor<2x24x14x14xui8>)
  %a = tile.elementwise %d residual(%x : tensor<2x24x14x14xui8>) epilogue {
  ^bb0(%e: ui8, %r: ui8):
    // CHECK: tile.residual_add %{{.*}}, %{{.*}} {{{.*}}, zero_point = -7 : i64} : ui8, ui8 -> ui8
    %s = tile.residual_add %e, %r {ra = 0.5 : f32, rb = 0.75 : f32, fix = 1.5 : f32, zero_point = -7 : i64,
      clamp_min = -128 : i64, clamp_max = 127 : i64} : ui8, ui8 -> ui8
    tile.yield %s : ui8
  } : tensor<2x24x14x14xui8> -> tensor<2x24x14x14xui8>
  // CHECK: tile.move concat %{{.*}}, %{{.*}} epilogue
  %c = tile.move concat %a, %d epilogue {
  ^bb0(%e: ui8):
    tile.yield %e : ui8
  } : tensor<2x24x14x14xui8>, tensor<2x24x14x14xui8> -> tensor<2x48x14x14xui8>
  // CHECK: tile.reduction sum %{{.*}} {dims = array<i64: 2, 3>}
  %g = tile.reduction sum %a {dims = array<i64: 2, 3>} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<5.1e-3> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64} : i32 -> ui8
    tile.yield %q : ui8
  } : tensor<2x24x14x14xui8> -> tensor<2x24x1x1xui8>
  return %c, %g : tensor<2x48x14x14xui8>, tensor<2x24x1x1xui8>
}

// Other targets: a batched f16 product of two tensors with its epilogue ...
// CHECK-LABEL: func.func @batched_f16_matmul
func.func @batched_f16_matmul(%a: tensor<12x64x1x128xf16>, %b: tensor<12x256x1x64xf16>) -> tensor<12x256x1x128xf16> {
  // CHECK: tile.contraction %{{.*}}, %{{.*}} {weights_order = #tile<weights_order channel_major>} epilogue
  %y = tile.contraction %a, %b {weights_order = #tile<weights_order channel_major>} epilogue {
  ^bb0(%acc: f32):
    // CHECK: tile.affine %{{.*}} {bias = dense<1.000000e+00> : tensor<256xf32>} : f32 -> f16
    %h = tile.affine %acc {bias = dense<1.0> : tensor<256xf32>} : f32 -> f16
    // CHECK: tile.activation gelu %{{.*}} : f16
    %g = tile.activation gelu %h : f16
    tile.yield %g : f16
  } : tensor<12x64x1x128xf16>, tensor<12x256x1x64xf16> -> tensor<12x256x1x128xf16>
  return %y : tensor<12x256x1x128xf16>
}

// ... and attention as one group: the scores never leave the chip.
// CHECK-LABEL: func.func @attention
func.func @attention(%q: tensor<12x64x1x128xf16>, %k: tensor<12x64x1x128xf16>, %v: tensor<12x64x1x128xf16>)
    -> tensor<12x64x1x128xf16> {
  // CHECK: tile.group attributes {layer = "attention"}
  %o = tile.group attributes {layer = "attention"} {
    %s = tile.contraction %q, %k {weights_order = #tile<weights_order token_major>} epilogue {
    ^bb0(%acc: f32):
      %h = tile.affine %acc {scale = dense<0.125> : tensor<1xf32>} : f32 -> f32
      tile.yield %h : f32
    } : tensor<12x64x1x128xf16>, tensor<12x64x1x128xf16> -> tensor<12x128x1x128xf32>
    // CHECK: tile.normalize softmax
    %p = tile.normalize softmax %s epilogue {
    ^bb0(%e: f32):
      %h = tile.affine %e : f32 -> f16
      tile.yield %h : f16
    } : tensor<12x128x1x128xf32> -> tensor<12x128x1x128xf16>
    %r = tile.contraction %p, %v {weights_order = #tile<weights_order channel_major>} epilogue {
    ^bb0(%acc: f32):
      %h = tile.affine %acc : f32 -> f16
      tile.yield %h : f16
    } : tensor<12x128x1x128xf16>, tensor<12x64x1x128xf16> -> tensor<12x64x1x128xf16>
    tile.yield %r : tensor<12x64x1x128xf16>
  } : tensor<12x64x1x128xf16>
  return %o : tensor<12x64x1x128xf16>
}

// CHECK-LABEL: func.func @grouped_int8
func.func @grouped_int8(%x: tensor<1x64x28x28xi8>, %w: tensor<128x16x3x3xi8>) -> tensor<1x128x14x14xi8> {
  // CHECK: group = 4 : i64
  %y = tile.contraction %x, %w {group = 4 : i64, strides = array<i64: 2, 2>, pads = array<i64: 1, 1, 1, 1>} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x64x28x28xi8>, tensor<128x16x3x3xi8> -> tensor<1x128x14x14xi8>
  return %y : tensor<1x128x14x14xi8>
}
