//===- Evaluator.h - nodes computed at compile time -------------*- C++ -*-===//
//
// Values of nodes whose inputs are all constants. An operator is computed only where its result is defined: a case in
// which targets may differ (a float out of an integer's range, NaN in a comparison, division by zero) is left to run
// time, so that a model gives the same whether a value was folded or not. DequantizeLinear is never computed: it is how
// quantized weights are recognized.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES_FOLD_EVALUATOR_H
#define TILEWRIGHT_PASSES_FOLD_EVALUATOR_H

#include "dialects/onnx/ConstantData.h"
#include "dialects/onnx/OnnxDialect.h"

#include <functional>
#include <map>
#include <optional>

namespace tilewright::fold {

/// One constant operand.
struct Operand {
  explicit Operand(mlir::ElementsAttr elements);
  mlir::ElementsAttr attr;
  mlir::RankedTensorType type;
  onnx::ConstantBytes data;
  llvm::ArrayRef<int64_t> shape() const { return type.getShape(); }
  int64_t count() const { return type.getNumElements(); }
  mlir::Type element() const { return type.getElementType(); }
};

/// What a rule computes from.
struct Context {
  mutable onnx::NodeOp node; ///< ops are handles, whose accessors are not const
  llvm::SmallVector<std::optional<Operand>> inputs;
  const Operand *input(size_t i) const { return i < inputs.size() && inputs[i] ? &*inputs[i] : nullptr; }
  std::optional<llvm::SmallVector<int64_t>> integers(size_t i) const;
  mlir::RankedTensorType resultType(size_t i = 0) const {
    return mlir::cast<mlir::RankedTensorType>(node.getResult(i).getType());
  }
};

/// The results, or an empty vector when they are not computed.
using Results = llvm::SmallVector<mlir::ElementsAttr>;
using Rule = std::function<Results(const Context &)>;
using Rules = std::map<std::string, Rule, std::less<>>;

void addMoveRules(Rules &rules);
void addArithmeticRules(Rules &rules);
void addConversionRules(Rules &rules);
void addReductionRules(Rules &rules);

/// The results of `node`, whose types must be known, if all its inputs are constants of at most `byteLimit` bytes
/// together (as are the results, unless they are of one value), and there is a rule.
Results evaluate(onnx::NodeOp node, int64_t byteLimit);

/// Memory for a result, and the constant made of it without a copy.
class Buffer {
public:
  explicit Buffer(mlir::RankedTensorType type)
      : type(type),
        bytes(std::make_shared<std::vector<char>>(type.getNumElements() * onnx::elementBytes(type.getElementType()))) {}
  char *data() { return bytes->data(); }
  template <typename T> T *as() { return reinterpret_cast<T *>(bytes->data()); }
  size_t elementSize() const { return onnx::elementBytes(type.getElementType()); }
  mlir::ElementsAttr finish() { return onnx::makeConstant(type, *bytes, bytes); }

private:
  mlir::RankedTensorType type;
  std::shared_ptr<std::vector<char>> bytes;
};

/// Row-major strides in elements.
llvm::SmallVector<int64_t> stridesOf(llvm::ArrayRef<int64_t> shape);
/// Strides that read a tensor of `shape` as one of `target`: 0 in dimensions that are broadcast.
llvm::SmallVector<int64_t> broadcastStrides(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<int64_t> target);
/// Copies `shape` elements of `size` bytes; strides in elements, possibly 0 or negative.
void copyStrided(const char *from, llvm::ArrayRef<int64_t> fromStrides, char *to, llvm::ArrayRef<int64_t> toStrides,
                 llvm::ArrayRef<int64_t> shape, size_t size);

} // namespace tilewright::fold

#endif
