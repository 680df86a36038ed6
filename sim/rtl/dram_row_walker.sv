// Addresses of a DRAM tensor's rows in the order in which a job goes through them: rows, planes, samples, each a signed
// byte stride apart. Offers the rows after the first, whose address its user has from the job; otherwise as row_walker.
module dram_row_walker #(
    parameter int unsigned AddressBits = 48,  // as many low bits as are of interest
    parameter int unsigned Ahead = 4
) (
    input logic clk_i,
    input logic rst_ni,

    input logic start_i,  // begin; the inputs below are held until the last row has been offered
    input logic [AddressBits-1:0] address_i,
    input logic [AddressBits-1:0] row_stride_i,
    input logic [AddressBits-1:0] plane_stride_i,
    input logic [AddressBits-1:0] sample_stride_i,
    input logic [15:0] rows_i,
    input logic [15:0] planes_i,
    input logic [15:0] samples_i,

    input logic done_i,                     // the user has finished a row, the first one included
    output logic valid_o,                   // one more row:
    output logic [AddressBits-1:0] row_o,
    output logic last_o                     // the last one of all
);
  logic walking;
  logic [2:0] ahead;
  logic [15:0] row_count, plane_count, sample_count;
  logic [AddressBits-1:0] row, plane, sample;

  always_ff @(posedge clk_i) begin : walk
    valid_o <= 1'b0;
    if (done_i) ahead = ahead - 3'd1;
    if (start_i) begin
      walking = rows_i != 16'd1 || planes_i != 16'd1 || samples_i != 16'd1;
      ahead = 3'd1;
      row = address_i;
      plane = address_i;
      sample = address_i;
      row_count = 16'd1;
      plane_count = 16'd1;
      sample_count = 16'd1;
    end
    if (walking && ahead < 3'(Ahead)) begin
      row = row + row_stride_i;
      if (row_count == rows_i) begin
        row_count = 16'd0;
        plane = plane + plane_stride_i;
        if (plane_count == planes_i) begin
          plane_count = 16'd0;
          sample = sample + sample_stride_i;
          sample_count = sample_count + 16'd1;
          plane = sample;
        end
        plane_count = plane_count + 16'd1;
        row = plane;
      end
      row_count = row_count + 16'd1;
      walking = row_count != rows_i || plane_count != planes_i || sample_count != samples_i;
      valid_o <= 1'b1;
      row_o <= row;
      last_o <= !walking;
      ahead = ahead + 3'd1;
    end
    if (!rst_ni) begin
      walking = 1'b0;
      ahead = 3'd0;
    end
  end
endmodule
