// Modes dense and packed: the words that a group of pixels needs, tap by tap. Collects the lanes of the next two groups
// while it goes through a group's window; hands over *entries* (operand_reader.sv): dense, one word of each lane (rows
// and columns of the window, 16 channels at a time); packed, the bytes of one kernel row of each lane.
//
// No multiplication per tap: a lane's address advances by products made once per job.
module tap_walker #(
    parameter int unsigned P = 4,
    parameter int unsigned C = 4,
    localparam int unsigned Slices = 16 / C
) (
    input logic clk_i,
    input logic rst_ni,

    // The job's constants, held until job_done_o.
    input logic packed_i,
    input logic [7:0] pad_value_i,
    input logic signed [19:0] ring_rows_i,
    input logic signed [19:0] height_i,
    input logic signed [19:0] width_i,  // packed: in bytes
    input logic signed [19:0] dilation_height_i,
    input logic signed [19:0] dilation_width_i,
    input logic [23:0] dilation_words_i,  // words between two rows of the window
    input logic [23:0] ring_words_i,
    input logic [23:0] plane_pitch_i,
    input logic [15:0] channel_steps_i,
    input logic [15:0] kernel_height_i,
    input logic [15:0] kernel_width_i,
    input logic [7:0] row_bytes_i,  // packed: bytes of a kernel row
    output logic job_done_o,        // its last entry is handed over in the cycle of this pulse

    input logic pixel_valid_i,
    input logic [23:0] pixel_row_i,
    input logic signed [19:0] pixel_y_i,
    input logic signed [19:0] pixel_ring_row_i,
    input logic signed [19:0] pixel_x_i,
    input logic pixel_exists_i,
    input logic group_end_i,
    input logic group_block_last_i,
    input logic group_job_last_i,
    output logic group_free_o,

    output logic entry_valid_o,               // an entry, which stays until the next one:
    output logic [P-1:0] entry_todo_o,        // lanes with words to read …
    output logic [P-1:0] entry_fill_o,        // … and lanes with padding
    output logic [P*24-1:0] entry_address_o,
    output logic [P*4-1:0] entry_more_o,      // packed: words after the first,
    output logic [P*10-1:0] entry_offset_o,   // where the first one's byte 0 goes, relative to the kernel row's,
    output logic [P*8-1:0] entry_low_o,       // and the first and the last byte + 1 of the kernel row that exist
    output logic [P*8-1:0] entry_high_o,
    output logic entry_packed_o,
    output logic [7:0] entry_pad_o,
    output logic [7:0] entry_bytes_o,         // packed: of the kernel row
    output logic [6:0] entry_base_o,          // packed: byte of the lanes' rings at which the kernel row goes,
    output logic [6:0] entry_ring_o,          // and at which the first step reads
    output logic [7:0] entry_steps_o,
    output logic entry_first_o,
    output logic entry_last_o,
    output logic entry_block_last_o,
    output logic entry_job_last_o,
    input logic entry_other_i,                // window_walker has handed over an entry
    input logic entry_free_i,                 // an entry of either has been read
    input logic packed_step_i                 // a packed step has been issued
);
  typedef logic signed [19:0] coordinate_t;
  typedef logic [23:0] address_t;

  // ---- The next two groups: lane p of group g at g * P + p.
  address_t next_row[2*P];
  coordinate_t next_ring_row[2*P];
  coordinate_t next_y[2*P];
  coordinate_t next_x[2*P];
  logic next_exists[2*P];
  logic next_block_last[2];
  logic next_job_last[2];
  logic next_read, next_write;
  logic [1:0] next_count;
  logic [7:0] next_lane;

  // ---- The group at work.
  logic group_valid, group_block_last, group_job_last;
  address_t lane_row[P];
  coordinate_t lane_ring_row[P];
  coordinate_t lane_y[P];
  coordinate_t lane_x[P];
  logic lane_exists[P];
  logic [15:0] tap_y, tap_x, steps_left;
  coordinate_t tap_column;
  address_t plane_offset;

  // ---- Bytes in the lanes' rings, mode packed.
  logic [6:0] ring_write, ring_steps;
  logic [7:0] ring_used, ring_carry, available;
  logic packed_first;

  logic [1:0] entries_ahead;
  logic formed, row_ended, last_tap, in_map;
  coordinate_t x, low, high, word;
  logic [15:0] steps;
  logic [P-1:0] todo, fill;
  logic [P*24-1:0] address;
  logic [P*4-1:0] more;
  logic [P*10-1:0] offset;
  logic [P*8-1:0] lows, highs;

  always_ff @(posedge clk_i) begin : taps
    entry_valid_o <= 1'b0;
    group_free_o <= 1'b0;
    job_done_o <= 1'b0;

    // Both walkers count the entries of both: the next job's first may follow while this one's last are being read.
    if (entry_other_i) entries_ahead = entries_ahead + 2'd1;
    if (entry_free_i) entries_ahead = entries_ahead - 2'd1;
    if (packed_step_i) ring_used = ring_used - 8'(C);
    if (pixel_valid_i) begin
      next_row[32'(next_write)*P+32'(next_lane)] = pixel_row_i;
      next_ring_row[32'(next_write)*P+32'(next_lane)] = pixel_ring_row_i;
      next_y[32'(next_write)*P+32'(next_lane)] = pixel_y_i;
      next_x[32'(next_write)*P+32'(next_lane)] = pixel_x_i;
      next_exists[32'(next_write)*P+32'(next_lane)] = pixel_exists_i;
      next_lane = next_lane + 8'd1;
      if (group_end_i) begin
        next_block_last[next_write] = group_block_last_i;
        next_job_last[next_write] = group_job_last_i;
        next_lane = 8'd0;
        next_write = !next_write;
        next_count = next_count + 2'd1;
      end
    end

    formed = 1'b0;
    row_ended = 1'b0;
    last_tap = 1'b0;
    if (group_valid && !packed_i && entries_ahead < 2'd2) begin
      formed = 1'b1;
      for (int unsigned p = 0; p < P; p++) begin
        x = lane_x[p] + tap_column;
        in_map = lane_exists[p] && x >= 20'sd0 && x < width_i && lane_y[p] >= 20'sd0 && lane_y[p] < height_i;
        address[p*24+:24] = lane_row[p] + 24'(x) + plane_offset;
        todo[p] = in_map;
        fill[p] = !in_map;
      end
      steps = (steps_left > 16'(Slices)) ? 16'(Slices) : steps_left;
      entry_steps_o <= steps[7:0];
      entry_first_o <= tap_y == 16'd0 && tap_x == 16'd0 && steps_left == channel_steps_i;
      // The next word: channels, column, row.
      steps_left = steps_left - steps;
      plane_offset = plane_offset + plane_pitch_i;
      if (steps_left == 16'd0) begin
        steps_left = channel_steps_i;
        plane_offset = 24'd0;
        tap_x = tap_x + 16'd1;
        tap_column = tap_column + dilation_width_i;
        if (tap_x == kernel_width_i) begin
          tap_x = 16'd0;
          tap_column = 20'sd0;
          row_ended = 1'b1;
        end
      end
    end
    // The rings' size is a multiple of C, so this leaves room for the brick's last, partial step too.
    if (group_valid && packed_i && entries_ahead < 2'd2 && {1'b0, ring_used} + {1'b0, row_bytes_i} <= 9'd128) begin
      formed = 1'b1;
      row_ended = 1'b1;
      for (int unsigned p = 0; p < P; p++) begin
        // The lane's bytes of this kernel row: [x, x + row_bytes) of a row of `width` bytes.
        x = lane_x[p];
        low = (x < 20'sd0) ? -x : 20'sd0;
        high = width_i - x;
        if (high > $signed({12'd0, row_bytes_i})) high = $signed({12'd0, row_bytes_i});
        in_map = lane_exists[p] && low < high && lane_y[p] >= 20'sd0 && lane_y[p] < height_i;
        word = (x + low) >>> 4;
        address[p*24+:24] = lane_row[p] + 24'(word);
        offset[p*10+:10] = 10'((word <<< 4) - x);
        more[p*4+:4] = 4'(((x + high - 20'sd1) >>> 4) - word);
        lows[p*8+:8] = low[7:0];
        highs[p*8+:8] = high[7:0];
        todo[p] = in_map;
        fill[p] = !in_map || low != 20'sd0 || high != $signed({12'd0, row_bytes_i});
      end
    end

    if (row_ended) begin
      tap_y = tap_y + 16'd1;
      last_tap = tap_y == kernel_height_i;
      for (int unsigned p = 0; p < P; p++) begin
        lane_y[p] = lane_y[p] + dilation_height_i;
        lane_ring_row[p] = lane_ring_row[p] + dilation_height_i;
        lane_row[p] = lane_row[p] + dilation_words_i;
        if (lane_ring_row[p] >= ring_rows_i) begin
          lane_ring_row[p] = lane_ring_row[p] - ring_rows_i;
          lane_row[p] = lane_row[p] - ring_words_i;
        end
      end
    end
    if (formed && packed_i) begin
      entry_more_o <= more;
      entry_offset_o <= offset;
      entry_low_o <= lows;
      entry_high_o <= highs;
      entry_bytes_o <= row_bytes_i;
      entry_base_o <= ring_write;
      // Steps that this row completes; the brick's last one may be partial.
      available = ring_carry + row_bytes_i;
      if (last_tap) available = available + 8'(C - 1);
      steps = 16'(available / 8'(C));
      entry_steps_o <= steps[7:0];
      entry_ring_o <= ring_steps;
      entry_first_o <= packed_first;
      ring_steps = ring_steps + 7'(32'(steps) * C);
      ring_carry = ring_carry + row_bytes_i - 8'(32'(steps) * C);
      ring_write = ring_write + row_bytes_i[6:0];
      ring_used = ring_used + row_bytes_i;
      if (steps != 16'd0) packed_first = 1'b0;
      if (last_tap) begin
        // The brick's end is a step boundary: bytes that the last step lacks are skipped (ring_carry is minus their
        // number).
        ring_write = ring_write - ring_carry[6:0];
        ring_used = ring_used - ring_carry;
        ring_carry = 8'd0;
        packed_first = 1'b1;
      end
    end
    if (formed) begin
      entry_valid_o <= 1'b1;
      entry_packed_o <= packed_i;
      entry_pad_o <= pad_value_i;
      entry_todo_o <= todo;
      entry_fill_o <= fill;
      entry_address_o <= address;
      entries_ahead = entries_ahead + 2'd1;
      entry_last_o <= last_tap;
      entry_block_last_o <= last_tap && group_block_last;
      entry_job_last_o <= last_tap && group_job_last;
      job_done_o <= last_tap && group_job_last;
      if (last_tap) group_valid = 1'b0;
    end

    if (!group_valid && next_count != 2'd0) begin
      group_valid = 1'b1;
      for (int unsigned p = 0; p < P; p++) begin
        lane_row[p] = next_row[32'(next_read)*P+p];
        lane_ring_row[p] = next_ring_row[32'(next_read)*P+p];
        lane_y[p] = next_y[32'(next_read)*P+p];
        lane_x[p] = next_x[32'(next_read)*P+p];
        lane_exists[p] = next_exists[32'(next_read)*P+p];
      end
      group_block_last = next_block_last[next_read];
      group_job_last = next_job_last[next_read];
      next_read = !next_read;
      next_count = next_count - 2'd1;
      group_free_o <= 1'b1;
      tap_y = 16'd0;
      tap_x = 16'd0;
      tap_column = 20'sd0;
      plane_offset = 24'd0;
      steps_left = channel_steps_i;
    end

    if (!rst_ni) begin
      group_valid = 1'b0;
      next_read = 1'b0;
      next_write = 1'b0;
      next_count = 2'd0;
      next_lane = 8'd0;
      entries_ahead = 2'd0;
      ring_write = 7'd0;
      ring_steps = 7'd0;
      ring_used = 8'd0;
      ring_carry = 8'd0;
      packed_first = 1'b1;
    end
  end
endmodule
