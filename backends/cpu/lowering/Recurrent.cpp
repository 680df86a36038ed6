//===- Recurrent.cpp - RNN, GRU and LSTM ----------------------------------===//
//
// The products with the inputs of all steps are one matrix product up front. Then each sequence of a batch, in each
// direction, is a task of its own that goes through its steps.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/ContractionStore.h"

#include <cmath>

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

using Function = std::function<Num(Num)>;

/// An activation by its name in ONNX, any case, with its parameters where it has some.
static Function activation(StringRef name, std::optional<double> alpha, std::optional<double> beta) {
  std::string lower = name.lower();
  auto a = [=](double byDefault) { return alpha.value_or(byDefault); };
  auto b = [=](double byDefault) { return beta.value_or(byDefault); };
  auto atLeast = [](Num x, double low) { return select(x < x(low), x(low), x); };
  auto atMost = [](Num x, double high) { return select(x > x(high), x(high), x); };
  if (lower == "sigmoid")
    return [](Num x) { return sigmoid(x); };
  if (lower == "tanh")
    return [](Num x) { return tanh(x); };
  if (lower == "relu")
    return [=](Num x) { return atLeast(x, 0.0); };
  if (lower == "leakyrelu")
    return [=](Num x) { return select(x < x(0.0), x * a(0.01), x); };
  if (lower == "thresholdedrelu")
    return [=](Num x) { return select(x > x(a(1.0)), x, x(0.0)); };
  if (lower == "hardsigmoid")
    return [=](Num x) { return atMost(atLeast(x * a(0.2) + b(0.5), 0.0), 1.0); };
  if (lower == "elu")
    return [=](Num x) { return select(x < x(0.0), (exp(x) - 1.0) * a(1.0), x); };
  if (lower == "softsign")
    return [](Num x) { return x / (abs(x) + 1.0); };
  if (lower == "softplus")
    return [=](Num x) { return atLeast(x, 0.0) + libm("log1p", {exp(-abs(x))}); };
  if (lower == "affine")
    return [=](Num x) { return x * a(1.0) + b(0.0); };
  if (lower == "scaledtanh")
    return [=](Num x) { return tanh(x * b(1.0)) * a(1.0); };
  throw Unsupported("activation \"" + name.str() + "\"");
}

namespace {
struct Recurrent {
  KernelBuilder &k;
  NodeOp node;
  int64_t gates, functions;

  int64_t time = 0, batch = 0, features = 0, hidden = 0, directions = 0;
  bool batchFirst = false, reverse = false;
  Type type; // of all numbers in registers
  Buffer x, w, r;
  std::optional<Buffer> bias, lengths, initialH, initialC, peepholes;
  /// Products with the inputs [direction, row of x, gate · hidden], and the states [direction, batch, hidden].
  Buffer projected, gateInputs, h, c;
  std::optional<Buffer> y, lastH, lastC;
  /// [direction][function]
  SmallVector<SmallVector<Function>> activations;

  Recurrent(KernelBuilder &k, NodeOp node, int64_t gates, int64_t functions)
      : k(k), node(node), gates(gates), functions(functions) {}

  void lower(llvm::function_ref<void(Recurrent &, Value task, Value direction, Value row)> step);
  void readOperands();
  void readActivations();
  void project();

  std::optional<Buffer> optional(unsigned i) {
    return node.input(i) ? std::optional(k.input(node.input(i))) : std::nullopt;
  }
  std::optional<Buffer> result(unsigned i) {
    if (i >= node->getNumResults() || node->getResult(i).use_empty())
      return std::nullopt;
    return k.output(node->getResult(i));
  }
  Num zero() { return k.constant(type, 0.0); }
  Num clipped(Num v) {
    double clip = node.floatAttr("clip", 0.0f);
    if (clip <= 0)
      return v;
    return select(v > v(clip), v(clip), select(v < v(-clip), v(-clip), v));
  }
  /// Function `f` of the task's direction; directions may have their own.
  Num apply(int64_t f, Value direction, Num v) {
    Num forwards = activations[0][f](v);
    if (directions == 1 || node.attr("activations") == nullptr)
      return forwards;
    Num isSecond = k.number(arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, direction, k.index(1)));
    return select(isSecond, activations[1][f](v), forwards);
  }
  /// Element `at` of half `half` (0: input, 1: recurrent) of the bias.
  Num biasAt(Value direction, int64_t half, Value at) {
    if (!bias)
      return zero();
    Value offset = k.add(k.mul(direction, 2 * gates * hidden), half * gates * hidden);
    return k.loadFlat(*bias, k.add(offset, at));
  }
  Num inputProduct(Value direction, Value row, Value at) {
    Value base = k.mul(k.add(k.mul(direction, time * batch), row), gates * hidden);
    return k.loadFlat(projected, k.add(base, at));
  }
  /// Row `at` of R times a state vector that begins at `base`.
  Num recurrentProduct(Value direction, Value at, Buffer state, Value base) {
    Value rowBase = k.mul(k.add(k.mul(direction, gates * hidden), at), hidden);
    return zero().with(k.loop(k.index(0), k.index(hidden), k.index(1), zero().v, [&](Value i, ValueRange carried) {
      Num product = k.loadFlat(r, k.add(rowBase, i)) * k.loadFlat(state, k.add(base, i));
      return SmallVector<Value>{addInAnyOrder(zero().with(carried[0]), product).v};
    })[0]);
  }
  Num peephole(Value direction, int64_t which, Value j) {
    return k.loadFlat(*peepholes, k.add(k.add(k.mul(direction, 3 * hidden), which * hidden), j));
  }
  /// Gate inputs first .. last - 1 of one step: all sums, biases included.
  void sumGates(Value task, Value direction, Value row, int64_t first, int64_t last, Buffer state) {
    k.loop(k.index(first * hidden), k.index(last * hidden), k.index(1), [&](Value j) {
      Num sum = inputProduct(direction, row, j) + recurrentProduct(direction, j, state, k.mul(task, hidden));
      sum = sum + biasAt(direction, 0, j) + biasAt(direction, 1, j);
      k.storeFlat(sum, gateInputs, k.add(k.mul(task, gates * hidden), j));
    });
  }
  Num gateInput(Value task, int64_t gate, Value j) {
    return k.loadFlat(gateInputs, k.add(k.add(k.mul(task, gates * hidden), gate * hidden), j));
  }
};
} // namespace

void Recurrent::readOperands() {
  x = k.input(node.input(0));
  w = k.input(node.input(1));
  r = k.input(node.input(2));
  if (x.shape.size() != 3 || w.shape.size() != 3 || r.shape.size() != 3)
    throw Unsupported("X, W and R must have rank 3");
  batchFirst = node.intAttr("layout", 0) != 0;
  time = x.shape[batchFirst ? 1 : 0];
  batch = x.shape[batchFirst ? 0 : 1];
  features = x.shape[2];
  hidden = r.shape[2];
  directions = w.shape[0];
  reverse = node.stringAttr("direction", "forward") == "reverse";
  bool both = node.stringAttr("direction", "forward") == "bidirectional";
  if (directions != (both ? 2 : 1) || w.shape[1] != gates * hidden || w.shape[2] != features ||
      r.shape[1] != gates * hidden || r.shape[0] != directions)
    throw Unsupported("W and R do not fit X, hidden_size and direction");
  type = computeType(x.type);
  bias = optional(3);
  lengths = optional(4);
  initialH = optional(5);
  if (gates == 4) {
    initialC = optional(6);
    peepholes = optional(7);
  }
  if ((bias && bias->size() != directions * 2 * gates * hidden) || (lengths && lengths->size() != batch) ||
      (initialH && initialH->size() != directions * batch * hidden) ||
      (initialC && initialC->size() != directions * batch * hidden) ||
      (peepholes && peepholes->size() != directions * 3 * hidden))
    throw Unsupported("B, sequence_lens, an initial state or P has another size than it must have");
  y = result(0);
  lastH = result(1);
  lastC = result(2);
  int64_t tasks = directions * batch;
  projected = k.scratch({directions, time * batch, gates * hidden}, type);
  gateInputs = k.scratch({tasks, gates * hidden}, type);
  h = k.scratch({tasks, hidden}, type);
  c = k.scratch({tasks, hidden}, type);
}

void Recurrent::readActivations() {
  static const StringRef ofGates[] = {"Sigmoid", "Tanh", "Tanh"};
  auto names = dyn_cast_if_present<ArrayAttr>(node.attr("activations"));
  // The lists hold numbers for the functions that take one only, in their order.
  size_t alphas = 0, betas = 0;
  auto next = [&](StringRef attribute, size_t &used, StringRef name,
                  ArrayRef<StringRef> takers) -> std::optional<double> {
    auto list = dyn_cast_if_present<ArrayAttr>(node.attr(attribute));
    if (!list || used >= list.size() || !llvm::is_contained(takers, name.lower()))
      return std::nullopt;
    return cast<FloatAttr>(list[used++]).getValueAsDouble();
  };
  if (names && static_cast<int64_t>(names.size()) != functions * directions)
    throw Unsupported("activations needs " + std::to_string(functions * directions) + " names");
  for (int64_t d = 0; d < directions; ++d) {
    auto &list = activations.emplace_back();
    for (int64_t f = 0; f < functions; ++f) {
      size_t i = d * functions + f;
      StringRef name = names ? cast<StringAttr>(names[i]).getValue() : gates == 1 ? StringRef("Tanh") : ofGates[f];
      std::optional<double> alpha =
          next("activation_alpha", alphas, name,
               {"affine", "elu", "hardsigmoid", "leakyrelu", "scaledtanh", "thresholdedrelu"});
      std::optional<double> beta = next("activation_beta", betas, name, {"affine", "hardsigmoid", "scaledtanh"});
      list.push_back(activation(name, alpha, beta));
    }
  }
}

void Recurrent::project() {
  Gemm gemm;
  gemm.batch = directions;
  gemm.m = time * batch;
  gemm.n = gates * hidden;
  gemm.k = features;
  gemm.accumulator = type;
  auto atA = [&](Value m, Value kk) { return k.add(k.mul(m, features), kk); };
  auto atB = [&](Value d, Value kk, Value n) { return k.add(k.mul(k.add(k.mul(d, gates * hidden), n), features), kk); };
  gemm.loadA = [&](Value, Value m, Value kk) { return k.loadFlat(x, atA(m, kk)).v; };
  gemm.loadB = [&](Value d, Value kk, Value n) { return k.loadFlat(w, atB(d, kk, n)).v; };
  gemm.loadARow = [&](Value, Value m, Value kk, int64_t width) { return loadVectorAt(k, x, atA(m, kk), width).v; };
  gemm.loadColumn = [&](Value d, Value n, Value kk, int64_t width) {
    return loadVectorAt(k, w, atB(d, kk, n), width).v;
  };
  gemm.store = [&](Value d, Value m, Value n, Num sums, Value valid) {
    storeVectorAt(k, sums, projected, k.add(k.mul(k.add(k.mul(d, gemm.m), m), gemm.n), n), valid);
  };
  emitGemm(k, gemm);
}

void Recurrent::lower(llvm::function_ref<void(Recurrent &, Value, Value, Value)> step) {
  readOperands();
  readActivations();
  project();
  // y is [time, direction, batch, hidden], or [batch, time, direction, hidden]; the last states follow.
  auto outputAt = [&](Value t, Value direction, Value n) {
    return batchFirst ? k.linear({n, t, direction}, {time * directions * hidden, directions * hidden, hidden})
                      : k.linear({t, direction, n}, {directions * batch * hidden, batch * hidden, hidden});
  };
  auto stateAt = [&](Value direction, Value n) {
    return batchFirst ? k.linear({n, direction}, {directions * hidden, hidden})
                      : k.linear({direction, n}, {batch * hidden, hidden});
  };
  int64_t work = directions * batch * time * gates * hidden * hidden;
  k.parallelLoop(directions * batch, work, [&](Value task) {
    SmallVector<Value> at = k.delinearize(task, {directions, batch});
    Value direction = at[0], n = at[1], base = k.mul(task, hidden);
    k.loop(hidden, [&](Value j) {
      auto start = [&](std::optional<Buffer> initial, Buffer state) {
        Num value = initial ? k.loadFlat(*initial, k.add(stateAt(direction, n), j)) : zero();
        k.storeFlat(value, state, k.add(base, j));
      };
      start(initialH, h);
      start(initialC, c);
    });
    Value steps = k.index(time);
    if (lengths) {
      Value length = k.toIndex(k.loadFlat(*lengths, n));
      steps = k.min(arith::MaxSIOp::create(k.b, k.loc, length, k.index(0)), steps);
      if (y)
        k.loop(steps, k.index(time), k.index(1), [&](Value t) {
          k.loop(hidden, [&](Value j) { k.storeFlat(zero(), *y, k.add(outputAt(t, direction, n), j)); });
        });
    }
    k.loop(k.index(0), steps, k.index(1), [&](Value s) {
      Value last = k.add(steps, -1);
      Value back = arith::SubIOp::create(k.b, k.loc, last, s);
      Value t = s;
      if (reverse) {
        t = back;
      } else if (directions == 2) {
        Value second = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, direction, k.index(1));
        t = arith::SelectOp::create(k.b, k.loc, second, back, s);
      }
      Value row = batchFirst ? k.add(k.mul(n, time), t) : k.add(k.mul(t, batch), n);
      step(*this, task, direction, row);
      if (y)
        k.loop(hidden,
               [&](Value j) { k.storeFlat(k.loadFlat(h, k.add(base, j)), *y, k.add(outputAt(t, direction, n), j)); });
    });
    k.loop(hidden, [&](Value j) {
      if (lastH)
        k.storeFlat(k.loadFlat(h, k.add(base, j)), *lastH, k.add(stateAt(direction, n), j));
      if (lastC)
        k.storeFlat(k.loadFlat(c, k.add(base, j)), *lastC, k.add(stateAt(direction, n), j));
    });
  });
}

static void lowerRnn(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  Recurrent(k, nodes.front(), 1, 1).lower([](Recurrent &self, Value task, Value direction, Value row) {
    KernelBuilder &k = self.k;
    self.sumGates(task, direction, row, 0, 1, self.h);
    k.loop(self.hidden, [&](Value j) {
      Num v = self.clipped(self.gateInput(task, 0, j));
      k.storeFlat(self.apply(0, direction, v), self.h, k.add(k.mul(task, self.hidden), j));
    });
  });
}

/// Gates in the order z, r, h.
static void lowerGru(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  Recurrent(k, nodes.front(), 3, 2).lower([](Recurrent &self, Value task, Value direction, Value row) {
    KernelBuilder &k = self.k;
    bool linearFirst = self.node.intAttr("linear_before_reset", 0);
    int64_t hidden = self.hidden;
    Value base = k.mul(task, hidden);
    self.sumGates(task, direction, row, 0, 2, self.h);
    // c holds what the reset gate leaves of h, or the linear part before it.
    auto reset = [&](Value j) { return self.apply(0, direction, self.clipped(self.gateInput(task, 1, j))); };
    k.loop(hidden, [&](Value j) {
      Value at = k.add(j, 2 * hidden);
      Num part = linearFirst ? self.recurrentProduct(direction, at, self.h, base) + self.biasAt(direction, 1, at)
                             : k.loadFlat(self.h, k.add(base, j));
      k.storeFlat(reset(j) * part, self.c, k.add(base, j));
    });
    k.loop(hidden, [&](Value j) {
      Value at = k.add(j, 2 * hidden);
      Num sum = self.inputProduct(direction, row, at) + self.biasAt(direction, 0, at);
      if (linearFirst)
        sum = sum + k.loadFlat(self.c, k.add(base, j));
      else
        sum = sum + self.recurrentProduct(direction, at, self.c, base) + self.biasAt(direction, 1, at);
      k.storeFlat(sum, self.gateInputs, k.add(k.add(k.mul(task, 3 * hidden), 2 * hidden), j));
    });
    k.loop(hidden, [&](Value j) {
      Num z = self.apply(0, direction, self.clipped(self.gateInput(task, 0, j)));
      Num candidate = self.apply(1, direction, self.clipped(self.gateInput(task, 2, j)));
      Num before = k.loadFlat(self.h, k.add(base, j));
      k.storeFlat((1.0 - z) * candidate + z * before, self.h, k.add(base, j));
    });
  });
}

/// Gates in the order i, o, f, c; peepholes i, o, f.
static void lowerLstm(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  Recurrent(k, nodes.front(), 4, 3).lower([](Recurrent &self, Value task, Value direction, Value row) {
    KernelBuilder &k = self.k;
    self.sumGates(task, direction, row, 0, 4, self.h);
    k.loop(self.hidden, [&](Value j) {
      Value at = k.add(k.mul(task, self.hidden), j);
      Num before = k.loadFlat(self.c, at);
      auto gate = [&](int64_t which, int64_t hole, Num cell) {
        Num v = self.gateInput(task, which, j);
        if (self.peepholes)
          v = v + self.peephole(direction, hole, j) * cell;
        return self.apply(0, direction, self.clipped(v));
      };
      Num input = gate(0, 0, before);
      Num forget = self.node.intAttr("input_forget", 0) ? 1.0 - input : gate(2, 2, before);
      Num candidate = self.apply(1, direction, self.clipped(self.gateInput(task, 3, j)));
      Num cell = forget * before + input * candidate;
      k.storeFlat(gate(1, 1, cell) * self.apply(2, direction, cell), self.h, at);
      k.storeFlat(cell, self.c, at);
    });
  });
}

void addRecurrent(Table &table) {
  table.push_back({.name = "RNN", .sinceVersion = 7, .lower = lowerRnn});
  table.push_back({.name = "GRU", .sinceVersion = 7, .lower = lowerGru});
  table.push_back({.name = "LSTM", .sinceVersion = 7, .lower = lowerLstm});
}

} // namespace tilewright::cpu
