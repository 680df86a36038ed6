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

  logic running, setup, flip;
  logic [47:0] address, row_address, plane_address, sample_address, row_stride, plane_stride, sample_stride;
  logic [23:0] width, left, word, row_base, plane_base, sample_base, plane_pitch, sample_pitch, row0_offset, ring_words;
  logic [15:0] pitch, y, p, n, rows, planes, samples;
  logic [16:0] ring_row, ring_row0, ring_rows;
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

  assign bready_o = 1'b1;

  always_ff @(posedge clk_i) begin : store
    take_o <= 1'b0;
    done_o <= 1'b0;
    error_o <= bvalid_i && bresp_i != 2'd0;

    // ---- Responses.
    if (bvalid_i) job_bursts[oldest] = job_bursts[oldest] - 16'd1;
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
    if (running && setup) begin
      setup = 1'b0;
      row0_offset = {7'd0, ring_row0} * {8'd0, pitch};
      ring_words = {7'd0, ring_rows} * {8'd0, pitch};
      row_base = sample_base + row0_offset;
      word = row_base;
    end else if (running) begin
      if (burst_left == 5'd0 && left == 24'd0) begin  // the next row, plane, sample
        left = width;
        y = y + 16'd1;
        row_address = row_address + row_stride;
        row_base = row_base + {8'd0, pitch};
        ring_row = ring_row + 17'd1;
        if (ring_row >= ring_rows) begin
          ring_row = ring_row - ring_rows;
          row_base = row_base - ring_words;
        end
        if (y == rows) begin
          y = 16'd0;
          p = p + 16'd1;
          plane_address = plane_address + plane_stride;
          plane_base = plane_base + plane_pitch;
          if (p == planes) begin
            p = 16'd0;
            n = n + 16'd1;
            sample_address = sample_address + sample_stride;
            plane_address = sample_address;
            sample_base = sample_base + sample_pitch;
            plane_base = sample_base;
            if (n == samples) begin
              running = 1'b0;
              job_closed[newest] = 1'b1;
              newest = newest + 3'd1;
            end
          end
          row_address = plane_address;
          row_base = plane_base + row0_offset;
          ring_row = ring_row0;
        end
        address = row_address;
        word = row_base;
      end
      burst = 5'd16 - {1'b0, address[7:4]};
      if (left < {19'd0, burst}) burst = left[4:0];
      if (running && burst_left == 5'd0 && (!awvalid_o || awready_i) && burst_count < 5'd16 &&
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
        reserved = reserved + {2'd0, burst};
        burst_left = burst;
        left = left - {19'd0, burst};
        address = address + {39'd0, burst, 4'd0};
      end
      if (running && burst_left != 5'd0 && (!read_o || read_grant_i)) begin
        read_o <= 1'b1;
        read_word_o <= word;
        word = word + 24'd1;
      end
    end
    if (!running && !arriving && !read_o && job_valid_i && newest + 3'd1 != oldest && !take_o) begin
      take_o <= 1'b1;
      running = 1'b1;
      setup = 1'b1;
      flip = `FIELD(job_i, StoreFlipSign);
      sample_address = `FIELD(job_i, StoreDramAddress);
      plane_address = sample_address;
      row_address = sample_address;
      address = sample_address;
      row_stride = 48'($signed(`FIELD(job_i, StoreDramRowStride)));
      plane_stride = 48'($signed(`FIELD(job_i, StoreDramPlaneStride)));
      sample_stride = 48'($signed(`FIELD(job_i, StoreDramSampleStride)));
      sample_base = `FIELD(job_i, StoreInBase);
      plane_base = sample_base;
      pitch = `FIELD(job_i, StoreInPitch);
      plane_pitch = `FIELD(job_i, StoreInPlanePitch);
      sample_pitch = `FIELD(job_i, StoreInSamplePitch);
      ring_rows = {1'b0, `FIELD(job_i, StoreInRingRows)};
      ring_row0 = {1'b0, `FIELD(job_i, StoreRowStart)} - {1'b0, `FIELD(job_i, StoreInRingStart)};
      if (ring_row0 >= ring_rows) ring_row0 = ring_row0 - ring_rows;
      ring_row = ring_row0;
      rows = `FIELD(job_i, StoreRowCount);
      planes = `FIELD(job_i, StorePlanes);
      samples = `FIELD(job_i, StoreSamples);
      width = `FIELD(job_i, StoreWidth);
      left = width;
      y = 16'd0;
      p = 16'd0;
      n = 16'd0;
      job_bursts[newest] = 16'd0;
      job_closed[newest] = 1'b0;
    end

    if (!rst_ni) begin
      awvalid_o <= 1'b0;
      wvalid_o <= 1'b0;
      read_o <= 1'b0;
      running = 1'b0;
      setup = 1'b0;
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
