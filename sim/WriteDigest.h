//===- WriteDigest.h - rolling hash of the writes to a word -----*- C++ -*-===//
//
// Executors are compared on every write, not only on what memory holds at the
// end. Each byte has its own hash over the values written to it in order, so that
// it does not matter how an executor groups bytes into writes.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_SIM_WRITEDIGEST_H
#define TILEWRIGHT_SIM_WRITEDIGEST_H

#include <cstdint>

namespace tilewright::sim {

/// `digest`: the 16 hashes of the word. Bit b of `mask`: byte b is written. Vectorizes to a few AVX2 operations.
inline void digestWrite(uint32_t *digest, const uint8_t *data, uint32_t mask) {
  for (unsigned b = 0; b < 16; ++b) {
    uint32_t next = digest[b] * 0x01000193u + data[b] + 1;
    digest[b] = (mask >> b & 1) ? next : digest[b];
  }
}

} // namespace tilewright::sim

#endif
