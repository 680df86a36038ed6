// The accelerator: AXI4-Lite registers, one AXI4 master, descriptor fetch, five queues and their units around the
// scratchpad and the weight ring. The trace outputs are for the simulation and for on-chip counters; nothing inside
// depends on them.
module accelerator #(
    parameter int unsigned P = 4,
    parameter int unsigned K = 16,
    parameter int unsigned C = 4,
    parameter int unsigned ScratchpadWords = 32768,
    parameter int unsigned RingWords = 2560,
    parameter int unsigned TableSlots = 4,
    parameter int unsigned BusBytes = 16,
    localparam int unsigned Groups = (K < 16) ? 1 : K / 16
) (
    input logic clk_i,
    input logic rst_ni,

    input logic s_awvalid_i,
    output logic s_awready_o,
    input logic [7:0] s_awaddr_i,
    input logic s_wvalid_i,
    output logic s_wready_o,
    input logic [31:0] s_wdata_i,
    output logic s_bvalid_o,
    input logic s_bready_i,
    input logic s_arvalid_i,
    output logic s_arready_o,
    input logic [7:0] s_araddr_i,
    output logic s_rvalid_o,
    input logic s_rready_i,
    output logic [31:0] s_rdata_o,

    output logic m_arvalid_o,
    input logic m_arready_i,
    output logic [47:0] m_araddr_o,
    output logic [7:0] m_arlen_o,
    output logic [1:0] m_arid_o,
    input logic m_rvalid_i,
    output logic m_rready_o,
    input logic [BusBytes*8-1:0] m_rdata_i,
    input logic [1:0] m_rid_i,
    input logic [1:0] m_rresp_i,
    input logic m_rlast_i,
    output logic m_awvalid_o,
    input logic m_awready_i,
    output logic [47:0] m_awaddr_o,
    output logic [7:0] m_awlen_o,
    output logic m_wvalid_o,
    input logic m_wready_i,
    output logic [BusBytes*8-1:0] m_wdata_o,
    output logic [BusBytes-1:0] m_wstrb_o,
    output logic m_wlast_o,
    input logic m_bvalid_i,
    output logic m_bready_o,
    input logic [1:0] m_bresp_i,

    // Trace.
    output logic busy_o,
    output logic done_o,
    output logic [7:0] error_o,
    output logic [31:0] descriptor_o,
    output logic [4:0] taken_o,       // load, weights, execute, vector, store: a job begins …
    output logic [4:0] completed_o,   // … the oldest one has completed
    output logic [5*32-1:0] job_index_o,  // of the job that begins
    output logic [5*16-1:0] job_layer_o,
    output logic issued_o,            // an execute job has taken its last step: its steps and lost cycles
    output logic [31:0] steps_o,
    output logic [10*32-1:0] lost_o,
    output logic [31:0] tail_o,
    output logic [3:0] write_o,       // scratchpad writes, per bank
    output logic [4*24-1:0] write_word_o,
    output logic [4*16-1:0] write_enable_o,
    output logic [4*128-1:0] write_data_o,
    output logic [4*2-1:0] writer_o,
    // Where every queue is, for the report of a deadlock.
    output logic [4:0] queue_empty_o,
    output logic [5*5-1:0] queue_waits_o,
    output logic [5*32-1:0] queue_index_o
);

  localparam int unsigned WriteFifo = 64;
  localparam int unsigned GroupLanes = (K < 16) ? K : 16;

  // ---- Control.
  logic start, stop, core_rst_n;
  logic halt, read_idle, write_idle;
  logic [47:0] program_address;
  logic bus_error, read_error, write_error;
  assign core_rst_n = rst_ni && !start;  // a program starts from a clean core
  assign bus_error = read_error || write_error;
  assign halt = error_o != 8'd0;  // after an error no unit begins another burst

  control_registers u_registers (
      .clk_i, .rst_ni,
      .awvalid_i(s_awvalid_i), .awready_o(s_awready_o), .awaddr_i(s_awaddr_i), .wvalid_i(s_wvalid_i),
      .wready_o(s_wready_o), .wdata_i(s_wdata_i), .bvalid_o(s_bvalid_o), .bready_i(s_bready_i),
      .arvalid_i(s_arvalid_i), .arready_o(s_arready_o), .araddr_i(s_araddr_i), .rvalid_o(s_rvalid_o),
      .rready_i(s_rready_i), .rdata_o(s_rdata_o),
      .start_o(start), .stop_o(stop), .program_o(program_address), .busy_i(busy_o), .done_i(done_o), .error_i(error_o),
      .descriptor_i(descriptor_o)
  );

  // ---- Descriptors and queues.
  logic [2:0] request, grant, read_valid;
  logic [3*48-1:0] request_address;
  logic [3*5-1:0] request_words;
  logic [127:0] read_data;
  logic [4:0] push, full, take, done, job_valid;
  logic [tilewright_isa_pkg::DescriptorBits-1:0] pushed_job;
  logic [31:0] pushed_index;
  logic [tilewright_isa_pkg::DescriptorBits-1:0] load_job, weights_job, execute_job, vector_job, store_job;
  logic [5*32-1:0] completed;

  descriptor_fetch #(.K(K)) u_fetch (
      .clk_i, .rst_ni, .start_i(start), .program_i(program_address), .busy_o, .done_o, .error_o, .descriptor_o,
      .bus_error_i(bus_error), .stop_i(stop), .bus_idle_i(read_idle && write_idle),
      .request_o(request[0]), .address_o(request_address[47:0]), .words_o(request_words[4:0]), .grant_i(grant[0]),
      .valid_i(read_valid[0]), .data_i(read_data),
      .push_o(push), .job_o(pushed_job), .index_o(pushed_index), .full_i(full), .completed_i(completed)
  );

  for (genvar q = 0; q < 5; q++) begin : g_completed
    always_ff @(posedge clk_i) begin
      if (!core_rst_n) completed[q*32+:32] <= 32'd0;
      else if (done[q]) completed[q*32+:32] <= completed[q*32+:32] + 32'd1;
    end
  end

  job_queue u_load_queue (
      .clk_i, .rst_ni(core_rst_n), .push_i(push[0]), .push_job_i(pushed_job), .push_index_i(pushed_index),
      .full_o(full[0]), .empty_o(queue_empty_o[0]), .completed_i(completed), .waits_o(queue_waits_o[0+:5]),
      .valid_o(job_valid[0]), .job_o(load_job), .index_o(queue_index_o[0+:32]), .take_i(take[0])
  );
  assign job_layer_o[0+:16] = load_job[tilewright_isa_pkg::HeaderLayerLsb+:tilewright_isa_pkg::HeaderLayerWidth];

  job_queue u_weights_queue (
      .clk_i, .rst_ni(core_rst_n), .push_i(push[1]), .push_job_i(pushed_job), .push_index_i(pushed_index),
      .full_o(full[1]), .empty_o(queue_empty_o[1]), .completed_i(completed), .waits_o(queue_waits_o[5+:5]),
      .valid_o(job_valid[1]), .job_o(weights_job), .index_o(queue_index_o[32+:32]), .take_i(take[1])
  );
  assign job_layer_o[16+:16] = weights_job[tilewright_isa_pkg::HeaderLayerLsb+:tilewright_isa_pkg::HeaderLayerWidth];

  job_queue u_execute_queue (
      .clk_i, .rst_ni(core_rst_n), .push_i(push[2]), .push_job_i(pushed_job), .push_index_i(pushed_index),
      .full_o(full[2]), .empty_o(queue_empty_o[2]), .completed_i(completed), .waits_o(queue_waits_o[10+:5]),
      .valid_o(job_valid[2]), .job_o(execute_job), .index_o(queue_index_o[64+:32]), .take_i(take[2])
  );
  assign job_layer_o[32+:16] = execute_job[tilewright_isa_pkg::HeaderLayerLsb+:tilewright_isa_pkg::HeaderLayerWidth];

  job_queue u_vector_queue (
      .clk_i, .rst_ni(core_rst_n), .push_i(push[3]), .push_job_i(pushed_job), .push_index_i(pushed_index),
      .full_o(full[3]), .empty_o(queue_empty_o[3]), .completed_i(completed), .waits_o(queue_waits_o[15+:5]),
      .valid_o(job_valid[3]), .job_o(vector_job), .index_o(queue_index_o[96+:32]), .take_i(take[3])
  );
  assign job_layer_o[48+:16] = vector_job[tilewright_isa_pkg::HeaderLayerLsb+:tilewright_isa_pkg::HeaderLayerWidth];

  job_queue u_store_queue (
      .clk_i, .rst_ni(core_rst_n), .push_i(push[4]), .push_job_i(pushed_job), .push_index_i(pushed_index),
      .full_o(full[4]), .empty_o(queue_empty_o[4]), .completed_i(completed), .waits_o(queue_waits_o[20+:5]),
      .valid_o(job_valid[4]), .job_o(store_job), .index_o(queue_index_o[128+:32]), .take_i(take[4])
  );
  assign job_layer_o[64+:16] = store_job[tilewright_isa_pkg::HeaderLayerLsb+:tilewright_isa_pkg::HeaderLayerWidth];

  assign taken_o = take;
  assign completed_o = done;
  assign job_index_o = queue_index_o;

  // ---- Memories.
  logic [3:0] sp_read;
  logic [4*24-1:0] sp_read_word;
  logic [4*128-1:0] sp_data;
  logic [3:0] operand_read, vector_read, vector_read_grant;
  logic [4*24-1:0] operand_word, vector_read_word;
  logic [Groups*2-1:0] residual_read, residual_grant;
  logic [Groups*2*24-1:0] residual_word;
  logic [Groups-1:0] drain_write, drain_grant;
  logic [Groups*24-1:0] drain_word;
  logic [Groups*16-1:0] drain_enable;
  logic [Groups*128-1:0] drain_data;
  logic store_read, store_grant, vector_write, vector_write_grant, load_write, load_grant;
  logic [23:0] store_word, vector_write_word, load_word;
  logic [15:0] vector_enable;
  logic [127:0] vector_data, load_data;

  scratchpad_arbiter #(.Groups(Groups)) u_arbiter (
      .clk_i, .rst_ni,
      .operand_read_i(operand_read), .operand_word_i(operand_word),
      .residual_read_i(residual_read), .residual_word_i(residual_word), .residual_grant_o(residual_grant),
      .vector_read_i(vector_read), .vector_word_i(vector_read_word), .vector_grant_o(vector_read_grant),
      .store_read_i(store_read), .store_word_i(store_word), .store_grant_o(store_grant),
      .read_o(sp_read), .read_word_o(sp_read_word),
      .drain_write_i(drain_write), .drain_word_i(drain_word), .drain_enable_i(drain_enable), .drain_data_i(drain_data),
      .drain_grant_o(drain_grant),
      .vector_write_i(vector_write), .vector_write_word_i(vector_write_word), .vector_enable_i(vector_enable),
      .vector_data_i(vector_data), .vector_write_grant_o(vector_write_grant),
      .load_write_i(load_write), .load_word_i(load_word), .load_data_i(load_data), .load_grant_o(load_grant),
      .write_o, .write_word_o, .write_enable_o, .write_data_o, .writer_o
  );

  scratchpad #(.Words(ScratchpadWords)) u_scratchpad (
      .clk_i, .read_i(sp_read), .read_word_i(sp_read_word), .data_o(sp_data),
      .write_i(write_o), .write_word_i(write_word_o), .write_enable_i(write_enable_o), .data_i(write_data_o)
  );

  logic ring_read, ring_write, table_write;
  logic [31:0] ring_read_word, ring_write_word, ring_arrived, ring_freed;
  logic [7:0] ring_chunk;
  logic [127:0] ring_data, table_data;
  logic [K*C*8-1:0] weights;
  logic [$clog2(TableSlots)+3:0] table_word;

  weight_ring #(.Words(RingWords), .WordBits(K * C * 8)) u_ring (
      .clk_i, .read_i(ring_read), .read_word_i(ring_read_word), .data_o(weights),
      .write_i(ring_write), .write_word_i(ring_write_word), .write_chunk_i(ring_chunk), .data_i(ring_data)
  );

  // ---- DRAM.
  axi_reader #(.BusBytes(BusBytes)) u_axi_reader (
      .clk_i, .rst_ni,
      .request_i(request), .address_i(request_address), .words_i(request_words), .grant_o(grant),
      .valid_o(read_valid), .data_o(read_data), .error_o(read_error),
      .halt_i(halt), .idle_o(read_idle),
      .arvalid_o(m_arvalid_o), .arready_i(m_arready_i), .araddr_o(m_araddr_o), .arlen_o(m_arlen_o), .arid_o(m_arid_o),
      .rvalid_i(m_rvalid_i), .rready_o(m_rready_o), .rdata_i(m_rdata_i), .rid_i(m_rid_i), .rresp_i(m_rresp_i),
      .rlast_i(m_rlast_i)
  );

  load_dma u_load (
      .clk_i, .rst_ni(core_rst_n), .job_valid_i(job_valid[0]), .job_i(load_job), .take_o(take[0]), .done_o(done[0]),
      .request_o(request[1]), .address_o(request_address[48+:48]), .words_o(request_words[5+:5]), .grant_i(grant[1]),
      .valid_i(read_valid[1]), .data_i(read_data),
      .write_o(load_write), .write_word_o(load_word), .write_data_o(load_data), .write_grant_i(load_grant)
  );

  weights_dma #(.K(K), .C(C), .RingWords(RingWords), .TableSlots(TableSlots)) u_weights (
      .clk_i, .rst_ni(core_rst_n), .job_valid_i(job_valid[1]), .job_i(weights_job), .take_o(take[1]), .done_o(done[1]),
      .request_o(request[2]), .address_o(request_address[96+:48]), .words_o(request_words[10+:5]), .grant_i(grant[2]),
      .valid_i(read_valid[2]), .data_i(read_data),
      .ring_freed_i(ring_freed), .ring_arrived_o(ring_arrived), .ring_write_o(ring_write),
          .ring_word_o(ring_write_word),
      .ring_chunk_o(ring_chunk), .ring_data_o(ring_data), .table_write_o(table_write), .table_word_o(table_word),
      .table_data_o(table_data)
  );

  store_dma #(.BusBytes(BusBytes)) u_store (
      .clk_i, .rst_ni(core_rst_n), .job_valid_i(job_valid[4]), .job_i(store_job), .take_o(take[4]), .done_o(done[4]),
      .error_o(write_error), .halt_i(halt), .idle_o(write_idle),
      .read_o(store_read), .read_word_o(store_word), .read_grant_i(store_grant), .read_data_i(sp_data),
      .awvalid_o(m_awvalid_o), .awready_i(m_awready_i), .awaddr_o(m_awaddr_o), .awlen_o(m_awlen_o),
      .wvalid_o(m_wvalid_o), .wready_i(m_wready_i), .wdata_o(m_wdata_o), .wstrb_o(m_wstrb_o), .wlast_o(m_wlast_o),
      .bvalid_i(m_bvalid_i), .bready_o(m_bready_o), .bresp_i(m_bresp_i)
  );

  // ---- Execute.
  logic [3:0] word_valid;
  logic [4*P-1:0] word_lanes;
  logic [2:0] word_slot, window_previous;
  logic [1:0] word_mode;
  logic [7:0] pad_value, packed_bytes, window_shift, window_first, window_low, window_high;
  logic fill_valid, window_valid, window_copy;
  logic [P-1:0] fill_lanes;
  logic [P*10-1:0] packed_offset;
  logic [P*8-1:0] packed_low, packed_high;
  logic [6:0] packed_base;
  logic [4*8-1:0] window_index;
  logic entry_valid, entry_first, entry_last, entry_block_last, entry_job_last, entry_done, packed_step;
  logic [7:0] entry_steps, entry_stride;
  logic [2:0] entry_slot;
  logic [1:0] entry_mode;
  logic [6:0] entry_ring;
  logic [3:0] entry_byte;
  logic execute_room, step_valid, step_first, step_bank, header_valid, header_parameters;
  logic [1:0] step_mode;
  logic [2:0] step_slot;
  logic [3:0] step_slice, step_byte, header_index;
  logic [6:0] step_ring;
  logic [7:0] step_window, step_stride;
  logic drain_valid, drain_bank, drain_parameters, issued_finish;
  logic [Groups-1:0] pixel_valid, pixel_parameters, group_done, brick_done, brick_done_parameters;
  logic [Groups*2-1:0] write_free, pixel_ready;
  logic [K*32-1:0] pixel;

  operand_reader #(.P(P), .K(K), .C(C)) u_reader (
      .clk_i, .rst_ni(core_rst_n), .job_valid_i(job_valid[2]), .job_i(execute_job), .room_i(execute_room),
          .take_o(take[2]),
      .read_o(operand_read), .read_word_o(operand_word),
      .word_valid_o(word_valid), .word_lanes_o(word_lanes), .word_slot_o(word_slot), .word_mode_o(word_mode),
      .pad_value_o(pad_value), .fill_valid_o(fill_valid), .fill_lanes_o(fill_lanes), .packed_offset_o(packed_offset),
      .packed_low_o(packed_low), .packed_high_o(packed_high), .packed_base_o(packed_base),
          .packed_bytes_o(packed_bytes),
      .window_valid_o(window_valid), .window_copy_o(window_copy), .window_previous_o(window_previous),
      .window_shift_o(window_shift), .window_first_o(window_first), .window_low_o(window_low),
      .window_high_o(window_high), .window_index_o(window_index),
      .entry_valid_o(entry_valid), .entry_steps_o(entry_steps), .entry_slot_o(entry_slot), .entry_mode_o(entry_mode),
      .entry_ring_o(entry_ring), .entry_stride_o(entry_stride), .entry_byte_o(entry_byte), .entry_first_o(entry_first),
      .entry_last_o(entry_last), .entry_block_last_o(entry_block_last), .entry_job_last_o(entry_job_last),
      .entry_done_i(entry_done), .packed_step_i(packed_step)
  );

  sequencer #(.P(P), .K(K), .C(C), .RingWords(RingWords), .WriteFifo(WriteFifo)) u_sequencer (
      .clk_i, .rst_ni(core_rst_n), .active_i(busy_o), .take_i(take[2]), .job_i(execute_job),
      .queue_empty_i(queue_empty_o[2]), .queue_waits_i(queue_waits_o[10+:5]),
      .entry_valid_i(entry_valid), .entry_steps_i(entry_steps), .entry_slot_i(entry_slot), .entry_mode_i(entry_mode),
      .entry_ring_i(entry_ring), .entry_stride_i(entry_stride), .entry_byte_i(entry_byte), .entry_first_i(entry_first),
      .entry_last_i(entry_last), .entry_block_last_i(entry_block_last), .entry_job_last_i(entry_job_last),
      .entry_done_o(entry_done), .packed_step_o(packed_step),
      .ring_arrived_i(ring_arrived), .ring_freed_o(ring_freed), .ring_read_o(ring_read), .ring_word_o(ring_read_word),
      .step_valid_o(step_valid), .step_first_o(step_first), .step_bank_o(step_bank), .step_mode_o(step_mode),
      .step_slot_o(step_slot), .step_slice_o(step_slice), .step_ring_o(step_ring), .step_window_o(step_window),
      .step_stride_o(step_stride), .step_byte_o(step_byte), .header_valid_o(header_valid),
      .header_parameters_o(header_parameters), .header_index_o(header_index),
      .drain_valid_o(drain_valid), .drain_bank_o(drain_bank), .drain_parameters_o(drain_parameters),
      .pixel_ready_i(pixel_ready), .write_free_i(write_free), .brick_done_i(brick_done[Groups-1]),
      .brick_done_parameters_i(brick_done_parameters[Groups-1]),
      .issued_o, .issued_finish_o(issued_finish), .steps_o, .lost_o, .tail_o
  );

  systolic_array #(.P(P), .K(K), .C(C)) u_array (
      .clk_i, .rst_ni(core_rst_n),
      .word_i(sp_data), .word_valid_i(word_valid), .word_lanes_i(word_lanes), .word_slot_i(word_slot),
      .word_mode_i(word_mode), .pad_value_i(pad_value), .fill_valid_i(fill_valid), .fill_lanes_i(fill_lanes),
      .packed_offset_i(packed_offset), .packed_low_i(packed_low), .packed_high_i(packed_high),
      .packed_base_i(packed_base), .packed_bytes_i(packed_bytes),
      .window_valid_i(window_valid), .window_copy_i(window_copy), .window_previous_i(window_previous),
      .window_shift_i(window_shift), .window_first_i(window_first), .window_low_i(window_low),
      .window_high_i(window_high), .window_index_i(window_index),
      .step_valid_i(step_valid), .step_first_i(step_first), .step_bank_i(step_bank), .step_mode_i(step_mode),
      .step_slot_i(step_slot), .step_slice_i(step_slice), .step_ring_i(step_ring), .step_window_i(step_window),
      .step_stride_i(step_stride), .step_byte_i(step_byte), .weights_i(weights),
      .drain_valid_i(drain_valid), .drain_bank_i(drain_bank), .drain_parameters_i(drain_parameters),
      .pixel_valid_o(pixel_valid), .pixel_parameters_o(pixel_parameters), .pixel_o(pixel)
  );

  for (genvar g = 0; g < Groups; g++) begin : g_group
    drain_group #(.P(P), .K(K), .C(C), .Group(g), .TableSlots(TableSlots), .WriteFifo(WriteFifo)) u_drain (
        .clk_i, .rst_ni(core_rst_n), .take_i(take[2]), .job_i(execute_job),
        .header_valid_i(header_valid), .header_parameters_i(header_parameters), .header_index_i(header_index),
        .header_i(weights), .table_write_i(table_write), .table_word_i(table_word), .table_data_i(table_data),
        .read_o(residual_read[g*2+:2]), .read_word_o(residual_word[g*48+:48]), .read_grant_i(residual_grant[g*2+:2]),
        .read_data_i(sp_data),
        .pixel_valid_i(pixel_valid[g]), .pixel_parameters_i(pixel_parameters[g]),
        .pixel_i(pixel[g*GroupLanes*32+:GroupLanes*32]), .pixel_ready_o(pixel_ready[g*2+:2]),
            .brick_done_o(brick_done[g]),
        .brick_done_parameters_o(brick_done_parameters[g]),
        .write_o(drain_write[g]), .write_word_o(drain_word[g*24+:24]), .write_enable_o(drain_enable[g*16+:16]),
        .write_data_o(drain_data[g*128+:128]), .write_grant_i(drain_grant[g]), .write_free_o(write_free[g*2+:2]),
        .job_done_o(group_done[g])
    );
  end

  execute_completion #(.Groups(Groups)) u_completion (
      .clk_i, .rst_ni(core_rst_n), .take_i(take[2]),
          .finish_i(execute_job[tilewright_isa_pkg::ExecuteAccFinishLsb]), .issued_i(issued_o),
      .issued_finish_i(issued_finish), .group_done_i(group_done), .room_o(execute_room), .done_o(done[2])
  );

  // ---- Vector.
  vector_unit #(.TableSlots(TableSlots)) u_vector (
      .clk_i, .rst_ni(core_rst_n), .job_valid_i(job_valid[3]), .job_i(vector_job), .take_o(take[3]), .done_o(done[3]),
      .read_o(vector_read), .read_word_o(vector_read_word), .read_grant_i(vector_read_grant), .read_data_i(sp_data),
      .table_write_i(table_write), .table_word_i(table_word), .table_data_i(table_data),
      .write_o(vector_write), .write_word_o(vector_write_word), .write_enable_o(vector_enable),
      .write_data_o(vector_data), .write_grant_i(vector_write_grant)
  );
endmodule
