//===- CompileOptions.cpp -------------------------------------------------===//

#include "driver/CompileOptions.h"

#include "common/Error.h"

#include <algorithm>
#include <charconv>

namespace tilewright {

static void requireOneOf(const std::string &option, const std::string &value, const std::vector<std::string> &allowed) {
  if (std::find(allowed.begin(), allowed.end(), value) != allowed.end())
    return;
  std::string list;
  for (const std::string &word : allowed)
    list += (list.empty() ? "" : ", ") + word;
  throw Error("--" + option + "=" + value + ": not one of " + list);
}

void CompileOptions::validate() const {
  requireOneOf("target", target, {"systolic", "cpu", "cuda"});
  requireOneOf("quantize", quantize, {"none", "int8"});
  requireOneOf("activations", activations, {"uint8", "int8"});
  requireOneOf("emit", emit, {"package", "onnx", "tile", "target", "llvm", "asm", "quantized"});
  if (target == "cuda")
    throw Error("--target=cuda: there is no GPU code generation yet; systolic and cpu are supported");
  if (batch && *batch < 1)
    throw Error("--batch=" + std::to_string(*batch) + ": must be at least 1");
  if (quantize == "none" && !calibration.empty())
    throw Error("--calibration is given, but nothing is to be quantized: add --quantize=int8");
  if (allTensors && (target != "systolic" || emit == "onnx"))
    throw Error("--all-tensors is about layers on the array: it needs --target=systolic and is not in --emit=onnx");
  if (target == "cpu" && emit == "tile")
    throw Error("--emit=tile: the tile dialect describes layers for the array; use --target=systolic");
  if (target == "cpu" && emit == "quantized")
    throw Error("--emit=quantized writes the network as the array computes it; use --target=systolic");
  if (target == "cpu" && quantize == "int8")
    throw Error("--quantize=int8 is made for the array: use --target=systolic, or write the quantized network with "
                "--emit=quantized and compile that for the cpu");
}

static std::pair<std::string, std::vector<int64_t>> parseInputShape(const std::string &text) {
  auto fail = [&]() -> Error {
    return Error("--input-shape=" + text + ": expected NAME:1x3x224x224 (the input's name, then its sizes)");
  };
  size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0)
    throw fail();
  std::vector<int64_t> sizes;
  const char *at = text.data() + colon + 1, *end = text.data() + text.size();
  while (at < end) {
    int64_t size = 0;
    auto [next, error] = std::from_chars(at, end, size);
    if (error != std::errc() || size < 0 || (next != end && (*next != 'x' || next + 1 == end)))
      throw fail();
    sizes.push_back(size);
    at = next == end ? end : next + 1;
  }
  return {text.substr(0, colon), std::move(sizes)};
}

std::vector<InputShapeMap> parseInputShapes(const std::vector<std::string> &texts) {
  std::map<std::string, std::vector<std::vector<int64_t>>> byName;
  size_t count = 1;
  for (const std::string &text : texts) {
    auto [name, sizes] = parseInputShape(text);
    if (std::find(byName[name].begin(), byName[name].end(), sizes) != byName[name].end())
      throw Error("--input-shape=" + text + " is given twice");
    byName[name].push_back(std::move(sizes));
    count = std::max(count, byName[name].size());
  }
  std::vector<InputShapeMap> result(count);
  for (const auto &[name, shapes] : byName) {
    if (shapes.size() != 1 && shapes.size() != count)
      throw Error("--input-shape: " + std::to_string(shapes.size()) + " shapes for '" + name + "', but " +
                  std::to_string(count) + " for another input: give each input one shape, or as many as the others");
    for (size_t i = 0; i < count; ++i)
      result[i][name] = shapes[shapes.size() == 1 ? 0 : i];
  }
  return result;
}

} // namespace tilewright
