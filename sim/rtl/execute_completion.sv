// Execute jobs complete in order: one with acc_finish when every channel group has written its last word, one without
// when its last step has been issued.
module execute_completion #(
    parameter int unsigned Groups = 1
) (
    input logic clk_i,
    input logic rst_ni,
    input logic take_i,
    input logic finish_i,
    input logic issued_i,
    input logic issued_finish_i,
    input logic [Groups-1:0] group_done_i,
    output logic room_o,  // one more job may be taken
    output logic done_o
);
  logic finish[4];
  logic [1:0] read, write;
  logic [2:0] count;
  logic [2:0] unfinished_issued;
  logic [2:0] written[Groups];
  logic complete;

  always_ff @(posedge clk_i) begin : completion
    done_o <= 1'b0;
    if (issued_i && !issued_finish_i) unfinished_issued = unfinished_issued + 3'd1;
    for (int unsigned g = 0; g < Groups; g++)
      if (group_done_i[g]) written[g] = written[g] + 3'd1;
    if (count != 3'd0) begin
      complete = finish[read] || unfinished_issued != 3'd0;
      for (int unsigned g = 0; g < Groups; g++)
        if (finish[read] && written[g] == 3'd0) complete = 1'b0;
      if (complete) begin
        done_o <= 1'b1;
        for (int unsigned g = 0; g < Groups; g++)
          if (finish[read]) written[g] = written[g] - 3'd1;
        if (!finish[read]) unfinished_issued = unfinished_issued - 3'd1;
        read = read + 2'd1;
        count = count - 3'd1;
      end
    end
    if (take_i) begin
      finish[write] = finish_i;
      write = write + 2'd1;
      count = count + 3'd1;
    end
    room_o <= count < 3'd4;
    if (!rst_ni) begin
      read = 2'd0;
      write = 2'd0;
      count = 3'd0;
      unfinished_issued = 3'd0;
      for (int unsigned g = 0; g < Groups; g++) written[g] = 3'd0;
    end
  end
endmodule
