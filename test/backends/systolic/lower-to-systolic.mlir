// RUN: tilewright-opt %s --lower-to-systolic | FileCheck %s

// An image as NCHW planes, one packed convolution with ReLU, the result stored as blocks of 16 channels.
// CHECK-LABEL: systolic.program @array_conv
// CHECK-SAME: array = "4x16x4"
// CHECK-SAME: inputs = [{address = 0 : i64, bytes = 192 : i64, host_strides = array<i64: 0, 64, 8, 1>, layout = "nchw", name = "argument 0"
// CHECK-SAME: shape = array<i64: 1, 3, 8, 8>, unsigned = true
// CHECK-SAME: layers = [{bytes_in = 192 : i64, bytes_out = 1024 : i64, bytes_residual = 0 : i64, bytes_weights = 640 : i64, ideal_cycles = 108 : i64, kind = "convolution", macs = 27648 : i64, name = "conv1", nodes = ["conv1: Conv", "relu1: Relu"], predicted_cycles = 150 : i64
// CHECK-SAME: outputs = [{address = 192 : i64
// CHECK-DAG:  systolic.load {dram_plane_stride = 64 : i64, {{.*}}flip_sign = true, mode = "planar", {{.*}}planes = 3 : i64, row_count = 8 : i64, samples = 1 : i64, width = 8 : i64}
// CHECK-DAG:  systolic.weights {byte_count = 640 : i64, destination = "ring", dram_address = 4096 : i64
// CHECK:      systolic.execute {acc_finish = true, acc_init = true, channel_steps = 1 : i64, clamp_max = 127 : i64, clamp_min = -128 : i64
// CHECK-SAME:   mode = "packed", out_base = 16 : i64
// CHECK-SAME:   packed_channels = 3 : i64, release = "block", samples = 1 : i64, wait_load = 1 : i64
// CHECK-NEXT: systolic.store {dram_address = 192 : i64, {{.*}}flip_sign = true, {{.*}}wait_execute = 1 : i64
// CHECK-NEXT: systolic.sync {end = true}
// CHECK-LABEL: func.func @conv
// CHECK-NEXT: %[[Y:.*]] = systolic.run @array_conv(%arg0) : (tensor<1x3x8x8xui8>) -> tensor<1x16x8x8xui8>
// CHECK-NEXT: return %[[Y]]
func.func @conv(%image: tensor<1x3x8x8xui8>) -> tensor<1x16x8x8xui8> {
  %x = tile.to_map %image strides [0, 64, 8, 1]
    {placement = #tile.dram<planar, offset = 0, row_stride = 8, plane_stride = 64, sample_stride = 192>}
    : tensor<1x3x8x8xui8> -> tensor<1x3x8x8xui8>
  %w = onnx.constant dense<1> : tensor<16x3x3x3xi8>
  %y = tile.contraction %x, %w {
    estimate = #tile.estimate<cycles = 150, ideal = 108, dram_bytes = 1216, bound = "mapping">,
    layer = "conv1", nodes = ["conv1: Conv", "relu1: Relu"], pads = array<i64: 1, 1, 1, 1>, pad_value = 0 : i64,
    tiling = #tile.tiling<[1, 1, 16, 8, 8], reduction = [], order = [], unit = "packed", weights = kept>,
    operand_placements = [#tile.placement<base = 0, pitch = 2, plane_pitch = 16, sample_pitch = 16, ring_rows = 8,
      packed = 3, dram = <planar, offset = 0, row_stride = 8, plane_stride = 64, sample_stride = 192>>],
    result_placement = #tile.placement<base = 16, pitch = 8, plane_pitch = 64, sample_pitch = 64, ring_rows = 8,
      dram = <words, offset = 192, row_stride = 128, plane_stride = 1024, sample_stride = 1024>>
  } epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<5> : tensor<16xi32>, scale = dense<0.078125> : tensor<16xf32>,
      zero_point = -128 : i64, clamp_min = -128 : i64, clamp_max = 127 : i64} : i32 -> ui8
    tile.yield %q : ui8
  } : tensor<1x3x8x8xui8>, tensor<16x3x3x3xi8> -> tensor<1x16x8x8xui8>
  %out = tile.from_map %y strides [0, 64, 8, 1]
    {placement = #tile.dram<words, offset = 192, row_stride = 128, plane_stride = 1024, sample_stride = 1024>}
    : tensor<1x16x8x8xui8> -> tensor<1x16x8x8xui8>
  return %out : tensor<1x16x8x8xui8>
}

// A host operator between two layers: two programs. The second host operator, needed by neither, may come first.
// Tensors without a name are called after the layers that make or read them.
// CHECK-DAG: systolic.program @array_two_0{{.*}}outputs = [{{[^]]*}}name = "pool1"
// CHECK-DAG: systolic.program @array_two_1{{.*}}inputs = [{{[^]]*}}name = "pool2"
// CHECK-LABEL: func.func @two
// CHECK:      onnx.node "Neg"
// CHECK-NEXT: %[[A:.*]] = systolic.run @array_two_0(%arg0)
// CHECK-NEXT: %[[H:.*]] = onnx.node "Sign" since 13 (%[[A]])
// CHECK-NEXT: %[[B:.*]] = systolic.run @array_two_1(%[[H]])
// CHECK-NEXT: return %[[B]]
func.func @two(%x: tensor<1x16x4x4xi8>) -> (tensor<1x16x4x4xi8>, tensor<1x16x4x4xi8>) {
  %m = tile.to_map %x strides [0, 16, 4, 1]
    {placement = #tile.dram<words, offset = 0, row_stride = 64, plane_stride = 256, sample_stride = 256>}
    : tensor<1x16x4x4xi8> -> tensor<1x16x4x4xi8>
  %p = tile.pooling max %m {layer = "pool1", kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, pad_value = -128 : i64,
    operand_placements = [#tile.placement<base = 0, pitch = 4, plane_pitch = 16, sample_pitch = 16, ring_rows = 4,
      dram = <words, offset = 0, row_stride = 64, plane_stride = 256, sample_stride = 256>>],
    result_placement = #tile.placement<base = 16, pitch = 4, plane_pitch = 16, sample_pitch = 16, ring_rows = 4,
      dram = <words, offset = 256, row_stride = 64, plane_stride = 256, sample_stride = 256>>} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x16x4x4xi8> -> tensor<1x16x4x4xi8>
  %a = tile.from_map %p strides [0, 16, 4, 1]
    {placement = #tile.dram<words, offset = 256, row_stride = 64, plane_stride = 256, sample_stride = 256>}
    : tensor<1x16x4x4xi8> -> tensor<1x16x4x4xi8>
  %h = onnx.node "Sign" since 13 (%a) : (tensor<1x16x4x4xi8>) -> tensor<1x16x4x4xi8>
  %m2 = tile.to_map %h strides [0, 16, 4, 1]
    {placement = #tile.dram<words, offset = 512, row_stride = 64, plane_stride = 256, sample_stride = 256>}
    : tensor<1x16x4x4xi8> -> tensor<1x16x4x4xi8>
  %p2 = tile.pooling max %m2 {layer = "pool2", kernel = array<i64: 3, 3>, pads = array<i64: 1, 1, 1, 1>, pad_value = -128 : i64,
    operand_placements = [#tile.placement<base = 0, pitch = 4, plane_pitch = 16, sample_pitch = 16, ring_rows = 4,
      dram = <words, offset = 512, row_stride = 64, plane_stride = 256, sample_stride = 256>>],
    result_placement = #tile.placement<base = 16, pitch = 4, plane_pitch = 16, sample_pitch = 16, ring_rows = 4,
      dram = <words, offset = 768, row_stride = 64, plane_stride = 256, sample_stride = 256>>} epilogue {
  ^bb0(%e: i8):
    tile.yield %e : i8
  } : tensor<1x16x4x4xi8> -> tensor<1x16x4x4xi8>
  %b = tile.from_map %p2 strides [0, 16, 4, 1]
    {placement = #tile.dram<words, offset = 768, row_stride = 64, plane_stride = 256, sample_stride = 256>}
    : tensor<1x16x4x4xi8> -> tensor<1x16x4x4xi8>
  %n = onnx.node "Neg" since 13 (%x) : (tensor<1x16x4x4xi8>) -> tensor<1x16x4x4xi8>
  return %b, %n : tensor<1x16x4x4xi8>, tensor<1x16x4x4xi8>
}
