//===- RangeTable.cpp - what calibration saw ------------------------------===//

#include "passes/quantization/RangeTable.h"

#include "common/Error.h"
#include "dialects/onnx/NodeBuilder.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <cmath>

using namespace mlir;
using namespace tilewright;

RangeTable tilewright::readRangeTable(const std::string &path) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer)
    throw Error(path + ": cannot be read: " + buffer.getError().message());
  auto json = llvm::json::parse((*buffer)->getBuffer());
  if (!json)
    throw Error(path + ": " + llvm::toString(json.takeError()));
  const llvm::json::Object *object = json->getAsObject();
  if (!object)
    throw Error(path + ": expected an object of tensor name to [min, max]");
  RangeTable table;
  for (const auto &[name, value] : *object) {
    const llvm::json::Array *pair = value.getAsArray();
    auto min = pair && pair->size() == 2 ? (*pair)[0].getAsNumber() : std::nullopt;
    auto max = pair && pair->size() == 2 ? (*pair)[1].getAsNumber() : std::nullopt;
    CalibratedRange range{static_cast<float>(min.value_or(NAN)), static_cast<float>(max.value_or(NAN))};
    if (!std::isfinite(range.min) || !std::isfinite(range.max) || range.min > range.max)
      throw Error(path + ": '" + name.str() + "': expected [min, max], two finite numbers in this order");
    table[name] = range;
  }
  return table;
}

llvm::DenseMap<Value, std::string> tilewright::calibrationKeys(func::FuncOp function) {
  llvm::DenseMap<Value, std::string> keys;
  llvm::StringMap<bool> taken;
  auto add = [&](Value value) {
    std::string key = onnx::tensorName(value).str();
    if (key.empty() || !taken.try_emplace(key, true).second) {
      key = "#" + std::to_string(keys.size());
      taken[key] = true;
    }
    keys[value] = key;
  };
  for (Value argument : function.getArguments())
    add(argument);
  function.walk([&](onnx::NodeOp node) {
    for (Value result : node.getOutputs())
      add(result);
  });
  return keys;
}
