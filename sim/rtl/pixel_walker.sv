// The output pixels of an execute job in groups of P, dense and packed: per pixel where its window begins in the
// scratchpad. One pixel per cycle, up to two groups ahead of tap_walker. A block of output channels begins with a group
// of its own; lanes that its last group does not need are invalid.
module pixel_walker #(
    parameter int unsigned P = 4
) (
    input logic clk_i,
    input logic rst_ni,

    input logic row_valid_i,
    input logic [23:0] row_i,
    input logic signed [19:0] row_y_i,
    input logic signed [19:0] row_ring_row_i,
    input logic row_block_last_i,
    input logic row_last_i,
    output logic row_done_o,
    // Held until the job's last pixel has been handed over; columns count bytes in mode packed.
    input logic [15:0] out_width_i,
    input logic signed [19:0] stride_width_i,
    input logic signed [19:0] pad_left_i,

    output logic pixel_valid_o,
    output logic [23:0] pixel_row_o,  // address of column 0 of the window's first row
    output logic signed [19:0] pixel_y_o,
    output logic signed [19:0] pixel_ring_row_o,
    output logic signed [19:0] pixel_x_o,  // the window's first column
    output logic pixel_exists_o,           // 0 in a lane that is not needed
    output logic group_end_o,              // with a group's last lane, also:
    output logic group_block_last_o,
    output logic group_job_last_o,
    input logic group_free_i               // a group has been taken up
);
  typedef logic signed [19:0] coordinate_t;

  logic [65:0] rows[4];  // {last, block_last, y, ring_row, address}
  logic [1:0] row_read, row_write;
  logic [2:0] row_count;
  logic [23:0] row;
  coordinate_t y, ring_row, column;
  logic last, block_last;
  logic [15:0] x;
  logic [7:0] lane;
  logic block_ended;
  logic [1:0] groups_ahead;

  always_ff @(posedge clk_i) begin : walk
    pixel_valid_o <= 1'b0;
    row_done_o <= 1'b0;
    if (group_free_i) groups_ahead = groups_ahead - 2'd1;
    if (row_valid_i) begin
      rows[row_write] = {row_last_i, row_block_last_i, row_y_i, row_ring_row_i, row_i};
      row_write = row_write + 2'd1;
      row_count = row_count + 3'd1;
    end
    if ((row_count != 3'd0 || block_ended) && groups_ahead < 2'd2) begin
      if (!block_ended) begin
        if (x == 16'd0) begin
          {last, block_last, y, ring_row, row} = rows[row_read];
          column = -pad_left_i;
        end
        pixel_row_o <= row;
        pixel_y_o <= y;
        pixel_ring_row_o <= ring_row;
        pixel_x_o <= column;
      end
      pixel_valid_o <= 1'b1;
      pixel_exists_o <= !block_ended;
      if (!block_ended) begin
        x = x + 16'd1;
        column = column + stride_width_i;
        if (x == out_width_i) begin
          x = 16'd0;
          row_read = row_read + 2'd1;
          row_count = row_count - 3'd1;
          row_done_o <= 1'b1;
          block_ended = block_last;
        end
      end
      lane = lane + 8'd1;
      group_end_o <= lane == 8'(P);
      if (lane == 8'(P)) begin
        lane = 8'd0;
        groups_ahead = groups_ahead + 2'd1;
        group_block_last_o <= block_ended;
        group_job_last_o <= block_ended && last;
        block_ended = 1'b0;
      end
    end
    if (!rst_ni) begin
      row_read = 2'd0;
      row_write = 2'd0;
      row_count = 3'd0;
      groups_ahead = 2'd0;
      block_ended = 1'b0;
      lane = 8'd0;
      x = 16'd0;
    end
  end
endmodule
