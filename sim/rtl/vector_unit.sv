// Vector jobs: window maximum, requantized window sum, addition of two maps; 16 channels at a time, in scratchpad
// cycles that the array leaves free. Up to four taps of a kernel row are read per cycle, one per bank.
//
// `form` makes sets of taps in different banks; a set stays at the ports until all its reads are granted; words are
// reduced as they arrive; an output's last set sends it through the arithmetic (the epilogue's) to a FIFO of writes.
`include "tilewright.svh"
module vector_unit #(
    parameter int unsigned TableSlots = 4
) (
    input logic clk_i,
    input logic rst_ni,
    input logic job_valid_i,
    input logic [tilewright_isa_pkg::DescriptorBits-1:0] job_i,
    output logic take_o,
    output logic done_o,

    output logic [3:0] read_o,
    output logic [4*24-1:0] read_word_o,
    input logic [3:0] read_grant_i,
    input logic [4*128-1:0] read_data_i,  // one cycle after the grant

    input logic table_write_i,
    input logic [$clog2(TableSlots)+3:0] table_word_i,
    input logic [127:0] table_data_i,

    output logic write_o,
    output logic [23:0] write_word_o,
    output logic [15:0] write_enable_o,
    output logic [127:0] write_data_o,
    input logic write_grant_i
);
  typedef logic signed [19:0] coordinate_t;
  typedef logic [23:0] address_t;
  localparam int unsigned WriteFifo = 32;

  // ---- The job.
  logic running, setup, forming;
  logic [3:0] setup_step;
  logic [1:0] op;
  address_t in_plane_pitch, in_sample_pitch, sec_plane_pitch, sec_sample_pitch, out_plane_pitch, out_sample_pitch;
  logic [15:0] in_pitch, sec_pitch, out_pitch, kernel_height, kernel_width, out_rows, out_columns, samples, channels;
  coordinate_t in_ring_rows, in_ring_row0, in_row0, height, width, stride_height, stride_width, dilation_height;
  coordinate_t dilation_width, column0;
  coordinate_t sec_ring_rows, sec_ring_row0, out_ring_rows, out_ring_row0;
  address_t in_row0_offset, in_stride_rows, in_dilation_rows, in_ring_words;
  address_t sec_row0_offset, sec_ring_words, out_row0_offset, out_ring_words, product;
  logic [15:0] first_column;
  logic [7:0] pad_value, zero_point, clamp_min, clamp_max;
  logic [31:0] bias, scale, scale_b, fix;
  logic unsigned_add;
  logic [2:0] table_number;
  logic [3:0] out_byte;

  // ---- Position.
  logic [15:0] x, y, n, channel, tap_y, tap_x;
  coordinate_t tap_column, in_column, in_y, in_ring_row, tap_in_y, tap_ring_row, sec_ring_row, out_ring_row, column;
  address_t in_sample, in_plane, in_row, tap_row, sec_sample, sec_plane, sec_row, out_sample, out_plane, out_row;
  logic operand_b;

  // ---- The set at the read ports.
  logic [3:0] reads, set_roles;
  logic [4*24-1:0] read_words;
  logic set_valid, set_last, stop;
  logic [3:0] set_pads;
  logic set_first;
  logic [29:0] set_output;  // {last of job, lanes, word}
  address_t address;
  logic [1:0] bank;
  // Words arriving.
  logic [3:0] arriving, arriving_roles;
  logic closing, closing_last, fresh;
  logic [3:0] closing_pads;
  logic [29:0] closing_output;
  logic [31:0] reduced[16];
  logic [127:0] word, word_a, word_b;
  logic [31:0] pad_sum;
  logic [4:0] lanes;
  logic [5:0] flying;  // outputs between form and the FIFO

  // ---- Arithmetic: stage 1 convert or inner fma, 2 scale or outer fma, 3 round, 4 table, 5 place.
  logic [5:0] valid;
  logic [29:0] where[6];
  logic [127:0] stage_a;
  logic [127:0] stage_b;
  logic [127:0] stage_a2;
  logic [31:0] total[16];
  logic [31:0] v1[16];
  logic [34:0] v2[16];
  logic [7:0] v3[16];
  logic [7:0] v4[16];
  logic [127:0] tables[TableSlots*16];
  logic [9:0] operand;
  logic [11:0] rounded;
  logic [255:0] placed;
  logic [31:0] enables;

  logic [127:0] fifo_data[WriteFifo];
  logic [40:0] fifo_where[WriteFifo];
  logic [4:0] fifo_read, fifo_write;
  logic [5:0] fifo_count;
  logic head_last;

  always_ff @(posedge clk_i) begin : vector
    take_o <= 1'b0;
    done_o <= 1'b0;

    if (running) begin
      // ---- Writes.
      if (write_o && write_grant_i) begin
        write_o <= 1'b0;
        if (head_last) begin
          done_o <= 1'b1;
          running = 1'b0;
        end
      end
      if (fifo_count != 6'd0 && (!write_o || write_grant_i)) begin
        write_o <= 1'b1;
        {head_last, write_word_o, write_enable_o} <= fifo_where[fifo_read];
        write_data_o <= fifo_data[fifo_read];
        fifo_read = fifo_read + 5'd1;
        fifo_count = fifo_count - 6'd1;
      end

      // ---- Arithmetic, last stage first.
      if (valid[5]) begin
        placed = '0;
        for (int unsigned k = 0; k < 16; k++) placed[k*8+:8] = v4[k];
        enables = {16'd0, ~(16'hffff << where[5][28:24])};
        placed = placed << {out_byte, 3'd0};
        enables = enables << out_byte;
        fifo_data[fifo_write] <= placed[127:0];
        fifo_where[fifo_write] <= {where[5][29] && enables[31:16] == 16'd0, where[5][23:0], enables[15:0]};
        fifo_write = fifo_write + 5'd1;
        fifo_count = fifo_count + 6'd1;
        if (enables[31:16] != 16'd0) begin
          fifo_data[fifo_write] <= placed[255:128];
          fifo_where[fifo_write] <= {where[5][29], where[5][23:0] + out_plane_pitch, enables[31:16]};
          fifo_write = fifo_write + 5'd1;
          fifo_count = fifo_count + 6'd1;
        end
        flying = flying - 6'd1;
      end
      if (valid[4]) begin
        for (int unsigned k = 0; k < 16; k++) v4[k] = v3[k];
        if (table_number != 3'd0)
          for (int unsigned k = 0; k < 16; k++) begin
            word = tables[(32'(table_number)-1)%TableSlots*16+32'(v3[k][7:4]^4'h8)];
            v4[k] = word[32'(v3[k][3:0])*8+:8];
          end
      end
      if (valid[3]) begin
        if (op == tilewright_isa_pkg::VectorOpMax) begin
          for (int unsigned k = 0; k < 16; k++) v3[k] = v2[k][7:0];
        end else if (op == tilewright_isa_pkg::VectorOpSum) begin
          for (int unsigned k = 0; k < 16; k++) begin
            rounded = tilewright_float_pkg::round_to_int(v2[k][34], v2[k][33:24], v2[k][23:0]);
            v3[k] = tilewright_float_pkg::clamp_to_int8(rounded, 12'($signed(clamp_min)) - 12'($signed(zero_point)),
                                  12'($signed(clamp_max)) - 12'($signed(zero_point))) + zero_point;
          end
        end else begin
          for (int unsigned k = 0; k < 16; k++) begin
            rounded = tilewright_float_pkg::float_to_int(v2[k][31:0]) + 12'($signed(zero_point));
            v3[k] = tilewright_float_pkg::clamp_to_int8(rounded, 12'($signed(clamp_min)), 12'($signed(clamp_max)));
          end
        end
      end
      if (valid[2]) begin
        for (int unsigned k = 0; k < 16; k++) begin
          if (op == tilewright_isa_pkg::VectorOpMax) v2[k] = {3'd0, v1[k]};
          else if (op == tilewright_isa_pkg::VectorOpSum) v2[k] = tilewright_float_pkg::float_multiply(v1[k][30:0],
              scale);
          else begin
            operand = 10'($signed(stage_a2[k*8+:8]));
            if (unsigned_add) operand = operand + 10'd128;
            v2[k] = {3'd0, tilewright_float_pkg::fma_int(operand, scale, v1[k])};
          end
        end
      end
      if (valid[1]) begin
        for (int unsigned k = 0; k < 16; k++) begin
          if (op == tilewright_isa_pkg::VectorOpMax) v1[k] = total[k];
          else if (op == tilewright_isa_pkg::VectorOpSum) v1[k] = {1'b0,
              tilewright_float_pkg::float_from_int(total[k])};
          else begin
            operand = 10'($signed(stage_b[k*8+:8]));
            if (unsigned_add) operand = operand + 10'd128;
            v1[k] = tilewright_float_pkg::fma_int(operand, scale_b, fix);
          end
        end
        stage_a2 = stage_a;
      end
      for (int unsigned i = 0; i < 5; i++) where[5-i] = where[4-i];
      valid = {valid[4:0], 1'b0};

      // ---- Reduction of the words that arrive.
      if (fresh && (arriving != 4'd0 || closing)) begin
        fresh = 1'b0;
        for (int unsigned k = 0; k < 16; k++) reduced[k] = (op == tilewright_isa_pkg::VectorOpMax) ? 32'hffffff80 :
            bias;
      end
      for (int unsigned b = 0; b < 4; b++)
        if (arriving[b]) begin
          word = read_data_i[b*128+:128];
          if (op == tilewright_isa_pkg::VectorOpMax) begin
            for (int unsigned k = 0; k < 16; k++)
              if ($signed(32'($signed(word[k*8+:8]))) > $signed(reduced[k])) reduced[k] = 32'($signed(word[k*8+:8]));
          end else if (op == tilewright_isa_pkg::VectorOpSum) begin
            for (int unsigned k = 0; k < 16; k++) reduced[k] = reduced[k] + 32'($signed(word[k*8+:8]));
          end else if (arriving_roles[b]) begin
            word_b = word;
          end else begin
            word_a = word;
          end
        end
      if (closing) begin
        if (closing_pads != 4'd0) begin
          pad_sum = 32'($signed({1'b0, closing_pads}) * $signed({{24{pad_value[7]}}, pad_value}));
          if (op == tilewright_isa_pkg::VectorOpMax) begin
            for (int unsigned k = 0; k < 16; k++)
              if ($signed(32'($signed(pad_value))) > $signed(reduced[k])) reduced[k] = 32'($signed(pad_value));
          end else begin
            for (int unsigned k = 0; k < 16; k++) reduced[k] = reduced[k] + pad_sum;
          end
        end
        if (closing_last) begin
          fresh = 1'b1;
          valid[1] = 1'b1;
          where[1] = closing_output;
          stage_a = word_a;
          stage_b = word_b;
          for (int unsigned k = 0; k < 16; k++) total[k] = reduced[k];
        end
      end

      // ---- Grants.
      arriving = reads & read_grant_i;
      arriving_roles = set_roles;
      reads = reads & ~read_grant_i;
      closing = set_valid && reads == 4'd0;
      closing_last = set_last;
      closing_pads = set_pads;
      closing_output = set_output;
      if (closing) set_valid = 1'b0;

      // ---- Form.
      if (forming && !setup && !set_valid && fifo_count + {flying[4:0], 1'b0} < 6'(WriteFifo - 4)) begin
        set_valid = 1'b1;
        set_pads = 4'd0;
        set_last = 1'b0;
        set_roles = 4'd0;
        stop = 1'b0;
        if (op == tilewright_isa_pkg::VectorOpAdd) begin
          address = operand_b ? sec_row + {8'd0, x} + {8'd0, first_column} : in_row + 24'(in_column);
          bank = address[1:0];
          reads[bank] = 1'b1;
          read_words[32'(bank)*24+:24] = address;
          set_roles[bank] = operand_b;
          if (!operand_b) begin
            address = sec_row + {8'd0, x} + {8'd0, first_column};
            if (address[1:0] != bank) begin
              reads[address[1:0]] = 1'b1;
              read_words[32'(address[1:0])*24+:24] = address;
              set_roles[address[1:0]] = 1'b1;
              set_last = 1'b1;
            end
          end else begin
            set_last = 1'b1;
          end
          operand_b = !set_last;
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
                  tap_row = tap_row + in_dilation_rows;
                  if (tap_ring_row >= in_ring_rows) begin
                    tap_ring_row = tap_ring_row - in_ring_rows;
                    tap_row = tap_row - in_ring_words;
                  end
                  set_last = tap_y == kernel_height;
                end
              end
            end
        end
        if (set_last) begin
          flying = flying + 6'd1;
          lanes = (channels - channel > 16'd16) ? 5'd16 : 5'(channels - channel);
          set_output = {1'b0, lanes, out_row + {8'd0, x} + {8'd0, first_column}};
          // The next output.
          tap_y = 16'd0;
          x = x + 16'd1;
          in_column = in_column + stride_width;
          if (x == out_columns) begin
            x = 16'd0;
            in_column = column0;
            y = y + 16'd1;
            in_y = in_y + stride_height;
            in_ring_row = in_ring_row + stride_height;
            in_row = in_row + in_stride_rows;
            if (in_ring_row >= in_ring_rows) begin
              in_ring_row = in_ring_row - in_ring_rows;
              in_row = in_row - in_ring_words;
            end
            sec_row = sec_row + {8'd0, sec_pitch};
            sec_ring_row = sec_ring_row + 20'sd1;
            if (sec_ring_row >= sec_ring_rows) begin
              sec_ring_row = sec_ring_row - sec_ring_rows;
              sec_row = sec_row - sec_ring_words;
            end
            out_row = out_row + {8'd0, out_pitch};
            out_ring_row = out_ring_row + 20'sd1;
            if (out_ring_row >= out_ring_rows) begin
              out_ring_row = out_ring_row - out_ring_rows;
              out_row = out_row - out_ring_words;
            end
            if (y == out_rows) begin
              y = 16'd0;
              in_plane = in_plane + in_plane_pitch;
              sec_plane = sec_plane + sec_plane_pitch;
              out_plane = out_plane + out_plane_pitch;
              if (channels - channel <= 16'd16) begin
                channel = 16'd0;
                n = n + 16'd1;
                in_sample = in_sample + in_sample_pitch;
                sec_sample = sec_sample + sec_sample_pitch;
                out_sample = out_sample + out_sample_pitch;
                in_plane = in_sample;
                sec_plane = sec_sample;
                out_plane = out_sample;
                if (n == samples) begin
                  forming = 1'b0;
                  set_output[29] = 1'b1;
                end
              end else begin
                channel = channel + 16'd16;
              end
              in_y = in_row0;
              in_ring_row = in_ring_row0;
              in_row = in_plane + in_row0_offset;
              sec_ring_row = sec_ring_row0;
              sec_row = sec_plane + sec_row0_offset;
              out_ring_row = out_ring_row0;
              out_row = out_plane + out_row0_offset;
            end
          end
          tap_in_y = in_y;
          tap_ring_row = in_ring_row;
          tap_row = in_row;
        end
      end
      read_o <= reads;
      if (reads != 4'd0) read_word_o <= read_words;

      // ---- Set-up: eight products with one multiplier.
      if (setup) begin
        case (setup_step)
          4'd0: product = 24'(in_ring_row0) * $signed({8'd0, in_pitch});
          4'd1: product = 24'(stride_height) * $signed({8'd0, in_pitch});
          4'd2: product = 24'(dilation_height) * $signed({8'd0, in_pitch});
          4'd3: product = 24'(in_ring_rows) * $signed({8'd0, in_pitch});
          4'd4: product = 24'(sec_ring_row0) * $signed({8'd0, sec_pitch});
          4'd5: product = 24'(sec_ring_rows) * $signed({8'd0, sec_pitch});
          4'd6: product = 24'(out_ring_row0) * $signed({8'd0, out_pitch});
          default: product = 24'(out_ring_rows) * $signed({8'd0, out_pitch});
        endcase
        case (setup_step)
          4'd0: in_row0_offset = product;
          4'd1: in_stride_rows = product;
          4'd2: in_dilation_rows = product;
          4'd3: in_ring_words = product;
          4'd4: sec_row0_offset = product;
          4'd5: sec_ring_words = product;
          4'd6: out_row0_offset = product;
          default: out_ring_words = product;
        endcase
        setup_step = setup_step + 4'd1;
        if (setup_step == 4'd8) begin
          setup = 1'b0;
          in_row = in_plane + in_row0_offset;
          tap_row = in_row;
          sec_row = sec_plane + sec_row0_offset;
          out_row = out_plane + out_row0_offset;
        end
      end
    end

    if (!running && job_valid_i && !take_o && !done_o) begin
      take_o <= 1'b1;
      running = 1'b1;
      setup = 1'b1;
      setup_step = 4'd0;
      forming = 1'b1;
      op = `FIELD(job_i, VectorOp);
      in_sample = `FIELD(job_i, VectorInBase);
      in_pitch = `FIELD(job_i, VectorInPitch);
      in_plane_pitch = `FIELD(job_i, VectorInPlanePitch);
      in_sample_pitch = `FIELD(job_i, VectorInSamplePitch);
      in_ring_rows = {4'd0, `FIELD(job_i, VectorInRingRows)};
      height = {4'd0, `FIELD(job_i, VectorInHeight)};
      width = {4'd0, `FIELD(job_i, VectorInWidth)};
      pad_value = `FIELD(job_i, VectorPadValue);
      sec_sample = `FIELD(job_i, VectorSecondBase);
      sec_pitch = `FIELD(job_i, VectorSecondPitch);
      sec_plane_pitch = `FIELD(job_i, VectorSecondPlanePitch);
      sec_sample_pitch = `FIELD(job_i, VectorSecondSamplePitch);
      sec_ring_rows = {4'd0, `FIELD(job_i, VectorSecondRingRows)};
      kernel_height = `FIELD(job_i, VectorWindowKernelHeight);
      kernel_width = `FIELD(job_i, VectorWindowKernelWidth);
      stride_height = {12'd0, `FIELD(job_i, VectorWindowStrideHeight)};
      stride_width = {12'd0, `FIELD(job_i, VectorWindowStrideWidth)};
      dilation_height = {12'd0, `FIELD(job_i, VectorWindowDilationHeight)};
      dilation_width = {12'd0, `FIELD(job_i, VectorWindowDilationWidth)};
      out_sample = `FIELD(job_i, VectorOutBase);
      out_pitch = `FIELD(job_i, VectorOutPitch);
      out_plane_pitch = `FIELD(job_i, VectorOutPlanePitch);
      out_sample_pitch = `FIELD(job_i, VectorOutSamplePitch);
      out_ring_rows = {4'd0, `FIELD(job_i, VectorOutRingRows)};
      out_rows = `FIELD(job_i, VectorOutRowCount);
      out_columns = `FIELD(job_i, VectorOutColumnCount);
      first_column = `FIELD(job_i, VectorOutColumnStart);
      samples = `FIELD(job_i, VectorSamples);
      channels = `FIELD(job_i, VectorChannels);
      out_byte = `FIELD(job_i, VectorOutChannelOffset);
      bias = `FIELD(job_i, VectorBias);
      scale = `FIELD(job_i, VectorScale);
      scale_b = `FIELD(job_i, VectorScaleB);
      fix = `FIELD(job_i, VectorFix);
      unsigned_add = `FIELD(job_i, VectorUnsignedAdd);
      zero_point = `FIELD(job_i, VectorOutZeroPoint);
      clamp_min = `FIELD(job_i, VectorClampMin);
      clamp_max = `FIELD(job_i, VectorClampMax);
      table_number = `FIELD(job_i, VectorTable);
      in_row0 = 20'($signed({4'd0, `FIELD(job_i, VectorOutRowStart)}) * stride_height) -
                20'($signed(`FIELD(job_i, VectorWindowPadTop)));
      column0 = 20'($signed({4'd0, first_column}) * stride_width) - 20'($signed(`FIELD(job_i, VectorWindowPadLeft)));
      in_ring_row0 = in_row0 - $signed({4'd0, `FIELD(job_i, VectorInRingStart)});
      if (in_ring_row0 >= in_ring_rows) in_ring_row0 = in_ring_row0 - in_ring_rows;
      sec_ring_row0 = $signed({4'd0, `FIELD(job_i, VectorOutRowStart)}) -
                      $signed({4'd0, `FIELD(job_i, VectorSecondRingStart)});
      if (sec_ring_row0 >= sec_ring_rows) sec_ring_row0 = sec_ring_row0 - sec_ring_rows;
      out_ring_row0 = $signed({4'd0, `FIELD(job_i, VectorOutRowStart)}) -
                      $signed({4'd0, `FIELD(job_i, VectorOutRingStart)});
      if (out_ring_row0 >= out_ring_rows) out_ring_row0 = out_ring_row0 - out_ring_rows;
      in_plane = in_sample;
      sec_plane = sec_sample;
      out_plane = out_sample;
      x = 16'd0;
      y = 16'd0;
      n = 16'd0;
      channel = 16'd0;
      tap_x = 16'd0;
      tap_y = 16'd0;
      tap_column = 20'sd0;
      in_column = column0;
      in_y = in_row0;
      tap_in_y = in_row0;
      in_ring_row = in_ring_row0;
      tap_ring_row = in_ring_row0;
      sec_ring_row = sec_ring_row0;
      out_ring_row = out_ring_row0;
      operand_b = 1'b0;
      set_valid = 1'b0;
      reads = 4'd0;
      arriving = 4'd0;
      closing = 1'b0;
      fresh = 1'b1;
      flying = 6'd0;
      valid = 6'd0;
      fifo_count = 6'd0;
      fifo_read = 5'd0;
      fifo_write = 5'd0;
    end
    if (table_write_i) tables[table_word_i] <= table_data_i;

    if (!rst_ni) begin
      running = 1'b0;
      read_o <= 4'd0;
      write_o <= 1'b0;
    end
  end
endmodule
