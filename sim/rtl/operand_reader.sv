// Fetches the operands of execute jobs from the scratchpad, ahead of the array. Takes the jobs from their queue, walks
// blocks, pixel groups, taps and channel words in the order of docs/accelerator.md, and hands over *entries*: runs of
// consecutive steps whose operands lie in one buffer slot of the array (dense: one word of each lane; depthwise: one
// kernel row; packed: the steps that one more kernel row makes possible).
//
// Three stages, from the end: issue (bank reads of the formed entry, several lanes at once if they need the same word),
// form (addresses of an entry), walk (one output pixel per cycle into the next group's lanes). No multiplication per
// tap: addresses advance by products made once per job.
`include "tilewright.svh"
module operand_reader #(
    parameter int unsigned P = 4,
    parameter int unsigned K = 16,
    parameter int unsigned C = 4,
    localparam int unsigned Slices = 16 / C
) (
    input logic clk_i,
    input logic rst_ni,

    input logic job_valid_i,
    input logic [tilewright_isa_pkg::DescriptorBits-1:0] job_i,
    input logic room_i,    // the stages behind can hold one more job
    output logic take_o,   // they take job_i in this cycle

    // Reads, always granted; the words arrive one cycle later, together with the signals named word_, fill_, packed_,
    // window_.
    output logic [3:0] read_o,
    output logic [4*24-1:0] read_word_o,
    output logic [3:0] word_valid_o,
    output logic [4*P-1:0] word_lanes_o,
    output logic [2:0] word_slot_o,
    output logic [1:0] word_mode_o,
    output logic [7:0] pad_value_o,
    output logic fill_valid_o,
    output logic [P-1:0] fill_lanes_o,
    output logic [P*10-1:0] packed_offset_o,
    output logic [P*8-1:0] packed_low_o,
    output logic [P*8-1:0] packed_high_o,
    output logic [6:0] packed_base_o,
    output logic [7:0] packed_bytes_o,
    output logic window_valid_o,
    output logic window_copy_o,
    output logic [2:0] window_previous_o,
    output logic [7:0] window_shift_o,
    output logic [7:0] window_first_o,
    output logic [7:0] window_low_o,
    output logic [7:0] window_high_o,
    output logic [4*8-1:0] window_index_o,

    // An entry whose last read has been issued.
    output logic entry_valid_o,
    output logic [7:0] entry_steps_o,
    output logic [2:0] entry_slot_o,
    output logic [1:0] entry_mode_o,
    output logic [6:0] entry_ring_o,
    output logic [7:0] entry_stride_o,
    output logic [3:0] entry_byte_o,
    output logic entry_first_o,       // first of its brick
    output logic entry_last_o,        // last of its brick
    output logic entry_block_last_o,  // … and of its channel block
    output logic entry_job_last_o,    // … and of its job
    input logic entry_done_i,         // an entry's last step has been issued
    input logic packed_step_i         // a packed step has been issued
);
  typedef logic signed [19:0] coordinate_t;
  typedef logic [23:0] address_t;

  // ---- The job.
  logic running, setup;
  logic [2:0] setup_step;
  logic [1:0] mode;
  address_t base, plane_pitch, sample_pitch;
  logic [15:0] pitch;
  coordinate_t ring_rows, height, width, pad_left, row0, ring_row0;
  coordinate_t stride_height, stride_width, dilation_height, dilation_width;
  logic [7:0] pad_value;
  logic [15:0] channel_steps, kernel_height, kernel_width, out_width, out_rows, samples;
  logic [2:0] packed_channels;
  logic [7:0] row_bytes;                          // packed: bytes of one kernel row
  address_t row0_offset, stride_rows, dilation_rows, ring_words;  // the job's products with pitch
  logic [15:0] channels_left;                     // blocks that the walker has not begun
  logic walk_done;

  // ---- Walk: the next pixel, and the next group's lanes.
  logic [15:0] walk_x, walk_row, walk_sample;
  address_t walk_base, walk_address;
  coordinate_t walk_ring_row, walk_y, walk_column;
  logic walk_ended, next_full, next_block_last, next_job_last;
  logic [7:0] walk_lane;
  address_t next_address[P];
  coordinate_t next_ring_row[P];
  coordinate_t next_y[P];
  coordinate_t next_x[P];
  logic next_valid[P];

  // ---- Form: the group at work.
  logic group_valid, group_block_last, group_job_last;
  address_t lane_address[P];
  coordinate_t lane_ring_row[P];
  coordinate_t lane_y[P];
  coordinate_t lane_x[P];
  logic lane_valid[P];
  logic [15:0] tap_y, tap_x, steps_left;
  coordinate_t tap_column;
  address_t plane_offset;
  // Depthwise: one row position for all lanes; group_valid does not apply.
  logic window_active;
  address_t window_plane, window_row, window_address;
  coordinate_t window_ring_row, window_tap_ring_row, window_y, window_tap_y, window_column;
  logic [3:0] window_byte;
  logic [7:0] window_span, window_overlap, window_shift;

  // ---- Issue: the entry being read.
  logic entry_active, entry_begun;
  logic [1:0] entry_mode;
  logic [P-1:0] todo, fill, fill_d;
  logic [9:0] fill_offset;  // packed: byte of the kernel row that padding has reached
  address_t fetch_address[P];
  coordinate_t fetch_word[P];
  coordinate_t fetch_last[P];
  logic [9:0] fetch_offset[P];
  logic [7:0] fetch_low[P];
  logic [7:0] fetch_high[P];
  logic [7:0] fetch_index, fetch_end, fetch_valid_low, fetch_valid_high, fetch_first;
  logic fetch_copy;
  address_t fetch_row;
  coordinate_t fetch_column;
  logic [2:0] entry_slot, entry_previous;
  logic [7:0] entry_steps, entry_pad, entry_bytes, entry_shift, entry_stride;
  logic [6:0] entry_base, entry_ring;
  logic [3:0] entry_byte;
  logic entry_first, entry_last, entry_block_last, entry_job_last, entry_push;

  logic [2:0] next_slot;
  logic [3:0] slots_used;
  logic [6:0] ring_write, ring_steps;
  logic [7:0] ring_used, ring_carry;
  logic packed_first;

  // Read and tag registers of the cycle before the words arrive.
  logic [4*P-1:0] lanes_d;
  logic [3:0] read_d;
  logic [4*24-1:0] read_word_d;
  logic [4*8-1:0] index_d;
  logic [3:0] word_valid_q;
  logic [4*P-1:0] word_lanes_q;
  logic [2:0] word_slot_q, window_previous_q;
  logic [1:0] word_mode_q;
  logic [7:0] pad_value_q, packed_bytes_q, window_shift_q, window_first_q, window_low_q, window_high_q;
  logic fill_valid_q, window_valid_q, window_copy_q;
  logic [P-1:0] fill_lanes_q;
  logic [P*10-1:0] packed_offset_q, offset_d;
  logic [P*8-1:0] packed_low_q, packed_high_q, low_d, high_d;
  logic [6:0] packed_base_q;
  logic [4*8-1:0] window_index_q;

  logic [1:0] bank;
  coordinate_t x, y, low, high;
  address_t word_address;
  logic in_map, can_form, last_tap;
  logic [15:0] word_steps;
  logic [7:0] available;
  address_t product;

  always_ff @(posedge clk_i) begin : stages
    take_o <= 1'b0;
    read_o <= 4'd0;
    entry_valid_o <= 1'b0;
    fill_valid_q <= 1'b0;
    window_valid_q <= 1'b0;
    word_valid_q <= 4'd0;

    // The words' companions, delayed to their arrival.
    word_valid_o <= word_valid_q;
    fill_valid_o <= fill_valid_q;
    window_valid_o <= window_valid_q;
    if (word_valid_q != 4'd0 || fill_valid_q || window_valid_q) begin
      word_lanes_o <= word_lanes_q;
      word_slot_o <= word_slot_q;
      word_mode_o <= word_mode_q;
      pad_value_o <= pad_value_q;
      fill_lanes_o <= fill_lanes_q;
      if (word_mode_q == tilewright_isa_pkg::ExecuteModePacked) begin
        packed_offset_o <= packed_offset_q;
        packed_low_o <= packed_low_q;
        packed_high_o <= packed_high_q;
        packed_base_o <= packed_base_q;
        packed_bytes_o <= packed_bytes_q;
      end
      if (word_mode_q == tilewright_isa_pkg::ExecuteModeDepthwise) begin
        window_copy_o <= window_copy_q;
        window_previous_o <= window_previous_q;
        window_shift_o <= window_shift_q;
        window_first_o <= window_first_q;
        window_low_o <= window_low_q;
        window_high_o <= window_high_q;
        window_index_o <= window_index_q;
      end
    end

    if (entry_done_i) slots_used = slots_used - 4'd1;
    if (packed_step_i) ring_used = ring_used - 8'(C);

    // ---- Issue.
    if (entry_active) begin
      read_d = 4'd0;
      lanes_d = '0;
      if (entry_mode == tilewright_isa_pkg::ExecuteModeDepthwise) begin
        for (int unsigned j = 0; j < 4; j++) begin
          if (fetch_index < fetch_end) begin
            word_address = fetch_row + 24'(fetch_column) + 24'(fetch_index);
            bank = word_address[1:0];
            if (fetch_index >= fetch_valid_low && fetch_index < fetch_valid_high) begin
              read_d[bank] = 1'b1;
              read_word_d[32'(bank)*24+:24] = word_address;
              index_d[32'(bank)*8+:8] = fetch_index;
            end
            fetch_index = fetch_index + 8'd1;
          end
        end
        window_valid_q <= !entry_begun;
        window_copy_q <= fetch_copy;
        window_previous_q <= entry_previous;
        window_shift_q <= entry_shift;
        window_first_q <= fetch_first;
        window_low_q <= fetch_valid_low;
        window_high_q <= fetch_valid_high;
        window_index_q <= index_d;
        entry_push = fetch_index >= fetch_end;
      end else begin
        fill_d = '0;
        for (int unsigned p = 0; p < P; p++) begin
          bank = fetch_address[p][1:0];
          // 16 bytes of padding; packed lanes may need more, and what lies inside the image after it
          if (fill[p]) begin
            fill_d[p] = 1'b1;
            offset_d[p*10+:10] = fill_offset;
          end else if (todo[p] && (!read_d[bank] || read_word_d[32'(bank)*24+:24] == fetch_address[p])) begin
            read_d[bank] = 1'b1;
            read_word_d[32'(bank)*24+:24] = fetch_address[p];
            lanes_d[32'(bank)*P+p] = 1'b1;
            if (entry_mode == tilewright_isa_pkg::ExecuteModePacked) begin
              offset_d[p*10+:10] = fetch_offset[p];
              fetch_offset[p] = fetch_offset[p] + 10'd16;
            end
            if (fetch_word[p] == fetch_last[p]) begin
              todo[p] = 1'b0;
            end else begin
              fetch_word[p] = fetch_word[p] + 20'sd1;
              fetch_address[p] = fetch_address[p] + 24'd1;
            end
          end
        end
        if (entry_mode == tilewright_isa_pkg::ExecuteModePacked) begin
          for (int unsigned p = 0; p < P; p++) begin
            low_d[p*8+:8] = fetch_low[p];
            high_d[p*8+:8] = fetch_high[p];
          end
          packed_offset_q <= offset_d;
          packed_low_q <= low_d;
          packed_high_q <= high_d;
          packed_base_q <= entry_base;
          packed_bytes_q <= entry_bytes;
        end
        fill_valid_q <= fill_d != '0;
        fill_lanes_q <= fill_d;
        fill_offset = fill_offset + 10'd16;
        if (entry_mode != tilewright_isa_pkg::ExecuteModePacked || fill_offset >= {2'd0, entry_bytes}) fill = '0;
        entry_push = todo == '0 && fill == '0;
      end
      entry_begun = 1'b1;
      read_o <= read_d;
      read_word_o <= read_word_d;
      word_valid_q <= read_d;
      word_lanes_q <= lanes_d;
      word_slot_q <= entry_slot;
      word_mode_q <= entry_mode;
      pad_value_q <= entry_pad;
      if (entry_push) begin
        entry_active = 1'b0;
        entry_valid_o <= entry_steps != 8'd0;
        entry_steps_o <= entry_steps;
        entry_slot_o <= entry_slot;
        entry_mode_o <= entry_mode;
        entry_ring_o <= entry_ring;
        entry_stride_o <= entry_stride;
        entry_byte_o <= entry_byte;
        entry_first_o <= entry_first;
        entry_last_o <= entry_last;
        entry_block_last_o <= entry_block_last;
        entry_job_last_o <= entry_job_last;
      end
    end

    // ---- Form.
    can_form = !entry_active && slots_used < 4'd8;
    if (can_form && group_valid && mode == tilewright_isa_pkg::ExecuteModeDense) begin
      for (int unsigned p = 0; p < P; p++) begin
        x = lane_x[p] + tap_column;
        in_map = lane_valid[p] && x >= 20'sd0 && x < width && lane_y[p] >= 20'sd0 && lane_y[p] < height;
        fetch_address[p] = lane_address[p] + 24'(x) + plane_offset;
        fetch_word[p] = 20'sd0;
        fetch_last[p] = 20'sd0;
        todo[p] = in_map;
        fill[p] = !in_map;
      end
      word_steps = (steps_left > 16'(Slices)) ? 16'(Slices) : steps_left;
      entry_active = 1'b1;
      entry_begun = 1'b0;
      entry_mode = mode;
      entry_pad = pad_value;
      entry_steps = word_steps[7:0];
      entry_slot = next_slot;
      entry_first = tap_y == 16'd0 && tap_x == 16'd0 && steps_left == channel_steps;
      next_slot = next_slot + 3'd1;
      slots_used = slots_used + 4'd1;
      // The next word: channel word, column, row.
      last_tap = 1'b0;
      steps_left = steps_left - word_steps;
      plane_offset = plane_offset + plane_pitch;
      if (steps_left == 16'd0) begin
        steps_left = channel_steps;
        plane_offset = 24'd0;
        tap_x = tap_x + 16'd1;
        tap_column = tap_column + dilation_width;
        if (tap_x == kernel_width) begin
          tap_x = 16'd0;
          tap_column = 20'sd0;
          tap_y = tap_y + 16'd1;
          last_tap = tap_y == kernel_height;
          for (int unsigned p = 0; p < P; p++) begin
            lane_y[p] = lane_y[p] + dilation_height;
            lane_ring_row[p] = lane_ring_row[p] + dilation_height;
            lane_address[p] = lane_address[p] + dilation_rows;
            if (lane_ring_row[p] >= ring_rows) begin
              lane_ring_row[p] = lane_ring_row[p] - ring_rows;
              lane_address[p] = lane_address[p] - ring_words;
            end
          end
        end
      end
      entry_last = last_tap;
      entry_block_last = last_tap && group_block_last;
      entry_job_last = last_tap && group_job_last;
      if (last_tap) group_valid = 1'b0;
    end
    // The rings' size is a multiple of C, so this leaves room for the brick's last, partial step too.
    if (can_form && group_valid && mode == tilewright_isa_pkg::ExecuteModePacked && {1'b0, ring_used} + {1'b0,
        row_bytes} <= 9'd128) begin
      for (int unsigned p = 0; p < P; p++) begin
        // The lane's bytes of this kernel row: [x, x + row_bytes) of a row of `width` bytes.
        x = lane_x[p];
        low = (x < 20'sd0) ? -x : 20'sd0;
        high = width - x;
        if (high > $signed({12'd0, row_bytes})) high = $signed({12'd0, row_bytes});
        in_map = lane_valid[p] && low < high && lane_y[p] >= 20'sd0 && lane_y[p] < height;
        fetch_word[p] = (x + low) >>> 4;
        fetch_last[p] = (x + high - 20'sd1) >>> 4;
        fetch_address[p] = lane_address[p] + 24'(fetch_word[p]);
        fetch_offset[p] = 10'((fetch_word[p] <<< 4) - x);
        fetch_low[p] = low[7:0];
        fetch_high[p] = high[7:0];
        todo[p] = in_map;
        fill[p] = !in_map || low != 20'sd0 || high != $signed({12'd0, row_bytes});
        lane_y[p] = lane_y[p] + dilation_height;
        lane_ring_row[p] = lane_ring_row[p] + dilation_height;
        lane_address[p] = lane_address[p] + dilation_rows;
        if (lane_ring_row[p] >= ring_rows) begin
          lane_ring_row[p] = lane_ring_row[p] - ring_rows;
          lane_address[p] = lane_address[p] - ring_words;
        end
      end
      tap_y = tap_y + 16'd1;
      last_tap = tap_y == kernel_height;
      entry_active = 1'b1;
      entry_begun = 1'b0;
      entry_mode = mode;
      entry_pad = pad_value;
      entry_slot = next_slot;
      entry_base = ring_write;
      entry_bytes = row_bytes;
      fill_offset = 10'd0;
      // Steps that this row completes; the brick's last one may be partial.
      available = ring_carry + row_bytes;
      if (last_tap) available = available + 8'(C - 1);
      entry_steps = available / 8'(C);
      entry_ring = ring_steps;
      entry_first = packed_first;
      ring_steps = ring_steps + 7'(32'(entry_steps) * C);
      ring_carry = ring_carry + row_bytes - 8'(32'(entry_steps) * C);
      ring_write = ring_write + row_bytes[6:0];
      ring_used = ring_used + row_bytes;
      if (entry_steps != 8'd0) begin
        packed_first = 1'b0;
        slots_used = slots_used + 4'd1;
      end
      if (last_tap) begin
        // The brick's end is a step boundary: bytes that the last step lacks are skipped (ring_carry is minus their
        // number).
        ring_write = ring_write - ring_carry[6:0];
        ring_used = ring_used - ring_carry;
        ring_carry = 8'd0;
        packed_first = 1'b1;
        group_valid = 1'b0;
      end
      entry_last = last_tap;
      entry_block_last = last_tap && group_block_last;
      entry_job_last = last_tap && group_job_last;
    end
    if (K <= 16 && can_form && window_active) begin
      entry_active = 1'b1;
      entry_begun = 1'b0;
      entry_mode = mode;
      entry_pad = pad_value;
      entry_slot = next_slot;
      entry_previous = next_slot - kernel_height[2:0];
      entry_shift = window_shift;
      entry_stride = stride_width[7:0];
      entry_byte = window_byte;
      entry_steps = 8'((32'(kernel_width) + C - 1) / C);
      entry_first = tap_y == 16'd0;
      next_slot = next_slot + 3'd1;
      slots_used = slots_used + 4'd1;
      fetch_copy = walk_x != 16'd0 && window_overlap != 8'd0;
      fetch_index = (walk_x != 16'd0) ? window_overlap : 8'd0;
      fetch_first = fetch_index;
      fetch_end = window_span;
      fetch_row = window_address + window_plane;
      fetch_column = window_column;
      low = (window_column < 20'sd0) ? -window_column : 20'sd0;
      high = width - window_column;
      if (high < 20'sd0) high = 20'sd0;
      if (high > 20'sd255) high = 20'sd255;
      fetch_valid_low = low[7:0];
      fetch_valid_high = high[7:0];
      if (window_tap_y < 20'sd0 || window_tap_y >= height) begin
        fetch_valid_high = 8'd0;
        fetch_end = 8'd0;  // nothing to read
      end
      // The next kernel row, group, row, sample, block.
      tap_y = tap_y + 16'd1;
      window_tap_y = window_tap_y + 20'sd1;
      window_tap_ring_row = window_tap_ring_row + 20'sd1;
      window_address = window_address + {8'd0, pitch};
      if (window_tap_ring_row >= ring_rows) begin
        window_tap_ring_row = window_tap_ring_row - ring_rows;
        window_address = window_address - ring_words;
      end
      entry_last = tap_y == kernel_height;
      entry_block_last = 1'b0;
      entry_job_last = 1'b0;
      if (entry_last) begin
        tap_y = 16'd0;
        walk_x = walk_x + 16'(P);
        window_column = window_column + 20'({12'd0, window_shift});
        if (walk_x >= out_width) begin
          walk_x = 16'd0;
          window_column = -pad_left;
          walk_row = walk_row + 16'd1;
          window_y = window_y + stride_height;
          window_ring_row = window_ring_row + stride_height;
          window_row = window_row + stride_rows;
          if (window_ring_row >= ring_rows) begin
            window_ring_row = window_ring_row - ring_rows;
            window_row = window_row - ring_words;
          end
          if (walk_row == out_rows) begin
            walk_row = 16'd0;
            walk_sample = walk_sample + 16'd1;
            walk_base = walk_base + sample_pitch;
            if (walk_sample == samples) begin
              walk_sample = 16'd0;
              walk_base = base;
              entry_block_last = 1'b1;
              if (channels_left <= 16'(K)) begin
                entry_job_last = 1'b1;
                window_active = 1'b0;
              end
              channels_left = channels_left - 16'(K);
              window_byte = window_byte + 4'(K);
              if (window_byte == 4'd0) window_plane = window_plane + plane_pitch;
            end
            window_y = row0;
            window_ring_row = ring_row0;
            window_row = walk_base + row0_offset;
          end
        end
        window_tap_y = window_y;
        window_tap_ring_row = window_ring_row;
        window_address = window_row;
      end
    end
    if (!group_valid && next_full) begin
      group_valid = 1'b1;
      next_full = 1'b0;
      for (int unsigned p = 0; p < P; p++) begin
        lane_address[p] = next_address[p];
        lane_ring_row[p] = next_ring_row[p];
        lane_y[p] = next_y[p];
        lane_x[p] = next_x[p];
        lane_valid[p] = next_valid[p];
      end
      group_block_last = next_block_last;
      group_job_last = next_job_last;
      tap_y = 16'd0;
      tap_x = 16'd0;
      tap_column = 20'sd0;
      plane_offset = 24'd0;
      steps_left = channel_steps;
    end

    // ---- Walk.
    if (running && !walk_done && !next_full) begin
      next_address[32'(walk_lane)] = walk_address;
      next_ring_row[32'(walk_lane)] = walk_ring_row;
      next_y[32'(walk_lane)] = walk_y;
      next_x[32'(walk_lane)] = walk_column;
      next_valid[32'(walk_lane)] = !walk_ended;
      if (!walk_ended) begin
        walk_x = walk_x + 16'd1;
        walk_column = walk_column + stride_width;
        if (walk_x == out_width) begin
          walk_x = 16'd0;
          walk_column = -pad_left;
          walk_row = walk_row + 16'd1;
          walk_y = walk_y + stride_height;
          walk_ring_row = walk_ring_row + stride_height;
          walk_address = walk_address + stride_rows;
          if (walk_ring_row >= ring_rows) begin
            walk_ring_row = walk_ring_row - ring_rows;
            walk_address = walk_address - ring_words;
          end
          if (walk_row == out_rows) begin
            walk_row = 16'd0;
            walk_sample = walk_sample + 16'd1;
            walk_base = walk_base + sample_pitch;
            walk_y = row0;
            walk_ring_row = ring_row0;
            walk_address = walk_base + row0_offset;
            walk_ended = walk_sample == samples;
          end
        end
      end
      walk_lane = walk_lane + 8'd1;
      if (walk_lane == 8'(P)) begin
        walk_lane = 8'd0;
        next_full = 1'b1;
        next_block_last = walk_ended;
        next_job_last = walk_ended && channels_left <= 16'(K);
        if (walk_ended) begin  // the next block begins at the first pixel again
          walk_done = channels_left <= 16'(K);
          channels_left = channels_left - 16'(K);
          walk_ended = 1'b0;
          walk_sample = 16'd0;
          walk_base = base;
          walk_address = base + row0_offset;
        end
      end
    end
    if (running && !setup && walk_done && !next_full && !group_valid && !window_active) running = 1'b0;

    // ---- Set-up: four products with one multiplier, while the array works on earlier entries.
    if (running && setup) begin
      case (setup_step)
        3'd0: product = 24'(ring_row0) * $signed({8'd0, pitch});
        3'd1: product = 24'(stride_height) * $signed({8'd0, pitch});
        3'd2: product = 24'(dilation_height) * $signed({8'd0, pitch});
        default: product = 24'(ring_rows) * $signed({8'd0, pitch});
      endcase
      case (setup_step)
        3'd0: row0_offset = product;
        3'd1: stride_rows = product;
        3'd2: dilation_rows = product;
        default: ring_words = product;
      endcase
      setup_step = setup_step + 3'd1;
      if (setup_step == 3'd4) begin
        setup = 1'b0;
        walk_x = 16'd0;
        walk_row = 16'd0;
        walk_sample = 16'd0;
        walk_lane = 8'd0;
        walk_ended = 1'b0;
        walk_base = base;
        walk_address = base + row0_offset;
        walk_ring_row = ring_row0;
        walk_y = row0;
        if (mode == tilewright_isa_pkg::ExecuteModePacked) begin
          // Columns in bytes: x * channels.
          pad_left = 20'(pad_left * $signed({17'd0, packed_channels}));
          stride_width = 20'(stride_width * $signed({17'd0, packed_channels}));
          width = 20'(width * $signed({17'd0, packed_channels}));
          row_bytes = 8'(kernel_width * {13'd0, packed_channels});
        end
        walk_column = -pad_left;
        walk_done = mode == tilewright_isa_pkg::ExecuteModeDepthwise;
        window_active = mode == tilewright_isa_pkg::ExecuteModeDepthwise;
        window_plane = 24'd0;
        window_byte = 4'd0;
        window_row = walk_address;
        window_address = walk_address;
        window_ring_row = ring_row0;
        window_tap_ring_row = ring_row0;
        window_y = row0;
        window_tap_y = row0;
        window_column = -pad_left;
        window_shift = 8'(P * 32'(stride_width));
        window_span = 8'((P - 1) * 32'(stride_width) + 32'(kernel_width));
        window_overlap = (kernel_width[7:0] > stride_width[7:0]) ? kernel_width[7:0] - stride_width[7:0] : 8'd0;
        if (mode == tilewright_isa_pkg::ExecuteModeDepthwise) tap_y = 16'd0;
        ring_carry = 8'd0;
        packed_first = 1'b1;
      end
    end
    if (!running && job_valid_i && room_i && !take_o) begin
      take_o <= 1'b1;
      running = 1'b1;
      setup = 1'b1;
      setup_step = 3'd0;
      walk_done = 1'b1;
      mode = `FIELD(job_i, ExecuteMode);
      base = `FIELD(job_i, ExecuteInBase);
      pitch = `FIELD(job_i, ExecuteInPitch);
      plane_pitch = `FIELD(job_i, ExecuteInPlanePitch);
      sample_pitch = `FIELD(job_i, ExecuteInSamplePitch);
      ring_rows = {4'd0, `FIELD(job_i, ExecuteInRingRows)};
      height = {4'd0, `FIELD(job_i, ExecuteInHeight)};
      width = {4'd0, `FIELD(job_i, ExecuteInWidth)};
      pad_value = `FIELD(job_i, ExecutePadValue);
`ifdef TILEWRIGHT_FAULT_PAD_VALUE  // planted for the tests of the tests: test/rtl/CMakeLists.txt
      pad_value = pad_value ^ 8'd1;
`endif
      channel_steps = `FIELD(job_i, ExecuteChannelSteps);
      packed_channels = `FIELD(job_i, ExecutePackedChannels);
      kernel_height = `FIELD(job_i, ExecuteWindowKernelHeight);
      kernel_width = `FIELD(job_i, ExecuteWindowKernelWidth);
      stride_height = {12'd0, `FIELD(job_i, ExecuteWindowStrideHeight)};
      stride_width = {12'd0, `FIELD(job_i, ExecuteWindowStrideWidth)};
`ifdef TILEWRIGHT_FAULT_STRIDE
      if (stride_width == 20'sd3) stride_width = 20'sd2;
`endif
      dilation_height = {12'd0, `FIELD(job_i, ExecuteWindowDilationHeight)};
      dilation_width = {12'd0, `FIELD(job_i, ExecuteWindowDilationWidth)};
      pad_left = 20'($signed(`FIELD(job_i, ExecuteWindowPadLeft)));
      out_width = `FIELD(job_i, ExecuteOutWidth);
      out_rows = `FIELD(job_i, ExecuteOutRowCount);
      samples = `FIELD(job_i, ExecuteSamples);
      channels_left = `FIELD(job_i, ExecuteOutChannels);
      row0 = 20'($signed({4'd0, `FIELD(job_i, ExecuteOutRowStart)}) * $signed(stride_height)) -
             20'($signed(`FIELD(job_i, ExecuteWindowPadTop)));
      ring_row0 = row0 - $signed({4'd0, `FIELD(job_i, ExecuteInRingStart)});
      if (ring_row0 >= ring_rows) ring_row0 = ring_row0 - ring_rows;
    end

    if (!rst_ni) begin
      running = 1'b0;
      setup = 1'b0;
      walk_done = 1'b1;
      next_full = 1'b0;
      group_valid = 1'b0;
      window_active = 1'b0;
      entry_active = 1'b0;
      next_slot = 3'd0;
      slots_used = 4'd0;
      ring_write = 7'd0;
      ring_steps = 7'd0;
      ring_used = 8'd0;
    end
  end
endmodule
