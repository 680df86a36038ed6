//===- ElementTypes.cpp - element types from the operator schemas ---------===//
//
// ONNX never converts by itself: inputs that share a type variable must have one type, and most results take theirs
// from an input the same way. Rules only set the type of results that no input tells (Cast, Constant ...).
//
//===----------------------------------------------------------------------===//

#include "passes/shapes/ShapeContext.h"

#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace tilewright;
using namespace tilewright::shapes;

/// The schema tables' short name of a type.
static std::string schemaName(Type type) {
  if (isa<onnx::StringType>(type))
    return "str";
  if (auto integer = dyn_cast<IntegerType>(type))
    return (integer.isUnsigned() ? "u" : "i") + std::to_string(integer.getWidth());
  if (auto complex = dyn_cast<ComplexType>(type))
    return complex.getElementType().isF32() ? "c64" : "c128";
  std::string text;
  llvm::raw_string_ostream(text) << type;
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return static_cast<char>(std::tolower(c)); });
  return text; // f32, bf16, f8e4m3fn ...
}

static Type schemaType(StringRef name, MLIRContext *context) {
  Builder builder(context);
  return llvm::StringSwitch<Type>(name)
      .Case("f32", builder.getF32Type())
      .Case("f16", builder.getF16Type())
      .Case("bf16", builder.getBF16Type())
      .Case("f64", builder.getF64Type())
      .Case("i1", builder.getI1Type())
      .Case("i8", builder.getI8Type())
      .Case("i16", builder.getI16Type())
      .Case("i32", builder.getI32Type())
      .Case("i64", builder.getI64Type())
      .Case("u8", builder.getIntegerType(8, false))
      .Case("u16", builder.getIntegerType(16, false))
      .Case("u32", builder.getIntegerType(32, false))
      .Case("u64", builder.getIntegerType(64, false))
      .Case("str", onnx::StringType::get(context))
      .Default(Type());
}

std::string shapes::onnxTypeName(Type element) {
  std::string name = schemaName(element);
  return llvm::StringSwitch<std::string>(name)
      .Case("f32", "float")
      .Case("f64", "double")
      .Case("f16", "float16")
      .Case("bf16", "bfloat16")
      .Case("i1", "bool")
      .Case("str", "string")
      .Cases({"i8", "i16", "i32", "i64"}, "int" + name.substr(1))
      .Cases({"u8", "u16", "u32", "u64"}, "uint" + name.substr(1))
      .Default(name);
}

LogicalResult shapes::inferElementTypes(ShapeContext &context, const OnnxSchema &schema) {
  std::map<std::string_view, std::pair<Type, unsigned>> bound;
  for (unsigned i = 0; i < context.inputs(); ++i) {
    Type type = context.elementType(i);
    const OnnxSchema::Parameter *formal = schema.input(i);
    if (!type || !formal)
      continue;
    std::string name = schemaName(type);
    auto variable = schema.types.find(formal->type);
    if (variable == schema.types.end()) {
      if (formal->type != name)
        return context.error() << "input " << i << " is of type " << onnxTypeName(type)
                               << ", which the operator does not take there";
      continue;
    }
    if (!llvm::is_contained(variable->second, std::string_view(name)))
      return context.error() << "input " << i << " is of type " << onnxTypeName(type)
                             << ", which this version of the operator does not take";
    if (formal->kind == OnnxSchema::Parameter::MixedVariadic)
      continue;
    auto [known, isNew] = bound.try_emplace(formal->type, type, i);
    if (!isNew && known->second.first != type)
      return context.error() << "input " << i << " is of type " << onnxTypeName(type) << " and input "
                             << known->second.second << " of type " << onnxTypeName(known->second.first)
                             << "; they must be the same";
  }
  for (unsigned i = 0; i < context.results(); ++i) {
    const OnnxSchema::Parameter *formal = schema.output(i);
    if (!formal)
      continue;
    auto variable = schema.types.find(formal->type);
    if (variable == schema.types.end())
      context.setType(i, schemaType(formal->type, context.symbols.context));
    else if (auto found = bound.find(formal->type); found != bound.end())
      context.setType(i, found->second.first);
    else if (variable->second.size() == 1)
      context.setType(i, schemaType(variable->second[0], context.symbols.context));
  }
  return success();
}
