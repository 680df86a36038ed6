// AXI4-Lite registers, 32 bits each:
//   0x00 control: bit 0 starts the program, bit 1 stops it (error 6)     0x04 status: bit 0 busy, 1 done, 2 error
//   0x08, 0x0c program address, low and high word   0x10 descriptor at which an error occurred   0x14 error code
module control_registers (
    input logic clk_i,
    input logic rst_ni,
    input logic awvalid_i,
    output logic awready_o,
    input logic [7:0] awaddr_i,
    input logic wvalid_i,
    output logic wready_o,
    input logic [31:0] wdata_i,
    output logic bvalid_o,
    input logic bready_i,
    input logic arvalid_i,
    output logic arready_o,
    input logic [7:0] araddr_i,
    output logic rvalid_o,
    input logic rready_i,
    output logic [31:0] rdata_o,

    output logic start_o,
    output logic stop_o,
    output logic [47:0] program_o,
    input logic busy_i,
    input logic done_i,
    input logic [7:0] error_i,
    input logic [31:0] descriptor_i
);
  logic done_q;
  // Address and data are taken together.
  assign awready_o = awvalid_i && wvalid_i && !bvalid_o;
  assign wready_o = awready_o;
  assign arready_o = !rvalid_o;

  always_ff @(posedge clk_i) begin
    start_o <= 1'b0;
    stop_o <= 1'b0;
    if (done_i) done_q <= 1'b1;
    if (awready_o) begin
      bvalid_o <= 1'b1;
      case (awaddr_i)
        8'h00: begin
          stop_o <= wdata_i[1];
          if (wdata_i[0] && !busy_i) begin
            start_o <= 1'b1;
            done_q <= 1'b0;
          end
        end
        8'h08: program_o[31:0] <= wdata_i;
        8'h0c: program_o[47:32] <= wdata_i[15:0];
        default: ;
      endcase
    end
    if (bvalid_o && bready_i) bvalid_o <= 1'b0;
    if (arvalid_i && arready_o) begin
      rvalid_o <= 1'b1;
      case (araddr_i)
        8'h04: rdata_o <= {29'd0, error_i != 8'd0, done_q, busy_i};
        8'h08: rdata_o <= program_o[31:0];
        8'h0c: rdata_o <= {16'd0, program_o[47:32]};
        8'h10: rdata_o <= descriptor_i;
        8'h14: rdata_o <= {24'd0, error_i};
        default: rdata_o <= 32'd0;
      endcase
    end
    if (rvalid_o && rready_i) rvalid_o <= 1'b0;
    if (!rst_ni) begin
      bvalid_o <= 1'b0;
      rvalid_o <= 1'b0;
      done_q <= 1'b0;
      program_o <= 48'd0;
    end
  end
endmodule
