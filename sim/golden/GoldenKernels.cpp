//===- GoldenKernels.cpp - inner loops, compiled twice --------------------===//

#include "sim/golden/GoldenKernels.h"
#include "sim/Requantize.h"
#ifdef __AVX2__
#include <immintrin.h>
#endif

namespace tilewright::sim::TILEWRIGHT_KERNELS {
namespace {

#ifdef __AVX2__
template <size_t pixels> void dotPixels(const int16_t *a, size_t stride, const int16_t *w, size_t pairs, int32_t *acc) {
  __m256i low[pixels], high[pixels];
  for (size_t p = 0; p < pixels; ++p) {
    low[p] = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(acc + 16 * p));
    high[p] = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(acc + 16 * p + 8));
  }
  for (size_t i = 0; i < pairs; ++i) {
    __m256i w0 = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(w + 32 * i));
    __m256i w1 = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(w + 32 * i + 16));
    for (size_t p = 0; p < pixels; ++p) {
      int32_t pair;
      __builtin_memcpy(&pair, a + p * stride + 2 * i, 4);
      __m256i v = _mm256_set1_epi32(pair);
      low[p] = _mm256_add_epi32(low[p], _mm256_madd_epi16(v, w0));
      high[p] = _mm256_add_epi32(high[p], _mm256_madd_epi16(v, w1));
    }
  }
  for (size_t p = 0; p < pixels; ++p) {
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(acc + 16 * p), low[p]);
    _mm256_storeu_si256(reinterpret_cast<__m256i *>(acc + 16 * p + 8), high[p]);
  }
}

void dot(const int16_t *a, size_t stride, size_t pixels, const int16_t *w, size_t pairs, int32_t *acc) {
  for (; pixels >= 4; pixels -= 4, a += 4 * stride, acc += 64)
    dotPixels<4>(a, stride, w, pairs, acc);
  for (; pixels; --pixels, a += stride, acc += 16)
    dotPixels<1>(a, stride, w, pairs, acc);
}
#else
void dot(const int16_t *a, size_t stride, size_t pixels, const int16_t *w, size_t pairs, int32_t *acc) {
  for (size_t p = 0; p < pixels; ++p)
    for (size_t i = 0; i < pairs; ++i)
      for (size_t k = 0; k < 16; ++k) {
        int32_t product = int32_t(a[p * stride + 2 * i]) * w[32 * i + 2 * k] +
                          int32_t(a[p * stride + 2 * i + 1]) * w[32 * i + 2 * k + 1];
        acc[16 * p + k] = wrappingAdd(acc[16 * p + k], product);
      }
}
#endif

void multiplyAdd(const int8_t *a, const int8_t *w, int32_t *acc) {
  for (size_t k = 0; k < 16; ++k)
    acc[k] = wrappingAdd(acc[k], int32_t(a[k]) * w[k]);
}

void epilogue(const int32_t *acc, const Epilogue &e, const int8_t *residual, int8_t *out) {
  int32_t q[16];
  for (size_t k = 0; k < 16; ++k)
    q[k] = requantize(wrappingAdd(acc[k], e.bias[k]), e.m[k], e.mNegative[k], e.zeroPoint, e.lowest, e.highest);
  if (e.table1)
    for (size_t k = 0; k < 16; ++k)
      q[k] = e.table1[uint8_t(q[k] + 128)];
  if (e.residual)
    for (size_t k = 0; k < 16; ++k) {
      int32_t a = e.residualSwap ? residual[k] : q[k], b = e.residualSwap ? q[k] : residual[k];
      q[k] = residualAdd(a, b, e.residualScaleA, e.residualScaleB, e.residualFix, e.residualZeroPoint,
                         e.residualUnsigned, e.residualLowest, e.residualHighest);
    }
  if (e.table2)
    for (size_t k = 0; k < 16; ++k)
      q[k] = e.table2[uint8_t(q[k] + 128)];
  for (size_t k = 0; k < 16; ++k)
    out[k] = int8_t(q[k]);
}

void widen(const uint8_t *in, int16_t *out) {
  for (size_t k = 0; k < 16; ++k)
    out[k] = int8_t(in[k]);
}

} // namespace

extern const Kernels table;
const Kernels table = {dot, multiplyAdd, epilogue, widen};

} // namespace tilewright::sim::TILEWRIGHT_KERNELS
