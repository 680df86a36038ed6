// Load jobs: rows of DRAM bytes of any alignment into a map of the scratchpad. Requests run ahead of the data, across
// jobs, as far as the buffer has room; behind the buffer, words are cut out of neighbouring bus words (modes words and
// bytes) or interleaved byte by byte from up to four plane streams (planar).
`include "tilewright.svh"
module load_dma (
    input logic clk_i,
    input logic rst_ni,
    input logic job_valid_i,
    input logic [tilewright_isa_pkg::DescriptorBits-1:0] job_i,
    output logic take_o,
    output logic done_o,

    output logic request_o,
    output logic [47:0] address_o,
    output logic [4:0] words_o,
    input logic grant_i,
    input logic valid_i,
    input logic [127:0] data_i,

    output logic write_o,
    output logic [23:0] write_word_o,
    output logic [127:0] write_data_o,
    input logic write_grant_i
);
  localparam int unsigned BufferWords = 256;  // 4 KiB: more than latency times rate

  // ---- Requests. A row is one stream, or one per plane.
  logic asking, buffer_planar, stream_found;
  logic [1:0] ask_stream, request_stream, candidate;
  logic [2:0] streams;
  logic ask_start, ask_offered, ask_offered_last, ask_done, ask_last;
  logic [47:0] ask_base, ask_row_stride, ask_plane_stride, ask_sample_stride, ask_offered_row, ask_row;
  logic [15:0] ask_rows, ask_planes, ask_samples;
  logic [48:0] ask_queue[4];    // rows to come: {last, address}
  logic [1:0] ask_queue_read, ask_queue_write;
  logic [2:0] ask_queue_count;
  logic [47:0] stream_address[4];
  logic [27:0] stream_left[4];  // words of the row not yet requested
  logic [23:0] ask_bytes;
  logic [8:0] stream_used[4];   // words requested or in the buffer
  logic [4:0] burst;
  logic row_open;
  logic [6:0] order[64];        // per burst under way: {stream, words}
  logic [5:0] order_read, order_write;
  logic [6:0] order_count;
  logic [4:0] order_given;

  // ---- Buffer.
  logic [127:0] buffer[BufferWords];
  logic [7:0] stream_write[4];
  logic [7:0] stream_read[4];
  logic [8:0] stream_filled[4];
  logic [1:0] stream;

  // ---- Rows out.
  logic [tilewright_isa_pkg::DescriptorBits-1:0] jobs[4];
  logic [tilewright_isa_pkg::DescriptorBits-1:0] job;
  logic [1:0] job_read, job_write;
  logic [2:0] job_count;
  logic writing, planar, flip, possible, last_row, head_last;
  logic map_start, row_offered, row_offered_last, row_done, offset_offered;
  logic [23:0] map_base, map_plane_pitch, map_sample_pitch, row_offered_at, row_base;
  logic [15:0] map_pitch, map_ring_rows, map_ring_start, map_row0, map_rows, map_planes, map_samples;
  // Where rows begin: in the scratchpad, and within a 16-byte word of DRAM.
  logic [24:0] row_queue[4];    // {last, address}
  logic [3:0] offset_queue[4];
  logic [1:0] row_queue_read, row_queue_write, offset_queue_write;
  logic [2:0] row_queue_count;
  logic [3:0] row_offset, offset_base, row_step, plane_step, sample_step, offset_offered_at;
  logic [4:0] position[4];      // planar: next byte within the stream's head word
  logic [23:0] pixels_left[4];
  logic [4:0] stream_need;
  logic [23:0] row_bytes, left, word;
  logic [15:0] planes;
  logic [1:0] plane;
  logic [127:0] first_word, second_word, out_word;
  logic [4:0] count;
  logic [1:0] popped;

  function automatic logic [7:0] place(input logic is_planar, input logic [1:0] which, input logic [7:0] pointer);
    place = is_planar ? {which, pointer[5:0]} : pointer;
  endfunction

  dram_row_walker u_ask (
      .clk_i, .rst_ni, .start_i(ask_start), .address_i(ask_base), .row_stride_i(ask_row_stride),
      .plane_stride_i(ask_plane_stride), .sample_stride_i(ask_sample_stride), .rows_i(ask_rows), .planes_i(ask_planes),
      .samples_i(ask_samples), .done_i(ask_done), .valid_o(ask_offered), .row_o(ask_offered_row),
      .last_o(ask_offered_last)
  );

  row_walker u_rows (
      .clk_i, .rst_ni, .start_i(map_start), .base_i(map_base), .pitch_i(map_pitch), .inner_pitch_i(map_plane_pitch),
      .outer_pitch_i(map_sample_pitch), .ring_rows_i(map_ring_rows), .ring_start_i(map_ring_start),
      .first_row_i({4'd0, map_row0}), .stride_i(20'sd1), .rows_i(map_rows), .inner_i(map_planes),
      .outer_i(map_samples), .done_i(row_done), .valid_o(row_offered), .row_o(row_offered_at), .y_o(), .ring_row_o(),
      .outer_last_o(), .last_o(row_offered_last), .ring_words_o()
  );

  // Has offered a row's offset by the time the other one offers its address.
  dram_row_walker #(.AddressBits(4)) u_offsets (
      .clk_i, .rst_ni, .start_i(map_start), .address_i(offset_base), .row_stride_i(row_step),
      .plane_stride_i(plane_step), .sample_stride_i(sample_step), .rows_i(map_rows), .planes_i(map_planes),
      .samples_i(map_samples), .done_i(row_done), .valid_o(offset_offered), .row_o(offset_offered_at), .last_o()
  );

  always_ff @(posedge clk_i) begin : load
    take_o <= 1'b0;
    done_o <= 1'b0;
    map_start <= 1'b0;
    row_done <= 1'b0;
    ask_start <= 1'b0;
    ask_done <= 1'b0;

    // ---- Rows out of it.
    if (write_o && write_grant_i) begin
      write_o <= 1'b0;
      if (head_last) done_o <= 1'b1;
    end
    if (row_offered) begin
      row_queue[row_queue_write] = {row_offered_last, row_offered_at};
      row_queue_write = row_queue_write + 2'd1;
      row_queue_count = row_queue_count + 3'd1;
    end
    if (offset_offered) begin
      offset_queue[offset_queue_write] = offset_offered_at;
      offset_queue_write = offset_queue_write + 2'd1;
    end
    if (writing && row_queue_count != 3'd0 && (!write_o || write_grant_i)) begin
      {last_row, row_base} = row_queue[row_queue_read];
      row_offset = offset_queue[row_queue_read];
      if (word == 24'd0) begin
        plane = 2'd0;
        for (int unsigned s = 0; s < 4; s++) begin
          position[s] = {1'b0, row_offset + plane_step * 4'(s)};
          pixels_left[s] = `FIELD(job, LoadWidth);
        end
      end
      count = (left > 24'd16) ? 5'd16 : left[4:0];
      if (!planar) begin
        possible = stream_filled[0] > 9'({1'b0, row_offset} + count > 5'd16);
      end else begin
        possible = 1'b1;
        for (int unsigned s = 0; s < 4; s++)
          if (s < 32'(planes)) begin
            stream_need = planes == 16'd1 ? 5'd16 : planes == 16'd2 ? 5'd8 : planes == 16'd3 ? 5'd6 : 5'd4;
            if (pixels_left[s] < {19'd0, stream_need}) stream_need = pixels_left[s][4:0];
            if (stream_need != 5'd0 && stream_filled[s] <= 9'(position[s] + stream_need > 5'd16)) possible = 1'b0;
          end
      end
      if (possible) begin
        if (!planar) begin
          first_word = buffer[stream_read[0]];
          if (row_offset != 4'd0) begin
            second_word = buffer[stream_read[0]+8'd1];
            out_word = 128'({second_word, first_word} >> {row_offset, 3'd0});
          end else begin
            out_word = first_word;
          end
          popped = (left <= 24'd16 && {1'b0, row_offset} + count > 5'd16) ? 2'd2 : 2'd1;
          stream_read[0] = stream_read[0] + {6'd0, popped};
          stream_filled[0] = stream_filled[0] - {7'd0, popped};
          stream_used[0] = stream_used[0] - {7'd0, popped};
        end else begin
          for (int unsigned i = 0; i < 16; i++)
            if (i < 32'(count)) begin
              first_word = buffer[place(1'b1, plane, stream_read[plane]+{7'd0, position[plane][4]})];
              out_word[i*8+:8] = first_word[32'(position[plane][3:0])*8+:8];
              position[plane] = position[plane] + 5'd1;
              pixels_left[plane] = pixels_left[plane] - 24'd1;
              plane = (16'(plane) + 16'd1 == planes) ? 2'd0 : plane + 2'd1;
            end
          for (int unsigned s = 0; s < 4; s++)
            if (s < 32'(planes) && (position[s] >= 5'd16 || (pixels_left[s] == 24'd0 && position[s] != 5'd0))) begin
              position[s] = (position[s] >= 5'd16) ? position[s] - 5'd16 : 5'd0;
              stream_read[s] = stream_read[s] + 8'd1;
              stream_filled[s] = stream_filled[s] - 9'd1;
              stream_used[s] = stream_used[s] - 9'd1;
              if (pixels_left[s] == 24'd0 && position[s] != 5'd0) begin  // the row's last bytes began another word
                position[s] = 5'd0;
                stream_read[s] = stream_read[s] + 8'd1;
                stream_filled[s] = stream_filled[s] - 9'd1;
                stream_used[s] = stream_used[s] - 9'd1;
              end
            end
        end
        if (flip) out_word = out_word ^ {16{8'h80}};
        if (count != 5'd16) out_word = out_word & ~({128{1'b1}} << {count, 3'd0});
        write_o <= 1'b1;
        write_word_o <= row_base + word;
        write_data_o <= out_word;
        word = word + 24'd1;
        left = left - {19'd0, count};
        head_last <= left == 24'd0 && last_row;
        if (left == 24'd0) begin  // the next row
          word = 24'd0;
          left = row_bytes;
          row_queue_read = row_queue_read + 2'd1;
          row_queue_count = row_queue_count - 3'd1;
          row_done <= 1'b1;
          if (last_row) writing = 1'b0;
        end
      end
    end
    if (!writing && job_count != 3'd0) begin
      job = jobs[job_read];
      job_read = job_read + 2'd1;
      job_count = job_count - 3'd1;
      writing = 1'b1;
      planar = `FIELD(job, LoadMode) == tilewright_isa_pkg::LoadModePlanar;
      flip = `FIELD(job, LoadFlipSign);
      planes = `FIELD(job, LoadPlanes);
      map_start <= 1'b1;
      map_base <= `FIELD(job, LoadOutBase);
      map_pitch <= `FIELD(job, LoadOutPitch);
      map_plane_pitch <= `FIELD(job, LoadOutPlanePitch);
      map_sample_pitch <= `FIELD(job, LoadOutSamplePitch);
      map_ring_rows <= `FIELD(job, LoadOutRingRows);
      map_ring_start <= `FIELD(job, LoadOutRingStart);
      map_row0 <= `FIELD(job, LoadRowStart);
      map_rows <= `FIELD(job, LoadRowCount);
      map_planes <= planar ? 16'd1 : planes;
      map_samples <= `FIELD(job, LoadSamples);
      offset_base <= job[tilewright_isa_pkg::LoadDramAddressLsb+:4];
      row_step <= job[tilewright_isa_pkg::LoadDramRowStrideLsb+:4];
      plane_step <= job[tilewright_isa_pkg::LoadDramPlaneStrideLsb+:4];
      sample_step <= job[tilewright_isa_pkg::LoadDramSampleStrideLsb+:4];
      offset_queue[offset_queue_write] = job[tilewright_isa_pkg::LoadDramAddressLsb+:4];
      offset_queue_write = offset_queue_write + 2'd1;
      row_bytes = (`FIELD(job, LoadMode) == tilewright_isa_pkg::LoadModeWords) ? 24'({`FIELD(job, LoadWidth), 4'd0})
                : planar ? 24'(`FIELD(job, LoadWidth) * {8'd0, planes}) : `FIELD(job, LoadWidth);
      left = row_bytes;
      word = 24'd0;
    end

    // ---- Data into the buffer.
    if (valid_i) begin
      stream = order[order_read][6:5];
      buffer[place(buffer_planar, stream, stream_write[stream])] <= data_i;
      stream_write[stream] = stream_write[stream] + 8'd1;
      stream_filled[stream] = stream_filled[stream] + 9'd1;
      order_given = order_given + 5'd1;
      if (order_given == order[order_read][4:0]) begin
        order_given = 5'd0;
        order_read = order_read + 6'd1;
        order_count = order_count - 7'd1;
      end
    end

    // ---- Requests.
    if (grant_i) begin
      order[order_write] = {request_stream, words_o};
      order_write = order_write + 6'd1;
      order_count = order_count + 7'd1;
      stream_used[request_stream] = stream_used[request_stream] + {4'd0, words_o};
      stream_address[request_stream] = {stream_address[request_stream][47:4], 4'd0} + {39'd0, words_o, 4'd0};
      stream_left[request_stream] = stream_left[request_stream] - {23'd0, words_o};
      request_o <= 1'b0;
    end
    if (row_open && stream_left[0] == 28'd0 && stream_left[1] == 28'd0 && stream_left[2] == 28'd0 &&
        stream_left[3] == 28'd0) begin
      row_open = 1'b0;
    end
    if (ask_offered) begin
      ask_queue[ask_queue_write] = {ask_offered_last, ask_offered_row};
      ask_queue_write = ask_queue_write + 2'd1;
      ask_queue_count = ask_queue_count + 3'd1;
    end
    if (asking && !row_open && ask_queue_count != 3'd0) begin
      row_open = 1'b1;
      {ask_last, ask_row} = ask_queue[ask_queue_read];
      ask_queue_read = ask_queue_read + 2'd1;
      ask_queue_count = ask_queue_count - 3'd1;
      ask_done <= 1'b1;
      asking = !ask_last;
      for (int unsigned s = 0; s < 4; s++) begin
        stream_address[s] = ask_row;
        if (s == 1) stream_address[s] = ask_row + ask_plane_stride;
        if (s == 2) stream_address[s] = ask_row + {ask_plane_stride[46:0], 1'b0};
        if (s == 3) stream_address[s] = ask_row + {ask_plane_stride[46:0], 1'b0} + ask_plane_stride;
        stream_left[s] = (s < 32'(streams)) ? ({4'd0, ask_bytes} + {24'd0, stream_address[s][3:0]} + 28'd15) >> 4 :
            28'd0;
      end
      ask_stream = 2'd0;
    end
    if (row_open && (!request_o || grant_i) && order_count < 7'd63) begin
      stream_found = 1'b0;
      for (int unsigned i = 0; i < 4; i++) begin
        candidate = ask_stream + 2'(i);
        burst = 5'd16 - {1'b0, stream_address[candidate][7:4]};
        if (stream_left[candidate] < {23'd0, burst}) burst = stream_left[candidate][4:0];
        if (!stream_found && burst != 5'd0 &&
            stream_used[candidate] + {4'd0, burst} <= (buffer_planar ? 9'd64 : 9'd256)) begin
          stream_found = 1'b1;
          request_o <= 1'b1;
          request_stream <= candidate;
          address_o <= {stream_address[candidate][47:4], 4'd0};
          words_o <= burst;
        end
      end
      if (stream_found) ask_stream = ask_stream + 2'd1;
    end
    if (!asking && !row_open && job_valid_i && job_count < 3'd3 && !take_o &&
        (buffer_planar == (`FIELD(job_i, LoadMode) == tilewright_isa_pkg::LoadModePlanar) ||
         (stream_used[0] == 9'd0 && stream_used[1] == 9'd0 && stream_used[2] == 9'd0 && stream_used[3] == 9'd0))) begin
      take_o <= 1'b1;
      asking = 1'b1;
      jobs[job_write] = job_i;
      job_write = job_write + 2'd1;
      job_count = job_count + 3'd1;
      if (buffer_planar != (`FIELD(job_i, LoadMode) == tilewright_isa_pkg::LoadModePlanar))
        for (int unsigned s = 0; s < 4; s++) begin
          stream_write[s] = 8'd0;
          stream_read[s] = 8'd0;
        end
      buffer_planar = `FIELD(job_i, LoadMode) == tilewright_isa_pkg::LoadModePlanar;
      streams = buffer_planar ? 3'(`FIELD(job_i, LoadPlanes)) : 3'd1;
      ask_start <= 1'b1;
      ask_base <= `FIELD(job_i, LoadDramAddress);
      ask_row_stride <= 48'($signed(`FIELD(job_i, LoadDramRowStride)));
      ask_plane_stride <= 48'($signed(`FIELD(job_i, LoadDramPlaneStride)));
      ask_sample_stride <= 48'($signed(`FIELD(job_i, LoadDramSampleStride)));
      ask_rows <= `FIELD(job_i, LoadRowCount);
      ask_planes <= buffer_planar ? 16'd1 : `FIELD(job_i, LoadPlanes);
      ask_samples <= `FIELD(job_i, LoadSamples);
      // The first row is known at once.
      ask_last = `FIELD(job_i, LoadRowCount) == 16'd1 && `FIELD(job_i, LoadSamples) == 16'd1 &&
                 (buffer_planar || `FIELD(job_i, LoadPlanes) == 16'd1);
      ask_queue[ask_queue_write] = {ask_last, `FIELD(job_i, LoadDramAddress)};
      ask_queue_write = ask_queue_write + 2'd1;
      ask_queue_count = ask_queue_count + 3'd1;
      ask_bytes = (`FIELD(job_i, LoadMode) == tilewright_isa_pkg::LoadModeWords) ? 24'({`FIELD(job_i, LoadWidth), 4'd0})
                                                             : `FIELD(job_i, LoadWidth);
    end

    if (!rst_ni) begin
      write_o <= 1'b0;
      request_o <= 1'b0;
      asking = 1'b0;
      row_open = 1'b0;
      buffer_planar = 1'b0;
      order_read = 6'd0;
      order_write = 6'd0;
      order_count = 7'd0;
      order_given = 5'd0;
      ask_queue_read = 2'd0;
      ask_queue_write = 2'd0;
      ask_queue_count = 3'd0;
      row_queue_read = 2'd0;
      row_queue_write = 2'd0;
      row_queue_count = 3'd0;
      offset_queue_write = 2'd0;
      job_read = 2'd0;
      job_write = 2'd0;
      job_count = 3'd0;
      writing = 1'b0;
      for (int unsigned s = 0; s < 4; s++) begin
        stream_used[s] = 9'd0;
        stream_filled[s] = 9'd0;
        stream_read[s] = 8'd0;
        stream_write[s] = 8'd0;
        stream_left[s] = 28'd0;
      end
    end
  end
endmodule
