// Weights jobs: streams bytes from DRAM to the head of the weight ring, or 256 bytes into a table. Requests are made
// only for ring words that are free, so that data never waits on the bus; they run ahead of the data across jobs.
`include "tilewright.svh"
module weights_dma #(
    parameter int unsigned K = 16,
    parameter int unsigned C = 4,
    parameter int unsigned RingWords = 2560,
    parameter int unsigned TableSlots = 4
) (
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

    input logic [31:0] ring_freed_i,
    output logic [31:0] ring_arrived_o,  // words complete since reset
    output logic ring_write_o,
    output logic [31:0] ring_word_o,
    output logic [7:0] ring_chunk_o,
    output logic [127:0] ring_data_o,
    output logic table_write_o,
    output logic [$clog2(TableSlots)+3:0] table_word_o,
    output logic [127:0] table_data_o
);
  localparam int unsigned WordChunks = K * C / 16;

  logic running, to_table;
  logic [47:0] address;
  logic [27:0] left;           // 16-byte words not yet requested
  logic [4:0] burst;
  logic [31:0] room;
  logic [31:0] reserved;       // 16-byte words of the ring, since reset
  // Jobs whose data is on its way: {to table, table, words}
  logic [30:0] jobs[8];
  logic [2:0] job_read, job_write;
  logic [3:0] job_count;
  logic receiving, into_table;
  logic [27:0] missing;
  logic [1:0] table_slot;
  logic [3:0] table_word;
  logic [31:0] head_word, arrived;
  logic [7:0] head_chunk;

  always_ff @(posedge clk_i) begin : weights
    take_o <= 1'b0;
    done_o <= 1'b0;
    ring_write_o <= 1'b0;
    table_write_o <= 1'b0;

    // ---- Data.
    if (!receiving && job_count != 4'd0) begin
      receiving = 1'b1;
      {into_table, table_slot, missing} = jobs[job_read];
      job_read = job_read + 3'd1;
      job_count = job_count - 4'd1;
      table_word = 4'd0;
    end
    if (valid_i) begin
      if (into_table) begin
        table_write_o <= 1'b1;
        table_word_o <= ($clog2(TableSlots)+4)'({table_slot, table_word});
        table_data_o <= data_i;
        table_word = table_word + 4'd1;
      end else begin
        ring_write_o <= 1'b1;
        ring_word_o <= head_word;
        ring_chunk_o <= head_chunk;
        ring_data_o <= data_i;
        head_chunk = head_chunk + 8'd1;
        if (head_chunk == 8'(WordChunks)) begin
          head_chunk = 8'd0;
          head_word = (head_word == RingWords - 1) ? 32'd0 : head_word + 32'd1;
          arrived = arrived + 32'd1;
        end
      end
      missing = missing - 28'd1;
      if (missing == 28'd0) begin
        receiving = 1'b0;
        done_o <= 1'b1;
      end
    end
    ring_arrived_o <= arrived;

    // ---- Requests.
    if (grant_i) begin
      address = address + {39'd0, burst, 4'd0};
      left = left - {23'd0, burst};
      if (!to_table) reserved = reserved + {27'd0, burst};
      if (left == 28'd0) running = 1'b0;
    end
    if (!running && job_valid_i && job_count < 4'd7 && !take_o) begin
      take_o <= 1'b1;
      running = `FIELD(job_i, WeightsByteCount) != '0;
      to_table = `FIELD(job_i, WeightsDestination) == tilewright_isa_pkg::WeightsDestinationTable;
      address = `FIELD(job_i, WeightsDramAddress);
      left = job_i[tilewright_isa_pkg::WeightsByteCountLsb+4+:28];
      if (running) begin
        jobs[job_write] <= {to_table, `FIELD(job_i, WeightsTable), left};
        job_write = job_write + 3'd1;
        job_count = job_count + 4'd1;
      end else begin
        done_o <= 1'b1;
      end
    end
    burst = 5'd16 - {1'b0, address[7:4]};
    if (left < {23'd0, burst}) burst = left[4:0];
    // Never more than the ring has room for, but no less either: a block may need the ring's last word.
    room = RingWords * WordChunks - (reserved - 32'(ring_freed_i * WordChunks));
    if (!to_table && room < {27'd0, burst}) burst = room[4:0];
    request_o <= running && burst != 5'd0;
    address_o <= address;
    words_o <= burst;

    if (!rst_ni) begin
      running = 1'b0;
      request_o <= 1'b0;
      reserved = 32'd0;
      job_read = 3'd0;
      job_write = 3'd0;
      job_count = 4'd0;
      receiving = 1'b0;
      head_word = 32'd0;
      head_chunk = 8'd0;
      arrived = 32'd0;
    end
  end
endmodule
