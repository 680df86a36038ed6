//===- InputShapes.cpp - the shapes a model is compiled for ---------------===//

#include "frontend/InputShapes.h"

#include "common/Error.h"

#include <algorithm>

using namespace tilewright;
using namespace tilewright::onnxfile;

static std::string spell(const std::vector<int64_t> &shape) {
  std::string text;
  for (int64_t dim : shape)
    text += (text.empty() ? "" : "x") + (dim < 0 ? std::string("?") : std::to_string(dim));
  return text.empty() ? "a scalar" : text;
}

static std::string spell(const std::vector<Dimension> &shape) {
  std::string text;
  for (const Dimension &dim : shape)
    text += (text.empty() ? "" : "x") + (dim.value >= 0       ? std::to_string(dim.value)
                                         : dim.symbol.empty() ? "?"
                                                              : std::string(dim.symbol));
  return text.empty() ? "a scalar" : text;
}

InputShapes::InputShapes(const std::string &file, const std::vector<const ValueInfo *> &inputs,
                         const ImportOptions &options) {
  auto fail = [&](const std::string &what) { throw Error(file + ": " + what); };
  std::map<std::string, int64_t> bound;
  for (const auto &[name, shape] : options.inputShapes) {
    bool known = false;
    std::string all;
    for (const ValueInfo *input : inputs) {
      known |= input->name == name;
      all += (all.empty() ? "" : ", ") + std::string(input->name);
    }
    if (!known)
      fail("there is no input '" + name + "' to give a shape to; the inputs are: " + all);
  }
  for (const ValueInfo *input : inputs) {
    std::string name(input->name);
    std::vector<Dimension> declared = input->type.shape.value_or(std::vector<Dimension>());
    std::vector<int64_t> shape;
    auto given = options.inputShapes.find(name);
    if (!input->type.shape && given == options.inputShapes.end())
      fail("input '" + name + "' has no shape in the model; give one with --input-shape=" + name + ":...");
    if (!input->type.shape)
      declared.assign(given->second.size(), Dimension());
    for (const Dimension &dim : declared)
      shape.push_back(dim.value);
    if (given != options.inputShapes.end()) {
      if (given->second.size() != shape.size())
        fail("input '" + name + "' has the shape " + spell(declared) + "; " + spell(given->second) +
             " has another number of dimensions");
      for (size_t d = 0; d < shape.size(); ++d) {
        int64_t wanted = given->second[d];
        if (wanted < 0)
          continue;
        if (shape[d] >= 0 && shape[d] != wanted)
          fail("input '" + name + "' has the shape " + spell(declared) + ", where " + std::to_string(shape[d]) +
               " is fixed; it cannot be compiled for " + spell(given->second));
        shape[d] = wanted;
        std::string symbol(declared[d].symbol == "?" ? "" : declared[d].symbol);
        if (!symbol.empty() && bound.emplace(symbol, wanted).first->second != wanted)
          fail("the input shapes give '" + symbol + "' two values: " + std::to_string(bound[symbol]) + " and " +
               std::to_string(wanted));
      }
    }
    shapes.push_back(std::move(shape));
    symbols.emplace_back();
    // "?" is written for "unknown", several times over, and names no size that two dimensions share.
    for (const Dimension &dim : declared)
      symbols.back().push_back(dim.symbol == "?" ? "" : std::string(dim.symbol));
  }
  if (options.batch && *options.batch < 0)
    fail("the batch " + std::to_string(*options.batch) + " is negative");
  auto takesBatch = [&](const ValueInfo *input) {
    if (!input->type.shape || input->type.shape->empty())
      return false;
    int64_t first = input->type.shape->front().value;
    return first < 0 || first == options.batch;
  };
  if (options.batch && std::none_of(inputs.begin(), inputs.end(), takesBatch))
    fail("a batch of " + std::to_string(*options.batch) + " was asked for, but no input leaves its first size open");
  // A batch binds the symbol of the leading dimension wherever it occurs.
  for (size_t i = 0; options.batch && i < shapes.size(); ++i)
    if (!shapes[i].empty() && shapes[i][0] < 0) {
      if (!symbols[i][0].empty() && !bound.count(symbols[i][0]))
        bound[symbols[i][0]] = *options.batch;
      else if (symbols[i][0].empty())
        shapes[i][0] = *options.batch;
    }
  for (size_t i = 0; i < shapes.size(); ++i) {
    int64_t elements = 1;
    for (size_t d = 0; d < shapes[i].size(); ++d) {
      if (auto found = bound.find(symbols[i][d]); shapes[i][d] < 0 && found != bound.end())
        shapes[i][d] = found->second;
      if (shapes[i][d] >= 0)
        symbols[i][d].clear();
      if (shapes[i][d] > 0 &&
          (__builtin_mul_overflow(elements, shapes[i][d], &elements) || elements > int64_t(1) << 40))
        fail("input '" + std::string(inputs[i]->name) + "' has the shape " + spell(shapes[i]) +
             ", more than 2^40 elements");
    }
  }
}
