//===- Calibration.cpp - the ranges of activations ------------------------===//
//
// Samples are run one by one, twice: the first round gives the ends of the histograms. RangeChoice.cpp says what
// becomes of them.
//
//===----------------------------------------------------------------------===//

#include "driver/Calibration.h"

#include "common/Error.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

Calibration::Calibration(func::FuncOp main, const CalibrationData &data)
    : main(main), data(data), keys(calibrationKeys(main)), layers(findLayers(main)) {
  for (const QuantizedLayer &layer : layers) {
    for (OpOperand *use : layer.inputs)
      tensors[use->get()];
    for (Value output : layer.outputs)
      tensors[output];
  }
  llvm::DenseSet<Value> keep;
  for (auto &[value, statistics] : tensors)
    keep.insert(value);
  if (!tensors.empty())
    runner.emplace(main, keep);
}

void Calibration::run(size_t sample) {
  std::vector<std::vector<char>> arguments = data.sample(main, sample);
  runner->run(llvm::map_to_vector(arguments, [](const std::vector<char> &bytes) { return ArrayRef<char>(bytes); }));
}

ArrayRef<float> Calibration::values(Value value) const {
  ArrayRef<char> bytes = runner->bytes(value);
  return {reinterpret_cast<const float *>(bytes.data()), bytes.size() / sizeof(float)};
}

static void requireFinite(const ValueStatistics &statistics, ArrayRef<float> values, const std::string &tensor,
                          size_t sample) {
  bool finite = std::isfinite(statistics.min) && std::isfinite(statistics.max) &&
                llvm::none_of(values, [](float value) { return std::isnan(value); });
  if (!finite && !values.empty())
    throw Error("calibration: tensor '" + tensor + "' is not finite on sample " + std::to_string(sample) +
                ": no scale can be found for it");
}

llvm::DenseMap<Value, SmallVector<Value>> Calibration::readOnlyByTables() const {
  llvm::DenseMap<Value, SmallVector<Value>> results;
  llvm::DenseMap<Value, llvm::SmallPtrSet<OpOperand *, 4>> uses;
  for (const QuantizedLayer &layer : layers)
    if (layer.kind == QuantizedLayer::Table)
      for (OpOperand *use : layer.inputs) {
        auto &known = results[use->get()];
        if (!llvm::is_contained(known, layer.outputs.front()))
          known.push_back(layer.outputs.front());
        uses[use->get()].insert(use);
      }
  SmallVector<Value> others;
  for (auto &[value, known] : results)
    if (!llvm::all_of(value.getUses(), [&](OpOperand &use) { return uses[value].contains(&use); }))
      others.push_back(value);
  for (Value value : others)
    results.erase(value);
  return results;
}

RangeTable Calibration::ranges(const RangeMethod &method) {
  RangeTable table;
  if (tensors.empty())
    return table;
  const size_t samples = data.count(main);
  for (size_t sample = 0; sample < samples; ++sample) {
    run(sample);
    for (auto &[value, statistics] : tensors) {
      statistics.extend(values(value));
      requireFinite(statistics, values(value), keys[value], sample);
    }
  }
  llvm::DenseMap<Value, SmallVector<Value>> readers = readOnlyByTables();
  // Of the others only the ends are wanted.
  auto needsBins = [&](Value value) { return method.kind != RangeMethod::MinMax || readers.contains(value); };
  if (llvm::any_of(tensors, [&](auto &entry) { return needsBins(entry.first); }))
    for (size_t sample = 0; sample < samples; ++sample) {
      run(sample);
      for (auto &[value, statistics] : tensors)
        if (needsBins(value))
          statistics.fill(values(value),
                          llvm::map_to_vector(readers.lookup(value), [&](Value v) { return values(v); }));
    }
  for (auto &[value, statistics] : tensors)
    if (auto [slot, isNew] = table.try_emplace(keys[value], statistics.choose(method)); !isNew)
      slot->second.include(statistics.choose(method)); // tensors without names of their own may share a key
  return table;
}
