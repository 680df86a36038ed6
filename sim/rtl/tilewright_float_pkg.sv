// The epilogue's binary32 arithmetic, exact to the bit (round to nearest even, denormals kept where they can matter),
// as combinational functions without loops. Operands are never NaN; m, ra, rb and fix are finite: the compiler sees to
// it.
package tilewright_float_pkg;

  // Conditional expressions rather than statements: that is how synthesis reads large processes in reasonable time.
  function automatic logic [4:0] leading_zeros_32(input logic [31:0] value);
    logic [31:0] v16, v8, v4, v2;
    v16 = (value[31:16] == 16'd0) ? value << 16 : value;
    v8 = (v16[31:24] == 8'd0) ? v16 << 8 : v16;
    v4 = (v8[31:28] == 4'd0) ? v8 << 4 : v8;
    v2 = (v4[31:30] == 2'd0) ? v4 << 2 : v4;
    leading_zeros_32 = {value[31:16] == 16'd0, v16[31:24] == 8'd0, v8[31:28] == 4'd0, v4[31:30] == 2'd0, !v2[31]};
  endfunction

  function automatic logic [5:0] leading_zeros_64(input logic [63:0] value);
    leading_zeros_64 = {value[63:32] == 32'd0, leading_zeros_32(value[63:32] == 32'd0 ? value[31:0] : value[63:32])};
  endfunction

  // int32 -> binary32, unpacked: {sign, exponent[5:0], significand[23:0]}, value = significand * 2^(exponent - 23).
  function automatic logic [30:0] float_from_int(input logic [31:0] value);
    logic [31:0] magnitude, normal;
    logic [4:0] zeros;
    logic [24:0] significand;
    magnitude = value[31] ? -value : value;
    zeros = leading_zeros_32(magnitude);
    normal = magnitude << zeros;
    significand = {1'b0, normal[31:8]} + 25'(normal[7] && (normal[6:0] != 7'd0 || normal[8]));
    // A carry leaves a power of two: its lower bits are 0.
    float_from_int = {value[31], 6'd31 - {1'b0, zeros} + {5'd0, significand[24]}, significand[24] | significand[23],
                      significand[22:0]};
  endfunction

  // Product of float_from_int's result and a binary32, rounded to 24 bits: {sign, exponent[9:0] signed,
  // significand[23:0]}. A denormal scale gives 0: with an int32 its product is below 2^-94, which rounds to 0 later.
  function automatic logic [34:0] float_multiply(input logic [30:0] a, input logic [31:0] scale);
    logic [47:0] product;
    logic [24:0] significand;
    logic [9:0] exponent;
    logic up, zero;
    product = {24'd0, a[23:0]} * {25'd1, scale[22:0]};
    up = product[47] ? product[23] && (product[22:0] != 23'd0 || product[24])
                     : product[22] && (product[21:0] != 22'd0 || product[23]);
    significand = (product[47] ? {1'b0, product[47:24]} : {1'b0, product[46:23]}) + {24'd0, up};
    exponent = {4'd0, a[29:24]} + {2'd0, scale[30:23]} - 10'd127 + {9'd0, product[47]} + {9'd0, significand[24]};
    zero = a[23:0] == 24'd0 || scale[30:23] == 8'd0;
    float_multiply = {a[30] ^ scale[31], zero ? 10'd0 : exponent,
                      zero ? 24'd0 : {significand[24] | significand[23], significand[22:0]}};
  endfunction

  // Nearest integer, ties to even, of significand * 2^(exponent - 23); magnitudes from 1024 on become 1023 or -1023
  // (every clamp that follows is narrower).
  function automatic logic [11:0] round_to_int(input logic sign, input logic [9:0] exponent,
                                               input logic [23:0] significand);
    logic [11:0] magnitude;
    logic [34:0] fixed_point;  // 11 integer bits, 24 fraction bits
    logic [3:0] left;
    left = exponent[3:0] + 4'd1;  // exponent -1 to 9 -> shift 0 to 10
    fixed_point = {11'd0, significand} << left;
    magnitude = ($signed(exponent) < -10'sd1 || significand == 24'd0) ? 12'd0
              : ($signed(exponent) > 10'sd9) ? 12'd1023
              : {1'b0, fixed_point[34:24]} + 12'(fixed_point[23] && (fixed_point[22:0] != 23'd0 || fixed_point[24]));
    round_to_int = sign ? -magnitude : magnitude;
  endfunction

  function automatic logic [11:0] float_to_int(input logic [31:0] value);
    float_to_int = round_to_int(value[31], {2'd0, value[30:23]} - 10'd127, {value[30:23] != 8'd0, value[22:0]});
  endfunction

  function automatic logic [7:0] clamp_to_int8(input logic [11:0] value, input logic [11:0] low, input logic [11:0]
      high);
    clamp_to_int8 = ($signed(value) < $signed(low)) ? low[7:0] : ($signed(value) > $signed(high)) ? high[7:0] :
        value[7:0];
  endfunction

  // value >> amount; the lowest bit is also set if any bit was lost.
  function automatic logic [63:0] shift_right_sticky(input logic [63:0] value, input logic [11:0] amount);
    logic [63:0] shifted;
    shifted = value >> amount[5:0];
    shift_right_sticky = (amount > 12'd62) ? {63'd0, value != 64'd0}
                                           : {shifted[63:1], shifted[0] | ((shifted << amount[5:0]) != value)};
  endfunction

  // fma(float(a), scale, addend) with one rounding; a is an integer of -256 to 255.
  function automatic logic [31:0] fma_int(input logic [9:0] a, input logic [31:0] scale, input logic [31:0] addend);
    logic [9:0] a_magnitude;
    logic [63:0] product, other, larger, smaller, sum, normal, rounding;
    logic [5:0] product_zeros, other_zeros, zeros;
    logic product_sign, larger_is_product, sign;
    logic [11:0] product_exponent, other_exponent, larger_exponent, exponent, biased;  // of bit 0; signed
    logic [24:0] significand;
    logic [31:0] packed_result, finite;
    a_magnitude = a[9] ? -a : a;
    product_sign = a[9] ^ scale[31];
    product = {54'd0, a_magnitude} * {40'd0, scale[30:23] != 8'd0, scale[22:0]};
    other = {40'd0, addend[30:23] != 8'd0, addend[22:0]};
    // The leading ones of both to bit 61: room for a carry, 14 bits and more below either's last bit.
    product_zeros = leading_zeros_64(product) - 6'd2;
    other_zeros = leading_zeros_64(other) - 6'd2;
    product_exponent = (scale[30:23] == 8'd0 ? 12'd1 : {4'd0, scale[30:23]}) - 12'd150 - {6'd0, product_zeros};
    other_exponent = (addend[30:23] == 8'd0 ? 12'd1 : {4'd0, addend[30:23]}) - 12'd150 - {6'd0, other_zeros};
    product = product << product_zeros;
    other = other << other_zeros;
    larger_is_product = other == 64'd0 || $signed(product_exponent) > $signed(other_exponent) ||
                        (product_exponent == other_exponent && product >= other);
    larger = larger_is_product ? product : other;
    larger_exponent = larger_is_product ? product_exponent : other_exponent;
    smaller = shift_right_sticky(larger_is_product ? other : product,
                                 other == 64'd0 ? 12'd0 : larger_is_product ? product_exponent - other_exponent
                                                                            : other_exponent - product_exponent);
    sign = larger_is_product ? product_sign : addend[31];
    sum = (product_sign == addend[31]) ? larger + smaller : larger - smaller;
    zeros = leading_zeros_64(sum);
    normal = sum << zeros;
    exponent = larger_exponent - {6'd0, zeros} + 12'd190;  // biased exponent of bit 63
    rounding = ($signed(exponent) < 12'sd1) ? shift_right_sticky(normal, 12'd1 - exponent) : normal;
    biased = ($signed(exponent) < 12'sd1) ? 12'd1 : exponent;
    significand = {1'b0, rounding[63:40]} + 25'(rounding[39] && (rounding[38:0] != 39'd0 || rounding[40]));
    // A carry out of the significand moves into the exponent field by itself.
    packed_result = {(biased[8:0] - 9'd1), 23'd0} + {7'd0, significand};
    finite = {sign, (packed_result[31] || packed_result[30:23] == 8'd255 || $signed(biased) > 12'sd254)
                        ? 31'h7f800000 : packed_result[30:0]};
    fma_int = (product == 64'd0 || addend[30:23] == 8'd255)
                  ? (other == 64'd0 ? {product_sign & addend[31], 31'd0} : addend)
                  : (sum == 64'd0) ? 32'd0 : finite;
  endfunction

endpackage
