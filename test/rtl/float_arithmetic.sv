// Testbench top of tilewright_float_pkg: the epilogue's chain from accumulator to integer, and the residual's parts.
module float_arithmetic (
    input logic [31:0] sum_i,
    input logic [31:0] scale_i,
    output logic [11:0] requantized_o,
    input logic [9:0] a_i,
    input logic [31:0] addend_i,
    output logic [31:0] fma_o,
    input logic [31:0] value_i,
    output logic [11:0] rounded_o
);
  logic [34:0] scaled;
  assign scaled = tilewright_float_pkg::float_multiply(tilewright_float_pkg::float_from_int(sum_i), scale_i);
  assign requantized_o = tilewright_float_pkg::round_to_int(scaled[34], scaled[33:24], scaled[23:0]);
  assign fma_o = tilewright_float_pkg::fma_int(a_i, scale_i, addend_i);
  assign rounded_o = tilewright_float_pkg::float_to_int(value_i);
endmodule
