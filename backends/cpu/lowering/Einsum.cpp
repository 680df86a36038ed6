//===- Einsum.cpp - sums of products over named dimensions ----------------===//
//
// Every label is a loop. An operand walks through the loops of its labels, with the sum of the strides where a label
// occurs twice (a diagonal); loops that the result does not have are summed over.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Operators.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

namespace {
/// Labels of one term, a letter each; the dimensions of "..." are the digits that end at '9', aligned to the right.
std::string expandTerm(StringRef term, std::optional<size_t> rank) {
  size_t dots = term.find("...");
  std::string before = term.substr(0, dots).str(), after = dots == StringRef::npos ? "" : term.substr(dots + 3).str();
  std::string middle;
  if (dots != StringRef::npos && rank) {
    if (before.size() + after.size() > *rank || *rank - before.size() - after.size() > 10)
      throw Unsupported("the equation has more dimensions than an operand");
    for (size_t i = *rank - before.size() - after.size(); i > 0; --i)
      middle += static_cast<char>('0' + 10 - i);
  }
  std::string labels = before + middle + after;
  if (rank && labels.size() != *rank)
    throw Unsupported("the equation and an operand differ in rank");
  if (!llvm::all_of(before + after, [](char c) { return llvm::isAlpha(c); }))
    throw Unsupported("a label that is no letter");
  return labels;
}
} // namespace

static void lowerEinsum(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  std::string equation;
  for (char c : root.stringAttr("equation", ""))
    if (c != ' ')
      equation += c;
  auto [left, right] = StringRef(equation).split("->");
  bool isExplicit = StringRef(equation).contains("->");
  SmallVector<StringRef> terms;
  left.split(terms, ',');
  if (terms.size() != root.getInputs().size())
    throw Unsupported("the equation has " + std::to_string(terms.size()) + " terms for " +
                      std::to_string(root.getInputs().size()) + " operands");

  SmallVector<Buffer> operands;
  SmallVector<std::string> labels;
  std::string broadcast;
  for (auto [term, value] : llvm::zip(terms, root.getInputs())) {
    operands.push_back(k.input(value));
    labels.push_back(expandTerm(term, operands.back().shape.size()));
    for (char c : labels.back())
      if (llvm::isDigit(c) && broadcast.find(c) == std::string::npos)
        broadcast += c;
  }
  llvm::sort(broadcast);
  Buffer out = k.output(root->getResult(0));
  std::string result;
  if (isExplicit) {
    size_t dots = right.find("...");
    result =
        dots == StringRef::npos ? right.str() : (right.take_front(dots) + broadcast + right.drop_front(dots + 3)).str();
  } else {
    // Labels that occur once, in alphabetical order, behind the broadcast dimensions.
    std::string all;
    for (const std::string &term : labels)
      all += term;
    result = broadcast;
    for (char c = 'A'; c <= 'z'; ++c)
      if (llvm::isAlpha(c) && llvm::count(all, c) == 1)
        result += c;
  }
  if (result.size() != out.shape.size())
    throw Unsupported("the equation and the result differ in rank");

  // The loops: the result's labels, then those summed over.
  std::string loops = result;
  Shape shape = out.shape;
  for (auto [term, operand] : llvm::zip(labels, operands))
    for (auto [c, dim] : llvm::zip(term, operand.shape)) {
      size_t at = loops.find(c);
      if (at == std::string::npos) {
        loops += c;
        shape.push_back(dim);
      } else if (shape[at] == 1 && at >= result.size()) {
        shape[at] = dim;
      } else if (dim != shape[at] && dim != 1) {
        throw Unsupported(std::string("label '") + c + "' has two sizes");
      }
    }
  SmallVector<Access> ins;
  for (auto [term, operand] : llvm::zip(labels, operands)) {
    Access access{operand, Shape(loops.size(), 0), 0};
    for (auto [c, dim, stride] : llvm::zip(term, operand.shape, stridesOf(operand.shape)))
      if (dim != 1)
        access.strides[loops.find(c)] += stride;
    ins.push_back(access);
  }
  Buffer sums = computeType(out.type) == storageType(out.type) ? out : k.scratch(out.shape, computeType(out.type));
  Access to{sums, stridesOf(out.shape), 0};
  to.strides.resize(loops.size(), 0);
  k.fill(sums, k.constant(sums.type, 0.0));
  k.reduce(shape, ins, {to}, [](ArrayRef<Num> x) -> SmallVector<Num> {
    Num product = x[0];
    for (Num factor : x.drop_front().drop_back())
      product = product * factor;
    return {addInAnyOrder(x.back(), product)};
  });
  if (sums.memref != out.memref)
    k.copy(out.shape, k.whole(sums), k.whole(out));
}

void addEinsum(Table &table) { table.push_back({.name = "Einsum", .sinceVersion = 12, .lower = lowerEinsum}); }

} // namespace tilewright::cpu
