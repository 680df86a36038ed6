//===- ShapeContext.h - what a shape inference rule sees --------*- C++ -*-===//
//
// Dimensions are integer expressions over the model's symbols (AffineExpr: sums, products, floordiv, ceildiv, mod); a
// known dimension is a constant expression. What cannot be expressed becomes a new symbol. Small integer tensors carry
// their elements as the same kind of expression, so that shapes computed by nodes (Shape, Gather, Concat ... Reshape)
// are followed.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_SHAPES_SHAPECONTEXT_H
#define TILEWRIGHT_PASSES_SHAPES_SHAPECONTEXT_H

#include "dialects/onnx/OnnxDialect.h"
#include "frontend/OnnxSchema.h"

#include "mlir/IR/AffineExpr.h"

#include <functional>
#include <optional>

namespace tilewright::shapes {

/// One dimension, or one element of an integer tensor. Null only as an element: unknown.
using Dim = mlir::AffineExpr;
using Dims = llvm::SmallVector<Dim>;

/// Elements of integer tensors are followed up to this many.
inline constexpr int64_t kMaxFollowedElements = 1024;

/// What is known of a value besides its element type.
struct Facts {
  std::optional<Dims> shape;    ///< nothing when the rank is unknown
  std::optional<Dims> elements; ///< row-major, of integer tensors with a known shape
};

/// The symbols of a function, and arithmetic on dimensions.
class Symbols {
public:
  explicit Symbols(mlir::MLIRContext *context) : context(context) {}
  Dim constant(int64_t value) const { return mlir::getAffineConstantExpr(value, context); }
  /// The symbol called `name`, made if it is new.
  Dim named(llvm::StringRef name);
  /// A symbol for a dimension that no expression is known for.
  Dim fresh();
  llvm::ArrayRef<std::string> names() const { return symbolNames; }
  mlir::MLIRContext *context;

private:
  llvm::SmallVector<std::string> symbolNames;
  unsigned freshCount = 0;
};

std::optional<int64_t> constantOf(Dim dim);
/// The product of `dims`; kDynamic-free only if all are constants.
std::optional<int64_t> staticProduct(llvm::ArrayRef<Dim> dims);
/// "[N, 3, 224, H floordiv 2]" with the symbols' names.
std::string spell(llvm::ArrayRef<Dim> dims, const Symbols &symbols);
/// ONNX's name of an element type: float, uint8, int64 ...
std::string onnxTypeName(mlir::Type element);
/// tensor<?x3xf32>, or tensor<*xf32> without a shape.
mlir::TensorType tensorType(const std::optional<Dims> &shape, mlir::Type element);

class ShapeContext {
public:
  ShapeContext(onnx::NodeOp node, Symbols &symbols, llvm::DenseMap<mlir::Value, Facts> &facts);

  onnx::NodeOp node;
  Symbols &symbols;

  // Inputs. An absent or untyped input has no shape, no element type and no elements.
  size_t inputs() { return node.getInputs().size(); }
  bool has(unsigned i) { return node.input(i) != nullptr; }
  std::optional<llvm::ArrayRef<Dim>> shape(unsigned i);
  mlir::Type elementType(unsigned i);
  /// The elements of an integer input (null where unknown), or nothing.
  std::optional<Dims> elements(unsigned i);
  /// The elements when all are known numbers.
  std::optional<llvm::SmallVector<int64_t>> integers(unsigned i);
  /// What older versions hold in attribute `name` and newer ones in input `i`: the input's numbers if it is there, else
  /// the attribute's. Nothing when neither is there, or when the input is not known (`unknown` tells which).
  std::optional<llvm::SmallVector<int64_t>> integersFrom(llvm::StringRef name, unsigned i, bool &unknown);

  // Attributes: node.intAttr and so on; an axis, made non-negative, is checked against the rank.
  std::optional<int64_t> axis(int64_t value, int64_t rank, llvm::StringRef what = "axis");

  // Results.
  size_t results() { return node.getNumResults(); }
  void set(unsigned result, Dims shape) { resultFacts[result].shape = std::move(shape); }
  void setElements(unsigned result, Dims elements) { resultFacts[result].elements = std::move(elements); }
  void setType(unsigned result, mlir::Type element) { resultTypes[result] = element; }
  Facts &result(unsigned i) { return resultFacts[i]; }
  mlir::Type resultType(unsigned i) { return resultTypes[i]; }

  // Arithmetic.
  Dim constant(int64_t value) const { return symbols.constant(value); }
  Dims constants(llvm::ArrayRef<int64_t> values) const;
  Dim fresh() { return symbols.fresh(); }
  std::string spell(llvm::ArrayRef<Dim> dims) const { return shapes::spell(dims, symbols); }
  /// Multidirectional broadcasting; fails with a message when the shapes do not go together.
  mlir::FailureOr<Dims> broadcast(llvm::ArrayRef<Dim> a, llvm::ArrayRef<Dim> b);
  /// `dims`' product ÷ `divisors`' product, with common factors cancelled.
  Dim quotient(llvm::ArrayRef<Dim> dims, llvm::ArrayRef<Dim> divisors);

  // Subgraphs.
  /// Infers the nodes of a body whose arguments have been given facts. `isFinal` is false while the facts may still be
  /// widened: then nothing may be replaced by a constant.
  std::function<mlir::LogicalResult(mlir::Block &, bool isFinal)> inferBody;
  Facts factsOf(mlir::Value value) const { return facts.lookup(value); }
  /// Gives a body's argument its element type and facts.
  void setArgument(mlir::BlockArgument argument, mlir::Type element, std::optional<Dims> shape);

  /// Reports an error at the node: "Conv(11) 'name': ".
  mlir::InFlightDiagnostic error();

private:
  llvm::DenseMap<mlir::Value, Facts> &facts;
  llvm::SmallVector<Facts> resultFacts;
  llvm::SmallVector<mlir::Type> resultTypes;
};

/// Binds the schema's type variables to the inputs' element types and gives the results theirs. Fails with a message
/// when inputs that must agree do not, or have a type that the operator does not take.
mlir::LogicalResult inferElementTypes(ShapeContext &context, const OnnxSchema &schema);

} // namespace tilewright::shapes

#endif
