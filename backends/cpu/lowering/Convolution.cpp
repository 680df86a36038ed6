//===- Convolution.cpp - Conv and ConvTranspose ----------------------------===//
//
// Conv is an implicit GEMM: weights [M][C·kernel] times the image, packed on the fly. Where there is padding the image
// is copied once into a padded one, so that no inner loop tests a border. Depthwise convolutions have no channel sum
// and are loops over rows that LLVM vectorizes. ConvTranspose is a Conv over an image with zeros between its pixels.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/lowering/Windows.h"

#include "backends/cpu/ContractionStore.h"
#include "backends/cpu/Gemm.h"
#include "backends/cpu/Operators.h"
#include "backends/cpu/lowering/ConvolutionCore.h"

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

/// Offset in a (padded) image of kernel position `tap` relative to a window's corner.
static Shape tapStrides(const Window &window, ArrayRef<int64_t> imageStrides) {
  Shape strides;
  for (size_t d = 0; d < window.rank(); ++d)
    strides.push_back(window.dilations[d] * imageStrides[d]);
  return strides;
}

static void convolutionGemm(KernelBuilder &k, const ConvolutionOperands &conv,
                            std::function<void(Value, Value, Value, Num, Value)> store) {
  const Window &window = conv.window;
  int64_t images = conv.image.shape[0], channels = conv.image.shape[1] / conv.groups;
  int64_t features = conv.weights.shape[0] / conv.groups;
  Shape spatial(ArrayRef(conv.image.shape).drop_front(2));
  int64_t pixelsIn = product(spatial), taps = product(window.kernel);
  Shape imageStrides = stridesOf(spatial), outStrides = stridesOf(window.output);
  Shape cornerStrides;
  for (size_t d = 0; d < window.rank(); ++d)
    cornerStrides.push_back(window.strides[d] * imageStrides[d]);
  Shape taper = tapStrides(window, imageStrides);

  Gemm gemm;
  gemm.batch = images * conv.groups;
  gemm.m = features;
  gemm.n = product(window.output);
  gemm.k = channels * taps;
  gemm.accumulator = conv.accumulator;
  gemm.loadA = [&](Value batch, Value m, Value kk) {
    Value group = k.rem(batch, conv.groups);
    Value row = k.add(k.mul(group, features), m);
    return conv.weight(k.loadFlat(conv.weights, k.add(k.mul(row, gemm.k), kk)), row).v;
  };
  auto imageBase = [&](Value batch) { return k.mul(batch, channels * pixelsIn); };
  auto corner = [&](Value pixel) { return k.linear(k.delinearize(pixel, window.output), cornerStrides); };
  gemm.loadB = [&](Value batch, Value kk, Value n) {
    SmallVector<Value> at = k.delinearize(kk, [&] {
      Shape shape{channels};
      shape.append(window.kernel.begin(), window.kernel.end());
      return shape;
    }());
    Value offset = k.add(k.mul(at[0], pixelsIn), k.linear(ArrayRef(at).drop_front(), taper));
    return conv.pixel(k.loadFlat(conv.image, k.add(k.add(imageBase(batch), corner(n)), offset))).v;
  };
  // One panel: where its windows' corners lie next to each other in the image (stride 1, away from the ends of rows),
  // whole vectors are copied; otherwise element by element.
  gemm.packPanel = [&](Value batch, Value n, Value panel, int64_t width) {
    auto indexVector = MemRefType::get({width}, k.b.getIndexType());
    Value corners = memref::AllocaOp::create(k.b, k.loc, indexVector);
    Value first, last;
    for (int64_t j = 0; j < width; ++j) {
      Value c = corner(k.min(k.add(n, j), k.index(gemm.n - 1)));
      c = k.add(c, imageBase(batch));
      memref::StoreOp::create(k.b, k.loc, c, corners, k.index(j));
      (j == 0 ? first : last) = c;
    }
    auto overTaps = [&](llvm::function_ref<void(Value offset, Value at)> body) {
      Shape shape{channels};
      shape.append(window.kernel.begin(), window.kernel.end());
      k.nest(shape, [&](ArrayRef<Value> at) {
        Value kk = k.linear(at, stridesOf(shape));
        Value offset = k.add(k.mul(at[0], pixelsIn), k.linear(at.drop_front(), taper));
        body(offset, k.mul(kk, width));
      });
    };
    // Corners grow from pixel to pixel: a span of width - 1 leaves no gap, unless the panel reaches beyond the last
    // pixel.
    Value span = arith::SubIOp::create(k.b, k.loc, last, first);
    Value contiguous = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::eq, span, k.index(width - 1));
    Value inside = arith::CmpIOp::create(k.b, k.loc, arith::CmpIPredicate::sle, k.add(n, width), k.index(gemm.n));
    contiguous = arith::AndIOp::create(k.b, k.loc, contiguous, inside);
    auto branch = scf::IfOp::create(k.b, k.loc, contiguous, /*withElseRegion=*/true);
    OpBuilder::InsertionGuard guard(k.b);
    k.b.setInsertionPointToStart(branch.thenBlock());
    overTaps([&](Value offset, Value at) {
      Num pixels = conv.pixel(loadVectorAt(k, conv.image, k.add(first, offset), width));
      vector::StoreOp::create(k.b, k.loc, pixels.v, panel, ValueRange{at});
    });
    k.b.setInsertionPointToStart(branch.elseBlock());
    overTaps([&](Value offset, Value at) {
      for (int64_t j = 0; j < width; ++j) {
        Value c = memref::LoadOp::create(k.b, k.loc, corners, k.index(j));
        memref::StoreOp::create(k.b, k.loc, conv.pixel(k.loadFlat(conv.image, k.add(c, offset))).v, panel,
                                k.add(at, j));
      }
    });
  };
  gemm.store = store;
  emitGemm(k, gemm);
}

static void depthwise(KernelBuilder &k, const ConvolutionOperands &conv,
                      std::function<void(Value, Value, Value, Num, Value)> store) {
  const Window &window = conv.window;
  Shape spatial(ArrayRef(conv.image.shape).drop_front(2));
  int64_t features = conv.weights.shape[0] / conv.groups, taps = product(window.kernel);
  int64_t images = conv.image.shape[0], pixelsOut = product(window.output);
  Shape imageStrides = stridesOf(spatial), taper = tapStrides(window, imageStrides);
  Shape cornerStrides, tapShape = window.kernel;
  for (size_t d = 0; d < window.rank(); ++d)
    cornerStrides.push_back(window.strides[d] * imageStrides[d]);
  int64_t planes = images * conv.groups * features;
  k.parallelLoop(planes, planes * pixelsOut * taps, [&](Value plane) {
    Value m = k.rem(plane, features), batch = k.div(plane, features);
    Value row = k.add(k.mul(k.rem(batch, conv.groups), features), m);
    SmallVector<Num> weights;
    bool unrolled = taps <= 25;
    auto weightAt = [&](Value tap) { return conv.weight(k.loadFlat(conv.weights, k.add(k.mul(row, taps), tap)), row); };
    if (unrolled)
      for (int64_t t = 0; t < taps; ++t)
        weights.push_back(weightAt(k.index(t)));
    k.nest(window.output, [&](ArrayRef<Value> at) {
      Value corner = k.add(k.mul(batch, product(spatial)), k.linear(at, cornerStrides));
      Num zero = k.constant(conv.accumulator, 0.0);
      auto step = [&](Num sum, Value offset, Num weight) {
        return fma(conv.pixel(k.loadFlat(conv.image, k.add(corner, offset))), weight, sum);
      };
      Num sum = zero;
      if (unrolled) {
        for (int64_t t = 0; t < taps; ++t) {
          int64_t offset = 0, rest = t;
          for (int64_t d = window.rank() - 1; d >= 0; --d) {
            offset += rest % tapShape[d] * taper[d];
            rest /= tapShape[d];
          }
          sum = step(sum, k.index(offset), weights[t]);
        }
      } else {
        Value total = k.loop(k.index(0), k.index(taps), k.index(1), zero.v, [&](Value t, ValueRange carried) {
          Value offset = k.linear(k.delinearize(t, tapShape), taper);
          return SmallVector<Value>{step(k.number(carried[0]), offset, weightAt(t)).v};
        })[0];
        sum = k.number(total);
      }
      store(batch, m, k.linear(at, stridesOf(window.output)), sum, nullptr);
    });
  });
}

void emitConvolution(KernelBuilder &k, ArrayRef<NodeOp> nodes, ConvolutionOperands conv, FinishFn finish) {
  NodeOp root = nodes.front();
  auto store = storeContraction(k, nodes, imageLayout(shapeOf(root->getResult(0)), conv.groups), finish);
  conv.image = padImage(k, conv.image, conv.window, *conv.padding);
  bool isDepthwise = conv.groups > 1 && conv.image.shape[1] == conv.groups && conv.weights.shape[0] / conv.groups <= 4;
  if (isDepthwise)
    depthwise(k, conv, store);
  else
    convolutionGemm(k, conv, store);
}

static FinishFn addBias(KernelBuilder &k, NodeOp root, unsigned operand, Type accumulator) {
  Value bias = root.input(operand);
  if (!bias)
    return [](Num sums, LoadOperand) { return sums; };
  k.input(bias);
  Shape shape(shapeOf(root->getResult(0)).size() - 1, 1);
  shape[0] = shapeOf(bias)[0];
  return [=](Num sums, LoadOperand load) { return sums + load(bias, shape); };
}

/// [M, C / group, kernel...] for Conv, [C, M / group, kernel...] for ConvTranspose.
static void checkChannels(NodeOp root, bool transposed) {
  requireRank(root.input(0), 3);
  requireRank(root.input(1), 3);
  int64_t groups = root.intAttr("group", 1), channels = shapeOf(root.input(0))[1];
  Shape weights = shapeOf(root.input(1));
  int64_t expected = transposed ? weights[0] : weights[1] * groups;
  if (groups < 1 || channels % groups != 0 || weights[0] % groups != 0 || channels != expected)
    throw Unsupported("channels, group and weights do not fit together");
}

static void lowerConv(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  checkChannels(root, /*transposed=*/false);
  ConvolutionOperands conv;
  conv.image = k.input(root.input(0));
  conv.weights = k.input(root.input(1));
  conv.groups = root.intAttr("group", 1);
  conv.accumulator = computeType(conv.image.type);
  conv.window = windowOf(root, ArrayRef(conv.weights.shape).drop_front(2));
  conv.padding = k.constant(conv.image.type, 0.0);
  conv.weight = [](Num w, Value) { return w; };
  conv.pixel = [](Num x) { return x; };
  emitConvolution(k, nodes, conv, addBias(k, root, 2, conv.accumulator));
}

/// Zeros between the pixels, weights turned around and their channels exchanged; then a Conv of stride 1.
static void lowerConvTranspose(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  checkChannels(root, /*transposed=*/true);
  Buffer image = k.input(root.input(0)), weights = k.input(root.input(1));
  Window window = transposedWindowOf(root, ArrayRef(weights.shape).drop_front(2));
  int64_t groups = root.intAttr("group", 1), rank = window.rank();
  int64_t channels = weights.shape[0] / groups, features = weights.shape[1];
  FinishFn finish = addBias(k, root, 2, computeType(image.type));

  // The image [N, C, ...] with window.strides - 1 zeros between pixels, and the padding a stride-1 window needs.
  Shape dilated{image.shape[0], image.shape[1]};
  for (int64_t d = 0; d < rank; ++d)
    dilated.push_back(window.output[d] + window.dilations[d] * (window.kernel[d] - 1));
  Buffer spread = k.scratch(dilated, image.type);
  k.fill(spread, k.constant(image.type, 0.0));
  Access to{spread, stridesOf(dilated), 0}, from = k.whole(image);
  Shape strides = stridesOf(dilated), count = image.shape;
  for (int64_t d = 0; d < rank; ++d) {
    int64_t before = window.dilations[d] * (window.kernel[d] - 1) - window.padsBegin[d];
    int64_t first = 0, stride = window.strides[d];
    // Pixels that a pad cuts off on either side.
    while (first < image.shape[2 + d] && before + first * stride < 0)
      ++first;
    int64_t last = image.shape[2 + d];
    while (last > first && before + (last - 1) * stride >= dilated[2 + d])
      --last;
    from.offset += first * from.strides[2 + d];
    to.offset += (before + first * stride) * strides[2 + d];
    to.strides[2 + d] = strides[2 + d] * stride;
    count[2 + d] = last - first;
  }
  k.copy(count, from, to);

  // weights [C, M/g, ...] → [M, C/g, ...] with the kernel turned around
  Shape turnedShape{groups, features, channels};
  turnedShape.append(window.kernel.begin(), window.kernel.end());
  Shape flippedShape{groups * features, channels};
  flippedShape.append(window.kernel.begin(), window.kernel.end());
  Buffer turned = k.scratch(flippedShape, weights.type);
  Shape kernelStrides = stridesOf(window.kernel);
  int64_t taps = product(window.kernel);
  Access source{weights, {channels * features * taps, taps, features * taps}, taps - 1};
  for (int64_t stride : kernelStrides)
    source.strides.push_back(-stride);
  k.copy(turnedShape, source, {turned, stridesOf(turnedShape), 0});

  ConvolutionOperands conv;
  conv.image = spread;
  conv.weights = turned;
  conv.groups = groups;
  conv.accumulator = computeType(image.type);
  conv.window = window;
  conv.window.strides.assign(rank, 1);
  conv.window.padsBegin.assign(rank, 0);
  conv.window.padsEnd.assign(rank, 0);
  conv.padding = k.constant(image.type, 0.0);
  conv.weight = [](Num w, Value) { return w; };
  conv.pixel = [](Num x) { return x; };
  emitConvolution(k, nodes, conv, finish);
}

bool takesImageOperand(NodeOp root, ArrayRef<int64_t> shape) {
  return imageLayout(shapeOf(root->getResult(0)), root.intAttr("group", 1)).strides(shape).has_value();
}

void addConvolutions(Table &table) {
  table.push_back({.name = "Conv", .sinceVersion = 1, .lower = lowerConv, .takesEpilogueOperand = takesImageOperand});
  table.push_back({.name = "ConvTranspose",
                   .sinceVersion = 1,
                   .lower = lowerConvTranspose,
                   .takesEpilogueOperand = takesImageOperand});
}

} // namespace tilewright::cpu
