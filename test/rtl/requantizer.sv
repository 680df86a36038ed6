// Testbench top of the whole requantization, steps 1 and 2 of the epilogue, for 16 independent lanes: the functions that
// drain_group and vector_unit call in their stages, in the order in which they call them.
module requantizer (
    input logic [16*32-1:0] accumulator_i,
    input logic [16*32-1:0] bias_i,
    input logic [16*32-1:0] scale_i,
    input logic [16*32-1:0] scale_negative_i,
    input logic [7:0] zero_point_i,
    input logic [7:0] clamp_min_i,
    input logic [7:0] clamp_max_i,
    output logic [16*8-1:0] result_o
);
  logic [11:0] low, high;
  assign low = 12'($signed(clamp_min_i)) - 12'($signed(zero_point_i));
  assign high = 12'($signed(clamp_max_i)) - 12'($signed(zero_point_i));
  for (genvar k = 0; k < 16; k++) begin : g_lane
    logic [30:0] converted;
    logic [34:0] scaled;
    logic [11:0] rounded;
    assign converted = tilewright_float_pkg::float_from_int(accumulator_i[k*32+:32] + bias_i[k*32+:32]);
    assign scaled = tilewright_float_pkg::float_multiply(
        converted, converted[30] ? scale_negative_i[k*32+:32] : scale_i[k*32+:32]);
    assign rounded = tilewright_float_pkg::round_to_int(scaled[34], scaled[33:24], scaled[23:0]);
    assign result_o[k*8+:8] = tilewright_float_pkg::clamp_to_int8(rounded, low, high) + zero_point_i;
  end
endmodule
