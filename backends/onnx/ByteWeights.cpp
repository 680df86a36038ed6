//===- ByteWeights.cpp - weights as bytes and zero points -----------------===//

#include "backends/onnx/ByteWeights.h"

#include "common/Error.h"

#include <algorithm>
#include <optional>

using namespace tilewright;

/// The zero point nearest to 0 with which all weights are bytes: byte = weight + zero point.
static std::optional<int8_t> zeroPointFor(llvm::ArrayRef<int16_t> weights) {
  int low = 0, high = 0;
  for (int16_t weight : weights) {
    low = std::min<int>(low, weight);
    high = std::max<int>(high, weight);
  }
  int least = std::max(-128, -128 - low), most = std::min(127, 127 - high);
  if (least > most)
    return std::nullopt;
  return static_cast<int8_t>(std::clamp(0, least, most));
}

static void append(ByteWeights &bytes, llvm::ArrayRef<int16_t> weights, int8_t zeroPoint) {
  for (int16_t weight : weights)
    bytes.values.push_back(static_cast<int8_t>(weight + zeroPoint));
  bytes.zeroPoints.push_back(zeroPoint);
}

ByteWeights tilewright::weightsWithZeroPoints(llvm::ArrayRef<int16_t> weights, size_t channels) {
  ByteWeights result;
  result.values.reserve(weights.size());
  size_t each = weights.size() / channels;
  for (size_t channel = 0; channel < channels; ++channel) {
    llvm::ArrayRef<int16_t> own = weights.slice(channel * each, each);
    std::optional<int8_t> zeroPoint = zeroPointFor(own);
    if (!zeroPoint)
      throw Error("the weights of output channel " + std::to_string(channel) + " span more than 8 bits");
    append(result, own, *zeroPoint);
  }
  return result;
}

std::vector<ByteWeights> tilewright::weightTerms(llvm::ArrayRef<int16_t> weights) {
  std::vector<ByteWeights> terms;
  if (std::optional<int8_t> zeroPoint = zeroPointFor(weights)) {
    append(terms.emplace_back(), weights, *zeroPoint);
    return terms;
  }
  std::vector<int16_t> first, rest;
  for (int16_t weight : weights) {
    if (weight < -255 || weight > 255)
      throw Error("a weight of " + std::to_string(weight) + " is no difference of two bytes");
    first.push_back(std::clamp<int16_t>(weight, -128, 127));
    rest.push_back(static_cast<int16_t>(weight - first.back()));
  }
  append(terms.emplace_back(), first, 0);
  append(terms.emplace_back(), rest, -1); // the rest lies in -127 .. 128
  return terms;
}
