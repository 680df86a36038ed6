// The P x K x C output-stationary array with what surrounds it: operand buffers (dense words, packed byte rings,
// depthwise windows), the skew at both edges, two accumulator banks, and the drain that carries the same skew.
// Activations travel along K, weights along P, `first`, bank and mode with the activations.
//
// PE(p,k) takes its step p+k cycles after PE(0,0). Lane k of the drain reads PE(p,k) p+k cycles after a brick's drain
// has begun; a triangle of registers behind the lanes then brings the channels of a pixel (in groups of 16) back
// together.
//
// One process holds all state, updated from the end of a pipeline to its start: loops over flat arrays without branches
// become vector instructions in the simulator.
module systolic_array #(
    parameter int unsigned P = 4,
    parameter int unsigned K = 16,
    parameter int unsigned C = 4,
    localparam int unsigned Slots = 8,  // words of all P lanes (dense) or kernel rows (depthwise) buffered
    localparam int unsigned Slices = 16 / C,
    localparam int unsigned GroupLanes = (K < 16) ? K : 16,
    localparam int unsigned Groups = K / GroupLanes
) (
    input logic clk_i,
    input logic rst_ni,

    // Operand words from the four scratchpad banks and what to do with them (see operand_reader).
    input logic [4*128-1:0] word_i,
    input logic [3:0] word_valid_i,
    input logic [4*P-1:0] word_lanes_i,
    input logic [2:0] word_slot_i,
    input logic [1:0] word_mode_i,
    input logic [7:0] pad_value_i,
    input logic fill_valid_i,
    input logic [P-1:0] fill_lanes_i,
    // ring position of the word's first byte, relative to packed_base_i; signed
    input logic [P*10-1:0] packed_offset_i,
    input logic [P*8-1:0] packed_low_i,      // bytes [low, high) of the lane's row lie inside the image
    input logic [P*8-1:0] packed_high_i,
    input logic [6:0] packed_base_i,
    input logic [7:0] packed_bytes_i,
    input logic window_valid_i,              // depthwise: a kernel row begins in word_slot_i
    input logic window_copy_i,               // its first words are the last ones of the same row of the previous group
    input logic [2:0] window_previous_i,     // slot of that
    input logic [7:0] window_shift_i,        // words from one group's window to the next
    input logic [7:0] window_first_i,        // first word not copied
    input logic [7:0] window_low_i,          // words [low, high) lie inside the map, the others are pad_value
    input logic [7:0] window_high_i,
    input logic [4*8-1:0] window_index_i,    // per bank: the word's place in the window

    // A reduction step; its operands are read from the buffers, its weights come with it.
    input logic step_valid_i,
    input logic step_first_i,
    input logic step_bank_i,
    input logic [1:0] step_mode_i,
    input logic [2:0] step_slot_i,
    input logic [3:0] step_slice_i,          // dense: which C channels of the word
    input logic [6:0] step_ring_i,           // packed: position in the byte rings
    input logic [7:0] step_window_i,         // depthwise: first word of the window, taps already counted
    input logic [7:0] step_stride_i,         // depthwise: words between neighbouring pixels
    input logic [3:0] step_byte_i,           // depthwise: byte of channel 0
    input logic [K*C*8-1:0] weights_i,

    input logic drain_valid_i,
    input logic drain_bank_i,
    input logic drain_parameters_i,          // which set of bias and scales; travels with the pixels

    // One pixel of a group of channels.
    output logic [Groups-1:0] pixel_valid_o,
    output logic [Groups-1:0] pixel_parameters_o,
    output logic [K*32-1:0] pixel_o
);
  localparam int unsigned N = P * K;
  localparam int unsigned Element = C * 8;
  localparam int unsigned WindowWords = (P - 1) * 2 + ((7 + C - 1) / C) * C + 1;
  localparam int unsigned RingBytes = 128;
  localparam int unsigned DepthwiseK = (K > 16) ? 1 : K;  // no depthwise mode beyond 16 channels
  localparam int unsigned DepthwiseN = P * DepthwiseK;
  localparam int unsigned ActSkew = P * (P - 1) / 2 + 1;
  localparam int unsigned WeightSkew = K * (K - 1) / 2 + 1;
  localparam int unsigned Realign = Groups * GroupLanes * (GroupLanes - 1) / 2 + 1;

  // Operand buffers: memories, read before they are written in a cycle.
  (* nomem2reg *) logic [Element-1:0] dense_buffer[Slots*P*Slices];
  (* nomem2reg *) logic [7:0] packed_ring[P*RingBytes];
  (* nomem2reg *) logic [31:0] window[Slots*WindowWords*4];  // 4 bytes each
  // Edges.
  logic [Element-1:0] act_in[P];
  logic [Element-1:0] act_skew[ActSkew];
  logic [4:0] flag_skew[P+1];
  logic [Element-1:0] weight_in[K];
  logic [Element-1:0] weight_skew[WeightSkew];
  logic [Element-1:0] window_in[DepthwiseN];
  logic [Element-1:0] window_row_skew[ActSkew*DepthwiseK];
  logic [Element-1:0] window_column_skew[(DepthwiseK*(DepthwiseK-1)/2+1)*P];
  // Processing elements.
  logic [Element-1:0] act[N];
  logic [Element-1:0] weight[N];
  logic [7:0] flags[N];  // {mode depthwise, bank, first, valid}
  logic [31:0] acc0[N];
  logic [31:0] acc1[N];
  // Drain.
  logic [7:0] drain_pixel[K];
  logic [2:0] drain_token[K];  // {parameters, bank, valid}
  logic [31:0] captured[K];
  logic [31:0] realign[Realign];
  logic [K*32-1:0] pixel_d;

  logic [15:0] array_busy, window_busy, drain_busy;
  logic [7:0] drain_count;
  logic drain_active, drain_bank, drain_parameters;
  logic lane_fill, lane_write;
  logic [127:0] lane_word;
  logic [9:0] lane_offset, lane_low, lane_high;
  logic [31:0] quad;
  logic [Groups-1:0] group_valid, group_parameters;

  function automatic logic [31:0] dot(input logic [Element-1:0] a, input logic [Element-1:0] b);
    dot = 32'd0;
    for (int unsigned c = 0; c < C; c++)
      dot = dot + 32'($signed(a[c*8+:8])) * 32'($signed(b[c*8+:8]));
  endfunction

  logic [Element-1:0] weights_of_lane[K];
  for (genvar k = 0; k < K; k++) begin : g_lane
    assign weights_of_lane[k] = weights_i[k*Element+:Element];
  end

  always_ff @(posedge clk_i) begin : state
    // ---- Drain: read before this cycle's accumulation overwrites.
    pixel_valid_o <= '0;
    if (drain_busy != 16'd0 || drain_valid_i) begin
      if (drain_valid_i) drain_busy = 16'(P + K + 2);
      else drain_busy = drain_busy - 16'd1;
      // The channels of a group are together one cycle after its last lane has captured.
      for (int unsigned g = 0; g < Groups; g++) begin
        if (group_valid[g])
          for (int unsigned j = 0; j < GroupLanes; j++)
            pixel_d[(g*GroupLanes+j)*32+:32] = (j == GroupLanes - 1)
                ? captured[g*GroupLanes+j]
                : realign[g*(GroupLanes*(GroupLanes-1)/2)+(GroupLanes-1-j)*(GroupLanes-j)/2-1];
      end
      if (group_valid != '0) pixel_o <= pixel_d;
      pixel_valid_o <= group_valid;
      pixel_parameters_o <= group_parameters;
      for (int unsigned g = 0; g < Groups; g++) begin
        group_valid[g] = drain_token[g*GroupLanes+GroupLanes-1][0];
        group_parameters[g] = drain_token[g*GroupLanes+GroupLanes-1][2];
      end
      for (int unsigned i = 0; i < Realign - 1; i++) realign[Realign-1-i] = realign[Realign-2-i];
      for (int unsigned g = 0; g < Groups; g++) begin
        for (int unsigned j = 0; j < GroupLanes - 1; j++)  // lane j has GroupLanes-1-j registers
          realign[g*(GroupLanes*(GroupLanes-1)/2)+(GroupLanes-1-j)*(GroupLanes-2-j)/2] = captured[g*GroupLanes+j];
      end
      for (int unsigned k = 0; k < K; k++)
        captured[k] = drain_token[k][1] ? acc1[32'(drain_pixel[k])*K+k] : acc0[32'(drain_pixel[k])*K+k];
      for (int unsigned i = 0; i < K - 1; i++) begin
        drain_token[K-1-i] = drain_token[K-2-i];
        drain_pixel[K-1-i] = drain_pixel[K-2-i];
      end
      drain_token[0] = 3'd0;
      if (drain_valid_i) begin
        drain_active = 1'b1;
        drain_bank = drain_bank_i;
        drain_parameters = drain_parameters_i;
        drain_count = 8'd0;
      end
      if (drain_active) begin
        drain_token[0] = {drain_parameters, drain_bank, 1'b1};
        drain_pixel[0] = drain_count;
        drain_count = drain_count + 8'd1;
        if (drain_count == 8'(P)) drain_active = 1'b0;
      end
    end

    // ---- Array.
    if (array_busy != 16'd0 || step_valid_i) begin
      if (step_valid_i) array_busy = 16'(P + K + 1);
      else array_busy = array_busy - 16'd1;

      for (int unsigned i = 0; i < N; i++)
        acc0[i] = (flags[i][2:0] == 3'b001 || flags[i][2:0] == 3'b011)
            ? (flags[i][1] ? 32'd0 : acc0[i]) + dot(act[i], weight[i]) : acc0[i];
      for (int unsigned i = 0; i < N; i++)
        acc1[i] = (flags[i][2:0] == 3'b101 || flags[i][2:0] == 3'b111)
            ? (flags[i][1] ? 32'd0 : acc1[i]) + dot(act[i], weight[i]) : acc1[i];

      // Forwarding.
      for (int unsigned i = 0; i < N - K; i++) weight[N-1-i] = weight[N-1-K-i];
      for (int unsigned i = 0; i < N - 1; i++) act[N-1-i] = act[N-2-i];
      for (int unsigned i = 0; i < N - 1; i++) flags[N-1-i] = flags[N-2-i];

      // Operands of this cycle's step.
      if (step_valid_i && step_mode_i == tilewright_isa_pkg::ExecuteModeDense) begin
        for (int unsigned p = 0; p < P; p++)
          act_in[p] = dense_buffer[(32'(step_slot_i)*P+p)*Slices+32'(step_slice_i)];
      end
      if (step_valid_i && step_mode_i == tilewright_isa_pkg::ExecuteModePacked) begin
        for (int unsigned p = 0; p < P; p++)
          for (int unsigned c = 0; c < C; c++)
            act_in[p][c*8+:8] = packed_ring[p*RingBytes+((32'(step_ring_i)+c)%RingBytes)];
      end
      for (int unsigned k = 0; k < K; k++) weight_in[k] = weights_of_lane[k];

      // Skew: lane j has j registers, those of all lanes in one line.
      for (int unsigned p = 0; p < P; p++) act[p*K] = (p == 0) ? act_in[p] : act_skew[p*(p+1)/2-1];
      for (int unsigned i = 0; i < ActSkew - 1; i++) act_skew[ActSkew-1-i] = act_skew[ActSkew-2-i];
      for (int unsigned p = 1; p < P; p++) act_skew[p*(p-1)/2] = act_in[p];

      flag_skew[0] = {1'b0, step_mode_i == tilewright_isa_pkg::ExecuteModeDepthwise, step_bank_i, step_first_i,
          step_valid_i};
      for (int unsigned p = 0; p < P; p++) flags[p*K] = {3'd0, flag_skew[p]};
      for (int unsigned i = 0; i < P; i++) flag_skew[P-i] = flag_skew[P-1-i];

      for (int unsigned k = 0; k < K; k++) weight[k] = (k == 0) ? weight_in[k] : weight_skew[k*(k+1)/2-1];
      for (int unsigned i = 0; i < WeightSkew - 1; i++) weight_skew[WeightSkew-1-i] = weight_skew[WeightSkew-2-i];
      for (int unsigned k = 1; k < K; k++) weight_skew[k*(k-1)/2] = weight_in[k];

      // Depthwise: column k takes byte k of the window's words, delayed by k; nothing travels along K.
      if (K <= 16 && (window_busy != 16'd0 || (step_valid_i && step_mode_i ==
          tilewright_isa_pkg::ExecuteModeDepthwise))) begin
        window_busy = window_busy - 16'd1;
        if (step_valid_i && step_mode_i == tilewright_isa_pkg::ExecuteModeDepthwise) begin
          window_busy = 16'(P + K + 1);
          for (int unsigned c = 0; c < C; c++)
            for (int unsigned p = 0; p < P; p++)
              for (int unsigned j = 0; j < (DepthwiseK + 3) / 4; j++) begin
                quad = window[(32'(step_slot_i)*WindowWords+32'(step_window_i)+p*32'(step_stride_i)+c)*4
                              +32'(step_byte_i[3:2])+j];
                for (int unsigned i = 0; i < 4; i++)
                  if (j * 4 + i < DepthwiseK)
                    window_in[p*DepthwiseK+j*4+i] = (window_in[p*DepthwiseK+j*4+i] >> 8)
                        | (Element'(quad[i*8+:8]) << (Element-8));
              end
        end
        // Column k of row p: p registers in the row skew, then k in the column skew.
        for (int unsigned k = 1; k < DepthwiseK; k++)
          for (int unsigned p = 0; p < P; p++)
            if (flags[p*K+k][3]) act[p*K+k] = window_column_skew[(k*(k+1)/2-1)*P+p];
        for (int unsigned p = 0; p < P; p++)
          if (flags[p*K][3]) act[p*K] = (p == 0) ? window_in[0] : window_row_skew[(p*(p+1)/2-1)*DepthwiseK];
        for (int unsigned i = 0; i < (DepthwiseK * (DepthwiseK - 1) / 2) * P; i++)
          window_column_skew[(DepthwiseK*(DepthwiseK-1)/2+1)*P-1-i] =
              window_column_skew[(DepthwiseK*(DepthwiseK-1)/2)*P-1-i];
        for (int unsigned p = 0; p < P; p++)
          for (int unsigned k = 1; k < DepthwiseK; k++)
            window_column_skew[(k*(k-1)/2)*P+p] =
                (p == 0) ? window_in[k] : window_row_skew[(p*(p+1)/2-1)*DepthwiseK+k];
        for (int unsigned i = 0; i < (ActSkew - 1) * DepthwiseK; i++)
          window_row_skew[ActSkew*DepthwiseK-1-i] = window_row_skew[(ActSkew-1)*DepthwiseK-1-i];
        for (int unsigned p = 1; p < P; p++)
          for (int unsigned k = 0; k < DepthwiseK; k++)
            window_row_skew[(p*(p-1)/2)*DepthwiseK+k] = window_in[p*DepthwiseK+k];
      end
    end

    // ---- Operand buffers, written after this cycle's reads: at most one word per lane, from a bank or of padding.
    if (word_mode_i != tilewright_isa_pkg::ExecuteModeDepthwise) begin
      if (word_valid_i != 4'd0 || fill_valid_i)
        for (int unsigned p = 0; p < P; p++) begin
          lane_fill = fill_valid_i && fill_lanes_i[p];
          lane_write = lane_fill;
          lane_word = {16{pad_value_i}};
          for (int unsigned b = 0; b < 4; b++)
            if (word_valid_i[b] && word_lanes_i[b*P+p]) begin
              lane_write = 1'b1;
              lane_word = word_i[b*128+:128];
            end
          if (lane_write && word_mode_i == tilewright_isa_pkg::ExecuteModeDense)
            for (int unsigned s = 0; s < Slices; s++)
              dense_buffer[(32'(word_slot_i)*P+p)*Slices+s] = lane_word[s*Element+:Element];
          if (lane_write && word_mode_i == tilewright_isa_pkg::ExecuteModePacked) begin
            lane_offset = packed_offset_i[p*10+:10];
            lane_low = lane_fill ? 10'd0 : {2'd0, packed_low_i[p*8+:8]};
            lane_high = lane_fill ? {2'd0, packed_bytes_i} : {2'd0, packed_high_i[p*8+:8]};
            for (int unsigned i = 0; i < 16; i++)
              if ($signed(lane_offset + 10'(i)) >= $signed(lane_low) && $signed(lane_offset + 10'(i)) <
                  $signed(lane_high))
                packed_ring[p*RingBytes+((32'(packed_base_i)+32'($signed(lane_offset))+i)%RingBytes)] =
                    lane_word[i*8+:8];
          end
        end
    end else if (K <= 16) begin
      if (window_valid_i) begin
        if (window_copy_i)
          for (int unsigned i = 0; i < 6 * 4; i++)
            if (i < 32'(window_first_i) * 4)
              window[32'(word_slot_i)*WindowWords*4+i] =
                  window[(32'(window_previous_i)*WindowWords+32'(window_shift_i))*4+i];
        if (window_low_i > window_first_i || window_high_i < 8'(WindowWords))
          for (int unsigned i = 0; i < WindowWords * 4; i++)
            if (i >= 32'(window_first_i) * 4 && (i < 32'(window_low_i) * 4 || i >= 32'(window_high_i) * 4))
              window[32'(word_slot_i)*WindowWords*4+i] = {4{pad_value_i}};
      end
      for (int unsigned b = 0; b < 4; b++)
        if (word_valid_i[b])
          for (int unsigned i = 0; i < 4; i++)
            window[(32'(word_slot_i)*WindowWords+32'(window_index_i[b*8+:8]))*4+i] = word_i[b*128+i*32+:32];
    end

    if (!rst_ni) begin
      array_busy = 16'd0;
      window_busy = 16'd0;
      drain_busy = 16'd0;
      drain_active = 1'b0;
      for (int unsigned i = 0; i < N; i++) flags[i] = 8'd0;
      for (int unsigned p = 0; p <= P; p++) flag_skew[p] = 5'd0;
      for (int unsigned k = 0; k < K; k++) drain_token[k] = 3'd0;
      for (int unsigned g = 0; g < Groups; g++) group_valid[g] = 1'b0;
    end
  end

endmodule
