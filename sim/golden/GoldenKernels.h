//===- GoldenKernels.h - inner loops of the golden executor -----*- C++ -*-===//
//
// GoldenKernels.cpp is compiled twice, for AVX2 and for any x86-64; kernels()
// picks what the processor has. Both give the same bits.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_GOLDEN_GOLDENKERNELS_H
#define TILEWRIGHT_SIM_GOLDEN_GOLDENKERNELS_H

#include <cstddef>
#include <cstdint>

namespace tilewright::sim {

/// Epilogue of 16 output channels; see Execute's fields of the same names.
struct Epilogue {
  int32_t bias[16];
  float m[16], mNegative[16];
  int32_t zeroPoint, lowest, highest;
  const int8_t *table1, *table2; ///< 256 entries, index value + 128; or null
  bool residual, residualSwap, residualUnsigned;
  float residualScaleA, residualScaleB, residualFix;
  int32_t residualZeroPoint, residualLowest, residualHighest;
};

struct Kernels {
  /// acc[p][0..16) += sum over i < pairs of a[p][2i] * w[i][k][0] + a[p][2i+1] * w[i][k][1]; a's rows are `stride`
  /// apart.
  void (*dot)(const int16_t *a, size_t stride, size_t pixels, const int16_t *w, size_t pairs, int32_t *acc);
  /// acc[0..16) += a[0..16) * w[0..16)
  void (*multiplyAdd)(const int8_t *a, const int8_t *w, int32_t *acc);
  /// out[0..16) from acc[0..16) and, if the epilogue has it, the residual.
  void (*epilogue)(const int32_t *acc, const Epilogue &epilogue, const int8_t *residual, int8_t *out);
  /// 16 bytes to int16.
  void (*widen)(const uint8_t *in, int16_t *out);
};

/// The fastest that this processor runs.
const Kernels &kernels();

} // namespace tilewright::sim

#endif
