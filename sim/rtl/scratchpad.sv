// The activation scratchpad: four banks of 16-byte words, word address modulo 4 is the bank. Each bank has one read
// and one write port with byte enables; a technology library replaces them by RAM macros. Arbitration is outside: at
// most one access per port and cycle arrives here.
module scratchpad #(
    parameter int unsigned Words = 32768
) (
    input logic clk_i,
    input logic [3:0] read_i,
    input logic [4*24-1:0] read_word_i,   // word addresses; bank b's is = b modulo 4
    output logic [4*128-1:0] data_o,      // one cycle after read_i
    input logic [3:0] write_i,
    input logic [4*24-1:0] write_word_i,
    input logic [4*16-1:0] write_enable_i,
    input logic [4*128-1:0] data_i
);
  localparam int unsigned BankWords = Words / 4;
  localparam int unsigned Bits = $clog2(BankWords);

  for (genvar b = 0; b < 4; b++) begin : g_bank
    logic [127:0] memory[BankWords];
    wire [Bits-1:0] read_address = read_word_i[b*24+2+:Bits];
    wire [Bits-1:0] write_address = write_word_i[b*24+2+:Bits];
    wire [15:0] enable = write_enable_i[b*16+:16];
    always_ff @(posedge clk_i) begin
      if (read_i[b]) data_o[b*128+:128] <= memory[read_address];
      if (write_i[b]) begin
        if (enable == 16'hffff) begin
          memory[write_address] <= data_i[b*128+:128];
        end else begin
          // One assignment of the whole word is what simulates fast; a RAM with byte enables behaves the same.
          memory[write_address] <= (memory[write_address] & ~mask(enable)) | (data_i[b*128+:128] & mask(enable));
        end
      end
    end
  end

  function automatic logic [127:0] mask(input logic [15:0] enable);
    mask = {{8{enable[15]}}, {8{enable[14]}}, {8{enable[13]}}, {8{enable[12]}}, {8{enable[11]}}, {8{enable[10]}},
            {8{enable[9]}}, {8{enable[8]}}, {8{enable[7]}}, {8{enable[6]}}, {8{enable[5]}}, {8{enable[4]}},
            {8{enable[3]}}, {8{enable[2]}}, {8{enable[1]}}, {8{enable[0]}}};
  endfunction
endmodule
