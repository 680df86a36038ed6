//===- ShapeContext.cpp - what a shape inference rule sees ----------------===//

#include "passes/shapes/ShapeContext.h"

#include "dialects/onnx/ConstantData.h"
#include "passes/NodeName.h"

#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

Dim Symbols::named(StringRef name) {
  auto found = llvm::find(symbolNames, name);
  unsigned index = static_cast<unsigned>(found - symbolNames.begin());
  if (found == symbolNames.end())
    symbolNames.push_back(name.str());
  return getAffineSymbolExpr(index, context);
}

Dim Symbols::fresh() {
  std::string name;
  do
    name = "?" + std::to_string(freshCount++);
  while (llvm::is_contained(symbolNames, name));
  return named(name);
}

std::optional<int64_t> shapes::constantOf(Dim dim) {
  if (auto constant = dyn_cast_if_present<AffineConstantExpr>(dim))
    return constant.getValue();
  return std::nullopt;
}

std::optional<int64_t> shapes::staticProduct(ArrayRef<Dim> dims) {
  int64_t product = 1;
  for (Dim dim : dims) {
    auto value = constantOf(dim);
    if (!value || __builtin_mul_overflow(product, *value, &product))
      return std::nullopt;
  }
  return product;
}

static void spell(Dim dim, const Symbols &symbols, llvm::raw_ostream &os, bool nested) {
  if (auto constant = dyn_cast<AffineConstantExpr>(dim)) {
    os << constant.getValue();
  } else if (auto symbol = dyn_cast<AffineSymbolExpr>(dim)) {
    os << symbols.names()[symbol.getPosition()];
  } else {
    auto binary = cast<AffineBinaryOpExpr>(dim);
    const char *sign = binary.getKind() == AffineExprKind::Add        ? " + "
                       : binary.getKind() == AffineExprKind::Mul      ? " * "
                       : binary.getKind() == AffineExprKind::FloorDiv ? " floordiv "
                       : binary.getKind() == AffineExprKind::CeilDiv  ? " ceildiv "
                                                                      : " mod ";
    os << (nested ? "(" : "");
    spell(binary.getLHS(), symbols, os, true);
    os << sign;
    spell(binary.getRHS(), symbols, os, true);
    os << (nested ? ")" : "");
  }
}

std::string shapes::spell(ArrayRef<Dim> dims, const Symbols &symbols) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "[";
  llvm::interleaveComma(dims, os, [&](Dim dim) {
    if (dim)
      ::spell(dim, symbols, os, false);
    else
      os << "?";
  });
  os << "]";
  return text;
}

ShapeContext::ShapeContext(onnx::NodeOp node, Symbols &symbols, DenseMap<Value, Facts> &facts)
    : node(node), symbols(symbols), facts(facts), resultFacts(node.getNumResults()), resultTypes(node.getNumResults()) {
}

std::optional<ArrayRef<Dim>> ShapeContext::shape(unsigned i) {
  Value value = node.input(i);
  if (!value)
    return std::nullopt;
  auto found = facts.find(value);
  if (found == facts.end() || !found->second.shape)
    return std::nullopt;
  return ArrayRef<Dim>(*found->second.shape);
}

Type ShapeContext::elementType(unsigned i) {
  Value value = node.input(i);
  auto type = value ? dyn_cast<TensorType>(value.getType()) : TensorType();
  if (!type || isa<onnx::UnknownType>(type.getElementType()))
    return nullptr;
  return type.getElementType();
}

std::optional<Dims> ShapeContext::elements(unsigned i) {
  Value value = node.input(i);
  if (!value)
    return std::nullopt;
  auto found = facts.find(value);
  if (found != facts.end() && found->second.elements)
    return found->second.elements;
  if (auto numbers = onnx::integers(onnx::constantValue(value), kMaxFollowedElements))
    return constants(*numbers);
  // The elements of a tensor with a known shape exist, if nothing else is known of them.
  if (found != facts.end() && found->second.shape)
    if (auto count = staticProduct(*found->second.shape); count && *count <= kMaxFollowedElements)
      return Dims(*count, Dim());
  return std::nullopt;
}

std::optional<SmallVector<int64_t>> ShapeContext::integers(unsigned i) {
  if (Value value = node.input(i))
    if (ElementsAttr constant = onnx::constantValue(value))
      return onnx::integers(constant);
  auto known = elements(i);
  if (!known)
    return std::nullopt;
  SmallVector<int64_t> values;
  for (Dim element : *known) {
    auto value = constantOf(element);
    if (!value)
      return std::nullopt;
    values.push_back(*value);
  }
  return values;
}

std::optional<SmallVector<int64_t>> ShapeContext::integersFrom(StringRef name, unsigned i, bool &unknown) {
  unknown = false;
  if (has(i)) {
    auto values = integers(i);
    unknown = !values;
    return values;
  }
  if (!node.attr(name))
    return std::nullopt;
  return node.intsAttr(name);
}

std::optional<int64_t> ShapeContext::axis(int64_t value, int64_t rank, StringRef what) {
  if (value < -rank || value >= rank) {
    error() << what << " " << value << " is outside a tensor of rank " << rank;
    return std::nullopt;
  }
  return value < 0 ? value + rank : value;
}

Dims ShapeContext::constants(ArrayRef<int64_t> values) const {
  Dims dims;
  for (int64_t value : values)
    dims.push_back(constant(value));
  return dims;
}

FailureOr<Dims> ShapeContext::broadcast(ArrayRef<Dim> a, ArrayRef<Dim> b) {
  if (a.size() < b.size())
    std::swap(a, b);
  Dims result(a);
  size_t lead = a.size() - b.size();
  for (size_t i = 0; i < b.size(); ++i) {
    Dim &mine = result[lead + i];
    Dim other = b[i];
    auto x = constantOf(mine), y = constantOf(other);
    if (mine == other || (y && *y == 1))
      continue;
    if (x && y && *x != 1) {
      error() << "shapes " << spell(a) << " and " << spell(b) << " cannot be broadcast together";
      return failure();
    }
    if ((x && *x == 1) || y)
      mine = other; // an open dimension meets a number: it must be 1 or that number
    else if (!x)
      mine = fresh();
  }
  return result;
}

/// Splits a dimension into a number and other factors.
static void factor(Dim dim, int64_t &number, SmallVectorImpl<Dim> &others) {
  if (auto constant = constantOf(dim)) {
    number *= *constant;
  } else if (auto binary = dyn_cast<AffineBinaryOpExpr>(dim); binary && binary.getKind() == AffineExprKind::Mul) {
    factor(binary.getLHS(), number, others);
    factor(binary.getRHS(), number, others);
  } else {
    others.push_back(dim);
  }
}

Dim ShapeContext::quotient(ArrayRef<Dim> dims, ArrayRef<Dim> divisors) {
  int64_t above = 1, below = 1;
  SmallVector<Dim> up, down;
  for (Dim dim : dims)
    factor(dim, above, up);
  for (Dim dim : divisors)
    factor(dim, below, down);
  for (Dim dim : down) {
    auto common = llvm::find(up, dim);
    if (common == up.end())
      return fresh();
    up.erase(common);
  }
  if (below == 0)
    return fresh();
  if (above % below == 0) {
    above /= below;
    below = 1;
  }
  Dim product = constant(above);
  for (Dim dim : up)
    product = product * dim;
  return below == 1 ? product : product.floorDiv(below);
}

TensorType shapes::tensorType(const std::optional<Dims> &shape, Type element) {
  if (!shape)
    return UnrankedTensorType::get(element);
  SmallVector<int64_t> dims;
  for (Dim dim : *shape)
    dims.push_back(constantOf(dim).value_or(ShapedType::kDynamic));
  return RankedTensorType::get(dims, element);
}

void ShapeContext::setArgument(BlockArgument argument, Type element, std::optional<Dims> shape) {
  if (!element)
    element = onnx::UnknownType::get(symbols.context);
  argument.setType(tensorType(shape, element));
  facts[argument] = Facts{std::move(shape), std::nullopt};
}

InFlightDiagnostic ShapeContext::error() { return node.emitError() << describeNode(node) << ": "; }
