//===- LayerFormer.cpp - forms tile layers from quantized onnx patterns ---===//

#include "passes/layers/LayerFormer.h"

#include "dialects/onnx/NodeBuilder.h"
#include "passes/memory/Segment.h"

#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::layers;

using Former = Formed (*)(LayerFormer &, const LayerPattern &);

static Former formerOf(onnx::NodeOp root) {
  if (!root)
    return formTable;
  if (!root.getDomain().empty())
    return nullptr;
  return llvm::StringSwitch<Former>(root.getOpType())
      .Case("Conv", formConvolution)
      .Case("BatchNormalization", formBatchNorm)
      .Cases({"MatMul", "Gemm"}, formMatMul)
      .Cases({"MaxPool", "AveragePool"}, formPool)
      .Cases({"GlobalAveragePool", "GlobalMaxPool", "ReduceMean", "ReduceMax"}, formGlobalPool)
      .Case("Add", formAdd)
      .Case("Concat", formConcat)
      .Cases({"Slice", "Split"}, formSlice)
      .Default(nullptr);
}

static bool isActivation(onnx::NodeOp node) {
  return node.getDomain().empty() && (node.is("Relu") || node.is("Clip") || node.is("LeakyRelu") || node.is("PRelu"));
}

/// An Add of a constant to its result is its bias.
static bool takesBias(onnx::NodeOp node) { return node && (node.is("MatMul") || node.is("Gemm") || node.is("Conv")); }

RankedTensorType LayerPattern::rootType() const { return cast<RankedTensorType>(rootValue().getType()); }

Value LayerPattern::rootValue() const {
  return layout.empty() ? onnx::NodeOp(quantize).input(0) : onnx::NodeOp(layout.front()).input(0);
}

std::optional<LayerPattern> LayerFormer::match(onnx::NodeOp quantize) {
  LayerPattern pattern;
  pattern.quantize = quantize;
  pattern.type = dyn_cast<RankedTensorType>(quantize.getResult(0).getType());
  if (!pattern.type || !pattern.type.hasStaticShape() || !pattern.type.getElementType().isInteger(8))
    return std::nullopt;
  pattern.quant = perTensorQuant(quantize, pattern.type.getElementType());
  if (!pattern.quant)
    return std::nullopt;
  auto upward = [](Value value) { return value ? value.getDefiningOp<onnx::NodeOp>() : nullptr; };
  onnx::NodeOp node = upward(quantize.input(0));
  for (; node && isLayoutNode(node); node = upward(node.input(0)))
    pattern.layout.insert(pattern.layout.begin(), node);
  onnx::NodeOp beforeActivations = node;
  for (; node && isActivation(node); node = upward(node.input(0)))
    pattern.activations.insert(pattern.activations.begin(), node);
  if (node && node.is("Add"))
    for (unsigned i : {0u, 1u}) {
      onnx::NodeOp other = upward(node.input(i));
      if (takesBias(other) && realConstant(node.input(1 - i))) {
        pattern.bias = node;
        pattern.biasValue = node.input(1 - i);
        node = other;
        break;
      }
    }
  if (!node)
    return std::nullopt;
  if (formerOf(node)) {
    pattern.root = node;
    // The operator families read shapes without asking.
    SmallVector<onnx::NodeOp> nodes(pattern.activations);
    nodes.push_back(node);
    if (pattern.bias)
      nodes.push_back(pattern.bias);
    for (onnx::NodeOp part : nodes)
      for (Type type :
           llvm::concat<Type>(SmallVector<Type>(part->getOperandTypes()), SmallVector<Type>(part->getResultTypes())))
        if (auto tensor = dyn_cast<RankedTensorType>(type);
            !isa<NoneType>(type) && (!tensor || !tensor.hasStaticShape()))
          return std::nullopt;
    return pattern;
  }
  // A unary function of one activation: everything above the quantization is evaluated into a table.
  pattern.activations.clear();
  pattern.bias = nullptr;
  if (beforeActivations && !beforeActivations.is("DequantizeLinear"))
    pattern.activations.push_back(beforeActivations);
  return pattern;
}

bool LayerFormer::formLayout(const LayerPattern &pattern) {
  onnx::NodeOp quantize = pattern.quantize;
  if (!pattern.activations.empty() || pattern.root)
    return false;
  Value top = pattern.layout.empty() ? quantize.input(0) : onnx::NodeOp(pattern.layout.front()).input(0);
  auto dequantize = top.getDefiningOp<onnx::NodeOp>();
  if (!dequantize || !dequantize.is("DequantizeLinear"))
    return false;
  auto type = dyn_cast<RankedTensorType>(dequantize.input(0).getType());
  if (!type || type.getElementType() != pattern.element() ||
      perTensorQuant(dequantize, type.getElementType()) != pattern.quant)
    return false;
  builder.setInsertionPoint(quantize);
  Value value = dequantize.input(0);
  for (onnx::NodeOp node : pattern.layout) {
    auto result =
        RankedTensorType::get(cast<RankedTensorType>(node.getResult(0).getType()).getShape(), pattern.element());
    Operation *copy = builder.clone(*node.getOperation());
    copy->setOperand(0, value);
    copy->getResult(0).setType(result);
    copy->removeAttr(onnx::kOutputNamesAttr);
    value = copy->getResult(0);
  }
  quantize.getResult(0).replaceAllUsesWith(value);
  return true;
}

Formed LayerFormer::dispatch(const LayerPattern &pattern) { return formerOf(pattern.root)(*this, pattern); }

/// Bytes that a concatenation takes on chip as long as any of it is in use, because several layers write into one word:
/// a part that begins within a word cannot be streamed. 0 for all else.
static int64_t bytesKept(const TargetDescription &target, tile::TileRootInterface root) {
  auto move = dyn_cast<tile::MoveOp>(root.getOperation());
  if (!target.placesBuffers() || !move || move.getKind() != tile::MoveKind::Concat)
    return 0;
  int64_t channel = 0;
  for (Value part : move.getInputs()) {
    if (channel % target.channelWord() != 0)
      return target.mapBytes(root.getResultType().getShape(), root.getResultType().getElementType());
    channel += cast<RankedTensorType>(part.getType()).getDimSize(1);
  }
  return 0;
}

bool LayerFormer::form(onnx::NodeOp quantize) {
  std::optional<LayerPattern> pattern = match(quantize);
  if (!pattern)
    return false;
  if (formLayout(*pattern))
    return true;
  builder.setInsertionPoint(quantize);
  Formed formed = dispatch(*pattern);
  if (!formed.map && pattern->root) {
    // Arithmetic with constants that its own family does not take may still be a function of one activation.
    LayerPattern asFunction = *pattern;
    asFunction.root = nullptr;
    asFunction.bias = nullptr;
    asFunction.activations.assign({pattern->rootValue().getDefiningOp<onnx::NodeOp>()});
    if (Formed function = formTable(*this, asFunction); function.map) {
      formed = function;
      pattern = asFunction;
    }
  }
  std::string reason = formed.reason;
  bool tooLarge = false;
  if (formed.map) {
    if (auto root = formed.map.getDefiningOp<tile::TileRootInterface>()) {
      int64_t bytes = memory::minimalFootprint(target, root);
      std::optional<std::string> refusal = target.refusal(root);
      tooLarge = !refusal && target.placesBuffers() && bytes > target.mapCapacity();
      if (refusal)
        reason = *refusal;
      else if (tooLarge)
        reason = ("its smallest tile, one row, takes " + Twine(bytes) + " bytes on chip, " + target.name() + " has " +
                  Twine(target.mapCapacity()))
                     .str();
      else if (int64_t kept = bytesKept(target, root); kept > target.mapCapacity() / 2)
        reason = ("a part of it begins within a word of " + Twine(target.channelWord()) +
                  " channels, so that all of it would have to stay on chip: " + Twine(kept) + " bytes of " +
                  Twine(target.mapCapacity()) + ", of which the layers around it need their share")
                     .str();
    }
  }
  // Layout operators after the root become strides of from_map.
  SmallVector<int64_t> strides;
  if (formed.map && reason.empty()) {
    ArrayRef<int64_t> shape = cast<RankedTensorType>(formed.map.getType()).getShape();
    SmallVector<int64_t> inRoot = tile::mapStrides(shape, formed.order);
    View view = View::whole(pattern->rootType().getShape());
    bool ok = true;
    for (onnx::NodeOp node : pattern->layout)
      ok = ok && view.apply(node);
    std::optional<SmallVector<unsigned>> order;
    if (ok)
      order = asMapDims(view.flat(), shape, inRoot);
    if (order)
      strides = tile::mapStrides(shape, *order);
    else
      reason = "the layout operators behind it cannot be read with strides";
  }
  if (!formed.map || !reason.empty()) {
    onnx::NodeOp named = pattern->root                   ? pattern->root
                         : !pattern->activations.empty() ? pattern->activations.back()
                                                         : pattern->quantize;
    if (!reason.empty())
      named->setAttr(kHostReasonAttr, builder.getStringAttr(reason));
    if (tooLarge)
      named->setAttr(kTooLargeAttr, builder.getUnitAttr());
    return false; // what was built is dead and goes with the next cleaning
  }
  builder.setInsertionPoint(quantize);
  Value result = tile::FromMapOp::create(builder, quantize.getLoc(), pattern->type, formed.map,
                                         builder.getDenseI64ArrayAttr(strides), tile::DramAttr());
  if (Attribute names = quantize->getAttr(onnx::kOutputNamesAttr))
    result.getDefiningOp()->setAttr(onnx::kOutputNamesAttr, names);
  quantize.getResult(0).replaceAllUsesWith(result);
  return true;
}

//===----------------------------------------------------------------------===//
// Helpers of the operator families
//===----------------------------------------------------------------------===//

Value LayerFormer::constant(RankedTensorType type, ArrayRef<char> bytes, Location loc) {
  return onnx::ConstantOp::create(builder, loc, onnx::makeConstant(type, bytes));
}

std::string LayerFormer::readActivations(const LayerPattern &pattern, int64_t channelAxis, int64_t channels,
                                         Clamps &clamps) {
  int64_t zero = tile::toDevice(pattern.element(), pattern.quant.getZeroPoint());
  auto clamp = [&](int64_t low, int64_t high) {
    clamps.low = std::min(std::max(clamps.low, low), high);
    clamps.high = std::min(std::max(clamps.high, low), high);
  };
  bool first = true;
  for (onnx::NodeOp node : pattern.activations) {
    if (node.is("Relu")) {
      clamp(zero, 127);
    } else if (node.is("Clip")) {
      float bounds[2] = {-std::numeric_limits<float>::infinity(), std::numeric_limits<float>::infinity()};
      for (unsigned i : {0u, 1u}) {
        bounds[i] = node.floatAttr(i == 0 ? "min" : "max", bounds[i]);
        if (!node.input(1 + i))
          continue;
        std::optional<SmallVector<float>> value = realConstant(node.input(1 + i), 1);
        if (!value || value->size() != 1)
          return "Clip with a bound that is not constant";
        bounds[i] = (*value)[0];
      }
      clamp(tile::toDevice(pattern.element(), quantize(bounds[0], pattern.quant, pattern.element())),
            tile::toDevice(pattern.element(), quantize(bounds[1], pattern.quant, pattern.element())));
    } else {
      if (!first)
        return "two activations, of which the second scales negative values";
      SmallVector<float> slopes;
      if (node.is("LeakyRelu")) {
        slopes = {node.floatAttr("alpha", 0.01f)};
      } else {
        std::optional<SmallVector<float>> values = realConstant(node.input(1));
        auto type = dyn_cast<RankedTensorType>(node.input(1).getType());
        if (!values || !type)
          return "PRelu with slopes that are not constant";
        // One slope, or one per channel: broadcast from the right, all other extents 1.
        int64_t rank = pattern.rootType().getRank(), at = channelAxis - (rank - type.getRank());
        bool perChannel = at >= 0 && type.getDimSize(at) == channels && type.getNumElements() == channels;
        if (values->size() != 1 && !perChannel)
          return "PRelu with slopes that are not one per channel";
        slopes = *values;
      }
      clamps.slopes = slopes;
    }
    first = false;
  }
  return {};
}

Block *LayerFormer::beginEpilogue(OperationState &state, TypeRange arguments) {
  Block *block = new Block();
  state.addRegion()->push_back(block);
  block->addArguments(arguments, SmallVector<Location>(arguments.size(), state.location));
  builder.setInsertionPointToEnd(block);
  return block;
}

/// The node's name; without one, what it gives (rewritten nodes may have no names for it, but the layer's end has).
static std::string layerName(onnx::NodeOp named, const LayerPattern &pattern) {
  if (!named.nodeName().empty())
    return named.nodeName().str();
  onnx::NodeOp quantize = pattern.quantize;
  for (Value value : {Value(named->getResult(0)), Value(quantize->getResult(0))})
    if (StringRef output = onnx::tensorName(value); !output.empty())
      return (named.getOpType() + " giving " + output).str();
  return named.getOpType().str();
}

void LayerFormer::describe(OperationState &state, const LayerPattern &pattern, ArrayRef<tile::QuantAttr> inputs) {
  SmallVector<Attribute> nodes;
  auto add = [&](onnx::NodeOp node) {
    nodes.push_back(builder.getStringAttr((node.nodeName() + ": " + node.getQualifiedName()).str()));
  };
  onnx::NodeOp named = pattern.root;
  if (pattern.root)
    add(pattern.root);
  if (pattern.bias)
    add(pattern.bias);
  for (onnx::NodeOp node : pattern.activations)
    add(node);
  for (onnx::NodeOp node : pattern.layout)
    add(node);
  if (!named)
    named = pattern.activations.empty() ? pattern.quantize : pattern.activations.back();
  state.addAttribute("layer", builder.getStringAttr(layerName(named, pattern)));
  state.addAttribute("nodes", builder.getArrayAttr(nodes));
  SmallVector<Attribute> quants(inputs.begin(), inputs.end());
  state.addAttribute("input_quants", builder.getArrayAttr(quants));
}
