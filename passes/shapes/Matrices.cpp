//===- Matrices.cpp - shapes of matrix products ---------------------------===//

#include "passes/shapes/ShapeTable.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

/// numpy's matmul of inputs `a` and `b`: leading dimensions broadcast, a vector is a row before or a column behind.
static LogicalResult matmul(ShapeContext &context, unsigned first, unsigned second) {
  auto x = context.shape(first), y = context.shape(second);
  if (!x || !y)
    return success();
  if (x->empty() || y->empty())
    return context.error() << "a scalar cannot be multiplied as a matrix";
  Dims a(*x), b(*y);
  bool row = a.size() == 1, column = b.size() == 1;
  if (row)
    a.insert(a.begin(), context.constant(1));
  if (column)
    b.push_back(context.constant(1));
  auto inner = constantOf(a.back()), other = constantOf(b[b.size() - 2]);
  if (inner && other && *inner != *other)
    return context.error() << "shapes " << context.spell(*x) << " and " << context.spell(*y)
                           << " do not fit: the inner dimensions are " << *inner << " and " << *other;
  auto lead = context.broadcast(ArrayRef<Dim>(a).drop_back(2), ArrayRef<Dim>(b).drop_back(2));
  if (failed(lead))
    return failure();
  Dims result(*lead);
  if (!row)
    result.push_back(a[a.size() - 2]);
  if (!column)
    result.push_back(b.back());
  context.set(0, result);
  return success();
}

/// op(A) × op(B), with the second input at `b`; input `c`, if there is one, must be broadcastable to the result.
static LogicalResult gemm(ShapeContext &context, unsigned b, std::optional<unsigned> c) {
  auto x = context.shape(0), y = context.shape(b);
  if (!x || !y)
    return success();
  if (x->size() != 2 || y->size() != 2)
    return context.error() << "shapes " << context.spell(*x) << " and " << context.spell(*y) << " must be matrices";
  bool transA = context.node.intAttr("transA", 0) != 0, transB = context.node.intAttr("transB", 0) != 0;
  Dim rows = (*x)[transA], inner = (*x)[!transA], other = (*y)[transB], columns = (*y)[!transB];
  if (auto p = constantOf(inner), q = constantOf(other); p && q && *p != *q)
    return context.error() << "shapes " << context.spell(*x) << " and " << context.spell(*y)
                           << " do not fit: the inner dimensions are " << *p << " and " << *q;
  Dims result{rows, columns};
  if (c && context.node.getSinceVersion() >= 7)
    if (auto bias = context.shape(*c)) {
      auto merged = context.broadcast(result, *bias);
      if (failed(merged))
        return failure();
      if (merged->size() != 2)
        return context.error() << "C " << context.spell(*bias) << " cannot be broadcast to " << context.spell(result);
    }
  context.set(0, result);
  return success();
}

static LogicalResult fusedMatmul(ShapeContext &context) {
  onnx::NodeOp node = context.node;
  if (node.intAttr("transA", 0) || node.intAttr("transB", 0) || node.intAttr("transBatchA", 0) ||
      node.intAttr("transBatchB", 0))
    return context.error() << "transposed operands are not supported";
  return matmul(context, 0, 1);
}

static LogicalResult qgemm(ShapeContext &context) {
  context.setType(0, context.has(8)   ? context.elementType(8)
                     : context.has(7) ? context.elementType(0)
                                      : Type(Float32Type::get(context.symbols.context)));
  return gemm(context, 3, std::nullopt);
}

/// Labels of one operand against its shape.
static LogicalResult bindLabels(ShapeContext &context, StringRef term, ArrayRef<Dim> shape,
                                std::map<char, Dim> &labels) {
  if (term.size() != shape.size())
    return context.error() << "term '" << term << "' does not label " << context.spell(shape);
  for (auto [label, dim] : llvm::zip_equal(term, shape)) {
    Dim &known = labels.try_emplace(label, dim).first->second;
    auto a = constantOf(known), b = constantOf(dim);
    if (a && b && *a != *b && *a != 1 && *b != 1)
      return context.error() << "label '" << std::string(1, label) << "' stands for " << *a << " and for " << *b;
    if ((a && *a == 1) || (b && *b != 1))
      known = dim;
  }
  return success();
}

static LogicalResult einsum(ShapeContext &context) {
  std::string equation;
  for (char c : context.node.stringAttr("equation", ""))
    if (c != ' ')
      equation += c;
  if (equation.find('.') != std::string::npos)
    return context.error() << "an ellipsis in the equation '" << equation
                           << "' is not supported; name the dimensions that it stands for";
  size_t arrow = equation.find("->");
  SmallVector<StringRef> terms;
  StringRef(equation).substr(0, arrow).split(terms, ',');
  if (terms.size() != context.inputs())
    return context.error() << "equation '" << equation << "' has " << terms.size() << " terms for " << context.inputs()
                           << " inputs";
  std::map<char, Dim> labels;
  for (unsigned i = 0; i < terms.size(); ++i) {
    auto shape = context.shape(i);
    if (!shape)
      return success();
    if (failed(bindLabels(context, terms[i], *shape, labels)))
      return failure();
  }
  Dims result;
  if (arrow != std::string::npos) {
    for (char label : equation.substr(arrow + 2)) {
      if (!labels.count(label))
        return context.error() << "equation '" << equation << "' gives '" << std::string(1, label)
                               << "' out of nothing";
      result.push_back(labels[label]);
    }
  } else { // labels that occur once, in alphabetical order
    for (auto [label, dim] : labels)
      if (std::count(equation.begin(), equation.end(), label) == 1)
        result.push_back(dim);
  }
  context.set(0, result);
  return success();
}

void shapes::addMatrixRules(ShapeTable &table) {
  table.add("MatMul", [](ShapeContext &c) { return matmul(c, 0, 1); });
  table.add("MatMulInteger", [](ShapeContext &c) { return matmul(c, 0, 1); });
  table.add("QLinearMatMul", [](ShapeContext &c) { return matmul(c, 0, 3); });
  table.addMicrosoft("MatMulIntegerToFloat", [](ShapeContext &c) { return matmul(c, 0, 1); });
  table.addMicrosoft("DynamicQuantizeMatMul", [](ShapeContext &c) { return matmul(c, 0, 1); });
  table.addMicrosoft("FusedMatMul", fusedMatmul);
  table.add("Gemm", [](ShapeContext &c) { return gemm(c, 1, 2); });
  table.addMicrosoft("QGemm", qgemm);
  table.add("Einsum", einsum);
}
