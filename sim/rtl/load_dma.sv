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
  logic [47:0] ask_sample, ask_plane, ask_row;
  logic [47:0] ask_row_stride, ask_plane_stride, ask_sample_stride;
  logic [47:0] stream_address[4];
  logic [27:0] stream_left[4];  // words of the row not yet requested
  logic [23:0] ask_bytes;
  logic [15:0] ask_y, ask_p, ask_n, ask_rows, ask_planes, ask_samples;
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
  logic writing, planar, flip, setup, possible, last_of_job, head_last;
  logic [3:0] row_offset, plane_offset, sample_offset, row_step, plane_step, sample_step;
  logic [4:0] position[4];      // planar: next byte within the stream's head word
  logic [23:0] pixels_left[4];
  logic [4:0] stream_need;
  logic [23:0] row_bytes, left, map_plane_pitch, map_sample_pitch, row_base, plane_base, sample_base, row0_offset;
  logic [23:0] ring_words, word;
  logic [15:0] pitch, y, p, n, rows, planes, samples;
  logic [16:0] ring_row, ring_row0, ring_rows;
  logic [1:0] plane;
  logic [127:0] first_word, second_word, out_word;
  logic [4:0] count;
  logic [1:0] popped;

  function automatic logic [7:0] place(input logic is_planar, input logic [1:0] which, input logic [7:0] pointer);
    place = is_planar ? {which, pointer[5:0]} : pointer;
  endfunction

  always_ff @(posedge clk_i) begin : load
    take_o <= 1'b0;
    done_o <= 1'b0;

    // ---- Rows out of it.
    if (write_o && write_grant_i) begin
      write_o <= 1'b0;
      if (head_last) done_o <= 1'b1;
    end
    if (writing && !setup && (!write_o || write_grant_i)) begin
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
        last_of_job = 1'b0;
        if (left == 24'd0) begin  // the next row, plane, sample
          word = 24'd0;
          left = row_bytes;
          y = y + 16'd1;
          row_offset = row_offset + row_step;
          row_base = row_base + {8'd0, pitch};
          ring_row = ring_row + 17'd1;
          if (ring_row >= ring_rows) begin
            ring_row = ring_row - ring_rows;
            row_base = row_base - ring_words;
          end
          if (y == rows) begin
            y = 16'd0;
            p = p + 16'd1;
            plane_offset = plane_offset + plane_step;
            plane_base = plane_base + map_plane_pitch;
            if (planar || p == planes) begin
              p = 16'd0;
              n = n + 16'd1;
              sample_offset = sample_offset + sample_step;
              plane_offset = sample_offset;
              sample_base = sample_base + map_sample_pitch;
              plane_base = sample_base;
              if (n == samples) begin
                last_of_job = 1'b1;
                writing = 1'b0;
              end
            end
            row_offset = plane_offset;
            row_base = plane_base + row0_offset;
            ring_row = ring_row0;
          end
          plane = 2'd0;
          for (int unsigned s = 0; s < 4; s++) begin
            position[s] = {1'b0, row_offset + plane_step * 4'(s)};
            pixels_left[s] = `FIELD(job, LoadWidth);
          end
        end
        head_last <= last_of_job;
      end
    end
    if (writing && setup) begin
      setup = 1'b0;
      row0_offset = {7'd0, ring_row0} * {8'd0, pitch};
      ring_words = {7'd0, ring_rows} * {8'd0, pitch};
      row_base = sample_base + row0_offset;
    end
    if (!writing && job_count != 3'd0) begin
      job = jobs[job_read];
      job_read = job_read + 2'd1;
      job_count = job_count - 3'd1;
      writing = 1'b1;
      setup = 1'b1;
      planar = `FIELD(job, LoadMode) == tilewright_isa_pkg::LoadModePlanar;
      flip = `FIELD(job, LoadFlipSign);
      sample_offset = job[tilewright_isa_pkg::LoadDramAddressLsb+:4];
      plane_offset = sample_offset;
      row_offset = sample_offset;
      row_step = job[tilewright_isa_pkg::LoadDramRowStrideLsb+:4];
      plane_step = job[tilewright_isa_pkg::LoadDramPlaneStrideLsb+:4];
      sample_step = job[tilewright_isa_pkg::LoadDramSampleStrideLsb+:4];
      sample_base = `FIELD(job, LoadOutBase);
      plane_base = sample_base;
      pitch = `FIELD(job, LoadOutPitch);
      map_plane_pitch = `FIELD(job, LoadOutPlanePitch);
      map_sample_pitch = `FIELD(job, LoadOutSamplePitch);
      ring_rows = {1'b0, `FIELD(job, LoadOutRingRows)};
      ring_row0 = {1'b0, `FIELD(job, LoadRowStart)} - {1'b0, `FIELD(job, LoadOutRingStart)};
      if (ring_row0 >= ring_rows) ring_row0 = ring_row0 - ring_rows;
      ring_row = ring_row0;
      rows = `FIELD(job, LoadRowCount);
      planes = `FIELD(job, LoadPlanes);
      samples = `FIELD(job, LoadSamples);
      y = 16'd0;
      p = 16'd0;
      n = 16'd0;
      row_bytes = (`FIELD(job, LoadMode) == tilewright_isa_pkg::LoadModeWords) ? 24'({`FIELD(job, LoadWidth), 4'd0})
                : planar ? 24'(`FIELD(job, LoadWidth) * {8'd0, planes}) : `FIELD(job, LoadWidth);
      left = row_bytes;
      word = 24'd0;
      plane = 2'd0;
      for (int unsigned s = 0; s < 4; s++) begin
        position[s] = {1'b0, row_offset + plane_step * 4'(s)};
        pixels_left[s] = `FIELD(job, LoadWidth);
      end
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
    if (asking && !row_open) begin
      row_open = 1'b1;
      for (int unsigned s = 0; s < 4; s++) begin
        stream_address[s] = ask_row;
        if (s == 1) stream_address[s] = ask_row + ask_plane_stride;
        if (s == 2) stream_address[s] = ask_row + {ask_plane_stride[46:0], 1'b0};
        if (s == 3) stream_address[s] = ask_row + {ask_plane_stride[46:0], 1'b0} + ask_plane_stride;
        stream_left[s] = (s < 32'(streams)) ? ({4'd0, ask_bytes} + {24'd0, stream_address[s][3:0]} + 28'd15) >> 4 :
            28'd0;
      end
      ask_stream = 2'd0;
      ask_y = ask_y + 16'd1;
      ask_row = ask_row + ask_row_stride;
      if (ask_y == ask_rows) begin
        ask_y = 16'd0;
        ask_p = ask_p + 16'd1;
        ask_plane = ask_plane + ask_plane_stride;
        if (buffer_planar || ask_p == ask_planes) begin
          ask_p = 16'd0;
          ask_n = ask_n + 16'd1;
          ask_sample = ask_sample + ask_sample_stride;
          ask_plane = ask_sample;
          if (ask_n == ask_samples) asking = 1'b0;
        end
        ask_row = ask_plane;
      end
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
      jobs[job_write] <= job_i;
      job_write = job_write + 2'd1;
      job_count = job_count + 3'd1;
      if (buffer_planar != (`FIELD(job_i, LoadMode) == tilewright_isa_pkg::LoadModePlanar))
        for (int unsigned s = 0; s < 4; s++) begin
          stream_write[s] = 8'd0;
          stream_read[s] = 8'd0;
        end
      buffer_planar = `FIELD(job_i, LoadMode) == tilewright_isa_pkg::LoadModePlanar;
      ask_sample = `FIELD(job_i, LoadDramAddress);
      ask_plane = ask_sample;
      ask_row = ask_sample;
      ask_row_stride = 48'($signed(`FIELD(job_i, LoadDramRowStride)));
      ask_plane_stride = 48'($signed(`FIELD(job_i, LoadDramPlaneStride)));
      ask_sample_stride = 48'($signed(`FIELD(job_i, LoadDramSampleStride)));
      ask_rows = `FIELD(job_i, LoadRowCount);
      ask_planes = `FIELD(job_i, LoadPlanes);
      ask_samples = `FIELD(job_i, LoadSamples);
      streams = buffer_planar ? ask_planes[2:0] : 3'd1;
      ask_bytes = (`FIELD(job_i, LoadMode) == tilewright_isa_pkg::LoadModeWords) ? 24'({`FIELD(job_i, LoadWidth), 4'd0})
                                                             : `FIELD(job_i, LoadWidth);
      ask_y = 16'd0;
      ask_p = 16'd0;
      ask_n = 16'd0;
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
      job_read = 2'd0;
      job_write = 2'd0;
      job_count = 3'd0;
      writing = 1'b0;
      setup = 1'b0;
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
