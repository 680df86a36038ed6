// Mode depthwise: one kernel row of a group of P neighbouring pixels at a time, as entries of operand_reader.sv. The
// words of a kernel row are shared by all lanes, and those that the previous group of the row has read already are
// copied from its slot.
module window_walker #(
    parameter int unsigned P = 4,
    parameter int unsigned K = 16,
    parameter int unsigned C = 4
) (
    input logic clk_i,
    input logic rst_ni,

    input logic start_i,   // a job begins, its rows arrive; its constants below are held until job_done_o
    output logic job_done_o,  // its last entry is handed over in the cycle of this pulse
    input logic row_valid_i,
    input logic [23:0] row_i,
    input logic signed [19:0] row_y_i,
    input logic signed [19:0] row_ring_row_i,
    input logic row_block_last_i,
    input logic row_last_i,
    output logic row_done_o,
    input logic signed [19:0] ring_rows_i,
    input logic signed [19:0] height_i,
    input logic signed [19:0] width_i,
    input logic [7:0] pad_value_i,
    input logic signed [19:0] stride_width_i,
    input logic signed [19:0] pad_left_i,
    input logic [23:0] ring_words_i,   // arrives a cycle after the first row
    input logic [15:0] pitch_i,
    input logic [23:0] plane_pitch_i,
    input logic [15:0] kernel_height_i,
    input logic [15:0] kernel_width_i,
    input logic [15:0] out_width_i,

    output logic entry_valid_o,         // an entry, which stays until the next one:
    output logic [7:0] entry_pad_o,
    output logic entry_copy_o,          // words before `first` come from the previous group's slot
    output logic [23:0] entry_address_o,  // of word 0
    output logic [7:0] entry_first_o,   // words [first, end) are to be read, of which
    output logic [7:0] entry_end_o,
    output logic [7:0] entry_low_o,     // [low, high) exist
    output logic [7:0] entry_high_o,
    output logic [7:0] entry_shift_o,   // words from the previous group's first to this one's
    output logic [7:0] entry_stride_o,
    output logic [2:0] entry_rows_o,    // of the kernel: so many slots ago is the previous group's
    output logic [3:0] entry_byte_o,    // of the words, at which the block's channels begin
    output logic [7:0] entry_steps_o,
    output logic entry_brick_first_o,
    output logic entry_brick_last_o,
    output logic entry_block_last_o,
    output logic entry_job_last_o,
    input logic entry_other_i,                // tap_walker has handed over an entry
    input logic entry_free_i                  // an entry of either has been read
);
  typedef logic signed [19:0] coordinate_t;
  typedef logic [23:0] address_t;

  logic [65:0] rows[4];  // {last, block_last, y, ring_row, address}
  logic [1:0] row_read, row_write;
  logic [2:0] row_count;
  logic delay, row_last, row_block_last, row_begun, tap_begun;
  address_t row, tap_row, plane;
  coordinate_t y, ring_row, tap_ring_row, tap_y_in_map, column, low, high;
  logic [15:0] x, tap_y;
  logic [3:0] block_byte;
  logic [7:0] span, overlap;
  logic [1:0] entries_ahead;

  always_ff @(posedge clk_i) begin : windows
    entry_valid_o <= 1'b0;
    row_done_o <= 1'b0;
    job_done_o <= 1'b0;

    // Both walkers count the entries of both: the next job's first may follow while this one's last are being read.
    if (entry_other_i) entries_ahead = entries_ahead + 2'd1;
    if (entry_free_i) entries_ahead = entries_ahead - 2'd1;
    if (row_valid_i) begin
      rows[row_write] = {row_last_i, row_block_last_i, row_y_i, row_ring_row_i, row_i};
      row_write = row_write + 2'd1;
      row_count = row_count + 3'd1;
    end
    if (!delay && row_count != 3'd0 && entries_ahead < 2'd2) begin
      if (!row_begun) begin
        row_begun = 1'b1;
        {row_last, row_block_last, y, ring_row, row} = rows[row_read];
        x = 16'd0;
        column = -pad_left_i;
      end
      if (tap_y == 16'd0) begin
        tap_y_in_map = y;
        tap_ring_row = ring_row;
        tap_row = row;
      end
      entry_valid_o <= 1'b1;
      entries_ahead = entries_ahead + 2'd1;
      entry_shift_o <= 8'(P * 32'(stride_width_i));
      entry_stride_o <= stride_width_i[7:0];
      entry_rows_o <= kernel_height_i[2:0];
      entry_pad_o <= pad_value_i;
      entry_byte_o <= block_byte;
      entry_steps_o <= 8'((32'(kernel_width_i) + C - 1) / C);
      entry_brick_first_o <= tap_y == 16'd0;
      span = 8'((P - 1) * 32'(stride_width_i) + 32'(kernel_width_i));
      overlap = (kernel_width_i[7:0] > stride_width_i[7:0]) ? kernel_width_i[7:0] - stride_width_i[7:0] : 8'd0;
      if (x == 16'd0) overlap = 8'd0;
      low = (column < 20'sd0) ? -column : 20'sd0;
      high = width_i - column;
      if (high < 20'sd0) high = 20'sd0;
      if (high > 20'sd255) high = 20'sd255;
      if (tap_y_in_map < 20'sd0 || tap_y_in_map >= height_i) begin  // nothing to read
        high = 20'sd0;
        span = 8'd0;
      end
      entry_copy_o <= overlap != 8'd0;
      entry_address_o <= tap_row + plane + 24'(column);
      entry_first_o <= overlap;
      entry_end_o <= span;
      entry_low_o <= low[7:0];
      entry_high_o <= high[7:0];
      // The next kernel row, group, row, block.
      tap_y = tap_y + 16'd1;
      tap_y_in_map = tap_y_in_map + 20'sd1;
      tap_ring_row = tap_ring_row + 20'sd1;
      tap_row = tap_row + {8'd0, pitch_i};
      if (tap_ring_row >= ring_rows_i) begin
        tap_ring_row = tap_ring_row - ring_rows_i;
        tap_row = tap_row - ring_words_i;
      end
      entry_brick_last_o <= tap_y == kernel_height_i;
      entry_block_last_o <= 1'b0;
      entry_job_last_o <= 1'b0;
      if (tap_y == kernel_height_i) begin
        tap_y = 16'd0;
        x = x + 16'(P);
        column = column + 20'(P * 32'(stride_width_i));
        if (x >= out_width_i) begin
          row_begun = 1'b0;
          row_read = row_read + 2'd1;
          row_count = row_count - 3'd1;
          row_done_o <= 1'b1;
          entry_block_last_o <= row_block_last;
          entry_job_last_o <= row_last;
          job_done_o <= row_last;
          if (row_block_last) begin
            block_byte = block_byte + 4'(K);
            if (block_byte == 4'd0) plane = plane + plane_pitch_i;
          end
        end
      end
    end
    if (row_valid_i) delay = 1'b0;
    if (start_i) begin
      delay = 1'b1;
      block_byte = 4'd0;
      plane = 24'd0;
    end

    if (!rst_ni) begin
      row_read = 2'd0;
      row_write = 2'd0;
      row_count = 3'd0;
      row_begun = 1'b0;
      delay = 1'b0;
      tap_y = 16'd0;
      entries_ahead = 2'd0;
    end
  end
endmodule
