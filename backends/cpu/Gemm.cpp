//===- Gemm.cpp - the register-tiled matrix product -----------------------===//

#include "backends/cpu/Gemm.h"
#include "backends/cpu/Operators.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright::cpu {

/// Sixteen 256-bit registers hold 6 × 2 accumulators, two of B and one of A.
static constexpr int64_t kRows = 6;
static constexpr int64_t kVectorBytes = 32;
static constexpr int64_t kVectorsPerPanel = 2;
/// Packed panels of one task; they live on the stack of the thread (HostAbi.h grants 2 MiB).
static constexpr int64_t kPackedBytes = 384 << 10;
static constexpr int64_t kMostPackedBytes = 1536 << 10;
/// Up to so many rows of A, packing B would cost more than the product.
static constexpr int64_t kFewRows = 3;

namespace {
struct GemmEmitter {
  KernelBuilder &k;
  const Gemm &g;
  int64_t lanes = kVectorBytes * 8 / g.accumulator.getIntOrFloatBitWidth();
  int64_t panelWidth = lanes * kVectorsPerPanel;
  VectorType vector = VectorType::get({lanes}, g.accumulator);

  Num zero() {
    auto value = DenseElementsAttr::get(vector, cast<Attribute>(k.b.getZeroAttr(g.accumulator)));
    return k.number(arith::ConstantOp::create(k.b, k.loc, value));
  }
  Value splat(Value scalar) { return vector::BroadcastOp::create(k.b, k.loc, vector, scalar); }
  Value loadVector(Value panel, Value at) { return vector::LoadOp::create(k.b, k.loc, vector, panel, ValueRange{at}); }

  int64_t work() { return g.batch * g.m * g.n * g.k; }

  void pack(Value batch, Value n, Value panel);
  void tile(Value batch, Value m, int64_t rows, Value n, llvm::function_ref<Value(Value kk, int64_t v)> loadB);
  void dotProducts();
  void inPlace();
  void panels();
  void scalars();
};
} // namespace

void GemmEmitter::pack(Value batch, Value n, Value panel) {
  if (g.packPanel)
    return g.packPanel(batch, n, panel, panelWidth);
  auto element = [&](Value kk, Value at, int64_t j) {
    Value column = k.min(k.add(n, j), k.index(g.n - 1));
    memref::StoreOp::create(k.b, k.loc, g.loadB(batch, kk, column), panel, k.add(at, j));
  };
  auto byElements = [&] {
    k.loop(g.k, [&](Value kk) {
      Value at = k.mul(kk, panelWidth);
      for (int64_t j = 0; j < panelWidth; ++j)
        element(kk, at, j);
    });
  };
  if (!g.loadRow)
    return byElements();
  auto byRows = [&] {
    k.loop(g.k, [&](Value kk) {
      Value at = k.mul(kk, panelWidth);
      for (int64_t v = 0; v < kVectorsPerPanel; ++v)
        vector::StoreOp::create(k.b, k.loc, g.loadRow(batch, kk, k.add(n, v * lanes), lanes), panel,
                                ValueRange{k.add(at, v * lanes)});
    });
  };
  if (g.n % panelWidth == 0)
    return byRows();
  Value whole = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::sle, k.add(n, panelWidth), k.index(g.n));
  auto branch = scf::IfOp::create(k.b, k.loc, whole, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(k.b);
  k.b.setInsertionPointToStart(branch.thenBlock());
  byRows();
  k.b.setInsertionPointToStart(branch.elseBlock());
  byElements();
}

/// `rows` × one panel of accumulators over all of K.
void GemmEmitter::tile(Value batch, Value m, int64_t rows, Value n,
                       llvm::function_ref<Value(Value kk, int64_t v)> loadB) {
  SmallVector<Value> sums(rows * kVectorsPerPanel, zero().v);
  SmallVector<Value> rowIndex;
  for (int64_t i = 0; i < rows; ++i)
    rowIndex.push_back(k.add(m, i));
  sums = k.loop(k.index(0), k.index(g.k), k.index(1), sums, [&](Value kk, ValueRange carried) {
    SmallVector<Value> next(carried);
    SmallVector<Num> columns;
    for (int64_t v = 0; v < kVectorsPerPanel; ++v)
      columns.push_back(k.number(loadB(kk, v)));
    for (int64_t i = 0; i < rows; ++i) {
      Num a = k.number(splat(g.loadA(batch, rowIndex[i], kk)));
      for (int64_t v = 0; v < kVectorsPerPanel; ++v) {
        Value &sum = next[i * kVectorsPerPanel + v];
        sum = fma(a, columns[v], k.number(sum)).v;
      }
    }
    return next;
  });
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t v = 0; v < kVectorsPerPanel; ++v) {
      Value column = k.add(n, v * lanes);
      Value valid;
      if (g.n % panelWidth != 0)
        valid = arith::SubIOp::create(k.b, k.loc, k.index(g.n), column);
      g.store(batch, rowIndex[i], column, k.number(sums[i * kVectorsPerPanel + v]), valid);
    }
}

/// B packed; tasks are runs of panels, and where those are few also runs of rows.
void GemmEmitter::panels() {
  int64_t panelBytes = g.k * kVectorBytes * kVectorsPerPanel;
  int64_t allPanels = llvm::divideCeil(g.n, panelWidth);
  int64_t perTask = std::clamp<int64_t>(kPackedBytes / std::max<int64_t>(panelBytes, 1), 1, 8);
  perTask = std::min(perTask, std::max<int64_t>(1, allPanels / 4));
  int64_t panelTasks = llvm::divideCeil(allPanels, perTask);
  int64_t tiles = llvm::divideCeil(g.m, kRows);
  int64_t rowTasks = std::clamp<int64_t>(4 / (panelTasks * g.batch), 1, tiles);
  int64_t rowsPerTask = llvm::divideCeil(tiles, rowTasks) * kRows;
  rowTasks = llvm::divideCeil(g.m, rowsPerTask);

  auto panelType = MemRefType::get({perTask * g.k * panelWidth}, g.accumulator);
  Value packed = memref::AllocaOp::create(k.b, k.loc, panelType, k.b.getI64IntegerAttr(64));
  k.parallelLoop(g.batch * panelTasks * rowTasks, work(), [&](Value task) {
    SmallVector<Value> at = k.delinearize(task, {g.batch, panelTasks, rowTasks});
    Value batch = at[0], firstPanel = k.mul(at[1], perTask), rowBegin = k.mul(at[2], rowsPerTask);
    Value rowEnd = k.min(k.add(rowBegin, rowsPerTask), k.index(g.m));
    Value count = k.min(k.index(perTask), arith::SubIOp::create(k.b, k.loc, k.index(allPanels), firstPanel));
    auto panelAt = [&](Value p) -> Value {
      auto type = MemRefType::get({g.k * panelWidth}, g.accumulator,
                                  StridedLayoutAttr::get(k.b.getContext(), ShapedType::kDynamic, {1}));
      return memref::SubViewOp::create(k.b, k.loc, type, packed, ArrayRef<OpFoldResult>{k.mul(p, g.k * panelWidth)},
                                       ArrayRef<OpFoldResult>{k.b.getIndexAttr(g.k * panelWidth)},
                                       ArrayRef<OpFoldResult>{k.b.getIndexAttr(1)});
    };
    k.loop(k.index(0), count, k.index(1),
           [&](Value p) { pack(batch, k.mul(k.add(firstPanel, p), panelWidth), panelAt(p)); });
    // Rows outside, panels inside: a row block of A is read once per task.
    auto tiles = [&](Value m, int64_t rows) {
      k.loop(k.index(0), count, k.index(1), [&](Value p) {
        Value panel = panelAt(p);
        tile(batch, m, rows, k.mul(k.add(firstPanel, p), panelWidth),
             [&](Value kk, int64_t v) { return loadVector(panel, k.add(k.mul(kk, panelWidth), v * lanes)); });
      });
    };
    int64_t wholeRows = g.m / kRows * kRows, rest = g.m % kRows;
    if (wholeRows > 0)
      k.loop(rowBegin, k.min(rowEnd, k.index(wholeRows)), k.index(kRows), [&](Value m) { tiles(m, kRows); });
    if (rest > 0) {
      Value here = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::sgt, rowEnd, k.index(wholeRows));
      auto branch = scf::IfOp::create(k.b, k.loc, here);
      OpBuilder::InsertionGuard guard(k.b);
      k.b.setInsertionPointToStart(branch.thenBlock());
      tiles(k.index(wholeRows), rest);
    }
  });
}

/// Contiguous rows of B, read in place: best for few rows of A, where packing would cost more than the product. A last
/// panel that would reach beyond the row is moved to the left; its columns are computed twice.
void GemmEmitter::inPlace() {
  int64_t allPanels = llvm::divideCeil(g.n, panelWidth);
  k.parallelLoop(g.batch * allPanels, work(), [&](Value task) {
    SmallVector<Value> at = k.delinearize(task, {g.batch, allPanels});
    Value n = k.mul(at[1], panelWidth);
    if (g.n % panelWidth != 0)
      n = k.min(n, k.index(g.n - panelWidth));
    auto tiles = [&](Value m, int64_t rows) {
      tile(at[0], m, rows, n, [&](Value kk, int64_t v) { return g.loadRow(at[0], kk, k.add(n, v * lanes), lanes); });
    };
    int64_t wholeRows = g.m / kRows * kRows, rest = g.m % kRows;
    if (wholeRows > 0)
      k.loop(k.index(0), k.index(wholeRows), k.index(kRows), [&](Value m) { tiles(m, kRows); });
    if (rest > 0)
      tiles(k.index(wholeRows), rest);
  });
}

/// Contiguous columns of B and rows of A: dot products along K.
void GemmEmitter::dotProducts() {
  constexpr int64_t kSums = 4;
  int64_t step = lanes * kSums, whole = g.k / step * step;
  k.parallelLoop(g.batch * g.n, work(), [&](Value task) {
    SmallVector<Value> at = k.delinearize(task, {g.batch, g.n});
    Value batch = at[0], n = at[1];
    k.loop(g.m, [&](Value row) {
      SmallVector<Value> sums(kSums, zero().v);
      sums = k.loop(k.index(0), k.index(whole), k.index(step), sums, [&](Value kk, ValueRange carried) {
        SmallVector<Value> next;
        for (int64_t s = 0; s < kSums; ++s) {
          Value at = k.add(kk, s * lanes);
          next.push_back(fma(k.number(g.loadARow(batch, row, at, lanes)), k.number(g.loadColumn(batch, n, at, lanes)),
                             k.number(carried[s]))
                             .v);
        }
        return next;
      });
      Num all = k.number(sums[0]);
      for (int64_t s = 1; s < kSums; ++s)
        all = all + k.number(sums[s]);
      Value sum =
          vector::ReductionOp::create(k.b, k.loc, vector::CombiningKind::ADD, all.v, arith::FastMathFlags::reassoc);
      sum = k.loop(k.index(whole), k.index(g.k), k.index(1), sum, [&](Value kk, ValueRange carried) {
        return SmallVector<Value>{
            fma(k.number(g.loadA(batch, row, kk)), k.number(g.loadB(batch, kk, n)), k.number(carried[0])).v};
      })[0];
      g.store(batch, row, n, k.number(sum), nullptr);
    });
  });
}

/// No tiles at all: for a K whose packed panel would not fit on the stack.
void GemmEmitter::scalars() {
  k.parallelLoop(g.batch * g.n, work(), [&](Value task) {
    SmallVector<Value> at = k.delinearize(task, {g.batch, g.n});
    k.loop(g.m, [&](Value m) {
      Value zero = arith::ConstantOp::create(k.b, k.loc, cast<TypedAttr>(k.b.getZeroAttr(g.accumulator)));
      Value sum = zero;
      if (g.k > 0)
        sum = k.loop(k.index(0), k.index(g.k), k.index(1), zero, [&](Value kk, ValueRange carried) {
          return SmallVector<Value>{
              fma(k.number(g.loadA(at[0], m, kk)), k.number(g.loadB(at[0], kk, at[1])), k.number(carried[0])).v};
        })[0];
      g.store(at[0], m, at[1], k.number(sum), nullptr);
    });
  });
}

void emitGemm(KernelBuilder &k, const Gemm &gemm) {
  if (gemm.batch * gemm.m * gemm.n == 0)
    return;
  GemmEmitter emitter{k, gemm};
  if (gemm.k == 0)
    return emitter.scalars();
  bool noPacking = gemm.m <= kFewRows || gemm.k * kVectorBytes * kVectorsPerPanel > kMostPackedBytes;
  if (noPacking && gemm.loadRow && gemm.n >= emitter.panelWidth)
    return emitter.inPlace();
  if (noPacking && gemm.loadColumn && gemm.loadARow && gemm.k >= emitter.lanes * 4)
    return emitter.dotProducts();
  if (gemm.k * kVectorBytes * kVectorsPerPanel > kMostPackedBytes)
    return emitter.scalars();
  emitter.panels();
}

} // namespace tilewright::cpu
