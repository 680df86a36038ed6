//===- ExactAddition.cpp - additions to the bits of ONNX ------------------===//

#include "dialects/tile/ExactAddition.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

using namespace tilewright::tile;

namespace {
constexpr int kValues = 256;

/// Step 4 of docs/accelerator.md from the rounding on, and QuantizeLinear's end: they are the same.
int8_t finish(const QuantizedAddition &addition, float value) {
  int64_t zero = addition.zeroSum - (addition.isUnsigned ? 128 : 0);
  // Beyond any clamp all values are alike; infinities too.
  float limited = std::min(std::max(value, -65536.0f), 65536.0f);
  int64_t rounded = static_cast<int64_t>(std::nearbyint(limited)) + zero;
  return static_cast<int8_t>(std::clamp(rounded, addition.clampMin, addition.clampMax));
}

/// All pairs of operands; each value's place is `value - lowest`.
class AllPairs {
public:
  explicit AllPairs(const QuantizedAddition &addition) : addition(addition), expected(kValues * kValues) {
    // Stored before they are added: no compiler may fuse what ONNX rounds.
    std::array<float, kValues> a, b;
    for (int i = 0; i < kValues; ++i) {
      a[i] = static_cast<float>(i + lowest() - addition.zeroA) * addition.scaleA;
      b[i] = static_cast<float>(i + lowest() - addition.zeroB) * addition.scaleB;
    }
    for (int i = 0; i < kValues; ++i)
      for (int j = 0; j < kValues; ++j) {
        float sum = a[i] + b[j];
        float quotient = sum / addition.scaleSum;
        numbers &= !std::isnan(quotient);
        expected[i * kValues + j] = finish(addition, quotient);
        // Pairs near a tie are the ones that can differ. What is far beyond the clamps cannot.
        float distance = std::fabs(quotient - std::floor(quotient) - 0.5f);
        if (distance < kNear && std::fabs(quotient) < 1024)
          nearTies.push_back({distance, i * kValues + j});
      }
    std::sort(nearTies.begin(), nearTies.end());
  }

  /// False when a sum is infinity minus infinity.
  bool areNumbers() const { return numbers; }

  bool agree(const AdditionConstants &constants) const {
    if (!std::isfinite(constants.ra) || !std::isfinite(constants.rb) || !std::isfinite(constants.fix))
      return false;
    auto same = [&](int pair) {
      float a = static_cast<float>(pair / kValues + lowest()), b = static_cast<float>(pair % kValues + lowest());
      float value = std::fma(a, constants.ra, std::fma(b, constants.rb, constants.fix));
      return finish(addition, value) == expected[pair];
    };
    for (auto [distance, pair] : nearTies)
      if (!same(pair))
        return false;
    for (int pair = 0; pair < kValues * kValues; ++pair)
      if (!same(pair))
        return false;
    return true;
  }

private:
  static constexpr float kNear = 1e-4f;
  int lowest() const { return addition.isUnsigned ? 0 : -128; }

  const QuantizedAddition &addition;
  std::vector<int8_t> expected;
  std::vector<std::pair<float, int>> nearTies; ///< distance from the tie, pair; nearest first
  bool numbers = true;
};

/// The float32 number `steps` after `value` (before it, where negative).
float neighbour(float value, int steps) {
  for (; steps > 0; --steps)
    value = std::nextafter(value, INFINITY);
  for (; steps < 0; ++steps)
    value = std::nextafter(value, -INFINITY);
  return value;
}
} // namespace

bool tilewright::tile::agrees(const QuantizedAddition &addition, const AdditionConstants &constants) {
  AllPairs pairs(addition);
  return pairs.areNumbers() && pairs.agree(constants);
}

std::optional<AdditionConstants> tilewright::tile::exactConstants(const QuantizedAddition &addition) {
  AllPairs pairs(addition);
  if (!pairs.areNumbers())
    return std::nullopt;
  AdditionConstants quotients;
  quotients.ra = addition.scaleA / addition.scaleSum;
  quotients.rb = addition.scaleB / addition.scaleSum;
  double sum = addition.scaleSum;
  quotients.fix = static_cast<float>(-(addition.scaleA / sum * static_cast<double>(addition.zeroA) +
                                       addition.scaleB / sum * static_cast<double>(addition.zeroB)));
  // The float32 numbers around the quotients, nearest first. Five sixths of random scales agree at once, nearly all
  // others within a few steps; where none does, mostly the first near tie says so.
  constexpr int kScaleSteps = 4, kFixSteps = 16;
  for (int distance = 0; distance <= 2 * kScaleSteps + kFixSteps; ++distance)
    for (int a = -kScaleSteps; a <= kScaleSteps; ++a)
      for (int b = -kScaleSteps; b <= kScaleSteps; ++b) {
        int rest = distance - std::abs(a) - std::abs(b);
        if (rest < 0 || rest > kFixSteps)
          continue;
        for (int fix : {rest, -rest}) {
          AdditionConstants tried{neighbour(quotients.ra, a), neighbour(quotients.rb, b),
                                  neighbour(quotients.fix, fix)};
          if (pairs.agree(tried))
            return tried;
          if (fix == 0)
            break;
        }
      }
  return std::nullopt;
}
