// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// CHECK-LABEL: systolic.program @main
// CHECK-SAME: array = "4x16x4"
systolic.program @main attributes {array = "4x16x4", constants_address = 4096 : i64, program_address = 8192 : i64,
    dram_bytes = 12288 : i64, expected_cycles = 500 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // CHECK-NEXT: systolic.load {mode = "planar", out_base = 16 : i64, out_pitch = 2 : i64, out_ring_rows = 8 : i64, planes = 3 : i64, row_count = 8 : i64, samples = 1 : i64, width = 8 : i64}
  systolic.load {mode = "planar", out_base = 16, out_pitch = 2, out_ring_rows = 8, planes = 3, row_count = 8,
    samples = 1, width = 8}
  // CHECK-NEXT: systolic.weights {byte_count = 256 : i64, destination = "table", dram_address = 4096 : i64, table = 3 : i64}
  systolic.weights {byte_count = 256, destination = "table", dram_address = 4096, table = 3}
  // CHECK-NEXT: systolic.execute {acc_finish = true, acc_init = true, clamp_max = 127 : i64, clamp_min = -128 : i64, mode = "packed", packed_channels = 3 : i64, release = "block", wait_load = 1 : i64, window_pad_top = -2 : i64}
  systolic.execute {acc_init = true, acc_finish = true, clamp_min = -128, clamp_max = 127, mode = "packed",
    packed_channels = 3, release = "block", wait_load = 1, window_pad_top = -2}
  // CHECK-NEXT: systolic.vector {channels = 16 : i64, op = "sum", scale = 1.250000e-01 : f32}
  systolic.vector {channels = 16, op = "sum", scale = 0.125 : f32}
  // CHECK-NEXT: systolic.store {dram_row_stride = -16 : i64, flip_sign = true, wait_vector = 1 : i64}
  systolic.store {dram_row_stride = -16, flip_sign = true, wait_vector = 1}
  // CHECK-NEXT: systolic.sync {end = true}
  systolic.sync {end = true}
}

// CHECK-LABEL: func.func @host
func.func @host(%x: tensor<1x3x8x8xui8>) -> tensor<1x10xi8> {
  // CHECK: systolic.run @main(%{{.*}}) : (tensor<1x3x8x8xui8>) -> tensor<1x10xi8>
  %y = systolic.run @main(%x) : (tensor<1x3x8x8xui8>) -> tensor<1x10xi8>
  return %y : tensor<1x10xi8>
}
