//===- KernelBuilder.h - writes the body of one host kernel -----*- C++ -*-===//
//
// A kernel is a func.func whose arguments are its buffers (memrefs, dense, static) and whose body is a list of stages:
// linalg operations and loops. A loop marked parallel is spread over threads later (OutlineStages.cpp). Buffers exist
// before any operation does, so nothing has to be bufferized and nothing is copied that a lowering does not copy.
//
// Element types in memory are signless: an unsigned integer is an iN with Num::isUnsigned, a bool is an i8 of 0 or 1.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_BACKENDS_CPU_KERNELBUILDER_H
#define TILEWRIGHT_BACKENDS_CPU_KERNELBUILDER_H

#include "backends/cpu/Num.h"
#include "dialects/onnx/OnnxDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <functional>

namespace tilewright::cpu {

using Shape = llvm::SmallVector<int64_t>;

/// Attribute of loops and linalg operations whose iterations may run on several threads.
inline constexpr llvm::StringLiteral kParallelAttr = "cpu.parallel";
/// Iterations of elementwise work below which a second thread costs more than it brings.
inline constexpr int64_t kParallelThreshold = 32768;

int64_t product(llvm::ArrayRef<int64_t> shape);
/// Row-major strides.
Shape stridesOf(llvm::ArrayRef<int64_t> shape);
/// The type an ONNX element type has in memory, and in registers.
mlir::Type storageType(mlir::Type element);
mlir::Type computeType(mlir::Type element);
inline bool isUnsignedType(mlir::Type element) { return element.isUnsignedInteger(); }
/// Shape and element type of an `onnx` value; the shape must be static.
Shape shapeOf(mlir::Value value);
mlir::Type elementOf(mlir::Value value);

/// A dense tensor in memory.
struct Buffer {
  mlir::Value memref;
  Shape shape;
  mlir::Type type; // ONNX element type
  int64_t size() const { return product(shape); }
};

/// How a loop nest walks through a buffer: element (i0, i1, ...) lies at offset + sum of i_k * strides[k].
struct Access {
  Buffer buffer;
  Shape strides;
  int64_t offset = 0;
};

class KernelBuilder {
public:
  KernelBuilder(mlir::ModuleOp module, llvm::StringRef symbol, mlir::Location loc);

  mlir::OpBuilder b;
  mlir::Location loc;
  mlir::func::FuncOp function;

  //===-- Buffers --------------------------------------------------------===//

  /// The buffer behind an `onnx` value from outside the group; becomes an input of the kernel when first asked for.
  Buffer input(mlir::Value value);
  /// The kernel's output buffer for a result of the group.
  Buffer output(mlir::Value value);
  /// Memory of the scratch arena, 64-byte aligned, shared by all threads.
  Buffer scratch(llvm::ArrayRef<int64_t> shape, mlir::Type type);
  /// A table known at compile time, part of the object.
  Buffer table(llvm::ArrayRef<int64_t> values);
  Buffer table(llvm::ArrayRef<float> values);
  /// The same memory as a row-major tensor of another shape.
  Buffer view(Buffer buffer, llvm::ArrayRef<int64_t> shape);
  /// The same memory as a flat one-dimensional memref.
  mlir::Value flat(Buffer buffer);

  //===-- Loops ----------------------------------------------------------===//

  mlir::Value index(int64_t value);
  /// for (i = 0; i < count; ++i), on several threads if `work` (elementary steps altogether) is worth it.
  void parallelLoop(int64_t count, int64_t work, llvm::function_ref<void(mlir::Value i)> body);
  void loop(mlir::Value begin, mlir::Value end, mlir::Value step, llvm::function_ref<void(mlir::Value i)> body);
  void loop(int64_t count, llvm::function_ref<void(mlir::Value i)> body);
  /// A loop that carries values.
  llvm::SmallVector<mlir::Value>
  loop(mlir::Value begin, mlir::Value end, mlir::Value step, mlir::ValueRange initial,
       llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::Value i, mlir::ValueRange)> body);
  /// The indices of a nest of counted loops over `shape`.
  void nest(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);

  /// body(i0, i1, ...) at every point of `shape`, the outer dimensions on several threads. For loops that need their
  /// indices; see map() for others.
  void forEach(llvm::ArrayRef<int64_t> shape, llvm::function_ref<void(llvm::ArrayRef<mlir::Value>)> body);

  // Index arithmetic that folds constants.
  mlir::Value add(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, mlir::Value y);
  mlir::Value mul(mlir::Value x, int64_t y) { return mul(x, index(y)); }
  mlir::Value add(mlir::Value x, int64_t y) { return add(x, index(y)); }
  mlir::Value div(mlir::Value x, int64_t y);
  mlir::Value rem(mlir::Value x, int64_t y);
  mlir::Value min(mlir::Value x, mlir::Value y);
  /// i0 * strides[0] + i1 * strides[1] + ... + offset
  mlir::Value linear(llvm::ArrayRef<mlir::Value> indices, llvm::ArrayRef<int64_t> strides, int64_t offset = 0);
  /// Splits a linear index over `shape`.
  llvm::SmallVector<mlir::Value> delinearize(mlir::Value linear, llvm::ArrayRef<int64_t> shape);

  //===-- Elements -------------------------------------------------------===//

  /// Between memory and registers, scalars or vectors.
  Num fromStorage(mlir::Value raw, mlir::Type type);
  mlir::Value toStorage(Num value, mlir::Type type);
  Num loadFlat(Buffer buffer, mlir::Value linearIndex);
  void storeFlat(Num value, Buffer buffer, mlir::Value linearIndex);
  Num number(mlir::Value v, bool isUnsigned = false) { return Num(b, loc, v, isUnsigned); }
  /// An index as a number of an integer or float type.
  Num number(mlir::Value indexValue, mlir::Type element);
  mlir::Value toIndex(Num integer);
  /// Element `index` (null: the only one) of a tensor from outside the group, or its value when that is a known scalar.
  Num scalarOperand(mlir::Value value, mlir::Value index = nullptr);
  /// A scalar constant in the register form of an ONNX type.
  Num constant(mlir::Type type, double value);

  //===-- Whole-tensor stages, each one linalg.generic ----------------------===//

  using Body = llvm::function_ref<llvm::SmallVector<Num>(llvm::ArrayRef<Num>)>;
  /// Numpy broadcasting of `buffer` to a loop nest over `shape`.
  Access broadcast(Buffer buffer, llvm::ArrayRef<int64_t> shape);
  /// The whole buffer, dimension by dimension.
  Access whole(Buffer buffer) { return {buffer, stridesOf(buffer.shape), 0}; }
  /// outs = body(ins) at every point of `shape`.
  void map(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Access> ins, llvm::ArrayRef<Access> outs, Body body);
  void copy(llvm::ArrayRef<int64_t> shape, Access from, Access to);
  void fill(Buffer buffer, Num value);
  /// out = fold of body(in..., accumulated) over the dimensions of `shape` in which `out` has stride 0; `out` must hold
  /// the initial value. Float sums may be reordered.
  void reduce(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Access> ins, llvm::ArrayRef<Access> outs, Body body);

  //===-- What has been built ------------------------------------------------===//

  struct Argument {
    enum Kind { Input, Output, Scratch } kind;
    mlir::Value value;  // the onnx value of an input or output
    int64_t offset = 0; // into the arena
  };
  llvm::SmallVector<Argument> arguments;
  int64_t scratchBytes = 0;

private:
  Buffer argument(Argument::Kind kind, mlir::Value value, llvm::ArrayRef<int64_t> shape, mlir::Type type,
                  int64_t offset);
  void generic(llvm::ArrayRef<int64_t> shape, llvm::ArrayRef<Access> ins, llvm::ArrayRef<Access> outs, Body body,
               bool readsOuts);
  Buffer constantTable(mlir::DenseElementsAttr values, mlir::Type type);

  llvm::MapVector<mlir::Value, Buffer> buffers;
};

} // namespace tilewright::cpu

#endif
