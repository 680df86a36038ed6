//===- Move.cpp - operators that only move elements -----------------------===//

#include "backends/cpu/Operators.h"

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

static void lowerCopy(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  if (in.size() != out.size())
    throw Unsupported("input and output differ in size");
  k.copy({in.size()}, {in, {1}, 0}, {out, {1}, 0});
}

void addMoves(Table &table) {
  for (auto [name, since] : {std::pair<const char *, int64_t>{"Reshape", 5},
                             {"Flatten", 1},
                             {"Squeeze", 1},
                             {"Unsqueeze", 1},
                             {"Identity", 1}})
    table.push_back({.name = name, .sinceVersion = since, .lower = lowerCopy, .isCopy = true});
}

} // namespace tilewright::cpu
