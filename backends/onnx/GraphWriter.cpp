//===- GraphWriter.cpp - an ONNX graph from MLIR values -------------------===//

#include "backends/onnx/GraphWriter.h"

#include "common/Error.h"
#include "dialects/onnx/ConstantData.h"
#include "dialects/onnx/NodeBuilder.h"
#include "frontend/OnnxSchema.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace tilewright;
using onnxfile::DataType;
using onnxfile::Writer;

DataType tilewright::onnxDataType(Type element) {
  if (element.isF32())
    return DataType::Float;
  if (element.isF16())
    return DataType::Float16;
  if (element.isBF16())
    return DataType::BFloat16;
  if (element.isF64())
    return DataType::Double;
  if (auto integer = dyn_cast<IntegerType>(element)) {
    bool isUnsigned = integer.isUnsigned();
    switch (integer.getWidth()) {
    case 1:
      return DataType::Bool;
    case 8:
      return isUnsigned ? DataType::UInt8 : DataType::Int8;
    case 16:
      return isUnsigned ? DataType::UInt16 : DataType::Int16;
    case 32:
      return isUnsigned ? DataType::UInt32 : DataType::Int32;
    case 64:
      return isUnsigned ? DataType::UInt64 : DataType::Int64;
    }
  }
  std::string text;
  llvm::raw_string_ostream(text) << element;
  throw Error("element type " + text + " cannot be written to an ONNX file");
}

RankedTensorType tilewright::rankedType(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type)
    throw Error("a tensor of unknown rank cannot be written to an ONNX file");
  return type;
}

/// Dynamic dimensions get the symbols given, or none.
static std::vector<Writer::Dim> onnxDims(RankedTensorType type, ArrayRef<std::string> symbols = {}) {
  std::vector<Writer::Dim> dims;
  for (auto [i, size] : llvm::enumerate(type.getShape()))
    if (ShapedType::isDynamic(size))
      dims.push_back(i < symbols.size() ? symbols[i] : std::string());
    else
      dims.push_back(size);
  return dims;
}

static SmallVector<std::string> symbols(func::FuncOp function, BlockArgument argument) {
  SmallVector<std::string> result;
  if (auto array = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), onnx::kDimSymbolsAttr))
    for (Attribute symbol : array)
      result.push_back(cast<StringAttr>(symbol).str());
  return result;
}

static Operation *terminator(func::FuncOp function) { return function.getBody().front().getTerminator(); }

GraphWriter::GraphWriter(func::FuncOp function) : function(function) {
  for (BlockArgument argument : function.getArguments())
    writer.input(name(argument), onnxDataType(rankedType(argument).getElementType()),
                 onnxDims(rankedType(argument), symbols(function, argument)));
  // Outputs keep their names in the model: the value that is returned takes it, once.
  for (auto [index, value] : llvm::enumerate(terminator(function)->getOperands())) {
    auto attribute = function.getResultAttrOfType<StringAttr>(index, onnx::kNameAttr);
    std::string output = attribute ? attribute.str() : unique("output");
    outputNames.push_back(output);
    if (value.getDefiningOp() && !value.getDefiningOp<onnx::ConstantOp>() && !names.contains(value) &&
        taken.insert(output).second)
      names[value] = output;
  }
}

std::string GraphWriter::unique(StringRef hint) {
  std::string candidate = hint.str();
  for (int i = 0; !taken.insert(candidate).second; ++i)
    candidate = (hint + "_" + Twine(i)).str();
  return candidate;
}

std::string GraphWriter::name(Value value) {
  if (onnx::isAbsent(value))
    return "";
  auto [slot, isNew] = names.try_emplace(value);
  if (!isNew)
    return slot->second;
  StringRef own = value.getDefiningOp<onnx::ConstantOp>() ? "" : onnx::tensorName(value);
  // A layer's map has no name in the model; it gets the layer's.
  if (own.empty() && value.getDefiningOp())
    if (auto layer = value.getDefiningOp()->getAttrOfType<StringAttr>("layer"))
      own = layer.getValue();
  std::string chosen = unique(own.empty() ? "tensor" : own);
  names[value] = chosen;
  if (auto constant = value.getDefiningOp<onnx::ConstantOp>()) {
    auto type = cast<RankedTensorType>(constant.getType());
    onnx::ConstantBytes bytes(constant.getValue());
    writer.initializer(
        chosen,
        {onnxDataType(type.getElementType()), type.getShape().vec(), {bytes.bytes().data(), bytes.bytes().size()}});
  }
  return chosen;
}

void GraphWriter::write(Operation *op) {
  if (isa<onnx::NoneOp, onnx::ConstantOp>(op))
    return;
  auto node = dyn_cast<onnx::NodeOp>(op);
  if (!node || !node.getBodies().empty())
    throw Error((node ? node.getQualifiedName() : op->getName().getStringRef().str()) +
                " cannot be written to an ONNX file");
  writeNode(node);
}

static Writer::AttributeValue convertArray(Attribute value) {
  auto array = dyn_cast<ArrayAttr>(value);
  if (!array)
    throw Error("an attribute cannot be written to an ONNX file");
  std::vector<int64_t> integers;
  std::vector<float> floats;
  std::vector<std::string> strings;
  for (Attribute element : array)
    if (auto number = dyn_cast<FloatAttr>(element))
      floats.push_back(static_cast<float>(number.getValueAsDouble()));
    else if (auto integer = dyn_cast<IntegerAttr>(element))
      integers.push_back(integer.getInt());
    else if (auto text = dyn_cast<StringAttr>(element))
      strings.push_back(text.str());
    else
      throw Error("an attribute cannot be written to an ONNX file");
  if (!strings.empty())
    return strings;
  if (!floats.empty())
    return floats;
  return integers;
}

static Writer::AttributeValue convert(Attribute value, std::vector<std::unique_ptr<onnx::ConstantBytes>> &tensors) {
  if (auto integer = dyn_cast<IntegerAttr>(value))
    return integer.getInt();
  if (auto number = dyn_cast<FloatAttr>(value))
    return static_cast<float>(number.getValueAsDouble());
  if (auto text = dyn_cast<StringAttr>(value))
    return text.str();
  if (auto elements = dyn_cast<ElementsAttr>(value)) {
    auto type = cast<RankedTensorType>(elements.getType());
    tensors.push_back(std::make_unique<onnx::ConstantBytes>(elements));
    llvm::ArrayRef<char> bytes = tensors.back()->bytes();
    return Writer::TensorValue{
        onnxDataType(type.getElementType()), type.getShape().vec(), {bytes.data(), bytes.size()}};
  }
  return convertArray(value);
}

void GraphWriter::writeNode(onnx::NodeOp node) {
  nodes.push_back(node);
  if (node.getDomain().empty())
    requireOpset(node.getSinceVersion());
  std::vector<std::string> inputs, outputs;
  for (Value value : node.getInputs())
    inputs.push_back(name(value));
  for (Value value : node.getOutputs())
    outputs.push_back(name(value));
  Attributes attributes;
  std::vector<std::unique_ptr<onnx::ConstantBytes>> tensors;
  for (NamedAttribute attribute : node.getNodeAttributes())
    attributes.emplace_back(attribute.getName().str(), convert(attribute.getValue(), tensors));
  // Some readers refuse two nodes of one name: only the first keeps it.
  std::string nodeName = nodeNames.insert(node.nodeName()).second ? node.nodeName().str() : "";
  writer.node(node.getOpType().str(), inputs, outputs, attributes, nodeName, node.getDomain().str());
}

void GraphWriter::add(StringRef opType, const std::vector<std::string> &inputs, const std::string &output,
                      const Attributes &attributes, StringRef nodeName, StringRef domain) {
  if (!domain.empty())
    domains.insert(domain);
  std::string chosen = nodeName.str();
  for (int i = 0; !chosen.empty() && !nodeNames.insert(chosen).second; ++i)
    chosen = (nodeName + "_" + Twine(i)).str();
  writer.node(opType.str(), inputs, {output}, attributes, chosen, domain.str());
}

/// Whether `opset` selects a version of the operator that reads this node as its own version does. Most new versions
/// only add element types; those that moved attributes to operands show it in their schema.
static bool meansTheSame(onnx::NodeOp node, int64_t opset) {
  const OnnxSchema *own = onnxSchemaOfVersion("", node.getOpType(), node.getSinceVersion());
  const OnnxSchema *selected = findOnnxSchema("", node.getOpType(), opset);
  if (!own || !selected || own == selected)
    return true;
  // Softmax, LogSoftmax, Hardmax flattened everything from `axis` on before 13: the same only at the last dimension.
  if (node.getOpType().ends_with("max") && own->sinceVersion < 13) {
    int64_t axis = node.intAttr("axis", 1), rank = rankedType(node.input(0)).getRank();
    return axis == -1 || axis == rank - 1;
  }
  auto has = [&](const OnnxSchema *schema, StringRef name) { return schema->attribute(name) != nullptr; };
  return own->maxInputs <= selected->maxInputs && llvm::all_of(node.getNodeAttributes(), [&](NamedAttribute attribute) {
           return has(selected, attribute.getName());
         });
}

/// The opset of ai.onnx that selects every node's version.
std::map<std::string, int64_t> GraphWriter::opsets(ModuleOp module) {
  std::map<std::string, int64_t> result;
  if (auto imports = module->getAttrOfType<DictionaryAttr>(onnx::kOpsetsAttr))
    for (NamedAttribute import : imports)
      result[import.getName() == "ai.onnx" ? "" : import.getName().str()] =
          cast<IntegerAttr>(import.getValue()).getInt();
  int64_t &opset = result[""];
  opset = std::max(opset, newest);
  for (onnx::NodeOp node : nodes) {
    if (!node.getDomain().empty())
      result.try_emplace(node.getDomain().str(), 1);
    else if (!meansTheSame(node, opset))
      throw Error(node.getQualifiedName() + " since " + std::to_string(node.getSinceVersion()) +
                  " cannot be written beside nodes of opset " + std::to_string(opset));
  }
  for (const auto &domain : domains)
    result.try_emplace(domain.getKey().str(), 1);
  return result;
}

std::string GraphWriter::finish(ModuleOp module) {
  for (auto [index, value] : llvm::enumerate(terminator(function)->getOperands())) {
    RankedTensorType type = rankedType(value);
    if (name(value) != outputNames[index])
      writer.node("Identity", {name(value)}, {outputNames[index]});
    writer.output(outputNames[index], onnxDataType(type.getElementType()), onnxDims(type));
  }
  return writer.finish(function.getName().str(), opsets(module), 10);
}
