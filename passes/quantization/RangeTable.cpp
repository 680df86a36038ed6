//===- RangeTable.cpp - what calibration saw ------------------------------===//

#include "passes/quantization/RangeTable.h"

#include "common/Error.h"
#include "dialects/onnx/NodeBuilder.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/xxhash.h"

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

/// Of a value without a name: what computes it. Constants are left out, as they may hold sizes.
static std::string describe(OpResult value, const llvm::DenseMap<Value, std::string> &keys) {
  auto node = cast<onnx::NodeOp>(value.getOwner());
  std::string key;
  for (Value operand : node.getInputs())
    if (auto found = keys.find(operand); found != keys.end())
      key += (key.empty() ? "" : ",") + found->second;
  key += "/" + node.getOpType().str();
  if (value.getResultNumber() > 0)
    key += "." + std::to_string(value.getResultNumber());
  constexpr size_t kLongest = 200; // of a chain of values without names each key holds those before
  if (key.size() > kLongest)
    key = "#" + llvm::utohexstr(llvm::xxh3_64bits(key));
  return key;
}

llvm::DenseMap<Value, std::string> tilewright::calibrationKeys(func::FuncOp function) {
  llvm::DenseMap<Value, std::string> keys;
  for (Value argument : function.getArguments())
    keys[argument] = onnx::tensorName(argument).str();
  function.walk<WalkOrder::PreOrder>([&](onnx::NodeOp node) {
    for (OpResult result : node->getResults()) {
      std::string name = onnx::tensorName(result).str();
      keys[result] = name.empty() ? describe(result, keys) : name;
    }
  });
  return keys;
}
