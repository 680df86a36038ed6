//===- ByteWeights.h - weights as bytes and zero points ---------*- C++ -*-===//

#ifndef TILEWRIGHT_BACKENDS_ONNX_BYTEWEIGHTS_H
#define TILEWRIGHT_BACKENDS_ONNX_BYTEWEIGHTS_H

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace tilewright {

/// Weights w = byte - zero point. Bytes and zero points are int8 as the device holds them; a uint8 of the model is 128
/// more.
struct ByteWeights {
  std::vector<int8_t> values;     ///< channel by channel
  std::vector<int8_t> zeroPoints; ///< one per channel
};

/// Every set of weights that came from 8 bits and one zero point per channel can be written so again; throws Error when
/// a channel's weights span more than 8 bits. A zero point is 0 where the channel's weights fit int8.
ByteWeights weightsWithZeroPoints(llvm::ArrayRef<int16_t> weights, size_t channels);

/// The same weights as a sum of one or two terms of bytes, each with one zero point for all channels: for operators
/// that take no zero point per channel. Both terms together reach from -255 to 255.
std::vector<ByteWeights> weightTerms(llvm::ArrayRef<int16_t> weights);

} // namespace tilewright

#endif
