//===- Quantization.cpp - quantized operators, exactly --------------------===//
//
// Integer sums are exact in int32. Requantization is float32 with two roundings, as onnxruntime computes it: the sum as
// float32, times scale, clamped, rounded half to even, plus zero point. See docs/numerics.md.
//
//===----------------------------------------------------------------------===//

#include "backends/cpu/Constants.h"
#include "backends/cpu/lowering/ContractionCore.h"
#include "backends/cpu/lowering/ConvolutionCore.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tilewright::onnx;

namespace tilewright::cpu {

/// round(x) + zeroPoint, saturated to `type`.
static Num requantize(Num scaled, Num zeroPoint, Type type) {
  Num shift = convert(zeroPoint, scaled.element());
  return saturateRounded(roundEven(scaled) + shift, storageType(type), isUnsignedType(type));
}

/// round(x), where x has its zero point, saturated to `type`.
static Num quantizeShifted(Num x, Type type) {
  return saturateRounded(roundEven(x), storageType(type), isUnsignedType(type));
}

/// Scale and zero point are one number, or one per index of `axis`.
static Shape alongAxis(NodeOp node, unsigned i) {
  Shape shape = shapeOf(node.input(i)), data = shapeOf(node.input(0));
  if (i == 0 || product(shape) == 1)
    return i == 0 ? shape : Shape();
  if (node.intAttr("block_size", 0) != 0)
    throw Unsupported("block_size");
  if (shape.size() != 1)
    throw Unsupported("scales of rank " + std::to_string(shape.size()));
  Shape broadcast(data.size(), 1);
  broadcast[normalAxis(node.intAttr("axis", 1), data.size())] = shape[0];
  return broadcast;
}

static Num quantizeLinear(const Elementwise &x) {
  Type type = x.resultType();
  Num scale = x[1], v = convert(x[0], scale.element());
  Num zeroPoint = x.has(2) ? x[2] : v(0.0);
  if (x.node->hasAttr(kRoundsWithZeroPointAttr))
    return quantizeShifted(v / scale + convert(zeroPoint, scale.element()), type);
  return requantize(v / scale, zeroPoint, type);
}

/// Operand i as float32, 0 when it is absent.
static Num real(const Elementwise &x, unsigned i, Num like) {
  return x.has(i) ? convert(x[i], like.element()) : like(0.0);
}

/// Operands a, b at 0 and 3 with scale and zero point behind each, the result's at 6 and 7. onnxruntime's bits, and the
/// array's (step 4 of docs/accelerator.md): the scales are divided first and all sums fused.
static Num qlinearAdd(const Elementwise &x) {
  Num scale = x[6], ra = x[1] / scale, rb = x[4] / scale;
  Num fix = real(x, 7, scale) - fma(ra, real(x, 2, scale), rb * real(x, 5, scale));
  return quantizeShifted(fma(real(x, 0, scale), ra, fma(real(x, 3, scale), rb, fix)), x.resultType());
}

/// The product of two integers is exact in float32.
static Num qlinearMul(const Elementwise &x) {
  Num scale = x[6];
  Num product = (real(x, 0, scale) - real(x, 2, scale)) * (real(x, 3, scale) - real(x, 5, scale));
  return quantizeShifted(product * (x[1] * x[4] / scale) + real(x, 7, scale), x.resultType());
}

/// Of QLinearAdd and QLinearMul: one scale and zero point for all of a tensor.
static Shape dataShape(NodeOp node, unsigned i) {
  Shape shape = shapeOf(node.input(i));
  if (i == 0 || i == 3)
    return shape;
  if (product(shape) != 1)
    throw Unsupported("a scale or zero point that is no scalar");
  return {};
}

static Num dequantizeLinear(const Elementwise &x) {
  Num scale = x[1], v = x[0];
  Type i32 = x.k.b.getI32Type();
  Num whole = convert(v, i32);
  if (x.has(2))
    whole = whole - convert(x[2], i32);
  return convert(whole, scale.element()) * scale;
}

static void lowerDynamicQuantize(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  Buffer in = k.input(root.input(0)), out = k.output(root->getResult(0));
  auto result = [&](unsigned i, Type type) {
    return root->getResult(i).use_empty() ? k.scratch({}, type) : k.output(root->getResult(i));
  };
  Buffer scale = result(1, k.b.getF32Type()), zeroPoint = result(2, out.type);
  Buffer range = k.scratch({2}, k.b.getF32Type());
  // The range always holds zero.
  k.fill(range, k.constant(k.b.getF32Type(), 0.0));
  k.reduce({in.size()}, {{in, {1}, 0}}, {{range, {0}, 0}, {range, {0}, 1}},
           [](ArrayRef<Num> x) -> SmallVector<Num> { return {minimum(x[1], x[0]), maximum(x[2], x[0])}; });
  k.map({1}, {{range, {1}, 0}, {range, {1}, 1}}, {{scale, {1}, 0}, {zeroPoint, {1}, 0}},
        [&](ArrayRef<Num> x) -> SmallVector<Num> {
          Num step = (x[1] - x[0]) / 255.0;
          Num offset = saturateRounded(-x[0] / step, k.b.getI8Type(), true);
          return {step, select(step == step(0.0), offset.integer(0), offset)};
        });
  k.map({in.size()}, {{in, {1}, 0}, {scale, {0}, 0}, {zeroPoint, {0}, 0}}, {{out, {1}, 0}},
        [&](ArrayRef<Num> x) -> SmallVector<Num> {
          Num safe = select(x[1] == x[1](0.0), x[1](1.0), x[1]);
          return {requantize(x[0] / safe, x[2], out.type)};
        });
}

/// A zero point as int32: one for all, or one per `index`; nothing when the operand is absent.
static Num zeroPointAt(KernelBuilder &k, Value operand, Value index) {
  Type i32 = k.b.getI32Type();
  if (!operand)
    return k.constant(i32, 0);
  bool perIndex = product(shapeOf(operand)) > 1;
  if (!perIndex)
    index = nullptr;
  return convert(k.scalarOperand(operand, index), i32);
}

static Num splatLike(Num scalar, Num like) {
  auto type = dyn_cast<VectorType>(like.type());
  if (!type)
    return scalar;
  return scalar.with(
      vector::BroadcastOp::create(*scalar.b, scalar.loc, VectorType::get(type.getShape(), scalar.type()), scalar.v));
}

/// Sums → result: (scale_a * scale_b / scale_y) applied in float32, `scale_b` per index of `perShape` or single.
static FinishFn requantizeSums(KernelBuilder &k, NodeOp root, std::array<unsigned, 4> operands, Shape perShape,
                               Value bias) {
  auto [a, b, y, zero] = operands;
  Value scaleA = root.input(a), scaleB = root.input(b), scaleY = root.input(y), zeroY = root.input(zero);
  Type type = elementOf(root->getResult(0));
  // Loads of per-channel values need their buffers before the loops.
  for (Value value : {scaleA, scaleB, scaleY, zeroY, bias})
    if (value && !constantScalar(value))
      k.input(value);
  return [=, &k](Num sums, LoadOperand load) {
    auto number = [&](Value value) -> Num {
      if (product(shapeOf(value)) == 1 || constantScalar(value))
        return splatLike(k.scalarOperand(value), sums);
      return load(value, perShape);
    };
    if (bias)
      sums = sums + number(bias);
    Num scale = number(scaleA) * number(scaleB) / number(scaleY);
    Num value = convert(sums, k.b.getF32Type()) * scale;
    Num zero = zeroY ? number(zeroY) : sums.integer(0);
    return requantize(value, zero, type);
  };
}

static ConvolutionOperands integerConvolution(KernelBuilder &k, NodeOp root, unsigned image, unsigned weights,
                                              unsigned imageZero, unsigned weightsZero) {
  ConvolutionOperands conv;
  Type i32 = k.b.getI32Type();
  conv.image = k.input(root.input(image));
  conv.weights = k.input(root.input(weights));
  conv.groups = root.intAttr("group", 1);
  conv.accumulator = i32;
  conv.window = windowOf(root, ArrayRef(conv.weights.shape).drop_front(2));
  Value zeroX = root.input(imageZero), zeroW = root.input(weightsZero);
  for (Value value : {zeroX, zeroW})
    if (value && !constantScalar(value))
      k.input(value);
  Num padding = zeroX ? k.scalarOperand(zeroX) : k.constant(conv.image.type, 0.0);
  conv.padding = padding;
  conv.weight = [=, &k](Num w, Value m) { return convert(w, i32) - zeroPointAt(k, zeroW, m); };
  conv.pixel = [=, &k](Num x) { return convert(x, i32) - splatLike(zeroPointAt(k, zeroX, nullptr), x); };
  return conv;
}

static void lowerQLinearConv(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  ConvolutionOperands conv = integerConvolution(k, root, 0, 3, 2, 5);
  Shape perChannel(shapeOf(root->getResult(0)).size() - 1, 1);
  perChannel[0] = conv.weights.shape[0];
  emitConvolution(k, nodes, conv, requantizeSums(k, root, {1, 4, 6, 7}, perChannel, root.input(8)));
}

static void lowerConvInteger(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  emitConvolution(k, nodes, integerConvolution(k, root, 0, 1, 2, 3), [](Num sums, LoadOperand) { return sums; });
}

static MatrixOperands integerProduct(KernelBuilder &k, NodeOp root, unsigned left, unsigned right, unsigned leftZero,
                                     unsigned rightZero) {
  MatrixOperands p = matMulOperands(k, root, root.input(left), root.input(right));
  Type i32 = k.b.getI32Type();
  p.accumulator = i32;
  Value zeroA = root.input(leftZero), zeroB = root.input(rightZero);
  auto check = [&](Value value) {
    if (!value)
      return;
    if (shapeOf(value).size() > 1 && product(shapeOf(value)) > 1)
      throw Unsupported("a zero point per batch");
    if (!constantScalar(value))
      k.input(value);
  };
  check(zeroA);
  check(zeroB);
  p.left = [=, &k](Num a, Value m) { return convert(a, i32) - splatLike(zeroPointAt(k, zeroA, m), a); };
  p.right = [=, &k](Num b, Value n, bool alongN) {
    if (zeroB && product(shapeOf(zeroB)) > 1 && alongN) {
      int64_t width = cast<VectorType>(b.type()).getNumElements();
      return convert(b, i32) - convert(loadVectorAt(k, k.input(zeroB), n, width), i32);
    }
    return convert(b, i32) - splatLike(zeroPointAt(k, zeroB, n), b);
  };
  return p;
}

static void lowerQLinearMatMul(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  if (product(shapeOf(root.input(1))) > 1)
    throw Unsupported("a scale of a per row");
  MatrixOperands p = integerProduct(k, root, 0, 3, 2, 5);
  Shape perColumn{p.b.shape.back()};
  emitMatrixProduct(k, nodes, p, requantizeSums(k, root, {1, 4, 6, 7}, perColumn, nullptr));
}

/// onnxruntime's QGemm: Gemm of 8-bit tensors with an int32 bias.
static void lowerQGemm(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  if (root.floatAttr("alpha", 1.0f) != 1.0f)
    throw Unsupported("alpha other than 1");
  if (!root.input(7))
    throw Unsupported("a float result");
  MatrixOperands p = integerProduct(k, root, 0, 3, 2, 5);
  p.transposeA = root.intAttr("transA", 0);
  p.transposeB = root.intAttr("transB", 0);
  Value bias = root.input(6);
  Shape perColumn{shapeOf(root->getResult(0)).back()};
  if (bias && product(shapeOf(bias)) != perColumn[0] && product(shapeOf(bias)) != 1)
    throw Unsupported("a bias that is no row");
  emitMatrixProduct(k, nodes, p, requantizeSums(k, root, {1, 4, 7, 8}, perColumn, bias));
}

static void lowerMatMulInteger(KernelBuilder &k, ArrayRef<NodeOp> nodes) {
  NodeOp root = nodes.front();
  emitMatrixProduct(k, nodes, integerProduct(k, root, 0, 1, 2, 3), [](Num sums, LoadOperand) { return sums; });
}

static bool takesResultOperand(NodeOp root, ArrayRef<int64_t> shape) {
  return shape.size() <= shapeOf(root->getResult(0)).size() && shapeOf(root.input(0)).size() >= 2 &&
         shapeOf(root.input(3)).size() >= 2;
}

void addQuantization(Table &table) {
  table.push_back({.name = "QuantizeLinear", .sinceVersion = 10, .formula = quantizeLinear, .operandShape = alongAxis});
  table.push_back(
      {.name = "DequantizeLinear", .sinceVersion = 10, .formula = dequantizeLinear, .operandShape = alongAxis});
  table.push_back(
      {.name = "com.microsoft::QLinearAdd", .sinceVersion = 1, .formula = qlinearAdd, .operandShape = dataShape});
  table.push_back(
      {.name = "com.microsoft::QLinearMul", .sinceVersion = 1, .formula = qlinearMul, .operandShape = dataShape});
  table.push_back({.name = "DynamicQuantizeLinear", .sinceVersion = 11, .lower = lowerDynamicQuantize});
  table.push_back({.name = "QLinearConv",
                   .sinceVersion = 10,
                   .lower = lowerQLinearConv,
                   .takesEpilogueOperand = takesImageOperand});
  table.push_back({.name = "ConvInteger",
                   .sinceVersion = 10,
                   .lower = lowerConvInteger,
                   .takesEpilogueOperand = takesImageOperand});
  table.push_back({.name = "QLinearMatMul",
                   .sinceVersion = 10,
                   .lower = lowerQLinearMatMul,
                   .takesEpilogueOperand = takesResultOperand});
  table.push_back({.name = "com.microsoft::QGemm",
                   .sinceVersion = 1,
                   .lower = lowerQGemm,
                   .takesEpilogueOperand = takesResultOperand});
  table.push_back({.name = "MatMulInteger", .sinceVersion = 10, .lower = lowerMatMulInteger});
}

} // namespace tilewright::cpu
