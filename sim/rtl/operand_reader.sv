// Fetches the operands of execute jobs from the scratchpad, ahead of the array. Takes the jobs from their queue, walks
// blocks, pixel groups, taps and channel words in the order of docs/accelerator.md, and hands over *entries*: runs of
// consecutive steps whose operands lie in one buffer slot of the array (dense: one word of each lane; depthwise: one
// kernel row; packed: the steps that one more kernel row makes possible).
//
//   row_walker ─┬─ pixel_walker ── tap_walker ─┬─ operand_fetcher ── scratchpad, sequencer
//               └───────────── window_walker ──┘
//
// Each stage runs ahead of the next by what fits between them: 4 rows, 2 groups of pixels, 2 entries, 8 slots. A job
// keeps the walkers until its last entry has been handed over.
`include "tilewright.svh"
module operand_reader #(
    parameter int unsigned P = 4,
    parameter int unsigned K = 16,
    parameter int unsigned C = 4
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
  logic running, setup, start, job_done;
  logic [1:0] mode;
  address_t base, plane_pitch, sample_pitch, dilation_words, ring_words;
  logic [15:0] pitch, ring_rows, ring_start;
  coordinate_t height, width, pad_left, row0, stride_height, stride_width, dilation_height, dilation_width;
  logic [7:0] pad_value, row_bytes;
  logic [15:0] channel_steps, kernel_height, kernel_width, out_width, out_rows, samples, blocks;
  logic [2:0] packed_channels;

  always_ff @(posedge clk_i) begin : job
    take_o <= 1'b0;
    start <= 1'b0;
    if (job_done) running = 1'b0;
    if (setup) begin
      setup = 1'b0;
      dilation_words <= 24'(dilation_height) * $signed({8'd0, pitch});
      if (mode == tilewright_isa_pkg::ExecuteModePacked) begin
        // Columns in bytes: x * channels.
        pad_left <= 20'(pad_left * $signed({17'd0, packed_channels}));
        stride_width <= 20'(stride_width * $signed({17'd0, packed_channels}));
        width <= 20'(width * $signed({17'd0, packed_channels}));
        row_bytes <= 8'(kernel_width * {13'd0, packed_channels});
      end
    end
    if (!running && job_valid_i && room_i && !take_o) begin
      take_o <= 1'b1;
      start <= 1'b1;
      running = 1'b1;
      setup = 1'b1;
      mode <= `FIELD(job_i, ExecuteMode);
      base <= `FIELD(job_i, ExecuteInBase);
      pitch <= `FIELD(job_i, ExecuteInPitch);
      plane_pitch <= `FIELD(job_i, ExecuteInPlanePitch);
      sample_pitch <= `FIELD(job_i, ExecuteInSamplePitch);
      ring_rows <= `FIELD(job_i, ExecuteInRingRows);
      ring_start <= `FIELD(job_i, ExecuteInRingStart);
      height <= {4'd0, `FIELD(job_i, ExecuteInHeight)};
      width <= {4'd0, `FIELD(job_i, ExecuteInWidth)};
      pad_value <= `FIELD(job_i, ExecutePadValue);
`ifdef TILEWRIGHT_FAULT_PAD_VALUE  // planted for the tests of the tests: test/rtl/CMakeLists.txt
      pad_value <= `FIELD(job_i, ExecutePadValue) ^ 8'd1;
`endif
      channel_steps <= `FIELD(job_i, ExecuteChannelSteps);
      packed_channels <= `FIELD(job_i, ExecutePackedChannels);
      kernel_height <= `FIELD(job_i, ExecuteWindowKernelHeight);
      kernel_width <= `FIELD(job_i, ExecuteWindowKernelWidth);
      stride_height <= {12'd0, `FIELD(job_i, ExecuteWindowStrideHeight)};
      stride_width <= {12'd0, `FIELD(job_i, ExecuteWindowStrideWidth)};
`ifdef TILEWRIGHT_FAULT_STRIDE
      if (`FIELD(job_i, ExecuteWindowStrideWidth) == 8'd3) stride_width <= 20'sd2;
`endif
      dilation_height <= {12'd0, `FIELD(job_i, ExecuteWindowDilationHeight)};
      dilation_width <= {12'd0, `FIELD(job_i, ExecuteWindowDilationWidth)};
      pad_left <= 20'($signed(`FIELD(job_i, ExecuteWindowPadLeft)));
      row0 <= 20'($signed({4'd0, `FIELD(job_i, ExecuteOutRowStart)}) *
                  $signed({12'd0, `FIELD(job_i, ExecuteWindowStrideHeight)})) -
              20'($signed(`FIELD(job_i, ExecuteWindowPadTop)));
      out_width <= `FIELD(job_i, ExecuteOutWidth);
      out_rows <= `FIELD(job_i, ExecuteOutRowCount);
      samples <= `FIELD(job_i, ExecuteSamples);
      blocks <= 16'((17'(`FIELD(job_i, ExecuteOutChannels)) + 17'(K - 1)) / 17'(K));
    end
    if (!rst_ni) begin
      running = 1'b0;
      setup = 1'b0;
      start <= 1'b0;
    end
  end

  // ---- Rows of the job's output: where their windows begin. A block goes through all of them again.
  logic row_valid, row_block_last, row_last, depthwise, pixel_row_done, window_row_done;
  address_t row;
  coordinate_t row_y, row_ring_row;
  assign depthwise = mode == tilewright_isa_pkg::ExecuteModeDepthwise;

  row_walker #(.Strided(1'b1)) u_rows (
      .clk_i, .rst_ni, .start_i(start), .base_i(base), .pitch_i(pitch), .inner_pitch_i(sample_pitch),
      .outer_pitch_i(24'd0), .ring_rows_i(ring_rows), .ring_start_i(ring_start), .first_row_i(row0),
      .stride_i(stride_height), .rows_i(out_rows), .inner_i(samples), .outer_i(blocks),
      .done_i(pixel_row_done || window_row_done), .valid_o(row_valid), .row_o(row), .y_o(row_y),
      .ring_row_o(row_ring_row), .outer_last_o(row_block_last), .last_o(row_last), .ring_words_o(ring_words)
  );

  // ---- Dense and packed.
  logic pixel_valid, pixel_exists, group_end, group_block_last, group_job_last, group_free, entry_free;
  address_t pixel_row;
  coordinate_t pixel_y, pixel_ring_row, pixel_x;
  logic tap_valid, tap_packed, tap_first, tap_last, tap_block_last, tap_job_last, tap_job_done;
  logic [P-1:0] tap_todo, tap_fill;
  logic [P*24-1:0] tap_address;
  logic [P*4-1:0] tap_more;
  logic [P*10-1:0] tap_offset;
  logic [P*8-1:0] tap_low, tap_high;
  logic [6:0] tap_base, tap_ring;
  logic [7:0] tap_steps, tap_pad, tap_bytes;

  pixel_walker #(.P(P)) u_pixels (
      .clk_i, .rst_ni, .row_valid_i(row_valid && !depthwise), .row_i(row), .row_y_i(row_y),
      .row_ring_row_i(row_ring_row), .row_block_last_i(row_block_last), .row_last_i(row_last),
      .row_done_o(pixel_row_done), .out_width_i(out_width), .stride_width_i(stride_width), .pad_left_i(pad_left),
      .pixel_valid_o(pixel_valid), .pixel_row_o(pixel_row), .pixel_y_o(pixel_y), .pixel_ring_row_o(pixel_ring_row),
      .pixel_x_o(pixel_x), .pixel_exists_o(pixel_exists), .group_end_o(group_end),
      .group_block_last_o(group_block_last), .group_job_last_o(group_job_last), .group_free_i(group_free)
  );

  tap_walker #(.P(P), .C(C)) u_taps (
      .clk_i, .rst_ni, .packed_i(mode == tilewright_isa_pkg::ExecuteModePacked), .ring_rows_i({4'd0, ring_rows}),
      .height_i(height), .width_i(width), .dilation_height_i(dilation_height), .dilation_width_i(dilation_width),
      .dilation_words_i(dilation_words), .ring_words_i(ring_words), .plane_pitch_i(plane_pitch),
      .channel_steps_i(channel_steps), .kernel_height_i(kernel_height), .kernel_width_i(kernel_width),
      .row_bytes_i(row_bytes), .pad_value_i(pad_value), .job_done_o(tap_job_done),
      .pixel_valid_i(pixel_valid), .pixel_row_i(pixel_row), .pixel_y_i(pixel_y), .pixel_ring_row_i(pixel_ring_row),
      .pixel_x_i(pixel_x), .pixel_exists_i(pixel_exists), .group_end_i(group_end),
      .group_block_last_i(group_block_last), .group_job_last_i(group_job_last), .group_free_o(group_free),
      .entry_valid_o(tap_valid), .entry_todo_o(tap_todo), .entry_fill_o(tap_fill), .entry_address_o(tap_address),
      .entry_more_o(tap_more), .entry_offset_o(tap_offset), .entry_low_o(tap_low), .entry_high_o(tap_high),
      .entry_packed_o(tap_packed), .entry_pad_o(tap_pad), .entry_bytes_o(tap_bytes), .entry_base_o(tap_base), .entry_ring_o(tap_ring), .entry_steps_o(tap_steps), .entry_first_o(tap_first),
      .entry_last_o(tap_last), .entry_block_last_o(tap_block_last), .entry_job_last_o(tap_job_last),
      .entry_other_i(window_entry_valid), .entry_free_i(entry_free), .packed_step_i
  );

  // ---- Depthwise.
  logic window_entry_valid, window_entry_first, window_entry_last, window_entry_block_last, window_entry_job_last;
  logic window_job_done, copy;
  address_t window_address;
  logic [7:0] window_pad, first, window_end, low, high, shift, window_stride, window_steps;
  logic [2:0] window_rows;
  logic [3:0] window_byte;

  if (K <= 16) begin : g_windows
    window_walker #(.P(P), .K(K), .C(C)) u_windows (
        .clk_i, .rst_ni, .start_i(start), .job_done_o(window_job_done), .row_valid_i(row_valid && depthwise),
        .row_i(row), .row_y_i(row_y), .row_ring_row_i(row_ring_row), .row_block_last_i(row_block_last),
        .row_last_i(row_last), .row_done_o(window_row_done), .ring_rows_i({4'd0, ring_rows}), .height_i(height),
        .width_i(width), .pad_value_i(pad_value), .stride_width_i(stride_width), .pad_left_i(pad_left),
        .ring_words_i(ring_words),
        .pitch_i(pitch), .plane_pitch_i(plane_pitch), .kernel_height_i(kernel_height), .kernel_width_i(kernel_width),
        .out_width_i(out_width),
        .entry_valid_o(window_entry_valid), .entry_pad_o(window_pad), .entry_copy_o(copy),
        .entry_address_o(window_address), .entry_first_o(first), .entry_end_o(window_end), .entry_low_o(low),
        .entry_high_o(high), .entry_shift_o(shift), .entry_stride_o(window_stride), .entry_rows_o(window_rows), .entry_byte_o(window_byte), .entry_steps_o(window_steps),
        .entry_brick_first_o(window_entry_first), .entry_brick_last_o(window_entry_last),
        .entry_block_last_o(window_entry_block_last), .entry_job_last_o(window_entry_job_last),
        .entry_other_i(tap_valid), .entry_free_i(entry_free)
    );
  end else begin : g_no_windows
    assign {window_entry_valid, window_job_done, window_row_done} = 3'd0;
  end
  assign job_done = tap_job_done || window_job_done;

  operand_fetcher #(.P(P), .C(C)) u_fetcher (
      .clk_i, .rst_ni,
      .entry_free_o(entry_free),
      .tap_valid_i(tap_valid), .tap_packed_i(tap_packed), .tap_pad_i(tap_pad), .tap_todo_i(tap_todo),
      .tap_fill_i(tap_fill), .tap_address_i(tap_address), .tap_more_i(tap_more), .tap_offset_i(tap_offset),
      .tap_low_i(tap_low), .tap_high_i(tap_high), .tap_base_i(tap_base), .tap_ring_i(tap_ring),
      .tap_bytes_i(tap_bytes), .tap_steps_i(tap_steps), .tap_first_i(tap_first), .tap_last_i(tap_last),
      .tap_block_last_i(tap_block_last), .tap_job_last_i(tap_job_last),
      .window_valid_i(window_entry_valid), .window_pad_i(window_pad), .window_copy_i(copy),
      .window_address_i(window_address), .window_first_i(first), .window_end_i(window_end), .window_low_i(low),
      .window_high_i(high), .window_shift_i(shift), .window_stride_i(window_stride), .window_rows_i(window_rows),
      .window_byte_i(window_byte), .window_steps_i(window_steps), .window_brick_first_i(window_entry_first),
      .window_brick_last_i(window_entry_last), .window_block_last_i(window_entry_block_last),
      .window_job_last_i(window_entry_job_last),
      .read_o, .read_word_o, .word_valid_o, .word_lanes_o, .word_slot_o, .word_mode_o, .pad_value_o, .fill_valid_o,
      .fill_lanes_o, .packed_offset_o, .packed_low_o, .packed_high_o, .packed_base_o, .packed_bytes_o,
      .window_valid_o, .window_copy_o, .window_previous_o, .window_shift_o, .window_first_o, .window_low_o,
      .window_high_o, .window_index_o,
      .entry_valid_o, .entry_steps_o, .entry_slot_o, .entry_mode_o, .entry_ring_o, .entry_stride_o, .entry_byte_o,
      .entry_first_o, .entry_last_o, .entry_block_last_o, .entry_job_last_o, .entry_done_i
  );
endmodule
