// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{of layer 'conv1': field in_pitch = 70000 does not fit its 16 bits (0 to 65535)}}
  systolic.execute {in_pitch = 70000}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{field clamp_min = -129 does not fit its 8 bits (-128 to 127)}}
  systolic.execute {clamp_min = -129}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{has no field kernel}}
  systolic.execute {kernel = 3}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{field release is one of keep, block, stream}}
  systolic.execute {release = "free"}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{field residual_fix is a finite f32}}
  systolic.execute {residual_fix = 0x7FC00000 : f32}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{field residual is true or false}}
  systolic.execute {residual = 1}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{ring_offset = 5 needs release = keep}}
  systolic.execute {release = "block", ring_offset = 5}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{packed_channels is 1 to 4 in mode packed, 0 otherwise}}
  systolic.execute {mode = "packed"}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{mode depthwise takes kernels up to 7, strides 1 and 2, no dilation}}
  systolic.execute {mode = "depthwise", window_kernel_height = 9}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{storing raw accumulators (store_int32) is not built yet}}
  systolic.execute {store_int32 = true}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{weights from the scratchpad are not built yet: source must be dram}}
  systolic.weights {source = "scratchpad"}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{order "token_major" is not built yet: it must be as_stored}}
  systolic.weights {order = "token_major"}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{a table has 256 bytes, not 16}}
  systolic.weights {destination = "table", byte_count = 16}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{dram_address = 8 must be a multiple of 16}}
  systolic.weights {dram_address = 8}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{a planar load interleaves up to 4 planes, not 5}}
  systolic.load {mode = "planar", planes = 5}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{loads 9 rows into a ring of 8}}
  systolic.load {row_count = 9, out_ring_rows = 8}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{an addition has a 1x1 window}}
  systolic.vector {op = "add", window_kernel_height = 2, window_kernel_width = 1}
  systolic.sync {end = true}
}

// -----

systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  // expected-error @+1 {{store addresses and strides are multiples of 16}}
  systolic.store {dram_row_stride = 8}
  systolic.sync {end = true}
}

// -----

// expected-error @+1 {{must end with systolic.sync {end = true}}}
systolic.program @main attributes {array = "4x16x4", constants_address = 0 : i64, program_address = 0 : i64,
    dram_bytes = 0 : i64, expected_cycles = 0 : i64, inputs = [], outputs = [], layers = [{name = "conv1"}]} {
  systolic.sync {}
}
