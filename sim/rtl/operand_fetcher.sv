// Reads the words of entries from the scratchpad: in every cycle one word per bank, for several lanes at once if they
// need the same one, and the padding beside it. While an entry is read, the next one may wait at the walker's outputs,
// which keep it: the walkers are never more than two entries ahead. An entry takes a slot of the array's buffer
// (packed: of the count of slots) until its last step has been issued.
module operand_fetcher #(
    parameter int unsigned P = 4,
    parameter int unsigned C = 4
) (
    input logic clk_i,
    input logic rst_ni,

    output logic entry_free_o,          // an entry's last read has been issued
    // Entries of modes dense and packed, by tap_walker.
    input logic tap_valid_i,
    input logic tap_packed_i,
    input logic [7:0] tap_pad_i,
    input logic [P-1:0] tap_todo_i,
    input logic [P-1:0] tap_fill_i,
    input logic [P*24-1:0] tap_address_i,
    input logic [P*4-1:0] tap_more_i,
    input logic [P*10-1:0] tap_offset_i,
    input logic [P*8-1:0] tap_low_i,
    input logic [P*8-1:0] tap_high_i,
    input logic [6:0] tap_base_i,
    input logic [6:0] tap_ring_i,
    input logic [7:0] tap_bytes_i,
    input logic [7:0] tap_steps_i,
    input logic tap_first_i,
    input logic tap_last_i,
    input logic tap_block_last_i,
    input logic tap_job_last_i,
    // Entries of mode depthwise, by window_walker.
    input logic window_valid_i,
    input logic [7:0] window_pad_i,
    input logic window_copy_i,
    input logic [23:0] window_address_i,  // of word 0
    input logic [7:0] window_first_i,
    input logic [7:0] window_end_i,
    input logic [7:0] window_low_i,
    input logic [7:0] window_high_i,
    input logic [7:0] window_shift_i,
    input logic [7:0] window_stride_i,
    input logic [2:0] window_rows_i,
    input logic [3:0] window_byte_i,
    input logic [7:0] window_steps_i,
    input logic window_brick_first_i,
    input logic window_brick_last_i,
    input logic window_block_last_i,
    input logic window_job_last_i,

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

    // An entry whose last read has been issued, for the sequencer.
    output logic entry_valid_o,
    output logic [7:0] entry_steps_o,
    output logic [2:0] entry_slot_o,
    output logic [1:0] entry_mode_o,
    output logic [6:0] entry_ring_o,
    output logic [7:0] entry_stride_o,
    output logic [3:0] entry_byte_o,
    output logic entry_first_o,
    output logic entry_last_o,
    output logic entry_block_last_o,
    output logic entry_job_last_o,
    input logic entry_done_i            // an entry's last step has been issued
);
  localparam logic [1:0] Dense = tilewright_isa_pkg::ExecuteModeDense;
  localparam logic [1:0] Packed = tilewright_isa_pkg::ExecuteModePacked;
  localparam logic [1:0] Depthwise = tilewright_isa_pkg::ExecuteModeDepthwise;

  logic waiting, waiting_window;  // an entry, and by whom

  // ---- The entry that is read.
  logic active, begun, done;
  logic [1:0] mode;
  logic [7:0] pad, steps;
  logic first, last, block_last, job_last;
  logic [2:0] slot;
  logic [P-1:0] todo, fill;
  logic [23:0] address[P];
  logic [3:0] more[P];
  logic [9:0] offset[P];
  logic [9:0] fill_offset;  // byte of the kernel row that padding has reached
  logic [P*8-1:0] low, high;
  logic [6:0] base, ring;
  logic [7:0] bytes;
  logic copy;
  logic [23:0] window_address;
  logic [7:0] window_first, window_end, window_low, window_high, window_shift, window_stride, index;
  logic [3:0] window_byte;
  logic [2:0] window_rows;

  logic [2:0] next_slot;
  logic [3:0] slots_used;

  // ---- Reads of this cycle, and the companions of words that arrive in the next one.
  logic [3:0] reads;
  logic [4*24-1:0] read_words;
  logic [4*P-1:0] lanes;
  logic [P-1:0] fills;
  logic [P*10-1:0] packed_offsets;
  logic [4*8-1:0] indices;
  logic [1:0] bank;
  logic [23:0] word;
  logic [3:0] word_valid_q;
  logic [4*P-1:0] word_lanes_q;
  logic [2:0] word_slot_q, window_previous_q;
  logic [1:0] word_mode_q;
  logic [7:0] pad_value_q, packed_bytes_q, window_shift_q, window_first_q, window_low_q, window_high_q;
  logic fill_valid_q, window_valid_q, window_copy_q;
  logic [P-1:0] fill_lanes_q;
  logic [P*10-1:0] packed_offset_q;
  logic [P*8-1:0] packed_low_q, packed_high_q;
  logic [6:0] packed_base_q;
  logic [4*8-1:0] window_index_q;

  always_ff @(posedge clk_i) begin : fetch
    read_o <= 4'd0;
    entry_valid_o <= 1'b0;
    entry_free_o <= 1'b0;
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
      if (word_mode_q == Packed) begin
        packed_offset_o <= packed_offset_q;
        packed_low_o <= packed_low_q;
        packed_high_o <= packed_high_q;
        packed_base_o <= packed_base_q;
        packed_bytes_o <= packed_bytes_q;
      end
      if (word_mode_q == Depthwise) begin
        window_copy_o <= window_copy_q;
        window_previous_o <= window_previous_q;
        window_shift_o <= window_shift_q;
        window_first_o <= window_first_q;
        window_low_o <= window_low_q;
        window_high_o <= window_high_q;
        window_index_o <= window_index_q;
      end
    end

    // ---- The next entry.
    if (tap_valid_i || window_valid_i) begin
      waiting = 1'b1;
      waiting_window = window_valid_i;
    end
    if (!active && waiting) begin
      waiting = 1'b0;
      active = 1'b1;
      begun = 1'b0;
      if (waiting_window) begin
        mode = Depthwise;
        pad = window_pad_i;
        steps = window_steps_i;
        first = window_brick_first_i;
        last = window_brick_last_i;
        block_last = window_block_last_i;
        job_last = window_job_last_i;
        copy = window_copy_i;
        window_address = window_address_i;
        window_first = window_first_i;
        window_end = window_end_i;
        window_low = window_low_i;
        window_high = window_high_i;
        window_shift = window_shift_i;
        window_stride = window_stride_i;
        window_rows = window_rows_i;
        window_byte = window_byte_i;
        index = window_first_i;
      end else begin
        mode = tap_packed_i ? Packed : Dense;
        pad = tap_pad_i;
        steps = tap_steps_i;
        first = tap_first_i;
        last = tap_last_i;
        block_last = tap_block_last_i;
        job_last = tap_job_last_i;
        todo = tap_todo_i;
        fill = tap_fill_i;
        for (int unsigned p = 0; p < P; p++) address[p] = tap_address_i[p*24+:24];
        if (tap_packed_i) begin
          for (int unsigned p = 0; p < P; p++) more[p] = tap_more_i[p*4+:4];
          for (int unsigned p = 0; p < P; p++) offset[p] = tap_offset_i[p*10+:10];
          low = tap_low_i;
          high = tap_high_i;
          base = tap_base_i;
          ring = tap_ring_i;
          bytes = tap_bytes_i;
          fill_offset = 10'd0;
        end
      end
    end

    // ---- Reads.
    if (active && (begun || slots_used < 4'd8)) begin
      if (!begun) begin
        slot = next_slot;
        if (mode != Packed) next_slot = next_slot + 3'd1;
        if (steps != 8'd0) slots_used = slots_used + 4'd1;
      end
      reads = 4'd0;
      lanes = '0;
      if (mode == Depthwise) begin
        for (int unsigned j = 0; j < 4; j++) begin
          if (index < window_end) begin
            word = window_address + 24'(index);
            bank = word[1:0];
            if (index >= window_low && index < window_high) begin
              reads[bank] = 1'b1;
              read_words[32'(bank)*24+:24] = word;
              indices[32'(bank)*8+:8] = index;
            end
            index = index + 8'd1;
          end
        end
        window_valid_q <= !begun;
        window_copy_q <= copy;
        window_previous_q <= slot - window_rows;
        window_shift_q <= window_shift;
        window_first_q <= window_first;
        window_low_q <= window_low;
        window_high_q <= window_high;
        window_index_q <= indices;
        done = index >= window_end;
      end else begin
        fills = '0;
        for (int unsigned p = 0; p < P; p++) begin
          bank = address[p][1:0];
          // 16 bytes of padding; packed lanes may need more, and what lies inside the image after it
          if (fill[p]) begin
            fills[p] = 1'b1;
            packed_offsets[p*10+:10] = fill_offset;
          end else if (todo[p] && (!reads[bank] || read_words[32'(bank)*24+:24] == address[p])) begin
            reads[bank] = 1'b1;
            read_words[32'(bank)*24+:24] = address[p];
            lanes[32'(bank)*P+p] = 1'b1;
            if (mode == Packed) begin
              packed_offsets[p*10+:10] = offset[p];
              offset[p] = offset[p] + 10'd16;
            end
            if (mode != Packed || more[p] == 4'd0) begin
              todo[p] = 1'b0;
            end else begin
              more[p] = more[p] - 4'd1;
              address[p] = address[p] + 24'd1;
            end
          end
        end
        if (mode == Packed) begin
          packed_offset_q <= packed_offsets;
          packed_low_q <= low;
          packed_high_q <= high;
          packed_base_q <= base;
          packed_bytes_q <= bytes;
        end
        fill_valid_q <= fills != '0;
        fill_lanes_q <= fills;
        fill_offset = fill_offset + 10'd16;
        if (mode != Packed || fill_offset >= {2'd0, bytes}) fill = '0;
        done = todo == '0 && fill == '0;
      end
      begun = 1'b1;
      read_o <= reads;
      read_word_o <= read_words;
      word_valid_q <= reads;
      word_lanes_q <= lanes;
      word_slot_q <= slot;
      word_mode_q <= mode;
      pad_value_q <= pad;
      if (done) begin
        active = 1'b0;
        entry_free_o <= 1'b1;
        entry_valid_o <= steps != 8'd0;
        entry_steps_o <= steps;
        entry_slot_o <= slot;
        entry_mode_o <= mode;
        entry_ring_o <= ring;
        entry_stride_o <= window_stride;
        entry_byte_o <= window_byte;
        entry_first_o <= first;
        entry_last_o <= last;
        entry_block_last_o <= block_last;
        entry_job_last_o <= job_last;
      end
    end

    // A slot whose last step is being issued is still read: it is free from the next cycle on.
    if (entry_done_i) slots_used = slots_used - 4'd1;

    if (!rst_ni) begin
      waiting = 1'b0;
      active = 1'b0;
      next_slot = 3'd0;
      slots_used = 4'd0;
    end
  end
endmodule
