// One queue of descriptors: holds them until all five waits of the first one hold, then offers it.
module job_queue (
    input logic clk_i,
    input logic rst_ni,
    input logic push_i,
    input logic [tilewright_isa_pkg::DescriptorBits-1:0] push_job_i,
    input logic [31:0] push_index_i,
    output logic full_o,       // leaves room for one descriptor already on its way
    output logic empty_o,      // nothing queued, nothing offered
    input logic [5*32-1:0] completed_i,  // load, weights, execute, vector, store
    output logic [4:0] waits_o,  // which waits of the first job do not hold, same order; 0 without a job
    output logic valid_o,      // job_o may start
    output logic [tilewright_isa_pkg::DescriptorBits-1:0] job_o,
    output logic [31:0] index_o,
    input logic take_i
);
  logic [tilewright_isa_pkg::DescriptorBits-1:0] jobs[tilewright_isa_pkg::QueueDepth];
  logic [31:0] indices[tilewright_isa_pkg::QueueDepth];
  logic [2:0] read_q, write_q;
  logic [3:0] count_q;
  logic head_q;
  logic [5*32-1:0] wait_q /* verilator public_flat_rd */;

  always_comb begin
    for (int unsigned i = 0; i < 5; i++) waits_o[i] = head_q && completed_i[i*32+:32] < wait_q[i*32+:32];
`ifdef TILEWRIGHT_FAULT_SKIPPED_WAIT  // planted for the tests of the tests: test/rtl/CMakeLists.txt
    waits_o[2] = 1'b0;  // never waits for execute jobs
`endif
  end
  assign valid_o = head_q && waits_o == 5'd0;
  assign full_o = count_q >= 4'(tilewright_isa_pkg::QueueDepth);
  assign empty_o = !head_q && count_q == 4'd0;

  always_ff @(posedge clk_i) begin
    if (push_i) begin
      jobs[write_q] <= push_job_i;
      indices[write_q] <= push_index_i;
      write_q <= write_q + 3'd1;
    end
    if ((!head_q || take_i) && count_q != 4'd0) begin
      job_o <= jobs[read_q];
      index_o <= indices[read_q];
      wait_q <= jobs[read_q][tilewright_isa_pkg::HeaderWaitLoadLsb+:5*32];
      head_q <= 1'b1;
      read_q <= read_q + 3'd1;
      count_q <= count_q - 4'd1 + {3'd0, push_i};
    end else begin
      if (take_i) head_q <= 1'b0;
      count_q <= count_q + {3'd0, push_i};
    end
    if (!rst_ni) begin
      read_q <= 3'd0;
      write_q <= 3'd0;
      count_q <= 4'd0;
      head_q <= 1'b0;
    end
  end
endmodule
