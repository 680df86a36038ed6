//===- Contraction.cpp - Gemm and MatMul ----------------------------------===//

#include "backends/cpu/lowering/ContractionCore.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <cmath>

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

void emitMatrixProduct(KernelBuilder &k, ArrayRef<NodeOp> nodes, const MatrixOperands &p, FinishFn finish) {
  const Shape &a = p.a.shape, &b = p.b.shape;
  size_t rankA = a.size(), rankB = b.size();
  Gemm gemm;
  gemm.m = a[rankA - (p.transposeA ? 1 : 2)];
  gemm.k = a[rankA - (p.transposeA ? 2 : 1)];
  gemm.n = b[rankB - (p.transposeB ? 2 : 1)];
  gemm.accumulator = p.accumulator;
  // Batch dimensions broadcast; an operand that does not change with one has stride 0 there.
  size_t batchRank = std::max(rankA, rankB) - 2;
  Shape batchShape(batchRank, 1), stridesA(batchRank, 0), stridesB(batchRank, 0);
  auto place = [&](const Shape &shape, Shape &strides) {
    Shape own = stridesOf(shape);
    for (size_t i = 0; i + 2 < shape.size(); ++i)
      if (size_t at = batchRank - (shape.size() - 2) + i; shape[i] != 1) {
        batchShape[at] = shape[i];
        strides[at] = own[i];
      }
  };
  place(a, stridesA);
  place(b, stridesB);
  gemm.batch = product(batchShape);
  // A product with one matrix on the right for all of a batch is one product of more rows.
  bool joined = llvm::all_of(stridesB, [](int64_t s) { return s == 0; }) && !p.transposeA && batchRank > 0 &&
                product(ArrayRef(a).drop_back(2)) == gemm.batch && nodes.size() == 1;
  if (joined) {
    gemm.m *= gemm.batch;
    gemm.batch = 1;
    batchShape.clear();
    stridesA.clear();
    stridesB.clear();
  }
  Shape resultDims = batchShape;
  resultDims.append({gemm.m, gemm.n});
  int64_t rowA = p.transposeA ? 1 : gemm.k, stepA = p.transposeA ? gemm.m : 1;
  int64_t rowB = p.transposeB ? 1 : gemm.n, stepB = p.transposeB ? gemm.k : 1;

  auto baseOf = [&k, batchShape](Value batch, Shape strides) {
    return k.linear(k.delinearize(batch, batchShape), strides);
  };
  auto atA = [&, baseOf](Value batch, Value m, Value kk) {
    return k.add(baseOf(batch, stridesA), k.add(k.mul(m, rowA), k.mul(kk, stepA)));
  };
  auto atB = [&, baseOf](Value batch, Value kk, Value n) {
    return k.add(baseOf(batch, stridesB), k.add(k.mul(kk, rowB), k.mul(n, stepB)));
  };
  gemm.loadA = [&](Value batch, Value m, Value kk) { return p.left(k.loadFlat(p.a, atA(batch, m, kk)), m).v; };
  gemm.loadB = [&](Value batch, Value kk, Value n) { return p.right(k.loadFlat(p.b, atB(batch, kk, n)), n, false).v; };
  if (!p.transposeB)
    gemm.loadRow = [&](Value batch, Value kk, Value n, int64_t width) {
      return p.right(loadVectorAt(k, p.b, atB(batch, kk, n), width), n, true).v;
    };
  if (p.transposeB && !p.transposeA) {
    gemm.loadColumn = [&](Value batch, Value n, Value kk, int64_t width) {
      Num column = loadVectorAt(k, p.b, atB(batch, kk, n), width);
      return p.right(column, n, false).v;
    };
    gemm.loadARow = [&](Value batch, Value m, Value kk, int64_t width) {
      return p.left(loadVectorAt(k, p.a, atA(batch, m, kk), width), m).v;
    };
  }
  gemm.store = storeContraction(k, nodes, matrixLayout(resultDims), finish);
  emitGemm(k, gemm);
}

static Num same(Num x, Value) { return x; }
static Num sameOnTheRight(Num x, Value, bool) { return x; }

static void lowerMatMul(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  emitMatrixProduct(k, nodes, matMulOperands(k, root, root.input(0), root.input(1)),
                    [](Num sums, LoadOperand) { return sums; });
}

MatrixOperands matMulOperands(KernelBuilder &k, NodeOp root, Value left, Value right) {
  MatrixOperands p;
  p.a = k.input(left);
  p.b = k.input(right);
  // numpy: a vector on the left is a row, on the right a column.
  if (p.a.shape.size() == 1)
    p.a = k.view(p.a, {1, p.a.shape[0]});
  if (p.b.shape.size() == 1)
    p.b = k.view(p.b, {p.b.shape[0], 1});
  p.accumulator = computeType(p.a.type);
  p.left = same;
  p.right = sameOnTheRight;
  return p;
}

static void lowerGemm(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  MatrixOperands p;
  p.a = k.input(root.input(0));
  p.b = k.input(root.input(1));
  p.transposeA = root.intAttr("transA", 0);
  p.transposeB = root.intAttr("transB", 0);
  p.accumulator = computeType(p.a.type);
  p.left = same;
  p.right = sameOnTheRight;
  double alpha = root.floatAttr("alpha", 1.0f), beta = root.floatAttr("beta", 1.0f);
  Value c = root.input(2);
  if (c)
    k.input(c);
  // Of integers, a factor that is none of them: in float64, truncated at the end.
  bool isFraction = alpha != std::trunc(alpha) || beta != std::trunc(beta);
  emitMatrixProduct(k, nodes, p, [=, &k](Num sums, LoadOperand load) {
    if (isFraction && !sums.isFloat()) {
      Type f64 = k.b.getF64Type();
      Num y = convert(sums, f64) * alpha;
      if (c)
        y = y + convert(load(c, shapeOf(c)), f64) * beta;
      return convert(y, sums.element(), sums.isUnsigned);
    }
    Num y = alpha == 1.0 ? sums : sums * alpha;
    if (!c || beta == 0.0)
      return y;
    Num bias = load(c, shapeOf(c));
    return y + (beta == 1.0 ? bias : bias * beta);
  });
}

/// A vector operand changes the rank of the result: no epilogue there.
bool takesMatrixOperand(NodeOp root, ArrayRef<int64_t> shape) {
  return shape.size() <= shapeOf(root->getResult(0)).size() && shapeOf(root.input(0)).size() >= 2 &&
         shapeOf(root.input(1)).size() >= 2;
}

void addContractions(Table &table) {
  table.push_back(
      {.name = "MatMul", .sinceVersion = 1, .lower = lowerMatMul, .takesEpilogueOperand = takesMatrixOperand});
  table.push_back({.name = "Gemm", .sinceVersion = 7, .lower = lowerGemm, .takesEpilogueOperand = takesMatrixOperand});
}

} // namespace tilewright::cpu
