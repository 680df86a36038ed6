//===- SumBounds.h - does a sum of products fit int32 -----------*- C++ -*-===//
//
// Accumulators are 32 bits wide, on the array and on the host. A dot product runs there only when no activation can
// make its sum leave them; the intermediate sums may, since they wrap.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_SUMBOUNDS_H
#define TILEWRIGHT_PASSES_SUMBOUNDS_H

#include <algorithm>
#include <cstdint>

namespace tilewright {

/// The lowest and the highest value of bias + Σ weight · activation over activations in [low, high], both without their
/// zero points. Exact: each product takes its extreme by itself.
class SumBounds {
public:
  SumBounds(int64_t bias, int64_t low, int64_t high) : lowest(bias), highest(bias), low(low), high(high) {}
  void add(int64_t weight, int64_t times = 1) {
    lowest += std::min(weight * low, weight * high) * times;
    highest += std::max(weight * low, weight * high) * times;
  }
  bool fitInt32() const { return lowest >= INT32_MIN && highest <= INT32_MAX; }

private:
  int64_t lowest, highest, low, high;
};

} // namespace tilewright

#endif
