// The epilogue's binary32 arithmetic, exact to the bit (round to nearest even, denormals kept where they can matter), as
// combinational functions without loops. Operands are never NaN; m, ra, rb and fix are finite: the compiler sees to it.
package tilewright_float_pkg;

  function automatic logic [4:0] leading_zeros_32(input logic [31:0] value);
    logic [31:0] v;
    v = value;
    leading_zeros_32 = 5'd0;
    if (v[31:16] == 16'd0) begin leading_zeros_32[4] = 1'b1; v = v << 16; end
    if (v[31:24] == 8'd0) begin leading_zeros_32[3] = 1'b1; v = v << 8; end
    if (v[31:28] == 4'd0) begin leading_zeros_32[2] = 1'b1; v = v << 4; end
    if (v[31:30] == 2'd0) begin leading_zeros_32[1] = 1'b1; v = v << 2; end
    if (!v[31]) leading_zeros_32[0] = 1'b1;
  endfunction

  function automatic logic [5:0] leading_zeros_64(input logic [63:0] value);
    if (value[63:32] == 32'd0) leading_zeros_64 = {1'b1, leading_zeros_32(value[31:0])};
    else leading_zeros_64 = {1'b0, leading_zeros_32(value[63:32])};
  endfunction

  // int32 -> binary32, unpacked: {sign, exponent[5:0], significand[23:0]}, value = significand * 2^(exponent - 23).
  function automatic logic [30:0] float_from_int(input logic [31:0] value);
    logic [31:0] magnitude;
    logic [4:0] zeros;
    logic [24:0] significand;
    logic [5:0] exponent;
    magnitude = value[31] ? -value : value;
    zeros = leading_zeros_32(magnitude);
    magnitude = magnitude << zeros;
    significand = {1'b0, magnitude[31:8]};
    if (magnitude[7] && (magnitude[6:0] != 7'd0 || magnitude[8])) significand = significand + 25'd1;
    exponent = 6'd31 - {1'b0, zeros};
    if (significand[24]) begin
      significand = 25'h0800000;
      exponent = exponent + 6'd1;
    end
    float_from_int = {value[31], exponent, significand[23:0]};
  endfunction

  // Product of float_from_int's result and a binary32, rounded to 24 bits: {sign, exponent[9:0] signed,
  // significand[23:0]}. A denormal scale gives 0: with an int32 its product is below 2^-94, which rounds to 0 later.
  function automatic logic [34:0] float_multiply(input logic [30:0] a, input logic [31:0] scale);
    logic [47:0] product;
    logic [24:0] significand;
    logic [9:0] exponent;
    logic up;
    product = {24'd0, a[23:0]} * {25'd1, scale[22:0]};
    exponent = {4'd0, a[29:24]} + {2'd0, scale[30:23]} - 10'd127;
    if (product[47]) begin
      significand = {1'b0, product[47:24]};
      up = product[23] && (product[22:0] != 23'd0 || product[24]);
      exponent = exponent + 10'd1;
    end else begin
      significand = {1'b0, product[46:23]};
      up = product[22] && (product[21:0] != 22'd0 || product[23]);
    end
    if (up) significand = significand + 25'd1;
    if (significand[24]) begin
      significand = 25'h0800000;
      exponent = exponent + 10'd1;
    end
    if (a[23:0] == 24'd0 || scale[30:23] == 8'd0) begin
      significand = 25'd0;
      exponent = 10'd0;
    end
    float_multiply = {a[30] ^ scale[31], exponent, significand[23:0]};
  endfunction

  // Nearest integer, ties to even, of significand * 2^(exponent - 23); magnitudes from 1024 on become 1023 or -1023
  // (every clamp that follows is narrower).
  function automatic logic [11:0] round_to_int(input logic sign, input logic [9:0] exponent,
                                               input logic [23:0] significand);
    logic [11:0] magnitude;
    logic [34:0] fixed_point;  // 11 integer bits, 24 fraction bits
    logic [3:0] left;
    left = exponent[3:0] + 4'd1;  // exponent -1 to 9 -> shift 0 to 10
    if ($signed(exponent) < -10'sd1 || significand == 24'd0) begin
      magnitude = 12'd0;
    end else if ($signed(exponent) > 10'sd9) begin
      magnitude = 12'd1023;
    end else begin
      fixed_point = {11'd0, significand} << left;
      magnitude = {1'b0, fixed_point[34:24]};
      if (fixed_point[23] && (fixed_point[22:0] != 23'd0 || fixed_point[24])) magnitude = magnitude + 12'd1;
    end
    round_to_int = sign ? -magnitude : magnitude;
  endfunction

  function automatic logic [11:0] float_to_int(input logic [31:0] value);
    float_to_int = round_to_int(value[31], {2'd0, value[30:23]} - 10'd127, {value[30:23] != 8'd0, value[22:0]});
  endfunction

  function automatic logic [7:0] clamp_to_int8(input logic [11:0] value, input logic [11:0] low, input logic [11:0] high);
    if ($signed(value) < $signed(low)) clamp_to_int8 = low[7:0];
    else if ($signed(value) > $signed(high)) clamp_to_int8 = high[7:0];
    else clamp_to_int8 = value[7:0];
  endfunction

  // value >> amount; the lowest bit is also set if any bit was lost.
  function automatic logic [63:0] shift_right_sticky(input logic [63:0] value, input logic [11:0] amount);
    logic [63:0] shifted;
    if (amount == 12'd0) begin
      shift_right_sticky = value;
    end else if (amount > 12'd62) begin
      shift_right_sticky = {63'd0, value != 64'd0};
    end else begin
      shifted = value >> amount[5:0];
      shift_right_sticky = {shifted[63:1], shifted[0] | ((shifted << amount[5:0]) != value)};
    end
  endfunction

  // fma(float(a), scale, addend) with one rounding; a is an integer of -256 to 255.
  function automatic logic [31:0] fma_int(input logic [9:0] a, input logic [31:0] scale, input logic [31:0] addend);
    logic [9:0] a_magnitude;
    logic [63:0] product, other, sum;
    logic [5:0] zeros;
    logic product_sign, sign;
    logic [11:0] product_exponent, other_exponent, exponent, distance;  // of bit 0; signed
    logic [24:0] significand;
    logic [31:0] packed_result;
    a_magnitude = a[9] ? -a : a;
    product_sign = a[9] ^ scale[31];
    product = {54'd0, a_magnitude} * {40'd0, scale[30:23] != 8'd0, scale[22:0]};
    other = {40'd0, addend[30:23] != 8'd0, addend[22:0]};
    product_exponent = (scale[30:23] == 8'd0 ? 12'd1 : {4'd0, scale[30:23]}) - 12'd150;
    other_exponent = (addend[30:23] == 8'd0 ? 12'd1 : {4'd0, addend[30:23]}) - 12'd150;
    // The leading ones of both to bit 61: room for a carry, 14 bits and more below either's last bit.
    zeros = leading_zeros_64(product) - 6'd2;
    product = product << zeros;
    product_exponent = product_exponent - {6'd0, zeros};
    zeros = leading_zeros_64(other) - 6'd2;
    other = other << zeros;
    other_exponent = other_exponent - {6'd0, zeros};
    sign = product_sign;
    if (product == 64'd0 || addend[30:23] == 8'd255) begin
      fma_int = (other == 64'd0) ? {product_sign & addend[31], 31'd0} : addend;
    end else begin
      if (other == 64'd0) begin
        sum = product;
        exponent = product_exponent;
      end else begin
        if ($signed(product_exponent) >= $signed(other_exponent)) begin
          distance = product_exponent - other_exponent;
          exponent = product_exponent;
          other = shift_right_sticky(other, distance);
        end else begin
          distance = other_exponent - product_exponent;
          exponent = other_exponent;
          product = shift_right_sticky(product, distance);
        end
        if (product_sign == addend[31]) begin
          sum = product + other;
        end else if (product >= other) begin
          sum = product - other;
        end else begin
          sum = other - product;
          sign = addend[31];
        end
      end
      if (sum == 64'd0) begin
        fma_int = 32'd0;
      end else begin
        zeros = leading_zeros_64(sum);
        sum = sum << zeros;
        exponent = exponent - {6'd0, zeros} + 12'd190;  // biased exponent of bit 63
        if ($signed(exponent) < 12'sd1) begin
          sum = shift_right_sticky(sum, 12'd1 - exponent);
          exponent = 12'd1;
        end
        significand = {1'b0, sum[63:40]};
        if (sum[39] && (sum[38:0] != 39'd0 || sum[40])) significand = significand + 25'd1;
        // A carry out of the significand moves into the exponent field by itself.
        packed_result = {(exponent[8:0] - 9'd1), 23'd0} + {7'd0, significand};
        if (packed_result[31] || packed_result[30:23] == 8'd255 || $signed(exponent) > 12'sd254) packed_result = 32'h7f800000;
        fma_int = {sign, packed_result[30:0]};
      end
    end
  endfunction

endpackage
