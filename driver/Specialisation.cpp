//===- Specialisation.cpp -------------------------------------------------===//

#include "driver/Specialisation.h"

#include "common/Error.h"
#include "dialects/onnx/OnnxDialect.h"
#include "driver/PlanBuilder.h"
#include "frontend/OnnxImporter.h"
#include "passes/OnnxPipeline.h"
#include "runtime/Tensor.h"

using namespace mlir;

namespace tilewright {

std::string argumentName(func::FuncOp main, unsigned index) {
  auto name = main.getArgAttrOfType<StringAttr>(index, onnx::kNameAttr);
  return name ? name.str() : "argument" + std::to_string(index);
}

std::string resultName(func::FuncOp main, unsigned index) {
  auto name = main.getResultAttrOfType<StringAttr>(index, onnx::kNameAttr);
  return name ? name.str() : "result" + std::to_string(index);
}

static std::vector<std::string> symbolsOf(func::FuncOp main, unsigned argument) {
  std::vector<std::string> symbols;
  if (auto list = main.getArgAttrOfType<ArrayAttr>(argument, onnx::kDimSymbolsAttr))
    for (Attribute symbol : list)
      symbols.push_back(cast<StringAttr>(symbol).str());
  return symbols;
}

static runtime::Shape sizesOf(Type type) {
  runtime::Shape sizes;
  if (auto tensor = dyn_cast<RankedTensorType>(type))
    for (int64_t size : tensor.getShape())
      sizes.push_back(ShapedType::isDynamic(size) ? -1 : size);
  return sizes;
}

static void requireStaticShapes(func::FuncOp main, const std::string &file) {
  std::string open;
  for (auto [index, type] : llvm::enumerate(main.getArgumentTypes()))
    if (!isa<RankedTensorType>(type) || !cast<RankedTensorType>(type).hasStaticShape())
      open += (open.empty() ? "" : ", ") + argumentName(main, index) + " " +
              runtime::shapeText(sizesOf(type), symbolsOf(main, index));
  if (!open.empty())
    throw Error(file + ": these inputs have open sizes: " + open +
                ". Say what to compile for with --input-shape=NAME:1x3x224x224 (several times for several "
                "specialisations), or --batch=N where only the first size is open");
  main.walk([&](onnx::NodeOp node) {
    for (Value result : node.getOutputs()) {
      auto tensor = dyn_cast<RankedTensorType>(result.getType());
      if (!result.use_empty() && (!tensor || !tensor.hasStaticShape()))
        node.emitError() << node.getQualifiedName() << "(" << node.getSinceVersion()
                         << "): the shape of its result depends on values that are not known when compiling";
    }
  });
}

Specialisation importSpecialisation(MLIRContext &context, std::shared_ptr<const MappedFile> model,
                                    const InputShapeMap &shapes, std::optional<int64_t> batch,
                                    const DiagnosticCollector &diagnostics) {
  ImportOptions options;
  options.inputShapes = shapes;
  options.batch = batch;
  Specialisation result;
  result.module = importOnnx(context, model, options);
  PassManager passes(&context);
  buildOnnxPipeline(passes);
  diagnostics.raiseIf(failed(passes.run(*result.module)), "reading the model");
  result.main = result.module->lookupSymbol<func::FuncOp>("main");
  requireStaticShapes(result.main, model->name());
  diagnostics.raiseIfAny();
  return result;
}

static std::unique_ptr<package::TensorT> declare(const std::string &name, Type type, std::vector<std::string> symbols) {
  auto tensor = std::make_unique<package::TensorT>();
  tensor->name = name;
  tensor->type = elementTypeOf(cast<ShapedType>(type).getElementType(), "'" + name + "'");
  tensor->sizes = sizesOf(type);
  symbols.resize(tensor->sizes.size());
  tensor->symbols = std::move(symbols);
  return tensor;
}

Signature declaredSignature(MLIRContext &context, std::shared_ptr<const MappedFile> model, func::FuncOp compiled) {
  ImportOptions options;
  for (unsigned index = 0; index < compiled.getNumArguments(); ++index)
    options.overridable.insert(argumentName(compiled, index));
  OwningOpRef<ModuleOp> module = importOnnx(context, model, options);
  PassManager passes(&context);
  buildOnnxPipeline(passes);
  // With open sizes a model may not pass: then its outputs are declared with the sizes that it was compiled for.
  ScopedDiagnosticHandler quiet(&context, [](Diagnostic &) {});
  bool inferred = succeeded(passes.run(*module));
  auto main = module->lookupSymbol<func::FuncOp>("main");
  Signature signature;
  for (auto [index, type] : llvm::enumerate(main.getArgumentTypes()))
    signature.inputs.push_back(declare(argumentName(main, index), type, symbolsOf(main, index)));
  for (auto [index, type] : llvm::enumerate(main.getResultTypes()))
    signature.outputs.push_back(
        declare(resultName(main, index),
                inferred && isa<RankedTensorType>(type) ? type : compiled.getResultTypes()[index], {}));
  // Layers' results that were made outputs come after the model's own.
  for (unsigned index = main.getNumResults(); index < compiled.getNumResults(); ++index)
    signature.outputs.push_back(declare(resultName(compiled, index), compiled.getResultTypes()[index], {}));
  if (inferred)
    signature.batch = analyseBatch(main);
  else
    signature.batch.obstacle = "its shapes cannot be inferred with open sizes";
  return signature;
}

} // namespace tilewright
