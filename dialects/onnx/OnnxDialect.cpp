//===- OnnxDialect.cpp - the onnx dialect ---------------------------------===//

#include "dialects/onnx/OnnxDialect.h"

#include "dialects/onnx/ConstantData.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tilewright::onnx;

#include "dialects/onnx/OnnxDialect.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/onnx/OnnxTypes.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/onnx/OnnxAttributes.cpp.inc"

#define GET_OP_CLASSES
#include "dialects/onnx/OnnxOps.cpp.inc"

void OnnxDialect::initialize() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/onnx/OnnxTypes.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/onnx/OnnxAttributes.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "dialects/onnx/OnnxOps.cpp.inc"
      >();
}

Operation *OnnxDialect::materializeConstant(OpBuilder &builder, Attribute value, Type type, Location loc) {
  if (auto elements = dyn_cast<ElementsAttr>(value); elements && elements.getType() == type)
    return ConstantOp::create(builder, loc, elements);
  return nullptr;
}

bool tilewright::onnx::isAbsent(Value value) { return !value || isa<NoneType>(value.getType()); }

NodeOp tilewright::onnx::producer(Value value, StringRef op) {
  auto node = value ? value.getDefiningOp<NodeOp>() : NodeOp();
  return node && node.is(op) ? node : NodeOp();
}

ElementsAttr tilewright::onnx::constantValue(Value value) {
  if (!value)
    return nullptr;
  if (auto constant = value.getDefiningOp<ConstantOp>())
    return constant.getValue();
  return nullptr;
}

LogicalResult ConstantOp::verify() {
  return hasValues(getValue()) ? success() : emitOpError("has no values: they were left out when it was printed");
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValue(); }

//===----------------------------------------------------------------------===//
// onnx.node
//===----------------------------------------------------------------------===//

std::string NodeOp::getQualifiedName() {
  if (getDomain().empty())
    return getOpType().str();
  return (getDomain() + "::" + getOpType()).str();
}

int64_t NodeOp::intAttr(StringRef name, int64_t byDefault) {
  auto value = dyn_cast_if_present<IntegerAttr>(attr(name));
  return value ? value.getInt() : byDefault;
}

float NodeOp::floatAttr(StringRef name, float byDefault) {
  auto value = dyn_cast_if_present<FloatAttr>(attr(name));
  return value ? static_cast<float>(value.getValueAsDouble()) : byDefault;
}

StringRef NodeOp::stringAttr(StringRef name, StringRef byDefault) {
  auto value = dyn_cast_if_present<StringAttr>(attr(name));
  return value ? value.getValue() : byDefault;
}

SmallVector<int64_t> NodeOp::intsAttr(StringRef name) {
  SmallVector<int64_t> values;
  if (auto array = dyn_cast_if_present<ArrayAttr>(attr(name)))
    for (Attribute element : array)
      values.push_back(cast<IntegerAttr>(element).getInt());
  return values;
}

Value NodeOp::input(unsigned i) {
  if (i >= getInputs().size() || isAbsent(getInputs()[i]))
    return nullptr;
  return getInputs()[i];
}

StringRef NodeOp::nodeName() {
  auto name = getLoc()->findInstanceOf<NameLoc>();
  return name ? name.getName().getValue() : StringRef();
}

LogicalResult NodeOp::verify() {
  size_t named = getRegionNames() ? getRegionNames()->size() : 0;
  if (named != getBodies().size())
    return emitOpError("has ") << getBodies().size() << " regions but names " << named << " of them";
  if (getOpType().empty())
    return emitOpError("has an empty op type");
  return success();
}

void NodeOp::print(OpAsmPrinter &printer) {
  printer << " \"";
  llvm::printEscapedString(getQualifiedName(), printer.getStream());
  printer << "\" since " << getSinceVersion() << " (" << getInputs() << ")";
  if (!getNodeAttributes().empty())
    printer << " " << getNodeAttributes();
  for (auto [index, region] : llvm::enumerate(getBodies())) {
    printer << " body ";
    printer.printAttribute((*getRegionNames())[index]);
    printer << " ";
    printer.printRegion(region);
  }
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(),
                                           {"op_type", "domain", "since_version", "node_attributes", "region_names"});
  printer << " : ";
  printer.printFunctionalType(*this);
}

ParseResult NodeOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  std::string name;
  int64_t version;
  SmallVector<OpAsmParser::UnresolvedOperand> operands;
  llvm::SMLoc operandsLoc;
  if (parser.parseString(&name) || parser.parseKeyword("since") || parser.parseInteger(version) ||
      parser.getCurrentLocation(&operandsLoc) || parser.parseOperandList(operands, OpAsmParser::Delimiter::Paren))
    return failure();
  NamedAttrList attributes;
  if (parser.parseOptionalAttrDict(attributes))
    return failure();
  SmallVector<Attribute> regionNames;
  while (succeeded(parser.parseOptionalKeyword("body"))) {
    StringAttr regionName;
    if (parser.parseAttribute(regionName) || parser.parseRegion(*result.addRegion()))
      return failure();
    regionNames.push_back(regionName);
  }
  FunctionType type;
  if (parser.parseOptionalAttrDictWithKeyword(result.attributes) || parser.parseColonType(type) ||
      parser.resolveOperands(operands, type.getInputs(), operandsLoc, result.operands))
    return failure();
  StringRef domain, opType = name;
  if (size_t at = name.rfind("::"); at != std::string::npos) {
    domain = StringRef(name).take_front(at);
    opType = StringRef(name).drop_front(at + 2);
  }
  result.addTypes(type.getResults());
  result.addAttribute("op_type", builder.getStringAttr(opType));
  result.addAttribute("domain", builder.getStringAttr(domain));
  result.addAttribute("since_version", builder.getI64IntegerAttr(version));
  result.addAttribute("node_attributes", attributes.getDictionary(builder.getContext()));
  if (!regionNames.empty())
    result.addAttribute("region_names", builder.getArrayAttr(regionNames));
  return success();
}
