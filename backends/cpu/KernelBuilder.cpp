//===- KernelBuilder.cpp - writes the body of one host kernel -------------===//

#include "backends/cpu/KernelBuilder.h"
#include "backends/cpu/Constants.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace tilewright::cpu {

int64_t product(ArrayRef<int64_t> shape) {
  int64_t size = 1;
  for (int64_t dim : shape)
    size *= dim;
  return size;
}

Shape stridesOf(ArrayRef<int64_t> shape) {
  Shape strides(shape.size(), 1);
  for (int64_t i = static_cast<int64_t>(shape.size()) - 2; i >= 0; --i)
    strides[i] = strides[i + 1] * shape[i + 1];
  return strides;
}

Type storageType(Type element) {
  if (element.isInteger(1))
    return IntegerType::get(element.getContext(), 8);
  if (auto integer = dyn_cast<IntegerType>(element))
    return IntegerType::get(element.getContext(), integer.getWidth());
  return element;
}

Type computeType(Type element) {
  if (element.isF16() || element.isBF16())
    return Float32Type::get(element.getContext());
  if (element.isInteger(1))
    return element;
  return storageType(element);
}

Shape shapeOf(Value value) { return Shape(cast<RankedTensorType>(value.getType()).getShape()); }
Type elementOf(Value value) { return cast<RankedTensorType>(value.getType()).getElementType(); }

KernelBuilder::KernelBuilder(ModuleOp module, StringRef symbol, Location loc) : b(module.getContext()), loc(loc) {
  b.setInsertionPointToEnd(module.getBody());
  function = func::FuncOp::create(b, loc, symbol, b.getFunctionType({}, {}));
  b.setInsertionPointToStart(function.addEntryBlock());
  func::ReturnOp::create(b, loc);
  b.setInsertionPoint(function.getBody().front().getTerminator());
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

Buffer KernelBuilder::argument(Argument::Kind kind, Value value, ArrayRef<int64_t> shape, Type type, int64_t offset) {
  // A tensor without elements is memref<0xT>, whatever its shape: zero strides have no bare pointer.
  auto memref = MemRefType::get(product(shape) == 0 ? ArrayRef<int64_t>(int64_t(0)) : shape, storageType(type));
  unsigned position = function.getNumArguments();
  (void)function.insertArgument(position, memref, DictionaryAttr(), loc);
  arguments.push_back({kind, value, offset});
  return {function.getArgument(position), Shape(shape), type};
}

Buffer KernelBuilder::input(Value value) {
  auto it = buffers.find(value);
  if (it != buffers.end())
    return it->second;
  Buffer buffer = argument(Argument::Input, value, shapeOf(value), elementOf(value), 0);
  buffers[value] = buffer;
  return buffer;
}

Buffer KernelBuilder::output(Value value) {
  auto it = buffers.find(value);
  if (it != buffers.end())
    return it->second;
  Buffer buffer = argument(Argument::Output, value, shapeOf(value), elementOf(value), 0);
  buffers[value] = buffer;
  return buffer;
}

Buffer KernelBuilder::scratch(ArrayRef<int64_t> shape, Type type) {
  int64_t bytes = product(shape) * llvm::divideCeil(storageType(type).getIntOrFloatBitWidth(), 8);
  Buffer buffer = argument(Argument::Scratch, nullptr, shape, type, scratchBytes);
  scratchBytes += llvm::alignTo(bytes, 64);
  return buffer;
}

Buffer KernelBuilder::constantTable(DenseElementsAttr values, Type type) {
  auto module = function->getParentOfType<ModuleOp>();
  auto memref = MemRefType::get(values.getType().getShape(), storageType(type));
  std::string name;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    name = (function.getName() + "_table" + Twine(std::distance(module.getBody()->begin(), module.getBody()->end())))
               .str();
    memref::GlobalOp::create(b, loc, name, b.getStringAttr("private"), memref, values, /*constant=*/true,
                             b.getI64IntegerAttr(64));
  }
  return {memref::GetGlobalOp::create(b, loc, memref, name), Shape(memref.getShape()), type};
}

Buffer KernelBuilder::table(ArrayRef<int64_t> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, b.getI64Type());
  return constantTable(DenseElementsAttr::get(type, values), b.getI64Type());
}

Buffer KernelBuilder::table(ArrayRef<float> values) {
  auto type = RankedTensorType::get({static_cast<int64_t>(values.size())}, b.getF32Type());
  return constantTable(DenseElementsAttr::get(type, values), b.getF32Type());
}

Buffer KernelBuilder::view(Buffer buffer, ArrayRef<int64_t> shape) {
  assert(product(shape) == buffer.size() && "a view has as many elements as what it shows");
  if (buffer.shape == shape || buffer.size() == 0)
    return {buffer.memref, Shape(shape), buffer.type};
  auto type = MemRefType::get(shape, storageType(buffer.type));
  Value memref = memref::ReinterpretCastOp::create(b, loc, type, buffer.memref, /*offset=*/0, shape, stridesOf(shape));
  return {memref, Shape(shape), buffer.type};
}

Value KernelBuilder::flat(Buffer buffer) { return view(buffer, {buffer.size()}).memref; }

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

Value KernelBuilder::index(int64_t value) { return arith::ConstantIndexOp::create(b, loc, value); }

void KernelBuilder::parallelLoop(int64_t count, int64_t work, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, index(0), index(count), index(1));
  if (count > 1 && work >= kParallelThreshold)
    loop->setAttr(kParallelAttr, b.getUnitAttr());
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void KernelBuilder::loop(Value begin, Value end, Value step, function_ref<void(Value)> body) {
  auto loop = scf::ForOp::create(b, loc, begin, end, step);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  body(loop.getInductionVar());
}

void KernelBuilder::loop(int64_t count, function_ref<void(Value)> body) {
  loop(index(0), index(count), index(1), body);
}

SmallVector<Value> KernelBuilder::loop(Value begin, Value end, Value step, ValueRange initial,
                                       function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(b, loc, begin, end, step, initial);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> next = body(loop.getInductionVar(), loop.getRegionIterArgs());
  scf::YieldOp::create(b, loc, next);
  return SmallVector<Value>(loop.getResults());
}

void KernelBuilder::nest(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<Value>)> body) {
  SmallVector<Value> indices;
  OpBuilder::InsertionGuard guard(b);
  for (int64_t dim : shape) {
    auto loop = scf::ForOp::create(b, loc, index(0), index(dim), index(1));
    b.setInsertionPointToStart(loop.getBody());
    indices.push_back(loop.getInductionVar());
  }
  body(indices);
}

void KernelBuilder::forEach(ArrayRef<int64_t> shape, function_ref<void(ArrayRef<Value>)> body) {
  size_t outer = 0;
  int64_t count = 1;
  while (outer < shape.size() && count < 8)
    count *= shape[outer++];
  parallelLoop(count, product(shape), [&](Value i) {
    SmallVector<Value> indices = delinearize(i, shape.take_front(outer));
    nest(shape.drop_front(outer), [&](ArrayRef<Value> inner) {
      SmallVector<Value> all(indices);
      all.append(inner.begin(), inner.end());
      body(all);
    });
  });
}

static std::optional<int64_t> constantOf(Value x) { return getConstantIntValue(x); }

Value KernelBuilder::add(Value x, Value y) {
  auto cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return index(*cx + *cy);
  if (cx && *cx == 0)
    return y;
  if (cy && *cy == 0)
    return x;
  return arith::AddIOp::create(b, loc, x, y);
}

Value KernelBuilder::mul(Value x, Value y) {
  auto cx = constantOf(x), cy = constantOf(y);
  if (cx && cy)
    return index(*cx * *cy);
  if ((cx && *cx == 0) || (cy && *cy == 1))
    return x;
  if ((cy && *cy == 0) || (cx && *cx == 1))
    return y;
  return arith::MulIOp::create(b, loc, x, y);
}

Value KernelBuilder::div(Value x, int64_t y) {
  if (y == 1)
    return x;
  return arith::DivUIOp::create(b, loc, x, index(y));
}

Value KernelBuilder::rem(Value x, int64_t y) {
  if (y == 1)
    return index(0);
  return arith::RemUIOp::create(b, loc, x, index(y));
}

Value KernelBuilder::min(Value x, Value y) { return arith::MinSIOp::create(b, loc, x, y); }

Value KernelBuilder::linear(ArrayRef<Value> indices, ArrayRef<int64_t> strides, int64_t offset) {
  Value sum = index(offset);
  for (auto [i, stride] : llvm::zip_equal(indices, strides))
    if (stride != 0)
      sum = add(sum, mul(i, stride));
  return sum;
}

SmallVector<Value> KernelBuilder::delinearize(Value linear, ArrayRef<int64_t> shape) {
  SmallVector<Value> indices(shape.size());
  for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d > 0; --d) {
    indices[d] = rem(linear, shape[d]);
    linear = div(linear, shape[d]);
  }
  if (!shape.empty())
    indices[0] = linear;
  return indices;
}

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

Num KernelBuilder::fromStorage(Value raw, Type type) {
  Num value(b, loc, raw, isUnsignedType(type));
  if (type.isInteger(1))
    return Num(b, loc, (value != value.integer(0)).v);
  if (computeType(type) != storageType(type))
    return convert(value, computeType(type));
  return value;
}

Value KernelBuilder::toStorage(Num value, Type type) {
  Type storage = storageType(type);
  if (value.element() == storage)
    return value.v;
  if (type.isInteger(1))
    return arith::ExtUIOp::create(b, loc, value.like(storage), value.v);
  return convert(value, storage).v;
}

Num KernelBuilder::loadFlat(Buffer buffer, Value linearIndex) {
  return fromStorage(memref::LoadOp::create(b, loc, flat(buffer), linearIndex), buffer.type);
}

void KernelBuilder::storeFlat(Num value, Buffer buffer, Value linearIndex) {
  memref::StoreOp::create(b, loc, toStorage(value, buffer.type), flat(buffer), linearIndex);
}

Num KernelBuilder::number(Value indexValue, Type element) {
  Value integer = arith::IndexCastOp::create(b, loc, b.getI64Type(), indexValue);
  return convert(number(integer), element);
}

Value KernelBuilder::toIndex(Num integer) {
  if (integer.isUnsigned)
    return arith::IndexCastUIOp::create(b, loc, b.getIndexType(), integer.v);
  return arith::IndexCastOp::create(b, loc, b.getIndexType(), integer.v);
}

Num KernelBuilder::scalarOperand(Value value, Value at) {
  if (TypedAttr scalar = constantScalar(value))
    return number(arith::ConstantOp::create(b, loc, scalar), isUnsignedType(elementOf(value)));
  return loadFlat(input(value), at ? at : index(0));
}

Num KernelBuilder::constant(Type type, double value) {
  Type compute = computeType(type);
  Value zero = arith::ConstantOp::create(b, loc, cast<TypedAttr>(b.getZeroAttr(compute)));
  return Num(b, loc, zero, isUnsignedType(type))(value);
}

//===----------------------------------------------------------------------===//
// Whole-tensor stages
//===----------------------------------------------------------------------===//

Access KernelBuilder::broadcast(Buffer buffer, ArrayRef<int64_t> shape) {
  Access access{buffer, Shape(shape.size(), 0), 0};
  Shape strides = stridesOf(buffer.shape);
  size_t shift = shape.size() - buffer.shape.size();
  for (size_t i = 0; i < buffer.shape.size(); ++i)
    if (buffer.shape[i] != 1 || shape[shift + i] == 1)
      access.strides[shift + i] = strides[i];
  return access;
}

/// Joins neighbouring dimensions that every access walks through as if they were one.
static Shape coalesce(ArrayRef<int64_t> shape, SmallVectorImpl<Access *> &accesses) {
  Shape joined;
  SmallVector<Shape> strides(accesses.size());
  for (size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] == 1)
      continue;
    bool joins = !joined.empty();
    for (size_t a = 0; joins && a < accesses.size(); ++a)
      joins = strides[a].back() == accesses[a]->strides[d] * shape[d];
    if (joins) {
      joined.back() *= shape[d];
      for (size_t a = 0; a < accesses.size(); ++a)
        strides[a].back() = accesses[a]->strides[d];
    } else {
      joined.push_back(shape[d]);
      for (size_t a = 0; a < accesses.size(); ++a)
        strides[a].push_back(accesses[a]->strides[d]);
    }
  }
  for (size_t a = 0; a < accesses.size(); ++a)
    accesses[a]->strides = strides[a];
  return joined;
}

void KernelBuilder::generic(ArrayRef<int64_t> fullShape, ArrayRef<Access> ins, ArrayRef<Access> outs, Body body,
                            bool readsOuts) {
  if (product(fullShape) == 0)
    return;
  SmallVector<Access> all(ins);
  all.append(outs.begin(), outs.end());
  SmallVector<Access *> pointers;
  for (Access &access : all)
    pointers.push_back(&access);
  Shape shape = coalesce(fullShape, pointers);

  // Loops of a reduction run innermost, so that the others can be spread over threads.
  auto isReduction = [&](size_t d) {
    return readsOuts && llvm::all_of(llvm::drop_begin(all, ins.size()), [&](Access &a) { return a.strides[d] == 0; });
  };
  SmallVector<unsigned> order;
  for (size_t d = 0; d < shape.size(); ++d)
    if (!isReduction(d))
      order.push_back(d);
  size_t parallelLoops = order.size();
  for (size_t d = 0; d < shape.size(); ++d)
    if (isReduction(d))
      order.push_back(d);

  SmallVector<Value> operands;
  SmallVector<AffineMap> maps;
  SmallVector<Type> types;
  for (Access &access : all) {
    Shape sizes, strides;
    SmallVector<AffineExpr> results;
    for (auto [position, d] : llvm::enumerate(order))
      if (access.strides[d] != 0) {
        sizes.push_back(shape[d]);
        strides.push_back(access.strides[d]);
        results.push_back(b.getAffineDimExpr(position));
      }
    Type storage = storageType(access.buffer.type);
    auto layout = StridedLayoutAttr::get(b.getContext(), access.offset, strides);
    auto type = MemRefType::get(sizes, storage, layout);
    operands.push_back(
        memref::ReinterpretCastOp::create(b, loc, type, access.buffer.memref, access.offset, sizes, strides));
    maps.push_back(AffineMap::get(order.size(), 0, results, b.getContext()));
    types.push_back(access.buffer.type);
  }
  SmallVector<utils::IteratorType> iterators(order.size(), utils::IteratorType::parallel);
  for (size_t i = parallelLoops; i < order.size(); ++i)
    iterators[i] = utils::IteratorType::reduction;
  auto op = linalg::GenericOp::create(b, loc, TypeRange(), ValueRange(operands).take_front(ins.size()),
                                      ValueRange(operands).drop_front(ins.size()), maps, iterators,
                                      [&](OpBuilder &nested, Location, ValueRange args) {
                                        // The body is written by this builder, at the place the nested one stands.
                                        OpBuilder::InsertionGuard guard(b);
                                        b.setInsertionPoint(nested.getInsertionBlock(), nested.getInsertionPoint());
                                        SmallVector<Num> numbers;
                                        for (auto [i, arg] : llvm::enumerate(args))
                                          if (i < ins.size() || readsOuts)
                                            numbers.push_back(fromStorage(arg, types[i]));
                                        SmallVector<Value> yielded;
                                        for (auto [i, result] : llvm::enumerate(body(numbers)))
                                          yielded.push_back(toStorage(result, types[ins.size() + i]));
                                        linalg::YieldOp::create(b, loc, yielded);
                                      });
  if (parallelLoops > 0 && product(fullShape) >= kParallelThreshold)
    op->setAttr(kParallelAttr, b.getUnitAttr());
}

void KernelBuilder::map(ArrayRef<int64_t> shape, ArrayRef<Access> ins, ArrayRef<Access> outs, Body body) {
  generic(shape, ins, outs, body, /*readsOuts=*/false);
}

void KernelBuilder::reduce(ArrayRef<int64_t> shape, ArrayRef<Access> ins, ArrayRef<Access> outs, Body body) {
  generic(shape, ins, outs, body, /*readsOuts=*/true);
}

void KernelBuilder::copy(ArrayRef<int64_t> shape, Access from, Access to) {
  map(shape, {from}, {to}, [](ArrayRef<Num> x) -> SmallVector<Num> { return {x[0]}; });
}

void KernelBuilder::fill(Buffer buffer, Num value) {
  map(buffer.shape, {}, {whole(buffer)}, [&](ArrayRef<Num>) -> SmallVector<Num> { return {value}; });
}

} // namespace tilewright::cpu
