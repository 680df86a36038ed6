// Memory of the weight ring: one read and one write port. A technology library replaces it by RAM macros. Written in
// chunks of what the bus brings per cycle, read in words of K*C bytes.
module weight_ring #(
    parameter int unsigned Words = 2560,
    parameter int unsigned WordBits = 512,
    parameter int unsigned ChunkBits = 128,
    localparam int unsigned Chunks = WordBits / ChunkBits
) (
    input logic clk_i,
    input logic read_i,
    input logic [31:0] read_word_i,
    output logic [WordBits-1:0] data_o,  // one cycle after read_i
    input logic write_i,
    input logic [31:0] write_word_i,
    input logic [7:0] write_chunk_i,
    input logic [ChunkBits-1:0] data_i
);
  logic [WordBits-1:0] memory[Words];

  always_ff @(posedge clk_i) begin
    if (read_i) data_o <= memory[read_word_i[$clog2(Words)-1:0]];
  end
  for (genvar c = 0; c < Chunks; c++) begin : g_chunk
    always_ff @(posedge clk_i) begin
      if (write_i && write_chunk_i == 8'(c)) memory[write_word_i[$clog2(Words)-1:0]][c*ChunkBits+:ChunkBits] <= data_i;
    end
  end
endmodule
