//===- OnnxImporter.cpp - ONNX files to the onnx dialect ------------------===//

#include "frontend/OnnxImporter.h"

#include "common/Error.h"
#include "dialects/onnx/OnnxDialect.h"
#include "frontend/AttributeImporter.h"
#include "frontend/GraphSorter.h"
#include "frontend/InputShapes.h"
#include "frontend/OnnxReader.h"
#include "frontend/OnnxSchema.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Builders.h"

#include <set>
#include <unordered_map>

using namespace mlir;
using namespace tilewright;
using namespace tilewright::onnxfile;

static std::string str(std::string_view text) { return std::string(text); }

namespace {

/// The values that names stand for, innermost graph first.
struct Scope {
  const Scope *outer = nullptr;
  std::unordered_map<std::string_view, Value> values;
  Value find(std::string_view name) const {
    for (const Scope *scope = this; scope; scope = scope->outer)
      if (auto found = scope->values.find(name); found != scope->values.end())
        return found->second;
    return nullptr;
  }
};

class Importer {
public:
  Importer(MLIRContext &context, const Model &model)
      : model(model), file(model.file->name()), builder(&context), attributes(context, file),
        unknown(UnrankedTensorType::get(onnx::UnknownType::get(&context))) {}

  OwningOpRef<ModuleOp> run(const ImportOptions &options) {
    checkOpsets(model.opsets);
    OwningOpRef<ModuleOp> module = ModuleOp::create(location("", 0));
    builder.setInsertionPointToEnd(module->getBody());
    (*module)->setAttr(onnx::kIrVersionAttr, builder.getI64IntegerAttr(model.irVersion));
    NamedAttrList opsets;
    for (auto [domain, version] : model.opsets)
      opsets.set(domain.empty() ? "ai.onnx" : StringRef(domain), builder.getI64IntegerAttr(version));
    (*module)->setAttr(onnx::kOpsetsAttr, opsets.getDictionary(builder.getContext()));
    importMain(options);
    for (const Function &function : model.functions)
      importFunction(function);
    return module;
  }

private:
  Location location(std::string_view name, size_t index) {
    Location place = FileLineColLoc::get(builder.getContext(), file, index, 0);
    return name.empty() ? place : NameLoc::get(builder.getStringAttr(name), place);
  }

  [[noreturn]] void fail(const std::string &what) const { throw Error(file + ": " + what); }

  void checkOpsets(const OpsetImports &imports) const {
    for (auto [domain, version] : imports)
      if (domain.empty() && (version < 1 || version > newestOnnxOpset()))
        fail("the model is written for opset " + std::to_string(version) + " of ai.onnx; opsets 1 to " +
             std::to_string(newestOnnxOpset()) + " are supported");
  }

  void importMain(const ImportOptions &options) {
    const Graph &graph = model.graph;
    // Before IR version 4 an initializer had to be listed as an input and was a constant; since then one that is listed
    // is an input with a default value, which is compiled in unless somebody asks for the input.
    std::unordered_map<std::string_view, const Tensor *> initializers;
    for (const Tensor &tensor : graph.initializers)
      if (!initializers.emplace(tensor.name, &tensor).second)
        fail("initializer '" + str(tensor.name) + "' is defined twice");
    std::vector<const ValueInfo *> inputs;
    std::set<std::string_view> names;
    for (const ValueInfo &input : graph.inputs) {
      if (!names.insert(input.name).second)
        fail("input '" + str(input.name) + "' is listed twice");
      std::string name(input.name);
      if (!initializers.count(input.name) ||
          (model.irVersion >= 4 && (options.inputShapes.count(name) || options.overridable.count(name))))
        inputs.push_back(&input);
    }
    InputShapes shapes(file, inputs, options);
    SmallVector<Type> types;
    for (size_t i = 0; i < inputs.size(); ++i)
      types.push_back(inputType(*inputs[i], shapes.shapes[i]));

    SmallVector<Type> resultTypes(graph.outputs.size(), unknown);
    auto main =
        func::FuncOp::create(builder, location(graph.name, 0), "main", builder.getFunctionType(types, resultTypes));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(main.addEntryBlock());
    Scope scope;
    for (size_t i = 0; i < inputs.size(); ++i) {
      scope.values[inputs[i]->name] = main.getArgument(i);
      main.setArgAttr(i, onnx::kNameAttr, builder.getStringAttr(inputs[i]->name));
      SmallVector<mlir::Attribute> symbols;
      for (const std::string &symbol : shapes.symbols[i])
        symbols.push_back(builder.getStringAttr(symbol));
      main.setArgAttr(i, onnx::kDimSymbolsAttr, builder.getArrayAttr(symbols));
      if (auto found = initializers.find(inputs[i]->name); found != initializers.end())
        main.setArgAttr(i, onnx::kDefaultValueAttr, attributes.elements(*found->second));
    }
    opsets = &model.opsets;
    importBody(graph, scope);
    SmallVector<Value> results;
    names.clear();
    for (auto [i, output] : llvm::enumerate(graph.outputs)) {
      if (!names.insert(output.name).second)
        fail("output '" + str(output.name) + "' is listed twice; results are told apart by their names");
      Value value = scope.find(output.name);
      if (!value)
        fail("output '" + str(output.name) + "' is defined by no node, input or initializer");
      results.push_back(value);
      main.setResultAttr(i, onnx::kNameAttr, builder.getStringAttr(output.name));
      if (output.type.kind > ValueType::Dense)
        fail("output '" + str(output.name) + "' is not a tensor; only tensors are supported as outputs");
    }
    func::ReturnOp::create(builder, main.getLoc(), results);
    main.setFunctionType(builder.getFunctionType(types, ValueRange(results).getTypes()));
  }

  RankedTensorType inputType(const ValueInfo &input, ArrayRef<int64_t> shape) {
    if (input.type.kind != ValueType::Dense)
      fail("input '" + str(input.name) + "' is not a tensor; only tensors are supported as inputs");
    Type element = attributes.elementType(input.type.elementType, "input '" + str(input.name) + "'");
    SmallVector<int64_t> dims;
    for (int64_t dim : shape)
      dims.push_back(dim < 0 ? ShapedType::kDynamic : dim);
    return RankedTensorType::get(dims, element);
  }

  void importFunction(const Function &function) {
    checkOpsets(function.opsets);
    SmallVector<Type> inputs(function.inputs.size(), unknown), outputs(function.outputs.size(), unknown);
    std::string name = str(function.domain) + "::" + str(function.name) +
                       (function.overload.empty() ? "" : "::" + str(function.overload));
    auto op = func::FuncOp::create(builder, location(function.name, 0), name, builder.getFunctionType(inputs, outputs));
    if (!functionNames.insert(name).second)
      fail("function '" + name + "' is defined twice");
    op.setPrivate();
    op->setAttr(onnx::kFunctionAttr, builder.getStringAttr(name));
    SmallVector<StringRef> taken(function.attributes.begin(), function.attributes.end());
    NamedAttrList defaults;
    for (const onnxfile::Attribute &attribute : function.defaults) {
      defaults.set(attribute.name, attributes.attribute(attribute));
      taken.push_back(attribute.name);
    }
    op->setAttr(onnx::kFunctionAttributesAttr, builder.getStrArrayAttr(taken));
    op->setAttr(onnx::kFunctionDefaultsAttr, defaults.getDictionary(builder.getContext()));
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(op.addEntryBlock());
    Scope scope;
    for (size_t i = 0; i < function.inputs.size(); ++i)
      scope.values[function.inputs[i]] = op.getArgument(i);
    opsets = &function.opsets;
    importNodes(function.nodes, scope);
    SmallVector<Value> results;
    for (std::string_view output : function.outputs) {
      Value value = scope.find(output);
      if (!value)
        fail("function '" + name + "': output '" + str(output) + "' is defined by no node or input");
      results.push_back(value);
    }
    func::ReturnOp::create(builder, op.getLoc(), results);
    op.setFunctionType(builder.getFunctionType(inputs, ValueRange(results).getTypes()));
  }

  /// Initializers and nodes of a graph, at the insertion point.
  void importBody(const Graph &graph, Scope &scope) {
    auto constant = [&](std::string_view name, ElementsAttr value) {
      if (!scope.values.count(name)) // an input with a default value
        scope.values[name] = onnx::ConstantOp::create(builder, location(name, 0), value);
    };
    for (const Tensor &tensor : graph.initializers)
      constant(tensor.name, attributes.elements(tensor));
    for (const SparseTensor &sparse : graph.sparseInitializers)
      constant(sparse.values.name, attributes.elements(sparse));
    importNodes(graph.nodes, scope);
  }

  void importNodes(const std::vector<Node> &nodes, Scope &scope) {
    Value none;
    for (const Node *node : sortNodes(nodes, file)) {
      SmallVector<Value> operands;
      for (std::string_view input : node->inputs) {
        if (input.empty()) {
          if (!none)
            none = noneInBlock();
          operands.push_back(none);
          continue;
        }
        Value value = scope.find(input);
        if (!value)
          fail(describe(*node) + " reads '" + str(input) + "', which no node, input or initializer defines");
        operands.push_back(value);
      }
      importNode(*node, static_cast<size_t>(node - nodes.data()), operands, scope);
    }
  }

  Value noneInBlock() {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(builder.getInsertionBlock());
    return onnx::NoneOp::create(builder, location("", 0));
  }

  /// The version of the operator's schema; the opset itself when there is no schema (a function, an unknown operator),
  /// 0 when the domain is not imported.
  int64_t sinceVersion(const Node &node) const {
    auto imported = opsets->find(node.domain);
    if (imported == opsets->end())
      return 0;
    const OnnxSchema *schema = findOnnxSchema(node.domain, node.opType, imported->second);
    return schema ? schema->sinceVersion : imported->second;
  }

  void importNode(const Node &node, size_t index, ArrayRef<Value> operands, Scope &scope) {
    if (node.opType.empty())
      fail(describe(node) + " has no operator type");
    NamedAttrList attrs;
    SmallVector<mlir::Attribute> regionNames;
    SmallVector<const Graph *> bodies;
    for (const onnxfile::Attribute &attribute : node.attributes) {
      if (attribute.name.empty())
        fail(describe(node) + " has an attribute without a name");
      if (attribute.graph && attribute.reference.empty()) {
        regionNames.push_back(builder.getStringAttr(attribute.name));
        bodies.push_back(attribute.graph.get());
      } else if (attrs.get(attribute.name)) {
        fail(describe(node) + " gives attribute '" + str(attribute.name) + "' twice");
      } else {
        attrs.set(attribute.name, attributes.attribute(attribute, describe(node)));
      }
    }
    SmallVector<Type> types(node.outputs.size(), unknown);
    std::string opType = str(node.opType) + (node.overload.empty() ? "" : "::" + str(node.overload));
    OperationState state(location(node.name, index), onnx::NodeOp::getOperationName());
    onnx::NodeOp::build(builder, state, types, operands, builder.getStringAttr(opType),
                        builder.getStringAttr(node.domain), builder.getI64IntegerAttr(sinceVersion(node)),
                        attrs.getDictionary(builder.getContext()),
                        regionNames.empty() ? ArrayAttr() : builder.getArrayAttr(regionNames), bodies.size());
    SmallVector<StringRef> outputs(node.outputs.begin(), node.outputs.end());
    state.addAttribute(onnx::kOutputNamesAttr, builder.getStrArrayAttr(outputs));
    auto op = cast<onnx::NodeOp>(builder.create(state));
    for (auto [region, body] : llvm::zip_equal(op.getBodies(), bodies))
      importSubgraph(*body, region, scope);
    for (size_t i = 0; i < node.outputs.size(); ++i) {
      if (node.outputs[i].empty())
        continue;
      if (!scope.values.emplace(node.outputs[i], op.getResult(i)).second)
        fail(describe(node) + " defines '" + str(node.outputs[i]) + "', which is already defined");
    }
  }

  void importSubgraph(const Graph &graph, Region &region, const Scope &outer) {
    OpBuilder::InsertionGuard guard(builder);
    Block *block = builder.createBlock(&region);
    Scope scope;
    scope.outer = &outer;
    for (const ValueInfo &input : graph.inputs)
      scope.values[input.name] = block->addArgument(unknown, location(input.name, 0));
    importBody(graph, scope);
    SmallVector<Value> results;
    for (const ValueInfo &output : graph.outputs) {
      Value value = scope.find(output.name);
      if (!value)
        fail("subgraph '" + str(graph.name) + "': output '" + str(output.name) + "' is not defined");
      results.push_back(value);
    }
    onnx::YieldOp::create(builder, location(graph.name, 0), results);
  }

  const Model &model;
  std::string file;
  OpBuilder builder;
  AttributeImporter attributes;
  Type unknown;
  const OpsetImports *opsets = nullptr;
  std::set<std::string> functionNames;
};

} // namespace

OwningOpRef<ModuleOp> tilewright::importOnnx(MLIRContext &context, std::shared_ptr<const MappedFile> file,
                                             const ImportOptions &options) {
  context.loadDialect<func::FuncDialect, onnx::OnnxDialect>();
  Model model = readOnnx(std::move(file));
  return Importer(context, model).run(options);
}

OwningOpRef<ModuleOp> tilewright::importOnnx(MLIRContext &context, const std::filesystem::path &path,
                                             const ImportOptions &options) {
  return importOnnx(context, MappedFile::open(path), options);
}
