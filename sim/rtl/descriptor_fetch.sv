// Reads the program from DRAM ahead of need, checks what this configuration cannot execute, and deals the descriptors
// out to the five queues in order. `sync` holds here until its waits hold; with `end`, done is raised once everything
// has completed.
`include "tilewright.svh"
module descriptor_fetch #(
    parameter int unsigned K = 16
) (
    input logic clk_i,
    input logic rst_ni,
    input logic start_i,
    input logic [47:0] program_i,  // byte address, a multiple of 16
    output logic busy_o,
    output logic done_o,           // a pulse
    // 0 none, 1 opcode, 2 weights source or order, 3 depthwise at this K, 4 store_int32, 5 bus, 6 stopped
    output logic [7:0] error_o,
    output logic [31:0] descriptor_o,  // being dealt; the culprit after an error
    input logic bus_error_i,
    input logic stop_i,
    input logic bus_idle_i,    // after an error: no burst of any unit is under way, and none begins

    output logic request_o,
    output logic [47:0] address_o,
    output logic [4:0] words_o,
    input logic grant_i,
    input logic valid_i,
    input logic [127:0] data_i,

    output logic [4:0] push_o,  // load, weights, execute, vector, store
    output logic [tilewright_isa_pkg::DescriptorBits-1:0] job_o,
    output logic [31:0] index_o,
    input logic [4:0] full_i,
    input logic [5*32-1:0] completed_i
);
  localparam int unsigned BufferWords = 64;

  logic fetching, ending, failed;
  logic [2:0] settle;
  logic [47:0] address;
  logic [4:0] burst;
  logic [6:0] reserved, filled, flying;
  logic [127:0] words[BufferWords];
  logic [5:0] read, write;
  logic [3:0] collected;
  logic [tilewright_isa_pkg::DescriptorBits-1:0] job;
  logic [31:0] issued[5];
  logic [7:0] opcode, fault;
  logic [2:0] queue;
  logic waits_hold, all_complete;

  always_ff @(posedge clk_i) begin : fetch
    push_o <= 5'd0;
    done_o <= 1'b0;

    waits_hold = 1'b1;
    all_complete = 1'b1;
    for (int unsigned i = 0; i < 5; i++) begin
      if (completed_i[i*32+:32] < job[tilewright_isa_pkg::HeaderWaitLoadLsb+i*32+:32]) waits_hold = 1'b0;
      if (completed_i[i*32+:32] != issued[i]) all_complete = 1'b0;
    end

    if (busy_o && !ending) begin
      if (collected == 4'd8) begin
        opcode = `FIELD(job, HeaderOpcode);
        queue = 3'(opcode - tilewright_isa_pkg::OpcodeLoad);
        fault = 8'd0;
        if (opcode < tilewright_isa_pkg::OpcodeLoad || opcode > tilewright_isa_pkg::OpcodeSync) fault = 8'd1;
        if (opcode == tilewright_isa_pkg::OpcodeWeights && (`FIELD(job, WeightsSource) !=
            tilewright_isa_pkg::WeightsSourceDram ||
                                        `FIELD(job, WeightsOrder) != tilewright_isa_pkg::WeightsOrderAsStored))
                                            fault = 8'd2;
        if (opcode == tilewright_isa_pkg::OpcodeExecute && K > 16 && `FIELD(job, ExecuteMode) ==
            tilewright_isa_pkg::ExecuteModeDepthwise) fault = 8'd3;
        if (opcode == tilewright_isa_pkg::OpcodeExecute && `FIELD(job, ExecuteStoreInt32)) fault = 8'd4;
        if (fault != 8'd0) begin
          error_o <= fault;
          failed = 1'b1;
          ending = 1'b1;
          fetching = 1'b0;
        end else if (opcode == tilewright_isa_pkg::OpcodeSync) begin
          if (`FIELD(job, SyncEnd)) begin
            fetching = 1'b0;
            if (waits_hold && all_complete) ending = 1'b1;
          end else if (waits_hold) begin
            collected = 4'd0;
            descriptor_o <= descriptor_o + 32'd1;
          end
        end else if (!full_i[queue]) begin
          push_o[queue] <= 1'b1;
          job_o <= job;
          index_o <= descriptor_o;
          issued[queue] = issued[queue] + 32'd1;
          collected = 4'd0;
          descriptor_o <= descriptor_o + 32'd1;
        end
      end
      if (collected != 4'd8 && filled != 7'd0) begin
        job = {words[read], job[tilewright_isa_pkg::DescriptorBits-1:128]};
        read = read + 6'd1;
        filled = filled - 7'd1;
        reserved = reserved - 7'd1;
        collected = collected + 4'd1;
      end
    end
    if ((bus_error_i || stop_i) && busy_o && !ending) begin
      error_o <= bus_error_i ? 8'd5 : 8'd6;
      failed = 1'b1;
      ending = 1'b1;
      fetching = 1'b0;
    end
    // An error ends the program when the bus is quiet, so that the next one meets no answer to an old request. The
    // units' bursts stop one cycle after error_o, and bus_idle_i follows two later.
    settle = {settle[1:0], failed};
    if (failed) request_o <= 1'b0;
    if (busy_o && ending && flying == 7'd0 && !request_o && (!failed || (settle == 3'd7 && bus_idle_i))) begin
      busy_o <= 1'b0;
      done_o <= 1'b1;
      ending = 1'b0;
    end

    if (valid_i) begin
      words[write] <= data_i;
      write = write + 6'd1;
      filled = filled + 7'd1;
      flying = flying - 7'd1;
    end

    // ---- Requests.
    if (grant_i) begin
      address = address + {39'd0, words_o, 4'd0};
      reserved = reserved + {2'd0, words_o};
      flying = flying + {2'd0, words_o};
      request_o <= 1'b0;
    end
    burst = 5'd16 - {1'b0, address[7:4]};
    if (fetching && (!request_o || grant_i) && reserved + {2'd0, burst} <= 7'(BufferWords)) begin
      request_o <= 1'b1;
      address_o <= address;
      words_o <= burst;
    end

    if (start_i && !busy_o) begin
      busy_o <= 1'b1;
      error_o <= 8'd0;
      failed = 1'b0;
      descriptor_o <= 32'd0;
      fetching = 1'b1;
      ending = 1'b0;
      address = program_i;
      reserved = 7'd0;
      filled = 7'd0;
      flying = 7'd0;
      read = 6'd0;
      write = 6'd0;
      collected = 4'd0;
      for (int unsigned i = 0; i < 5; i++) issued[i] = 32'd0;
    end
    if (!rst_ni) begin
      busy_o <= 1'b0;
      request_o <= 1'b0;
      error_o <= 8'd0;
      failed = 1'b0;
      fetching = 1'b0;
      ending = 1'b0;
      collected = 4'd0;
      reserved = 7'd0;
    end
  end
endmodule
