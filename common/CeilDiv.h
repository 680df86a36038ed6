//===- CeilDiv.h - quotients rounded up -------------------------*- C++ -*-===//

#ifndef TILEWRIGHT_COMMON_CEILDIV_H
#define TILEWRIGHT_COMMON_CEILDIV_H

#include <cstdint>

namespace tilewright {

/// a / b rounded up; a >= 0, b > 0.
constexpr int64_t ceilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

} // namespace tilewright

#endif
