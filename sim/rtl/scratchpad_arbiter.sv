// Who gets the scratchpad's ports. Reads per bank: operand reader, residual words, vector unit, store. Writes per
// bank: the drain, vector unit, load. The array's clients come first: the others need only what it leaves.
module scratchpad_arbiter #(
    parameter int unsigned Groups = 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic [3:0] operand_read_i,  // one per bank, always granted
    input logic [4*24-1:0] operand_word_i,
    input logic [Groups*2-1:0] residual_read_i,
    input logic [Groups*2*24-1:0] residual_word_i,
    output logic [Groups*2-1:0] residual_grant_o,
    input logic [3:0] vector_read_i,   // one per bank
    input logic [4*24-1:0] vector_word_i,
    output logic [3:0] vector_grant_o,
    input logic store_read_i,
    input logic [23:0] store_word_i,
    output logic store_grant_o,
    output logic [3:0] read_o,
    output logic [4*24-1:0] read_word_o,

    input logic [Groups-1:0] drain_write_i,
    input logic [Groups*24-1:0] drain_word_i,
    input logic [Groups*16-1:0] drain_enable_i,
    input logic [Groups*128-1:0] drain_data_i,
    output logic [Groups-1:0] drain_grant_o,
    input logic vector_write_i,
    input logic [23:0] vector_write_word_i,
    input logic [15:0] vector_enable_i,
    input logic [127:0] vector_data_i,
    output logic vector_write_grant_o,
    input logic load_write_i,
    input logic [23:0] load_word_i,
    input logic [127:0] load_data_i,
    output logic load_grant_o,
    // One cycle after the grant.
    output logic [3:0] write_o,
    output logic [4*24-1:0] write_word_o,
    output logic [4*16-1:0] write_enable_o,
    output logic [4*128-1:0] write_data_o,
    output logic [4*2-1:0] writer_o  // per bank: 0 drain, 1 vector, 2 load
);
  logic [1:0] bank;
  always_comb begin
    read_o = operand_read_i;
    read_word_o = operand_word_i;
    residual_grant_o = '0;
    // Two per group; the second must not overtake the first.
    for (int unsigned g = 0; g < Groups * 2; g++) begin
      bank = residual_word_i[g*24+:2];
      if (residual_read_i[g] && !read_o[bank] && (g % 2 == 0 || !residual_read_i[g-g%2] || residual_grant_o[g-g%2]))
          begin
        residual_grant_o[g] = 1'b1;
        read_o[bank] = 1'b1;
        read_word_o[32'(bank)*24+:24] = residual_word_i[g*24+:24];
      end
    end
    vector_grant_o = vector_read_i & ~read_o;
    if (vector_grant_o != 4'd0) begin
      for (int unsigned b = 0; b < 4; b++)
        if (vector_grant_o[b]) read_word_o[b*24+:24] = vector_word_i[b*24+:24];
      read_o = read_o | vector_grant_o;
    end
    store_grant_o = store_read_i && !read_o[store_word_i[1:0]];
    if (store_grant_o) begin
      read_o[store_word_i[1:0]] = 1'b1;
      read_word_o[32'(store_word_i[1:0])*24+:24] = store_word_i;
    end
  end

  logic [3:0] taken;
  always_comb begin
    taken = 4'd0;
    drain_grant_o = '0;
    for (int unsigned g = 0; g < Groups; g++)
      if (drain_write_i[g] && !taken[drain_word_i[g*24+:2]]) begin
        drain_grant_o[g] = 1'b1;
        taken[drain_word_i[g*24+:2]] = 1'b1;
      end
    vector_write_grant_o = vector_write_i && !taken[vector_write_word_i[1:0]];
    if (vector_write_grant_o) taken[vector_write_word_i[1:0]] = 1'b1;
    load_grant_o = load_write_i && !taken[load_word_i[1:0]];
    if (load_grant_o) taken[load_word_i[1:0]] = 1'b1;
  end

  for (genvar b = 0; b < 4; b++) begin : g_bank
    always_ff @(posedge clk_i) begin
      write_o[b] <= taken[b];
      if (taken[b]) begin
        for (int unsigned g = 0; g < Groups; g++)
          if (drain_grant_o[g] && drain_word_i[g*24+:2] == 2'(b)) begin
            write_word_o[b*24+:24] <= drain_word_i[g*24+:24];
            write_enable_o[b*16+:16] <= drain_enable_i[g*16+:16];
            write_data_o[b*128+:128] <= drain_data_i[g*128+:128];
            writer_o[b*2+:2] <= 2'd0;
          end
        if (vector_write_grant_o && vector_write_word_i[1:0] == 2'(b)) begin
          write_word_o[b*24+:24] <= vector_write_word_i;
          write_enable_o[b*16+:16] <= vector_enable_i;
          write_data_o[b*128+:128] <= vector_data_i;
          writer_o[b*2+:2] <= 2'd1;
        end
        if (load_grant_o && load_word_i[1:0] == 2'(b)) begin
          write_word_o[b*24+:24] <= load_word_i;
          write_enable_o[b*16+:16] <= 16'hffff;
          write_data_o[b*128+:128] <= load_data_i;
          writer_o[b*2+:2] <= 2'd2;
        end
      end
      if (!rst_ni) write_o[b] <= 1'b0;
    end
  end
endmodule
