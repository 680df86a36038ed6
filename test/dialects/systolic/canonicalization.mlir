// RUN: tilewright-opt %s --canonicalize --cse | FileCheck %s

// Each descriptor is an event: the same weights pass twice, a load that nothing names is read by a later job. Nothing may be
// merged, moved or dropped.
// CHECK-LABEL: systolic.program @twice
systolic.program @twice attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 4096 : i64,
    dram_bytes = 8192 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "a"}]} {
  // CHECK-NEXT: systolic.weights {byte_count = 64 : i64}
  systolic.weights {byte_count = 64}
  // CHECK-NEXT: systolic.load {out_ring_rows = 1 : i64, row_count = 1 : i64}
  systolic.load {out_ring_rows = 1, row_count = 1}
  // CHECK-NEXT: systolic.weights {byte_count = 64 : i64}
  systolic.weights {byte_count = 64}
  // CHECK-NEXT: systolic.sync {end = true}
  systolic.sync {end = true}
}

// A run whose result is not used still runs: it may be what a person measures. Two equal runs are two runs.
// CHECK-LABEL: func.func @runs
func.func @runs(%x: tensor<1x3x8x8xui8>) -> tensor<1x10xi8> {
  // CHECK-COUNT-3: systolic.run @twice(%arg0)
  %0 = systolic.run @twice(%x) : (tensor<1x3x8x8xui8>) -> tensor<1x10xi8>
  %1 = systolic.run @twice(%x) : (tensor<1x3x8x8xui8>) -> tensor<1x10xi8>
  %2 = systolic.run @twice(%x) : (tensor<1x3x8x8xui8>) -> tensor<1x10xi8>
  return %2 : tensor<1x10xi8>
}
