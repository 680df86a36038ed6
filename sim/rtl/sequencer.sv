// Issues the array's steps: follows the entries of the operand reader, reads the weight ring (block headers, then one
// word per step, again for each brick), alternates the accumulator banks, starts the drain of finished bricks, and
// counts for every cycle without a step why there was none.
//
// A decision in cycle t reaches ring and buffers in t+1, the array's edge in t+2; PE(0,0) accumulates in t+3. A drain
// decided in d reads PE(0,0) in d+2, so d >= t+2 for a brick whose last step is t, and its bank may take steps from t'
// = d on.
`include "tilewright.svh"
module sequencer #(
    parameter int unsigned P = 4,
    parameter int unsigned K = 16,
    parameter int unsigned C = 4,
    parameter int unsigned RingWords = 2560,
    parameter int unsigned WriteFifo = 64,
    localparam int unsigned Groups = (K < 16) ? 1 : K / 16
) (
    input logic clk_i,
    input logic rst_ni,
    input logic active_i,  // between start and done: cycles are counted

    // Jobs, in the cycle in which the operand reader takes them from their queue.
    input logic take_i,
    input logic [tilewright_isa_pkg::DescriptorBits-1:0] job_i,
    input logic queue_empty_i,
    input logic [4:0] queue_waits_i,

    input logic entry_valid_i,
    input logic [7:0] entry_steps_i,
    input logic [2:0] entry_slot_i,
    input logic [1:0] entry_mode_i,
    input logic [6:0] entry_ring_i,
    input logic [7:0] entry_stride_i,
    input logic [3:0] entry_byte_i,
    input logic entry_first_i,
    input logic entry_last_i,
    input logic entry_block_last_i,
    input logic entry_job_last_i,
    output logic entry_done_o,
    output logic packed_step_o,

    // The ring. Counts are of words since reset, modulo 2^32.
    input logic [31:0] ring_arrived_i,
    output logic [31:0] ring_freed_o,
    output logic ring_read_o,
    output logic [31:0] ring_word_o,

    // To the array and the epilogue, together with the ring's word.
    output logic step_valid_o,
    output logic step_first_o,
    output logic step_bank_o,
    output logic [1:0] step_mode_o,
    output logic [2:0] step_slot_o,
    output logic [3:0] step_slice_o,
    output logic [6:0] step_ring_o,
    output logic [7:0] step_window_o,
    output logic [7:0] step_stride_o,
    output logic [3:0] step_byte_o,
    output logic header_valid_o,
    output logic header_parameters_o,
    output logic [3:0] header_index_o,

    output logic drain_valid_o,
    output logic drain_bank_o,
    output logic drain_parameters_o,
    // Per channel group: output pixels that have been prepared, places in the write FIFO that became free.
    input logic [Groups*2-1:0] pixel_ready_i,
    input logic [Groups*2-1:0] write_free_i,
    input logic brick_done_i,  // the last group no longer needs a brick's bias and scales
    input logic brick_done_parameters_i,

    // Accounting, at a job's last step: its steps and lost cycles by cause (order of docs/accelerator.md).
    output logic issued_o,     // the job's last step has been issued
    output logic issued_finish_o,
    output logic [31:0] steps_o,
    output logic [10*32-1:0] lost_o,
    output logic [31:0] tail_o  // cycles since the last job's last step
);
  localparam int unsigned HeaderWords = (12 + C - 1) / C;

  // Jobs taken, not yet begun.
  logic [25:0] jobs[4];  // {straddles, acc_init, acc_finish, release[1:0], ring_offset[19:0]}, one bit spare
  logic [1:0] job_read, job_write;
  logic [2:0] job_count;
  // Entries: {steps, slot, mode, ring, stride, byte, first, last, block_last, job_last}
  logic [35:0] entries[8];
  logic [2:0] entry_read, entry_write;
  logic [3:0] entry_count;
  logic [35:0] entry;
  logic [7:0] entry_step;

  logic job_active, in_header, acc_init, acc_finish, straddles;
  logic [1:0] release_mode;
  logic [3:0] header_word;
  logic [31:0] tail, position, position_word, block, block_word, tail_word;
  logic parameters, bank;
  logic [1:0] bank_busy;
  logic [15:0] parameters_used[2];  // bricks in the array or the drain

  // Bricks whose last step has been issued.
  logic [2:0] bricks[4];  // {straddles, parameters, bank}
  logic [1:0] brick_read, brick_write;
  logic [2:0] bricks_ready;
  logic [1:0] brick_delay;
  logic [7:0] drain_wait;
  logic [15:0] pixels_ready[Groups];
  logic [15:0] writes_free[Groups];
  logic drain_possible, step, finished_job;
  logic [15:0] write_cost;
  logic [3:0] cause;
  logic [31:0] steps;
  logic [31:0] lost[10];
  logic [31:0] since_event;

  // First stage of the outputs.
  logic step_valid_q, step_first_q, step_bank_q, header_valid_q, header_parameters_q;
  logic [1:0] step_mode_q;
  logic [2:0] step_slot_q;
  logic [7:0] step_index_q, step_stride_q;
  logic [6:0] step_ring_q;
  logic [3:0] step_byte_q, header_index_q;

  function automatic logic [31:0] wrap(input logic [31:0] word);
    wrap = (word >= RingWords) ? word - RingWords : word;
  endfunction

  always_ff @(posedge clk_i) begin : control
    entry_done_o <= 1'b0;
    packed_step_o <= 1'b0;
    ring_read_o <= 1'b0;
    step_valid_q <= 1'b0;
    header_valid_q <= 1'b0;
    drain_valid_o <= 1'b0;
    issued_o <= 1'b0;
    step_valid_o <= step_valid_q;
    header_valid_o <= header_valid_q;
    if (step_valid_q) begin
      step_first_o <= step_first_q;
      step_bank_o <= step_bank_q;
      step_mode_o <= step_mode_q;
      step_slot_o <= step_slot_q;
      step_slice_o <= step_index_q[3:0];
      step_ring_o <= step_ring_q + 7'(32'(step_index_q) * C);
      step_window_o <= 8'(32'(step_index_q) * C);
      step_stride_o <= step_stride_q;
      step_byte_o <= step_byte_q;
    end
    header_parameters_o <= header_parameters_q;
    header_index_o <= header_index_q;

    if (take_i) begin
      jobs[job_write] = {1'b0, (K < 16) ? `FIELD(job_i, ExecuteOutChannelOffset) % 4'(K) != 4'd0
                                        : `FIELD(job_i, ExecuteOutChannelOffset) != 4'd0,
                         `FIELD(job_i, ExecuteAccInit), `FIELD(job_i, ExecuteAccFinish), `FIELD(job_i, ExecuteRelease),
                         `FIELD(job_i, ExecuteRingOffset)};
      job_write = job_write + 2'd1;
      job_count = job_count + 3'd1;
    end
    if (entry_valid_i) begin
      entries[entry_write] = {entry_steps_i[6:0], entry_slot_i, entry_mode_i, entry_ring_i, entry_stride_i[7:0],
                              entry_byte_i, 1'b0, entry_first_i, entry_last_i, entry_block_last_i, entry_job_last_i};
      entry_write = entry_write + 3'd1;
      entry_count = entry_count + 4'd1;
    end

    // ---- Drain.
    if (brick_done_i) parameters_used[brick_done_parameters_i] = parameters_used[brick_done_parameters_i] - 16'd1;
    for (int unsigned g = 0; g < Groups; g++) begin
      pixels_ready[g] = pixels_ready[g] + {14'd0, pixel_ready_i[g*2+:2]};
      writes_free[g] = writes_free[g] + {14'd0, write_free_i[g*2+:2]};
    end
    bricks_ready = bricks_ready + {2'd0, brick_delay[1]};
    brick_delay = {brick_delay[0], 1'b0};
    if (drain_wait != 8'd0) drain_wait = drain_wait - 8'd1;
    if (bricks_ready != 3'd0 && drain_wait == 8'd0) begin
      write_cost = bricks[brick_read][2] ? 16'(2 * P) : 16'(P);
      drain_possible = 1'b1;
      for (int unsigned g = 0; g < Groups; g++)
        if (pixels_ready[g] < 16'(P) || writes_free[g] < write_cost) drain_possible = 1'b0;
      if (drain_possible) begin
        for (int unsigned g = 0; g < Groups; g++) begin
          pixels_ready[g] = pixels_ready[g] - 16'(P);
          writes_free[g] = writes_free[g] - write_cost;
        end
        drain_valid_o <= 1'b1;
        drain_bank_o <= bricks[brick_read][0];
        drain_parameters_o <= bricks[brick_read][1];
        bank_busy[bricks[brick_read][0]] = 1'b0;
        brick_read = brick_read + 2'd1;
        bricks_ready = bricks_ready - 3'd1;
        drain_wait = 8'(P);
      end
    end

    // ---- Steps.
    step = 1'b0;
    finished_job = 1'b0;
    cause = 4'd9;  // setup
    if (!job_active && job_count != 3'd0) begin
      job_active = 1'b1;
      in_header = 1'b1;
      header_word = 4'd0;
      straddles = jobs[job_read][24];
      acc_init = jobs[job_read][23];
      acc_finish = jobs[job_read][22];
      release_mode = jobs[job_read][21:20];
      position = tail + {12'd0, jobs[job_read][19:0]};
      position_word = wrap(tail_word + {12'd0, jobs[job_read][19:0]});
      parameters = !parameters;
      job_read = job_read + 2'd1;
      job_count = job_count - 3'd1;
    end
    if (!job_active) begin
      if (queue_empty_i) cause = 4'd0;
      else if (queue_waits_i[0]) cause = 4'd1;
      else if (queue_waits_i[4]) cause = 4'd2;
      else if (queue_waits_i[3]) cause = 4'd3;
      else if (queue_waits_i[2]) cause = 4'd4;
      else if (queue_waits_i[1]) cause = 4'd5;
    end else if ($signed(ring_arrived_i - position) <= 0) begin
      cause = 4'd6;  // weight
    end else if (in_header) begin
      if (parameters_used[parameters] != 16'd0) begin
        cause = 4'd7;  // both sets of bias and scales belong to bricks that have not been drained
      end else begin
        ring_read_o <= 1'b1;
        ring_word_o <= position_word;
        header_valid_q <= 1'b1;
        header_parameters_q <= parameters;
        header_index_q <= header_word;
        header_word = header_word + 4'd1;
        position = position + 32'd1;
        position_word = wrap(position_word + 32'd1);
        if (release_mode == tilewright_isa_pkg::ReleaseStream) begin
          tail = position;
          tail_word = position_word;
        end
        if (header_word == 4'(HeaderWords)) begin
          in_header = 1'b0;
          block = position;
          block_word = position_word;
        end
      end
    end else begin
      entry = entries[entry_read];
      if (entry_count != 4'd0 && entry[3] && entry_step == 8'd0 && acc_init && bank_busy[bank]) begin
        cause = 4'd7;  // drain
      end else if (entry_count == 4'd0) begin
        cause = bank_busy == 2'b11 && acc_init ? 4'd7 : 4'd8;  // activation
      end else begin
        step = 1'b1;
        step_valid_q <= 1'b1;
        step_first_q <= entry[3] && entry_step == 8'd0 && acc_init;
        step_bank_q <= bank;
        step_slot_q <= entry[28:26];
        step_mode_q <= entry[25:24];
        step_ring_q <= entry[23:17];
        step_stride_q <= entry[16:9];
        step_byte_q <= entry[8:5];
        step_index_q <= entry_step;
        packed_step_o <= entry[25:24] == tilewright_isa_pkg::ExecuteModePacked;
        ring_read_o <= 1'b1;
        ring_word_o <= position_word;
        position = position + 32'd1;
        position_word = wrap(position_word + 32'd1);
        if (release_mode == tilewright_isa_pkg::ReleaseStream) begin
          tail = position;
          tail_word = position_word;
        end
        entry_step = entry_step + 8'd1;
        if (entry_step == {1'b0, entry[35:29]}) begin
          entry_step = 8'd0;
          entry_read = entry_read + 3'd1;
          entry_count = entry_count - 4'd1;
          entry_done_o <= 1'b1;
          if (entry[2]) begin  // the brick's last step
            if (acc_finish) begin
              bricks[brick_write] = {straddles, parameters, bank};
              brick_write = brick_write + 2'd1;
              brick_delay[0] = 1'b1;
              parameters_used[parameters] = parameters_used[parameters] + 16'd1;
              bank_busy[bank] = 1'b1;
              bank = !bank;
            end
            if (entry[1]) begin  // the block's
              if (release_mode == tilewright_isa_pkg::ReleaseBlock) begin
                tail = position;
                tail_word = position_word;
              end
              in_header = 1'b1;
              header_word = 4'd0;
              if (entry[0]) finished_job = 1'b1;
              else parameters = !parameters;
            end else begin
              position = block;
              position_word = block_word;
            end
          end
        end
      end
    end
    ring_freed_o <= tail;

    // ---- Accounting.
    if (active_i) begin
      since_event = since_event + 32'd1;
      if (step) steps = steps + 32'd1;
      else lost[cause] = lost[cause] + 32'd1;
    end
    tail_o <= since_event;
    if (finished_job) begin
      job_active = 1'b0;
      issued_o <= 1'b1;
      issued_finish_o <= acc_finish;
      steps_o <= steps;
      lost_o <= {lost[9], lost[8], lost[7], lost[6], lost[5], lost[4], lost[3], lost[2], lost[1], lost[0]};
      steps = 32'd0;
      for (int unsigned i = 0; i < 10; i++) lost[i] = 32'd0;
      since_event = 32'd0;
    end

    if (!rst_ni) begin
      job_read = 2'd0;
      job_write = 2'd0;
      job_count = 3'd0;
      entry_read = 3'd0;
      entry_write = 3'd0;
      entry_count = 4'd0;
      entry_step = 8'd0;
      job_active = 1'b0;
      tail = 32'd0;
      tail_word = 32'd0;
      position = 32'd0;
      parameters = 1'b0;
      bank = 1'b0;
      bank_busy = 2'd0;
      parameters_used[0] = 16'd0;
      parameters_used[1] = 16'd0;
      brick_read = 2'd0;
      brick_write = 2'd0;
      bricks_ready = 3'd0;
      brick_delay = 2'd0;
      drain_wait = 8'd0;
      for (int unsigned g = 0; g < Groups; g++) begin
        pixels_ready[g] = 16'd0;
        writes_free[g] = 16'(WriteFifo);
      end
      steps = 32'd0;
      for (int unsigned i = 0; i < 10; i++) lost[i] = 32'd0;
      since_event = 32'd0;
    end
  end
endmodule
