// Addresses of a map's rows in the order in which a job goes through them: rows, which wrap around in the map's ring,
// then an inner and an outer dimension (planes and samples, or samples and blocks of channels). It runs ahead of its
// user, so that rows of a single word follow each other without a gap: up to `Ahead` rows are offered that the user has
// not finished.
//
// One multiplier makes the products with the pitch, one per cycle. The first row is offered in the cycle of start_i,
// the second one cycle later, or two if rows can be apart by more than one (Strided).
module row_walker #(
    parameter int unsigned Ahead = 4,
    parameter bit Strided = 1'b0
) (
    input logic clk_i,
    input logic rst_ni,

    input logic start_i,  // begin; the inputs below are held until the last row has been offered
    input logic [23:0] base_i,
    input logic [15:0] pitch_i,
    input logic [23:0] inner_pitch_i,
    input logic [23:0] outer_pitch_i,
    input logic [15:0] ring_rows_i,
    input logic [15:0] ring_start_i,        // a row of the map that lies at `base`
    input logic signed [19:0] first_row_i,  // may lie above the map
    input logic signed [19:0] stride_i,     // rows of the map from one row of the job to the next; 1 unless Strided
    input logic [15:0] rows_i,
    input logic [15:0] inner_i,
    input logic [15:0] outer_i,

    input logic done_i,                     // the user has finished a row
    output logic valid_o,                   // one more row:
    output logic [23:0] row_o,              // address of its column 0
    output logic signed [19:0] y_o,         // which row of the map it is
    output logic signed [19:0] ring_row_o,  // and of the ring
    output logic outer_last_o,              // the last one within the outer dimension
    output logic last_o,                    // the last one of all
    output logic [23:0] ring_words_o        // of the whole ring; valid two cycles after start_i
);
  typedef logic signed [19:0] coordinate_t;
  typedef logic [23:0] address_t;

  logic walking;
  logic [1:0] products;  // how many of the ring's and the stride's are made
  logic [2:0] ahead;
  logic [15:0] row_count, inner_count, outer_count;
  coordinate_t y, ring_row, ring_row0, ring_rows, factor;
  address_t product, row, row0_offset, row_words, ring_words, inner_base, outer_base;
  logic inner_last, offered, ended;

  always_ff @(posedge clk_i) begin : walk
    valid_o <= 1'b0;
    if (done_i) ahead = ahead - 3'd1;

    if (start_i || (walking && (products != 2'd2 || ahead < 3'(Ahead)))) begin
      ring_rows = {4'd0, ring_rows_i};
      if (start_i) begin
        ring_row0 = first_row_i - $signed({4'd0, ring_start_i});
        if (ring_row0 >= ring_rows) ring_row0 = ring_row0 - ring_rows;
      end
      if (start_i || products != 2'd2) begin
        factor = start_i ? ring_row0 : products == 2'd0 ? ring_rows : stride_i;
        product = 24'(factor) * $signed({8'd0, pitch_i});
      end

      offered = 1'b0;
      if (start_i) begin
        products = 2'd0;
        ahead = 3'd0;
        row0_offset = product;
        inner_base = base_i;
        outer_base = base_i;
        row_count = 16'd0;
        inner_count = 16'd0;
        outer_count = 16'd0;
        row = base_i + row0_offset;
        y = first_row_i;
        ring_row = ring_row0;
        offered = 1'b1;
      end else begin
        if (products == 2'd0) begin
          ring_words = product;
          row_words = {8'd0, pitch_i};
          ring_words_o <= ring_words;
          products = Strided ? 2'd1 : 2'd2;
        end else if (products == 2'd1) begin
          row_words = product;
          products = 2'd2;
        end
        if (products == 2'd2 && !ended) begin
          // The next row.
          offered = 1'b1;
          row_count = row_count + 16'd1;
          y = y + stride_i;
          row = row + row_words;
          ring_row = ring_row + stride_i;
          if (ring_row >= ring_rows) begin
            ring_row = ring_row - ring_rows;
            row = row - ring_words;
          end
          if (row_count == rows_i) begin
            row_count = 16'd0;
            inner_count = inner_count + 16'd1;
            inner_base = inner_base + inner_pitch_i;
            if (inner_count == inner_i) begin
              inner_count = 16'd0;
              outer_count = outer_count + 16'd1;
              outer_base = outer_base + outer_pitch_i;
              inner_base = outer_base;
            end
            row = inner_base + row0_offset;
            y = first_row_i;
            ring_row = ring_row0;
          end
        end
      end

      if (offered) begin
        inner_last = row_count + 16'd1 == rows_i && inner_count + 16'd1 == inner_i;
        valid_o <= 1'b1;
        row_o <= row;
        y_o <= y;
        ring_row_o <= ring_row;
        outer_last_o <= inner_last;
        ended = inner_last && outer_count + 16'd1 == outer_i;
        last_o <= ended;
        ahead = ahead + 3'd1;
      end
      walking = !ended || products != 2'd2;
    end

    if (!rst_ni) begin
      walking = 1'b0;
      ahead = 3'd0;
    end
  end
endmodule
