// Vector jobs: window maximum, requantized window sum, addition of two maps; 16 channels at a time, in scratchpad
// cycles that the array leaves free. Words that vector_reader has asked for are reduced as they arrive; an output's last
// ones send it through the arithmetic (the epilogue's) to a FIFO of writes.
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
  localparam int unsigned WriteFifo = 32;

  // ---- The job.
  logic running;
  logic [1:0] op;
  logic [23:0] out_plane_pitch;
  logic [7:0] pad_value, zero_point, clamp_min, clamp_max;
  logic [31:0] bias, scale, scale_b, fix;
  logic unsigned_add;
  logic [2:0] table_number;
  logic [3:0] out_byte;

  // ---- Words arriving.
  logic [3:0] arriving, arriving_second, pads;
  logic set_end, output_end, output_last, fresh;
  logic [4:0] output_channels;
  logic [23:0] output_word;
  logic [31:0] reduced[16];
  logic [127:0] word, word_a, word_b;
  logic [31:0] pad_sum;
  logic [1:0] freed;

  // ---- Arithmetic: stage 1 convert or inner fma, 2 scale or outer fma, 3 round, 4 table, 5 place.
  logic [5:0] valid;
  logic [29:0] where[6];  // {last of job, channels, word}
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

  // Places in the FIFO are given back through a register.
  logic [1:0] freed_q;
  vector_reader #(.Places(WriteFifo - 4)) u_reader (
      .clk_i, .rst_ni, .take_i(take_o), .job_i, .read_o, .read_word_o, .read_grant_i,
      .arriving_o(arriving), .arriving_second_o(arriving_second), .set_end_o(set_end), .pads_o(pads),
      .output_end_o(output_end), .output_last_o(output_last), .output_channels_o(output_channels),
      .output_word_o(output_word), .freed_i(freed_q)
  );

  always_ff @(posedge clk_i) begin : vector
    take_o <= 1'b0;
    done_o <= 1'b0;
    freed = 2'd0;

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
        freed = 2'd1;
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
        if (enables[31:16] == 16'd0) begin
          freed = freed + 2'd1;  // two had been reserved
        end else begin
          fifo_data[fifo_write] <= placed[255:128];
          fifo_where[fifo_write] <= {where[5][29], where[5][23:0] + out_plane_pitch, enables[31:16]};
          fifo_write = fifo_write + 5'd1;
          fifo_count = fifo_count + 6'd1;
        end
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
      if (fresh && (arriving != 4'd0 || set_end)) begin
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
          end else if (arriving_second[b]) begin
            word_b = word;
          end else begin
            word_a = word;
          end
        end
      if (set_end) begin
        if (pads != 4'd0) begin
          pad_sum = 32'($signed({1'b0, pads}) * $signed({{24{pad_value[7]}}, pad_value}));
          if (op == tilewright_isa_pkg::VectorOpMax) begin
            for (int unsigned k = 0; k < 16; k++)
              if ($signed(32'($signed(pad_value))) > $signed(reduced[k])) reduced[k] = 32'($signed(pad_value));
          end else begin
            for (int unsigned k = 0; k < 16; k++) reduced[k] = reduced[k] + pad_sum;
          end
        end
        if (output_end) begin
          fresh = 1'b1;
          valid[1] = 1'b1;
          where[1] = {output_last, output_channels, output_word};
          stage_a = word_a;
          stage_b = word_b;
          for (int unsigned k = 0; k < 16; k++) total[k] = reduced[k];
        end
      end
    end
    freed_q <= freed;

    if (!running && job_valid_i && !take_o && !done_o) begin
      take_o <= 1'b1;
      running = 1'b1;
      op = `FIELD(job_i, VectorOp);
      pad_value = `FIELD(job_i, VectorPadValue);
      out_plane_pitch = `FIELD(job_i, VectorOutPlanePitch);
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
      fresh = 1'b1;
      valid = 6'd0;
      fifo_count = 6'd0;
      fifo_read = 5'd0;
      fifo_write = 5'd0;
    end
    if (table_write_i) tables[table_word_i] <= table_data_i;

    if (!rst_ni) begin
      running = 1'b0;
      freed_q <= 2'd0;
      write_o <= 1'b0;
    end
  end
endmodule
