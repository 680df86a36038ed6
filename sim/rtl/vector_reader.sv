// The read side of vector jobs. Goes through a job's outputs, 16 channels of one position at a time, and reads what
// each needs: up to four taps of a kernel row per cycle, one per bank, or the two operands of an addition. A *set* of
// words in different banks stays at the ports until all its reads are granted; an output's last set carries where the
// output goes.
`include "tilewright.svh"
module vector_reader #(
    parameter int unsigned Places = 28  // words that may be under way: two are reserved for each output
) (
    input logic clk_i,
    input logic rst_ni,
    input logic take_i,  // begins with job_i; the job before has been read to its end
    input logic [tilewright_isa_pkg::DescriptorBits-1:0] job_i,

    output logic [3:0] read_o,
    output logic [4*24-1:0] read_word_o,
    input logic [3:0] read_grant_i,

    // With the words that arrive, one cycle after their grants.
    output logic [3:0] arriving_o,          // banks with a word of this unit
    output logic [3:0] arriving_second_o,   // … which is the second operand
    output logic set_end_o,                 // the last words of a set
    output logic [3:0] pads_o,              // taps of the set outside the map
    output logic output_end_o,              // the last set of an output
    output logic output_last_o,             // and the last output of the job
    output logic [4:0] output_channels_o,
    output logic [23:0] output_word_o,
    input logic [1:0] freed_i               // places that became free
);
  typedef logic signed [19:0] coordinate_t;
  typedef logic [23:0] address_t;

  // ---- The job.
  logic adds;
  logic [15:0] kernel_height, kernel_width, out_columns, first_column, channels;
  coordinate_t height, width, stride_width, dilation_height, dilation_width, column0;
  address_t dilation_words;

  // ---- Rows of the input's, the second operand's and the output's map, in step.
  logic start, delay, setup, row_valid, row_last, row_done;
  logic [15:0] in_pitch, in_ring_rows, in_ring_start, sec_pitch, sec_ring_rows, sec_ring_start;
  logic [15:0] out_pitch, out_ring_rows, out_ring_start, out_row0, out_rows, planes, samples;
  address_t in_base, in_plane_pitch, in_sample_pitch, sec_base, sec_plane_pitch, sec_sample_pitch;
  address_t out_base, out_plane_pitch, out_sample_pitch;
  address_t in_row_offered, sec_row_offered, out_row_offered, in_ring_words;
  coordinate_t in_row0, stride_height, in_y_offered, in_ring_row_offered;
  logic [112:0] queue[4];  // {last, input's y, ring row and address, second operand's address, output's address}
  logic [1:0] queue_read, queue_write;
  logic [2:0] queue_count;

  // ---- Position.
  logic row_begun, output_begun, last_row, second;
  logic [15:0] x, y, channel, left, tap_y, tap_x;
  coordinate_t in_y, in_ring_row, in_column, tap_in_y, tap_ring_row, tap_column, column;
  address_t in_row, sec_row, out_row, tap_row, address;
  logic [5:0] reserved;

  // ---- The set at the read ports.
  logic [3:0] reads, set_second, set_pads;
  logic [4*24-1:0] read_words;
  logic set_valid, set_last, set_job_last, stop;
  logic [4:0] set_channels;
  address_t set_word;
  logic [1:0] bank;

  row_walker #(.Strided(1'b1)) u_in (
      .clk_i, .rst_ni, .start_i(start), .base_i(in_base), .pitch_i(in_pitch), .inner_pitch_i(in_plane_pitch),
      .outer_pitch_i(in_sample_pitch), .ring_rows_i(in_ring_rows), .ring_start_i(in_ring_start),
      .first_row_i(in_row0), .stride_i(stride_height), .rows_i(out_rows), .inner_i(planes), .outer_i(samples),
      .done_i(row_done), .valid_o(row_valid), .row_o(in_row_offered), .y_o(in_y_offered),
      .ring_row_o(in_ring_row_offered), .outer_last_o(), .last_o(row_last), .ring_words_o(in_ring_words)
  );

  row_walker #(.Strided(1'b1)) u_second (
      .clk_i, .rst_ni, .start_i(start), .base_i(sec_base), .pitch_i(sec_pitch), .inner_pitch_i(sec_plane_pitch),
      .outer_pitch_i(sec_sample_pitch), .ring_rows_i(sec_ring_rows), .ring_start_i(sec_ring_start),
      .first_row_i({4'd0, out_row0}), .stride_i(20'sd1), .rows_i(out_rows), .inner_i(planes), .outer_i(samples),
      .done_i(row_done), .valid_o(), .row_o(sec_row_offered), .y_o(), .ring_row_o(), .outer_last_o(), .last_o(),
      .ring_words_o()
  );

  row_walker #(.Strided(1'b1)) u_out (
      .clk_i, .rst_ni, .start_i(start), .base_i(out_base), .pitch_i(out_pitch), .inner_pitch_i(out_plane_pitch),
      .outer_pitch_i(out_sample_pitch), .ring_rows_i(out_ring_rows), .ring_start_i(out_ring_start),
      .first_row_i({4'd0, out_row0}), .stride_i(20'sd1), .rows_i(out_rows), .inner_i(planes), .outer_i(samples),
      .done_i(row_done), .valid_o(), .row_o(out_row_offered), .y_o(), .ring_row_o(), .outer_last_o(), .last_o(),
      .ring_words_o()
  );

  always_ff @(posedge clk_i) begin : read
    start <= 1'b0;
    row_done <= 1'b0;
    arriving_o <= 4'd0;
    set_end_o <= 1'b0;

    reserved = reserved - {4'd0, freed_i};

    // ---- Grants.
    if (set_valid) begin
      arriving_o <= reads & read_grant_i;
      arriving_second_o <= set_second;
      reads = reads & ~read_grant_i;
      if (reads == 4'd0) begin
        set_valid = 1'b0;
        set_end_o <= 1'b1;
        pads_o <= set_pads;
        output_end_o <= set_last;
        output_last_o <= set_job_last;
        output_channels_o <= set_channels;
        output_word_o <= set_word;
      end
    end

    // ---- The next set.
    if (queue_count != 3'd0 && !delay && !set_valid && reserved < 6'(Places)) begin
      set_valid = 1'b1;
      set_pads = 4'd0;
      set_last = 1'b0;
      set_second = 4'd0;
      stop = 1'b0;
      if (!row_begun) begin
        row_begun = 1'b1;
        {last_row, in_y, in_ring_row, in_row, sec_row, out_row} = queue[queue_read];
        x = 16'd0;
        in_column = column0;
      end
      if (!output_begun) begin
        output_begun = 1'b1;
        second = 1'b0;
        tap_x = 16'd0;
        tap_y = 16'd0;
        tap_column = 20'sd0;
        tap_in_y = in_y;
        tap_ring_row = in_ring_row;
        tap_row = in_row;
      end
      if (adds) begin
        // Both operands if they lie in different banks, otherwise the second one in a set of its own.
        address = second ? sec_row + {8'd0, x} + {8'd0, first_column} : in_row + 24'(in_column);
        bank = address[1:0];
        reads[bank] = 1'b1;
        read_words[32'(bank)*24+:24] = address;
        set_second[bank] = second;
        set_last = second;
        if (!second) begin
          address = sec_row + {8'd0, x} + {8'd0, first_column};
          if (address[1:0] != bank) begin
            reads[address[1:0]] = 1'b1;
            read_words[32'(address[1:0])*24+:24] = address;
            set_second[address[1:0]] = 1'b1;
            set_last = 1'b1;
          end
        end
        second = 1'b1;
      end else begin
        for (int unsigned j = 0; j < 4; j++)
          if (!stop) begin
            column = in_column + tap_column;
            address = tap_row + 24'(column);
            if (tap_in_y >= 20'sd0 && tap_in_y < height && column >= 20'sd0 && column < width) begin
              if (reads[address[1:0]]) stop = 1'b1;
              else begin
                reads[address[1:0]] = 1'b1;
                read_words[32'(address[1:0])*24+:24] = address;
              end
            end else begin
              set_pads = set_pads + 4'd1;
            end
            if (!stop) begin
              tap_x = tap_x + 16'd1;
              tap_column = tap_column + dilation_width;
              if (tap_x == kernel_width) begin
                stop = 1'b1;
                tap_x = 16'd0;
                tap_column = 20'sd0;
                tap_y = tap_y + 16'd1;
                tap_in_y = tap_in_y + dilation_height;
                tap_ring_row = tap_ring_row + dilation_height;
                tap_row = tap_row + dilation_words;
                if (tap_ring_row >= $signed({4'd0, in_ring_rows})) begin
                  tap_ring_row = tap_ring_row - $signed({4'd0, in_ring_rows});
                  tap_row = tap_row - in_ring_words;
                end
                set_last = tap_y == kernel_height;
              end
            end
          end
      end
      if (set_last) begin
        reserved = reserved + 6'd2;
        left = channels - channel;
        set_channels = (left > 16'd16) ? 5'd16 : left[4:0];
        set_word = out_row + {8'd0, x} + {8'd0, first_column};
        set_job_last = 1'b0;
        // The next output.
        output_begun = 1'b0;
        x = x + 16'd1;
        in_column = in_column + stride_width;
        if (x == out_columns) begin
          row_begun = 1'b0;
          queue_read = queue_read + 2'd1;
          queue_count = queue_count - 3'd1;
          row_done <= 1'b1;
          set_job_last = last_row;
          y = y + 16'd1;
          if (y == out_rows) begin
            y = 16'd0;
            channel = (left > 16'd16) ? channel + 16'd16 : 16'd0;
          end
        end
      end
    end
    read_o <= reads;
    if (reads != 4'd0) read_word_o <= read_words;

    if (row_valid) begin
      queue[queue_write] = {row_last, in_y_offered, in_ring_row_offered, in_row_offered, sec_row_offered,
                            out_row_offered};
      queue_write = queue_write + 2'd1;
      queue_count = queue_count + 3'd1;
      delay = 1'b0;  // the products that taps need arrive with the next cycle
    end
    if (setup) begin
      setup = 1'b0;
      dilation_words = 24'(dilation_height) * $signed({8'd0, in_pitch});
    end
    if (take_i) begin
      start <= 1'b1;
      setup = 1'b1;
      delay = 1'b1;
      adds = `FIELD(job_i, VectorOp) == tilewright_isa_pkg::VectorOpAdd;
      in_base <= `FIELD(job_i, VectorInBase);
      in_pitch <= `FIELD(job_i, VectorInPitch);
      in_plane_pitch <= `FIELD(job_i, VectorInPlanePitch);
      in_sample_pitch <= `FIELD(job_i, VectorInSamplePitch);
      in_ring_rows <= `FIELD(job_i, VectorInRingRows);
      in_ring_start <= `FIELD(job_i, VectorInRingStart);
      height = {4'd0, `FIELD(job_i, VectorInHeight)};
      width = {4'd0, `FIELD(job_i, VectorInWidth)};
      sec_base <= `FIELD(job_i, VectorSecondBase);
      sec_pitch <= `FIELD(job_i, VectorSecondPitch);
      sec_plane_pitch <= `FIELD(job_i, VectorSecondPlanePitch);
      sec_sample_pitch <= `FIELD(job_i, VectorSecondSamplePitch);
      sec_ring_rows <= `FIELD(job_i, VectorSecondRingRows);
      sec_ring_start <= `FIELD(job_i, VectorSecondRingStart);
      out_base <= `FIELD(job_i, VectorOutBase);
      out_pitch <= `FIELD(job_i, VectorOutPitch);
      out_plane_pitch <= `FIELD(job_i, VectorOutPlanePitch);
      out_sample_pitch <= `FIELD(job_i, VectorOutSamplePitch);
      out_ring_rows <= `FIELD(job_i, VectorOutRingRows);
      out_ring_start <= `FIELD(job_i, VectorOutRingStart);
      out_row0 <= `FIELD(job_i, VectorOutRowStart);
      out_rows <= `FIELD(job_i, VectorOutRowCount);
      channels = `FIELD(job_i, VectorChannels);
      planes <= 16'((17'(channels) + 17'd15) >> 4);
      samples <= `FIELD(job_i, VectorSamples);
      kernel_height = `FIELD(job_i, VectorWindowKernelHeight);
      kernel_width = `FIELD(job_i, VectorWindowKernelWidth);
      stride_height <= {12'd0, `FIELD(job_i, VectorWindowStrideHeight)};
      stride_width = {12'd0, `FIELD(job_i, VectorWindowStrideWidth)};
      dilation_height = {12'd0, `FIELD(job_i, VectorWindowDilationHeight)};
      dilation_width = {12'd0, `FIELD(job_i, VectorWindowDilationWidth)};
      out_columns = `FIELD(job_i, VectorOutColumnCount);
      first_column = `FIELD(job_i, VectorOutColumnStart);
      in_row0 <= 20'($signed({4'd0, `FIELD(job_i, VectorOutRowStart)}) *
                     $signed({12'd0, `FIELD(job_i, VectorWindowStrideHeight)})) -
                 20'($signed(`FIELD(job_i, VectorWindowPadTop)));
      column0 = 20'($signed({4'd0, first_column}) * stride_width) - 20'($signed(`FIELD(job_i, VectorWindowPadLeft)));
      y = 16'd0;
      channel = 16'd0;
    end

    if (!rst_ni) begin
      start <= 1'b0;
      setup = 1'b0;
      read_o <= 4'd0;
      reads = 4'd0;
      set_valid = 1'b0;
      queue_read = 2'd0;
      queue_write = 2'd0;
      queue_count = 3'd0;
      row_begun = 1'b0;
      output_begun = 1'b0;
      reserved = 6'd0;
      delay = 1'b0;
    end
  end
endmodule
