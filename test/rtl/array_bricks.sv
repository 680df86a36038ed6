// Testbench top of systolic_array at the default shape: dense operands, one block of weights at a time.
module array_bricks (
    input logic clk_i,
    input logic rst_ni,
    input logic [4*128-1:0] word_i,
    input logic word_valid_i,
    input logic [2:0] word_slot_i,
    input logic step_valid_i,
    input logic step_first_i,
    input logic step_bank_i,
    input logic [2:0] step_slot_i,
    input logic [3:0] step_slice_i,
    input logic [16*4*8-1:0] weights_i,
    input logic drain_valid_i,
    input logic drain_bank_i,
    output logic pixel_valid_o,
    output logic [16*32-1:0] pixel_o
);
  systolic_array #(.P(4), .K(16), .C(4)) u_array (
      .clk_i, .rst_ni, .word_i, .word_valid_i({4{word_valid_i}}),
      .word_lanes_i(16'b1000_0100_0010_0001),  // bank b holds lane b's word
      .word_slot_i, .word_mode_i(2'd0), .pad_value_i(8'd0), .fill_valid_i(1'b0), .fill_lanes_i('0),
          .packed_offset_i('0),
      .packed_low_i('0), .packed_high_i('0), .packed_base_i('0), .packed_bytes_i('0), .window_valid_i(1'b0),
      .window_copy_i(1'b0), .window_previous_i('0), .window_shift_i('0), .window_first_i('0), .window_low_i('0),
      .window_high_i('0), .window_index_i('0),
      .step_valid_i, .step_first_i, .step_bank_i, .step_mode_i(2'd0), .step_slot_i, .step_slice_i, .step_ring_i('0),
      .step_window_i('0), .step_stride_i('0), .step_byte_i('0), .weights_i,
      .drain_valid_i, .drain_bank_i, .drain_parameters_i(1'b0),
      .pixel_valid_o, .pixel_parameters_o(), .pixel_o
  );
endmodule
