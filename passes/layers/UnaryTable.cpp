//===- UnaryTable.cpp - unary functions of 8-bit values as tables ---------===//
//
// Whatever float operators stand between one dequantized activation and a QuantizeLinear, as long as each element of
// the result depends on the same element of the input alone: the 256 results are computed here, in float32, operator by
// operator as the model says.
//
//===----------------------------------------------------------------------===//

#include "passes/layers/ElementwiseFunctions.h"
#include "passes/layers/LayerFormer.h"

#include <array>
#include <cmath>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layers;

namespace {
using Column = std::array<float, 256>;

bool isSingleConstant(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.hasStaticShape() && type.getNumElements() == 1 && realConstant(value, 1);
}

/// The values of `value` for the 256 inputs; false for an operator that is not known.
bool evaluate(Value value, Value source, const Column &input, llvm::DenseMap<Value, Column> &done) {
  if (done.contains(value))
    return true;
  Column result;
  if (value == source) {
    result = input;
  } else if (isSingleConstant(value)) {
    result.fill((*realConstant(value, 1))[0]);
  } else {
    auto node = value.getDefiningOp<onnx::NodeOp>();
    if (!node || !isElementwiseFunction(node))
      return false;
    SmallVector<Column, 3> columns;
    for (unsigned i = 0; i < node.getInputs().size(); ++i) {
      if (!node.input(i)) {
        columns.emplace_back();
        continue;
      }
      if (!evaluate(node.input(i), source, input, done))
        return false;
      columns.push_back(done[node.input(i)]);
    }
    for (unsigned i = 0; i < 256; ++i) {
      if (node.is("Clip")) {
        float low = node.input(1) ? columns[1][i] : node.floatAttr("min", -std::numeric_limits<float>::infinity());
        float high = node.input(2) ? columns[2][i] : node.floatAttr("max", std::numeric_limits<float>::infinity());
        result[i] = std::min(std::max(columns[0][i], low), high);
      } else if (columns.size() == 2) {
        result[i] = binaryFunction(node.getOpType())(columns[0][i], columns[1][i]);
      } else {
        result[i] = unaryFunction(node.getOpType())(columns[0][i], node);
      }
    }
  }
  done[value] = result;
  return true;
}
} // namespace

bool layers::unarySource(Value value, Value &source) {
  SmallVector<Value> work{value};
  llvm::DenseSet<Value> seen;
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (!seen.insert(next).second || isSingleConstant(next))
      continue;
    if (activation(next)) {
      if (source && source != next)
        return false;
      source = next;
      continue;
    }
    auto node = next.getDefiningOp<onnx::NodeOp>();
    if (!node || !isElementwiseFunction(node))
      return false;
    for (unsigned i = 0; i < node.getInputs().size(); ++i)
      if (node.input(i))
        work.push_back(node.input(i));
  }
  return source != nullptr;
}

/// What the device's 256 values stand for.
static Column inputValues(const Activation &input) {
  Column values;
  for (int i = 0; i < 256; ++i) {
    int64_t q = tile::fromDevice(input.element(), i - 128);
    values[i] = static_cast<float>(q - input.quant.getZeroPoint()) * input.scale();
  }
  return values;
}

static ElementsAttr quantizedTable(LayerFormer &former, const Column &values, tile::QuantAttr quant, Type element) {
  SmallVector<int8_t> table;
  for (float value : values) {
    if (std::isnan(value)) // e.g. Sqrt of a negative value: left to the host, which gives what the model says
      return nullptr;
    table.push_back(static_cast<int8_t>(tile::toDevice(element, quantize(value, quant, element))));
  }
  return former.elements<int8_t>(former.builder.getIntegerType(8), table);
}

ElementsAttr layers::unaryTable(LayerFormer &former, const LayerPattern &pattern, Value source,
                                const Activation &input) {
  llvm::DenseMap<Value, Column> done;
  if (!evaluate(pattern.rootValue(), source, inputValues(input), done))
    return nullptr;
  return quantizedTable(former, done[pattern.rootValue()], pattern.quant, pattern.element());
}

ElementsAttr layers::unaryTable(LayerFormer &former, tile::QuantAttr to, const Activation &input, Type element) {
  return quantizedTable(former, inputValues(input), to, element);
}
