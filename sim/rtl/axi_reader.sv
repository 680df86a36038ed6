// Read side of the AXI4 master: three clients (0 descriptor fetch, 1 load, 2 weights; lower numbers first) ask for
// bursts of up to 16 16-byte words within an aligned 256 bytes; words come back per client in order, one per cycle.
// The AXI id is the client. Clients ask only for what they have room for, so data is always accepted.
module axi_reader #(
    parameter int unsigned BusBytes = 16
) (
    input logic clk_i,
    input logic rst_ni,

    input logic [2:0] request_i,
    input logic [3*48-1:0] address_i,
    input logic [3*5-1:0] words_i,
    output logic [2:0] grant_o,
    output logic [2:0] valid_o,
    output logic [127:0] data_o,
    output logic error_o,
    input logic halt_i,   // no further bursts
    output logic idle_o,  // none is under way

    output logic arvalid_o,
    input logic arready_i,
    output logic [47:0] araddr_o,
    output logic [7:0] arlen_o,
    output logic [1:0] arid_o,
    input logic rvalid_i,
    output logic rready_o,
    input logic [BusBytes*8-1:0] rdata_i,
    input logic [1:0] rid_i,
    input logic [1:0] rresp_i,
    input logic rlast_i
);
  logic free;
  logic [1:0] client;
  logic [47:0] address;
  logic [4:0] words;
  logic [15:0] under_way;  // bursts granted and not wholly received

  assign free = !arvalid_o || arready_i;
  always_comb begin
    grant_o = 3'd0;
    client = 2'd0;
    if (free && !halt_i) begin
      if (request_i[0]) grant_o = 3'b001;
      else if (request_i[1]) grant_o = 3'b010;
      else if (request_i[2]) grant_o = 3'b100;
    end
    client = grant_o[2] ? 2'd2 : grant_o[1] ? 2'd1 : 2'd0;
  end

  always_ff @(posedge clk_i) begin
    if (free) arvalid_o <= grant_o != 3'd0;
    if (grant_o != 3'd0) begin
      address = address_i[32'(client)*48+:48];
      words = words_i[32'(client)*5+:5];
      arid_o <= client;
      if (BusBytes == 16) begin
        araddr_o <= address;
        arlen_o <= {3'd0, words} - 8'd1;
      end else begin  // whole 32-byte beats
        araddr_o <= {address[47:5], 5'd0};
        arlen_o <= 8'(({3'd0, words} + {7'd0, address[4]} + 8'd1) >> 1) - 8'd1;
      end
    end
    error_o <= rvalid_i && rready_o && rresp_i != 2'd0;
    if (grant_o != 3'd0) under_way = under_way + 16'd1;
    if (rvalid_i && rready_o && rlast_i) under_way = under_way - 16'd1;
    idle_o <= under_way == 16'd0;
    if (!rst_ni) begin
      arvalid_o <= 1'b0;
      error_o <= 1'b0;
      under_way = 16'd0;
    end
  end

  if (BusBytes == 16) begin : g_narrow
    assign rready_o = 1'b1;
    assign valid_o = rvalid_i ? 3'd1 << rid_i : 3'd0;
    assign data_o = rdata_i[127:0];
  end else begin : g_wide
    // Two words per beat, handed on one by one; halves outside the request are dropped. Per client the bursts under
    // way.
    logic [5:0] bursts[3*64];  // {second half first, words}
    logic [5:0] burst_read[3];
    logic [5:0] burst_write[3];
    logic [4:0] given[3];
    logic upper;
    logic [5:0] burst;
    logic skip_lower, last;
    assign burst = bursts[32'(rid_i)*64+32'(burst_read[rid_i])];
    assign skip_lower = given[rid_i] == 5'd0 && burst[5];
    assign last = given[rid_i] + 5'd1 == burst[4:0];
    assign valid_o = rvalid_i ? 3'd1 << rid_i : 3'd0;
    assign data_o = (upper || skip_lower) ? rdata_i[BusBytes*8-1-:128] : rdata_i[127:0];
    assign rready_o = upper || skip_lower || last;
    always_ff @(posedge clk_i) begin
      if (grant_o != 3'd0) begin
        bursts[32'(client)*64+32'(burst_write[client])] = {address_i[32'(client)*48+4], words_i[32'(client)*5+:5]};
        burst_write[client] = burst_write[client] + 6'd1;
      end
      if (rvalid_i) begin
        upper <= !rready_o;
        given[rid_i] = last ? 5'd0 : given[rid_i] + 5'd1;
        if (last) burst_read[rid_i] = burst_read[rid_i] + 6'd1;
      end
      if (!rst_ni) begin
        upper <= 1'b0;
        for (int unsigned i = 0; i < 3; i++) begin
          burst_read[i] = 6'd0;
          burst_write[i] = 6'd0;
          given[i] = 5'd0;
        end
      end
    end
  end
endmodule
