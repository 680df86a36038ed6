// The output pixels of execute jobs in the order in which they leave the array, for one group of up to 16 channels:
// where each is written, how many of its channels exist, and where its residual word lies. One pixel per cycle, as far
// ahead of the array as drain_group has room. Lanes of the array that carry no pixel (the last group of a block, in
// mode depthwise of a row) are handed over as pixels without channels.
`include "tilewright.svh"
module output_walker #(
    parameter int unsigned P = 4,
    parameter int unsigned K = 16,
    parameter int unsigned Group = 0,       // which 16 channels of a block
    parameter int unsigned PixelFifo = 64,  // pixels that may be handed over and not yet used
    localparam int unsigned Lanes = (K < 16) ? K : 16
) (
    input logic clk_i,
    input logic rst_ni,

    input logic take_i,  // a job; one without acc_finish has no output
    input logic [tilewright_isa_pkg::DescriptorBits-1:0] job_i,

    output logic pixel_valid_o,
    // {last of its job, job modulo 4, byte of the residual word, byte of the output word at which the block's channels
    // begin, channels, whether there are any, output word}
    output logic [40:0] pixel_o,
    output logic [24:0] residual_o,  // {needed, word}
    input logic pixel_used_i
);
  // ---- Jobs taken, whole: the next one begins when this one's pixels are made.
  logic [tilewright_isa_pkg::DescriptorBits-1:0] jobs[4];
  logic [tilewright_isa_pkg::DescriptorBits-1:0] job;
  logic [1:0] job_read, job_write, slot;
  logic [2:0] job_count;

  logic walking, residual, row_groups;
  logic [15:0] out_width, x, channels, channel, lanes, prepared;
  logic [23:0] out_plane, res_plane;
  logic [3:0] out_byte, res_byte;
  logic [7:0] lane;
  logic hold, ended, row_end, group_end, job_last, with_channels;

  // ---- Rows of both maps, in step.
  logic start, row_valid, row_done, row_block_last, row_last;
  logic [23:0] out_base, out_plane_pitch, out_sample_pitch, res_base, res_plane_pitch, res_sample_pitch;
  logic [15:0] out_pitch, out_ring_rows, out_ring_start, res_pitch, res_ring_rows, res_ring_start;
  logic [15:0] row_start, rows, samples, blocks;
  logic [23:0] out_row_offered, res_row_offered, out_row, res_row;
  logic [49:0] queue[4];  // {last, last of its block, residual row, output row}
  logic [1:0] queue_read, queue_write;
  logic [2:0] queue_count;
  logic last, block_last;

  row_walker u_out (
      .clk_i, .rst_ni, .start_i(start), .base_i(out_base), .pitch_i(out_pitch), .inner_pitch_i(out_sample_pitch),
      .outer_pitch_i(24'd0), .ring_rows_i(out_ring_rows), .ring_start_i(out_ring_start),
      .first_row_i({4'd0, row_start}), .stride_i(20'sd1), .rows_i(rows), .inner_i(samples), .outer_i(blocks),
      .done_i(row_done), .valid_o(row_valid), .row_o(out_row_offered), .y_o(), .ring_row_o(),
      .outer_last_o(row_block_last), .last_o(row_last), .ring_words_o()
  );

  row_walker u_residual (
      .clk_i, .rst_ni, .start_i(start), .base_i(res_base), .pitch_i(res_pitch), .inner_pitch_i(res_sample_pitch),
      .outer_pitch_i(24'd0), .ring_rows_i(res_ring_rows), .ring_start_i(res_ring_start),
      .first_row_i({4'd0, row_start}), .stride_i(20'sd1), .rows_i(rows), .inner_i(samples), .outer_i(blocks),
      .done_i(row_done), .valid_o(), .row_o(res_row_offered), .y_o(), .ring_row_o(), .outer_last_o(), .last_o(),
      .ring_words_o()
  );

  always_ff @(posedge clk_i) begin : walk
    start <= 1'b0;
    row_done <= 1'b0;
    pixel_valid_o <= 1'b0;

    if (pixel_used_i) prepared = prepared - 16'd1;
    if (row_valid) begin
      queue[queue_write] = {row_last, row_block_last, res_row_offered, out_row_offered};
      queue_write = queue_write + 2'd1;
      queue_count = queue_count + 3'd1;
    end

    if ((queue_count != 3'd0 || ended) && prepared < 16'(PixelFifo)) begin
      if (!ended) {last, block_last, res_row, out_row} = queue[queue_read];
      // Lanes of this group that are channels of the job.
      lanes = (channel >= channels) ? 16'd0 : channels - channel;
      if (lanes > 16'(Lanes)) lanes = 16'(Lanes);
      with_channels = !hold && lanes != 16'd0;
      pixel_valid_o <= 1'b1;
      pixel_o[39:0] <= {slot, res_byte, out_byte, lanes[4:0], with_channels, out_row + {8'd0, x} + out_plane};
      residual_o <= {residual && with_channels, res_row + {8'd0, x} + res_plane};
      prepared = prepared + 16'd1;
      // The next pixel. `hold`: lanes up to the group's end are idle.
      row_end = 1'b0;
      if (!hold) begin
        x = x + 16'd1;
        if (x == out_width) begin
          row_end = 1'b1;
          hold = row_groups;
        end
      end
      lane = lane + 8'd1;
      group_end = lane == 8'(P);
      if (group_end) lane = 8'd0;
      if (row_groups ? group_end && hold : row_end) begin
        x = 16'd0;
        hold = block_last;
        ended = block_last;
        queue_read = queue_read + 2'd1;
        queue_count = queue_count - 3'd1;
        row_done <= 1'b1;
      end
      job_last = ended && group_end && last;
      pixel_o[40] <= job_last;
      if (ended && group_end) begin  // the next block
        ended = 1'b0;
        hold = 1'b0;
        channel = channel + 16'(K);
        if (K < 16) begin
          out_byte = out_byte + 4'(K);
          res_byte = res_byte + 4'(K);
          if (out_byte < 4'(K)) out_plane = out_plane + out_plane_pitch;
          if (res_byte < 4'(K)) res_plane = res_plane + res_plane_pitch;
        end else begin
          out_plane = out_plane + 24'(out_plane_pitch * 24'(K / 16));
          res_plane = res_plane + 24'(res_plane_pitch * 24'(K / 16));
        end
        if (last) walking = 1'b0;
      end
    end

    if (!walking && job_count != 3'd0) begin
      job = jobs[job_read];
      job_read = job_read + 2'd1;
      job_count = job_count - 3'd1;
      walking = 1'b1;
      start <= 1'b1;
      slot = slot + 2'd1;
      row_groups = `FIELD(job, ExecuteMode) == tilewright_isa_pkg::ExecuteModeDepthwise;
      residual = `FIELD(job, ExecuteResidual);
      out_base <= `FIELD(job, ExecuteOutBase);
      out_pitch <= `FIELD(job, ExecuteOutPitch);
      out_plane_pitch <= `FIELD(job, ExecuteOutPlanePitch);
      out_sample_pitch <= `FIELD(job, ExecuteOutSamplePitch);
      out_ring_rows <= `FIELD(job, ExecuteOutRingRows);
      out_ring_start <= `FIELD(job, ExecuteOutRingStart);
      res_base <= `FIELD(job, ExecuteResidualMapBase);
      res_pitch <= `FIELD(job, ExecuteResidualMapPitch);
      res_plane_pitch <= `FIELD(job, ExecuteResidualMapPlanePitch);
      res_sample_pitch <= `FIELD(job, ExecuteResidualMapSamplePitch);
      res_ring_rows <= `FIELD(job, ExecuteResidualMapRingRows);
      res_ring_start <= `FIELD(job, ExecuteResidualMapRingStart);
      row_start <= `FIELD(job, ExecuteOutRowStart);
      rows <= `FIELD(job, ExecuteOutRowCount);
      samples <= `FIELD(job, ExecuteSamples);
      blocks <= 16'((17'(`FIELD(job, ExecuteOutChannels)) + 17'(K - 1)) / 17'(K));
      out_width = `FIELD(job, ExecuteOutWidth);
      channels = `FIELD(job, ExecuteOutChannels);
      out_byte = `FIELD(job, ExecuteOutChannelOffset);
      res_byte = 4'd0;
      channel = 16'(Group * 16);
      out_plane = 24'(`FIELD(job, ExecuteOutPlanePitch) * 24'(Group));
      res_plane = 24'(`FIELD(job, ExecuteResidualMapPlanePitch) * 24'(Group));
      x = 16'd0;
      lane = 8'd0;
      hold = 1'b0;
      ended = 1'b0;
    end
    if (take_i && `FIELD(job_i, ExecuteAccFinish)) begin
      jobs[job_write] = job_i;
      job_write = job_write + 2'd1;
      job_count = job_count + 3'd1;
    end

    if (!rst_ni) begin
      walking = 1'b0;
      start <= 1'b0;
      job_read = 2'd0;
      job_write = 2'd0;
      job_count = 3'd0;
      slot = 2'd3;  // the first job's is 0
      queue_read = 2'd0;
      queue_write = 2'd0;
      queue_count = 3'd0;
      prepared = 16'd0;
      ended = 1'b0;
    end
  end
endmodule
