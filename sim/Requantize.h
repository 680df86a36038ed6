//===- Requantize.h - the epilogue's arithmetic in C++ ----------*- C++ -*-===//
//
// Each step is one IEEE binary32 operation, rounded half to even, denormals kept:
// docs/accelerator.md, "Epilogue". The RTL's requantizer is tested against these
// functions. Must be compiled without contraction of a multiplication and an
// addition that are separate here.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_REQUANTIZE_H
#define TILEWRIGHT_SIM_REQUANTIZE_H

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace tilewright::sim {

inline int32_t wrappingAdd(int32_t a, int32_t b) { return int32_t(uint32_t(a) + uint32_t(b)); }

/// Step 2: clamp to [lowest - zeroPoint, highest - zeroPoint], round half to even, add the zero point.
inline int32_t clampAndRound(float v, int32_t zeroPoint, int32_t lowest, int32_t highest) {
  v = std::min(std::max(v, float(lowest - zeroPoint)), float(highest - zeroPoint));
  return int32_t(std::nearbyintf(v)) + zeroPoint;
}

/// Steps 1 and 2. `sum` is accumulator + bias.
inline int32_t requantize(int32_t sum, float m, float mNegative, int32_t zeroPoint, int32_t lowest, int32_t highest) {
  float v = float(sum) * (sum < 0 ? mNegative : m);
  return clampAndRound(v, zeroPoint, lowest, highest);
}

/// Step 4. With `isUnsigned` the operands enter as value + 128.
inline int32_t residualAdd(int32_t a, int32_t b, float scaleA, float scaleB, float fix, int32_t zeroPoint,
                           bool isUnsigned, int32_t lowest, int32_t highest) {
  int32_t shift = isUnsigned ? 128 : 0;
  float s = std::fma(float(a + shift), scaleA, std::fma(float(b + shift), scaleB, fix));
  s = std::min(std::max(s, -16777216.0f), 16777216.0f);
  return std::min(std::max(int32_t(std::nearbyintf(s)) + zeroPoint, lowest), highest);
}

} // namespace tilewright::sim

#endif
