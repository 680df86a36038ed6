// Store jobs: rows of a map to DRAM, and the write side of the AXI4 master. Words are read from the scratchpad in
// cycles that the array leaves free; bursts of up to 16 words within an aligned 256 bytes. The next job begins while
// responses are due.
`include "tilewright.svh"
module store_dma #(
    parameter int unsigned BusBytes = 16
) (
    input logic clk_i,
    input logic rst_ni,
    input logic job_valid_i,
    input logic [tilewright_isa_pkg::DescriptorBits-1:0] job_i,
    output logic take_o,
    output logic done_o,
    output logic error_o,
    input logic halt_i,   // no further bursts
    output logic idle_o,  // none is without its response

    output logic read_o,
    output logic [23:0] read_word_o,
    input logic read_grant_i,
    input logic [4*128-1:0] read_data_i,  // one cycle after the grant

    output logic awvalid_o,
    input logic awready_i,
    output logic [47:0] awaddr_o,
    output logic [7:0] awlen_o,
    output logic wvalid_o,
    input logic wready_i,
    output logic [BusBytes*8-1:0] wdata_o,
    output logic [BusBytes-1:0] wstrb_o,
    output logic wlast_o,
    input logic bvalid_i,
    output logic bready_o,
    input logic [1:0] bresp_i
);
  localparam int unsigned FifoWords = 64;

  logic running, flip;
  logic [47:0] address;
  logic [23:0] width, left, word;
  logic last_row;

  // ---- The job's rows: where they are in the scratchpad and where they go.
  logic start, row_offered, row_offered_last, row_done, target_offered;
  logic [47:0] dram_base, row_stride, plane_stride, sample_stride, target_offered_at;
  logic [23:0] map_base, plane_pitch, sample_pitch, row_offered_at;
  logic [15:0] pitch, ring_rows, ring_start, row0, rows, planes, samples;
  logic [24:0] row_queue[4];     // {last, address}
  logic [47:0] target_queue[4];
  logic [1:0] row_queue_read, row_queue_write, target_queue_write;
  logic [2:0] row_queue_count;
  logic row_begun;
  logic [4:0] burst, burst_left;
  logic [6:0] reserved;  // words read or being read, not yet sent

  logic arriving, arriving_flip;
  logic [1:0] arriving_bank;
  logic [127:0] fifo[FifoWords];
  logic [5:0] fifo_read, fifo_write;
  logic [6:0] fifo_count;
  // Bursts whose data is still to be sent: {second half first, words}
  logic [5:0] bursts[16];
  logic [3:0] burst_read, burst_write;
  logic [4:0] burst_count, sent;
  logic [5:0] head;
  logic [127:0] lower_word;
  logic lower_valid, last;

  // Responses due, per job in order.
  logic [15:0] job_bursts[8];
  logic job_closed[8];
  logic [2:0] oldest, newest;
  logic [15:0] under_way;  // of all jobs

  assign bready_o = 1'b1;

  row_walker u_rows (
      .clk_i, .rst_ni, .start_i(start), .base_i(map_base), .pitch_i(pitch), .inner_pitch_i(plane_pitch),
      .outer_pitch_i(sample_pitch), .ring_rows_i(ring_rows), .ring_start_i(ring_start), .first_row_i({4'd0, row0}),
      .stride_i(20'sd1), .rows_i(rows), .inner_i(planes), .outer_i(samples), .done_i(row_done),
      .valid_o(row_offered), .row_o(row_offered_at), .y_o(), .ring_row_o(), .outer_last_o(),
      .last_o(row_offered_last), .ring_words_o()
  );

  // Has offered a row's target by the time the other one offers its address.
  dram_row_walker u_targets (
      .clk_i, .rst_ni, .start_i(start), .address_i(dram_base), .row_stride_i(row_stride),
      .plane_stride_i(plane_stride), .sample_stride_i(sample_stride), .rows_i(rows), .planes_i(planes),
      .samples_i(samples), .done_i(row_done), .valid_o(target_offered), .row_o(target_offered_at), .last_o()
  );

  always_ff @(posedge clk_i) begin : store
    take_o <= 1'b0;
    done_o <= 1'b0;
    start <= 1'b0;
    row_done <= 1'b0;
    error_o <= bvalid_i && bresp_i != 2'd0;

    // ---- Responses.
    if (bvalid_i) begin
      job_bursts[oldest] = job_bursts[oldest] - 16'd1;
      under_way = under_way - 16'd1;
    end
    if (oldest != newest && job_closed[oldest] && job_bursts[oldest] == 16'd0) begin
      done_o <= 1'b1;
      oldest = oldest + 3'd1;
    end

    // ---- Data out.
    if (wvalid_o && wready_i) wvalid_o <= 1'b0;
    if (fifo_count != 7'd0 && burst_count != 5'd0 && (!wvalid_o || wready_i)) begin
      head = bursts[burst_read];
      last = sent + 5'd1 == head[4:0];
      if (BusBytes == 16) begin
        wvalid_o <= 1'b1;
        wdata_o <= (BusBytes * 8)'(fifo[fifo_read]);
        wstrb_o <= '1;
        wlast_o <= last;
      end else if (!lower_valid && !(head[5] && sent == 5'd0) && !last) begin
        lower_word = fifo[fifo_read];
        lower_valid = 1'b1;
      end else begin
        wvalid_o <= 1'b1;
        wlast_o <= last;
        if (head[5] && sent == 5'd0) begin
          wdata_o <= (BusBytes * 8)'({fifo[fifo_read], 128'd0});
          wstrb_o <= BusBytes'(32'hffff0000);
        end else if (lower_valid) begin
          wdata_o <= (BusBytes * 8)'({fifo[fifo_read], lower_word});
          wstrb_o <= '1;
        end else begin
          wdata_o <= (BusBytes * 8)'(fifo[fifo_read]);
          wstrb_o <= BusBytes'(32'h0000ffff);
        end
        lower_valid = 1'b0;
      end
      fifo_read = fifo_read + 6'd1;
      fifo_count = fifo_count - 7'd1;
      reserved = reserved - 7'd1;
      sent = last ? 5'd0 : sent + 5'd1;
      if (last) begin
        burst_read = burst_read + 4'd1;
        burst_count = burst_count - 5'd1;
      end
    end

    // ---- Words from the scratchpad.
    if (arriving) begin
      fifo[fifo_write] <= read_data_i[32'(arriving_bank)*128+:128] ^ {16{arriving_flip, 7'd0}};
      fifo_write = fifo_write + 6'd1;
      fifo_count = fifo_count + 7'd1;
      arriving = 1'b0;
    end
    if (read_o && read_grant_i) begin
      arriving = 1'b1;
      arriving_bank = read_word_o[1:0];
      arriving_flip = flip;
      read_o <= 1'b0;
      burst_left = burst_left - 5'd1;
    end

    // ---- Bursts.
    if (awvalid_o && awready_i) awvalid_o <= 1'b0;
    if (row_offered) begin
      row_queue[row_queue_write] = {row_offered_last, row_offered_at};
      row_queue_write = row_queue_write + 2'd1;
      row_queue_count = row_queue_count + 3'd1;
    end
    if (target_offered) begin
      target_queue[target_queue_write] = target_offered_at;
      target_queue_write = target_queue_write + 2'd1;
    end
    if (running) begin
      if (row_begun && burst_left == 5'd0 && left == 24'd0) begin  // a row ends
        row_begun = 1'b0;
        if (last_row) begin
          running = 1'b0;
          job_closed[newest] = 1'b1;
          newest = newest + 3'd1;
        end
      end
      if (running && !row_begun && row_queue_count != 3'd0) begin
        row_begun = 1'b1;
        left = width;
        {last_row, word} = row_queue[row_queue_read];
        address = target_queue[row_queue_read];
        row_queue_read = row_queue_read + 2'd1;
        row_queue_count = row_queue_count - 3'd1;
        row_done <= 1'b1;
      end
      burst = 5'd16 - {1'b0, address[7:4]};
      if (left < {19'd0, burst}) burst = left[4:0];
      if (row_begun && burst_left == 5'd0 && !halt_i && (!awvalid_o || awready_i) && burst_count < 5'd16 &&
          reserved + {2'd0, burst} <= 7'(FifoWords)) begin
        awvalid_o <= 1'b1;
        if (BusBytes == 16) begin
          awaddr_o <= address;
          awlen_o <= {3'd0, burst} - 8'd1;
        end else begin
          awaddr_o <= {address[47:5], 5'd0};
          awlen_o <= 8'(({3'd0, burst} + {7'd0, address[4]} + 8'd1) >> 1) - 8'd1;
        end
        bursts[burst_write] = {address[4], burst};
        burst_write = burst_write + 4'd1;
        burst_count = burst_count + 5'd1;
        job_bursts[newest] = job_bursts[newest] + 16'd1;
        under_way = under_way + 16'd1;
        reserved = reserved + {2'd0, burst};
        burst_left = burst;
        left = left - {19'd0, burst};
        address = address + {39'd0, burst, 4'd0};
      end
      if (row_begun && burst_left != 5'd0 && (!read_o || read_grant_i)) begin
        read_o <= 1'b1;
        read_word_o <= word;
        word = word + 24'd1;
      end
    end
    if (!running && !arriving && !read_o && job_valid_i && newest + 3'd1 != oldest && !take_o) begin
      take_o <= 1'b1;
      running = 1'b1;
      flip = `FIELD(job_i, StoreFlipSign);
      width = `FIELD(job_i, StoreWidth);
      start <= 1'b1;
      map_base <= `FIELD(job_i, StoreInBase);
      pitch <= `FIELD(job_i, StoreInPitch);
      plane_pitch <= `FIELD(job_i, StoreInPlanePitch);
      sample_pitch <= `FIELD(job_i, StoreInSamplePitch);
      ring_rows <= `FIELD(job_i, StoreInRingRows);
      ring_start <= `FIELD(job_i, StoreInRingStart);
      row0 <= `FIELD(job_i, StoreRowStart);
      dram_base <= `FIELD(job_i, StoreDramAddress);
      row_stride <= 48'($signed(`FIELD(job_i, StoreDramRowStride)));
      plane_stride <= 48'($signed(`FIELD(job_i, StoreDramPlaneStride)));
      sample_stride <= 48'($signed(`FIELD(job_i, StoreDramSampleStride)));
      rows <= `FIELD(job_i, StoreRowCount);
      planes <= `FIELD(job_i, StorePlanes);
      samples <= `FIELD(job_i, StoreSamples);
      target_queue[target_queue_write] = `FIELD(job_i, StoreDramAddress);
      target_queue_write = target_queue_write + 2'd1;
      job_bursts[newest] = 16'd0;
      job_closed[newest] = 1'b0;
    end

    idle_o <= under_way == 16'd0;

    if (!rst_ni) begin
      awvalid_o <= 1'b0;
      wvalid_o <= 1'b0;
      read_o <= 1'b0;
      running = 1'b0;
      row_begun = 1'b0;
      row_queue_read = 2'd0;
      row_queue_write = 2'd0;
      row_queue_count = 3'd0;
      target_queue_write = 2'd0;
      under_way = 16'd0;
      arriving = 1'b0;
      burst_left = 5'd0;
      left = 24'd0;
      reserved = 7'd0;
      fifo_read = 6'd0;
      fifo_write = 6'd0;
      fifo_count = 7'd0;
      burst_read = 4'd0;
      burst_write = 4'd0;
      burst_count = 5'd0;
      sent = 5'd0;
      lower_valid = 1'b0;
      oldest = 3'd0;
      newest = 3'd0;
    end
  end
endmodule
