//===- ExactAddition.h - additions to the bits of ONNX ----------*- C++ -*-===//
//
// ONNX adds quantized tensors in five float32 operations: both operands are dequantized (one product each), added,
// divided by the sum's scale, rounded half to even. tile.residual_add has two fused ones before it rounds. Both are
// functions of two bytes, so whether they agree is found out by trying all pairs.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DIALECTS_TILE_EXACTADDITION_H
#define TILEWRIGHT_DIALECTS_TILE_EXACTADDITION_H

#include <cstdint>
#include <optional>

namespace tilewright::tile {

/// QuantizeLinear(DequantizeLinear(a) + DequantizeLinear(b)). Zero points are the model's; operands and result are all
/// int8 or all uint8. The result is clamped to [clampMin, clampMax] of the device's domain.
struct QuantizedAddition {
  float scaleA = 0, scaleB = 0, scaleSum = 0;
  int64_t zeroA = 0, zeroB = 0, zeroSum = 0;
  bool isUnsigned = false;
  int64_t clampMin = -128, clampMax = 127;
};

/// tile.residual_add's constants; the sum's zero point is added after rounding.
struct AdditionConstants {
  float ra = 0, rb = 0, fix = 0;
};

/// Whether tile.residual_add gives the addition's bits for all 65,536 pairs of operands.
bool agrees(const QuantizedAddition &addition, const AdditionConstants &constants);

/// Constants that agree: the quotients of the scales, or float32 numbers close to them. Nothing when there are none
/// close by, as where many sums are ties that ONNX's roundings break one way or the other.
std::optional<AdditionConstants> exactConstants(const QuantizedAddition &addition);

} // namespace tilewright::tile

#endif
