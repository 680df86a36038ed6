// What happens to the accumulators of one group of up to 16 channels on their way to the scratchpad. Residual words are
// fetched for the pixels that output_walker makes ahead of the drain; pixels leaving the array then pass the epilogue, one pixel of all the group's lanes per cycle, and end in a FIFO of writes.
//
// Epilogue stages: 0 bias and conversion, 1 scale, 2 round and clamp, 3 table 1, 4 and 5 residual, 6 round and clamp,
// 7 table 2, 8 place the bytes. Jobs follow each other without a gap, so a job's constants are kept by its number,
// modulo 4, that its pixels name.
`include "tilewright.svh"
module drain_group #(
    parameter int unsigned P = 4,
    parameter int unsigned K = 16,
    parameter int unsigned C = 4,
    parameter int unsigned Group = 0,      // which 16 channels of a block
    parameter int unsigned TableSlots = 4,
    parameter int unsigned WriteFifo = 64,
    localparam int unsigned Lanes = (K < 16) ? K : 16
) (
    input logic clk_i,
    input logic rst_ni,

    input logic take_i,  // as for the sequencer
    input logic [tilewright_isa_pkg::DescriptorBits-1:0] job_i,

    input logic header_valid_i,
    input logic header_parameters_i,
    input logic [3:0] header_index_i,
    input logic [K*C*8-1:0] header_i,
    input logic table_write_i,
    input logic [$clog2(TableSlots)+3:0] table_word_i,  // 16 bytes each
    input logic [127:0] table_data_i,

    // Residual reads: the word arrives in the cycle after a grant.
    output logic [1:0] read_o,           // the second is granted only after or together with the first
    output logic [2*24-1:0] read_word_o,
    input logic [1:0] read_grant_i,
    input logic [4*128-1:0] read_data_i,

    input logic pixel_valid_i,
    input logic pixel_parameters_i,
    input logic [Lanes*32-1:0] pixel_i,
    output logic [1:0] pixel_ready_o,  // so many more output pixels have been prepared
    output logic brick_done_o,
    output logic brick_done_parameters_o,

    output logic write_o,
    output logic [23:0] write_word_o,
    output logic [15:0] write_enable_o,
    output logic [127:0] write_data_o,
    input logic write_grant_i,
    output logic [1:0] write_free_o,  // places in the FIFO of writes that became free
    output logic job_done_o  // the last word of a job has been written
);
  // Pixels prepared or on their way through the array's skew: the drain's latency is P + K and some cycles.
  localparam int unsigned PixelFifo = (P <= 8) ? 64 : 128;
  localparam int unsigned PixelBits = $clog2(PixelFifo);
  localparam int unsigned WriteBits = $clog2(WriteFifo);

  // ---- Pixels made by the walker (output_walker.sv has their fields), and their residual words.
  logic made_valid;
  logic [40:0] made_pixel;
  logic [24:0] made_residual;
  logic [40:0] pixels[PixelFifo];
  logic [127:0] residuals[PixelFifo];
  logic [24:0] residual_reads[PixelFifo];  // {needed, word}
  logic [PixelBits-1:0] pixel_read, pixel_write, residual_next, second_next;
  logic [PixelBits:0] unread;  // pixels whose residual word has not been granted
  logic first_done, second_done;
  logic [1:0] arriving, arriving_needed, offered;
  logic [3:0] arriving_banks;
  logic [PixelBits-1:0] arriving_at;
  logic [24:0] first_read, second_read;

  // ---- Epilogue.
  logic [31:0] bias[2*Lanes];
  logic [31:0] scale[2*Lanes];
  logic [31:0] scale_negative[2*Lanes];
  logic [127:0] tables[TableSlots*16];
  // Per job, modulo 4.
  logic [1:0] take_slot;
  logic [7:0] zero_point[4];
  logic [11:0] clamp_low[4];
  logic [11:0] clamp_high[4];
  logic [2:0] table_1[4];
  logic [2:0] table_2[4];
  logic [2:0] residual_mode[4];  // {residual, swap, unsigned}
  logic [31:0] residual_a[4];
  logic [31:0] residual_b[4];
  logic [31:0] residual_fix[4];
  logic [7:0] residual_zero_point[4];
  logic [7:0] residual_low[4];
  logic [7:0] residual_high[4];
  logic [23:0] plane_pitch[4];
  logic straddles[4];

  logic [8:0] valid;            // of each stage
  logic [40:0] pixel[9];
  logic [127:0] residual_word[9];
  logic [127:0] word;
  logic stage_parameters;
  logic [7:0] row_count;
  logic [31:0] sum[Lanes];
  logic [30:0] converted[Lanes];
  logic negative[Lanes];
  logic [34:0] scaled[Lanes];
  logic [7:0] q2[Lanes];
  logic [7:0] q3[Lanes];
  logic [31:0] inner[Lanes];
  logic [31:0] outer[Lanes];
  logic [7:0] q4[Lanes];
  logic [7:0] q5[Lanes];
  logic [7:0] q6[Lanes];
  logic [7:0] q7[Lanes];
  logic [9:0] operand;
  logic [7:0] residual_byte;
  logic [1:0] s;
  logic [11:0] rounded;
  logic [255:0] placed;
  logic [31:0] enables;

  logic [31:0] header_entry, header_lane;
  // ---- Writes: {job_last, word, enable, data}.
  logic [127:0] fifo_data[WriteFifo];
  logic [40:0] fifo_where[WriteFifo];
  logic [WriteBits-1:0] fifo_read, fifo_write;
  logic [WriteBits:0] fifo_count;
  logic head_last;
  logic [1:0] freed;

  logic [31:0] header_words[K*C/4];
  for (genvar i = 0; i < K * C / 4; i++) begin : g_header
    assign header_words[i] = header_i[i*32+:32];
  end
  logic [31:0] accumulators[Lanes];
  for (genvar k = 0; k < Lanes; k++) begin : g_lane
    assign accumulators[k] = pixel_i[k*32+:32];
  end

  output_walker #(.P(P), .K(K), .Group(Group), .PixelFifo(PixelFifo)) u_walker (
      .clk_i, .rst_ni, .take_i, .job_i, .pixel_valid_o(made_valid), .pixel_o(made_pixel), .residual_o(made_residual),
      .pixel_used_i(pixel_valid_i)
  );

  always_ff @(posedge clk_i) begin : group
    pixel_ready_o <= 1'b0;
    brick_done_o <= 1'b0;
    job_done_o <= 1'b0;
    freed = 2'd0;

    // ---- Writes: the word at the FIFO's head stands at the output until granted.
    if (write_o && write_grant_i) begin
      write_o <= 1'b0;
      if (head_last) job_done_o <= 1'b1;
    end
    if (fifo_count != '0 && (!write_o || write_grant_i)) begin
      write_o <= 1'b1;
      {head_last, write_word_o, write_enable_o} <= fifo_where[fifo_read];
      write_data_o <= fifo_data[fifo_read];
      fifo_read = fifo_read + 1'b1;
      freed = 2'd1;
      fifo_count = fifo_count - 1'b1;
    end

    // ---- Epilogue, last stage first.
    if (valid != 9'd0) begin
      if (valid[8]) begin
        s = pixel[8][39:38];
        placed = '0;
        for (int unsigned k = 0; k < Lanes; k++) placed[k*8+:8] = q7[k];
        enables = {16'd0, (pixel[8][24]) ? ~(16'hffff << pixel[8][29:25]) : 16'd0};
        if (pixel[8][33:30] != 4'd0) begin
          placed = placed << {pixel[8][33:30], 3'd0};
          enables = enables << pixel[8][33:30];
        end
        // The last pixel of a job is written even if it has no lanes: its write completes the job.
        if (enables[15:0] != 16'd0 || pixel[8][40]) begin
          fifo_data[fifo_write] <= placed[127:0];
          fifo_where[fifo_write] <= {pixel[8][40] && enables[31:16] == 16'd0, pixel[8][23:0], enables[15:0]};
          fifo_write = fifo_write + 1'b1;
          fifo_count = fifo_count + 1'b1;
          freed = freed - 2'd1;
        end
        if (enables[31:16] != 16'd0) begin
          fifo_data[fifo_write] <= placed[255:128];
          fifo_where[fifo_write] <= {pixel[8][40], pixel[8][23:0] + plane_pitch[s], enables[31:16]};
          fifo_write = fifo_write + 1'b1;
          fifo_count = fifo_count + 1'b1;
          freed = freed - 2'd1;
        end
        // One place per pixel has been reserved, two if the job straddles words; what was not used is given back.
        freed = freed + 2'd1 + {1'b0, straddles[s]};
      end
      if (valid[7]) begin
        s = pixel[7][39:38];
        for (int unsigned k = 0; k < Lanes; k++) q7[k] = q6[k];
        if (table_2[s] != 3'd0)
          for (int unsigned k = 0; k < Lanes; k++) begin
            word = tables[(32'(table_2[s])-1)%TableSlots*16+32'(q6[k][7:4]^4'h8)];
            q7[k] = word[32'(q6[k][3:0])*8+:8];
          end
      end
      if (valid[6]) begin
        s = pixel[6][39:38];
        for (int unsigned k = 0; k < Lanes; k++) q6[k] = q5[k];
        if (residual_mode[s][2])
          for (int unsigned k = 0; k < Lanes; k++) begin
`ifdef TILEWRIGHT_FAULT_ZERO_POINT  // planted for the tests of the tests: test/rtl/CMakeLists.txt
            rounded = tilewright_float_pkg::float_to_int(outer[k]) + (residual_mode[s][0] ? -12'd128 : 12'd0);
`else
            rounded = tilewright_float_pkg::float_to_int(outer[k]) + 12'($signed(residual_zero_point[s]));
`endif
            q6[k] = tilewright_float_pkg::clamp_to_int8(rounded, 12'($signed(residual_low[s])),
                12'($signed(residual_high[s])));
          end
      end
      if (valid[5]) begin
        s = pixel[5][39:38];
        for (int unsigned k = 0; k < Lanes; k++) q5[k] = q4[k];
        if (residual_mode[s][2]) begin
          word = residual_word[5];
          for (int unsigned k = 0; k < Lanes; k++) begin
            residual_byte = word[k*8+:8];
            operand = 10'($signed(residual_mode[s][1] ? residual_byte : q4[k]));
            if (residual_mode[s][0]) operand = operand + 10'd128;
            outer[k] = tilewright_float_pkg::fma_int(operand, residual_a[s], inner[k]);
          end
        end
      end
      if (valid[4]) begin
        s = pixel[4][39:38];
        for (int unsigned k = 0; k < Lanes; k++) q4[k] = q3[k];
        if (residual_mode[s][2]) begin
          residual_word[4] = residual_word[4] >> {pixel[4][37:34], 3'd0};
          word = residual_word[4];
          for (int unsigned k = 0; k < Lanes; k++) begin
            residual_byte = word[k*8+:8];
            operand = 10'($signed(residual_mode[s][1] ? q3[k] : residual_byte));
            if (residual_mode[s][0]) operand = operand + 10'd128;
            inner[k] = tilewright_float_pkg::fma_int(operand, residual_b[s], residual_fix[s]);
          end
        end
      end
      if (valid[3]) begin
        s = pixel[3][39:38];
        for (int unsigned k = 0; k < Lanes; k++) q3[k] = q2[k];
        if (table_1[s] != 3'd0)
          for (int unsigned k = 0; k < Lanes; k++) begin
            word = tables[(32'(table_1[s])-1)%TableSlots*16+32'(q2[k][7:4]^4'h8)];
            q3[k] = word[32'(q2[k][3:0])*8+:8];
          end
      end
      if (valid[2]) begin
        s = pixel[2][39:38];
        for (int unsigned k = 0; k < Lanes; k++) begin
          rounded = tilewright_float_pkg::round_to_int(scaled[k][34], scaled[k][33:24], scaled[k][23:0]);
          q2[k] = tilewright_float_pkg::clamp_to_int8(rounded, clamp_low[s], clamp_high[s]) + zero_point[s];
        end
      end
      if (valid[1]) begin
        for (int unsigned k = 0; k < Lanes; k++)
          scaled[k] = tilewright_float_pkg::float_multiply(converted[k], converted[k][30] ?
              scale_negative[32'(stage_parameters)*Lanes+k]
                                                                    : scale[32'(stage_parameters)*Lanes+k]);
        row_count = row_count + 8'd1;
        if (row_count == 8'(P)) begin
          row_count = 8'd0;
          brick_done_o <= 1'b1;
          brick_done_parameters_o <= stage_parameters;
        end
      end
      for (int unsigned i = 0; i < 8; i++) pixel[8-i] = pixel[7-i];
      if (valid[4]) residual_word[5] = residual_word[4];
      if (valid[3:0] != 4'd0)
        for (int unsigned i = 0; i < 4; i++) residual_word[4-i] = residual_word[3-i];
    end
    write_free_o <= freed;
    valid = {valid[7:0], 1'b0};
    if (pixel_valid_i) begin
      valid[1] = 1'b1;
      pixel[1] = pixels[pixel_read];
      residual_word[1] = residuals[pixel_read];
      pixel_read = pixel_read + 1'b1;
      stage_parameters = pixel_parameters_i;
      for (int unsigned k = 0; k < Lanes; k++)
        converted[k] = tilewright_float_pkg::float_from_int(accumulators[k] + bias[32'(pixel_parameters_i)*Lanes+k]);
    end

    // ---- Residual words: two oldest pixels at a time, so that cycles in which the operand reader has all banks are
    // caught up.
    if (arriving[0]) begin
      if (arriving_needed[0]) residuals[arriving_at] <= read_data_i[32'(arriving_banks[1:0])*128+:128];
      arriving_at = arriving_at + 1'b1;
      if (arriving[1] && arriving_needed[1]) residuals[arriving_at] <= read_data_i[32'(arriving_banks[3:2])*128+:128];
    end
    pixel_ready_o <= {1'b0, arriving[0]} + {1'b0, arriving[1]};
    first_done = offered[0] && (!first_read[24] || read_grant_i[0]);
    second_done = offered[1] && first_done && (!second_read[24] || read_grant_i[1]);
    arriving = {second_done, first_done};
    arriving_needed = {second_read[24], first_read[24]};
    arriving_banks = {second_read[1:0], first_read[1:0]};
    arriving_at = residual_next;
    residual_next = residual_next + PixelBits'(first_done) + PixelBits'(second_done);
    unread = unread - (PixelBits + 1)'(first_done) - (PixelBits + 1)'(second_done);

    second_next = residual_next + 1'b1;
    offered = {unread > 1, unread != '0};
    first_read = residual_reads[residual_next];
    second_read = residual_reads[second_next];
    read_o <= offered & {second_read[24], first_read[24]};
    read_word_o <= {second_read[23:0], first_read[23:0]};

    if (made_valid) begin
      pixels[pixel_write] <= made_pixel;
      residual_reads[pixel_write] <= made_residual;
      pixel_write = pixel_write + 1'b1;
      unread = unread + 1'b1;
    end

    // ---- A job's constants: no more than four jobs are taken and not complete.
    if (take_i && `FIELD(job_i, ExecuteAccFinish)) begin
      zero_point[take_slot] = `FIELD(job_i, ExecuteOutZeroPoint);
      clamp_low[take_slot] = 12'($signed(`FIELD(job_i, ExecuteClampMin))) - 12'($signed(zero_point[take_slot]));
      clamp_high[take_slot] = 12'($signed(`FIELD(job_i, ExecuteClampMax))) - 12'($signed(zero_point[take_slot]));
      table_1[take_slot] = `FIELD(job_i, ExecuteTable1);
      table_2[take_slot] = `FIELD(job_i, ExecuteTable2);
      residual_mode[take_slot] = {`FIELD(job_i, ExecuteResidual), `FIELD(job_i, ExecuteResidualSwap), `FIELD(job_i, ExecuteResidualUnsigned)};
      residual_a[take_slot] = `FIELD(job_i, ExecuteResidualScaleA);
      residual_b[take_slot] = `FIELD(job_i, ExecuteResidualScaleB);
      residual_fix[take_slot] = `FIELD(job_i, ExecuteResidualFix);
      residual_zero_point[take_slot] = `FIELD(job_i, ExecuteResidualZeroPoint);
      residual_low[take_slot] = `FIELD(job_i, ExecuteResidualClampMin);
      residual_high[take_slot] = `FIELD(job_i, ExecuteResidualClampMax);
      plane_pitch[take_slot] = `FIELD(job_i, ExecuteOutPlanePitch);
      straddles[take_slot] = (K < 16) ? `FIELD(job_i, ExecuteOutChannelOffset) % 4'(K) != 4'd0 : `FIELD(job_i, ExecuteOutChannelOffset) != 4'd0;
      take_slot = take_slot + 2'd1;
    end
    // ---- Bias, scales and tables.
    if (header_valid_i)
      for (int unsigned i = 0; i < K * C / 4; i++) begin
        header_entry = 32'(header_index_i) * (K * C / 4) + i;
        header_lane = header_entry % K;
        if (header_entry < 3 * K && header_lane / Lanes == Group) begin
          header_lane = 32'(header_parameters_i) * Lanes + header_lane % Lanes;
          if (header_entry < K) bias[header_lane] = header_words[i];
          else if (header_entry < 2 * K) scale[header_lane] = header_words[i];
          else scale_negative[header_lane] = header_words[i];
        end
      end
    if (table_write_i) tables[table_word_i] <= table_data_i;

    if (!rst_ni) begin
      write_o <= 1'b0;
      read_o <= 2'd0;
      valid = 9'd0;
      row_count = 8'd0;
      take_slot = 2'd0;
      arriving = 2'd0;
      offered = 2'd0;
      unread = '0;
      residual_next = '0;
      pixel_read = '0;
      pixel_write = '0;
      fifo_read = '0;
      fifo_write = '0;
      fifo_count = '0;
    end
  end
endmodule
