//===- VerifySupported.cpp - every unsupported node, at once --------------===//
//
// Somebody who brings a model wants to know all that stands in the way, not the first thing.
//
//===----------------------------------------------------------------------===//

#include "passes/VerifySupported.h"

#include "dialects/onnx/ConstantData.h"
#include "frontend/OnnxSchema.h"
#include "passes/NodeName.h"
#include "passes/Passes.h"
#include "passes/shapes/ShapeTable.h"

namespace tilewright {
#define GEN_PASS_DEF_VERIFYSUPPORTEDPASS
#include "passes/Passes.h.inc"
} // namespace tilewright

using namespace mlir;
using namespace tilewright;

LogicalResult tilewright::verifySupported(ModuleOp module, const SupportCheck &check) {
  SmallVector<std::string> problems;
  module.walk([&](onnx::NodeOp node) {
    std::string reason = check(node);
    if (!reason.empty())
      problems.push_back(describeNode(node) + ": " + reason);
  });
  if (problems.empty())
    return success();
  auto error = module.emitError() << problems.size() << (problems.size() == 1 ? " node is" : " nodes are")
                                  << " not supported:";
  for (const std::string &problem : problems)
    error << "\n  " << problem;
  return failure();
}

/// The kind letter of schemas for an attribute's value, 0 when it is none of ONNX's.
static bool isOfKind(Attribute value, char kind) {
  auto array = dyn_cast<ArrayAttr>(value);
  auto all = [&](auto is) { return array && llvm::all_of(array, is); };
  switch (kind) {
  case 'f':
    return isa<FloatAttr>(value);
  case 'i':
    return isa<IntegerAttr>(value);
  case 's':
    return isa<StringAttr>(value);
  case 't':
  case 'p':
    return isa<ElementsAttr>(value);
  case 'y':
    return isa<TypeAttr>(value);
  case 'F':
    return all([](Attribute element) { return isa<FloatAttr>(element); });
  case 'I':
    return all([](Attribute element) { return isa<IntegerAttr>(element); });
  case 'S':
    return all([](Attribute element) { return isa<StringAttr>(element); });
  default:
    return false;
  }
}

static std::string kindName(char kind) {
  static const std::map<char, const char *> names = {{'f', "a float"},           {'i', "an integer"},
                                                     {'s', "a string"},          {'t', "a tensor"},
                                                     {'F', "a list of floats"},  {'I', "a list of integers"},
                                                     {'S', "a list of strings"}, {'g', "a graph"},
                                                     {'p', "a sparse tensor"},   {'y', "a type"}};
  auto found = names.find(kind);
  return found == names.end() ? "of another kind" : found->second;
}

static std::string missingOperator(onnx::NodeOp node) {
  std::string domain = node.getDomain().empty() ? "ai.onnx" : node.getDomain().str();
  int64_t opset = static_cast<int64_t>(node.getSinceVersion());
  if (opset == 0)
    return "the model does not import the domain " + domain;
  std::vector<int64_t> versions = onnxSchemaVersions(node.getDomain(), node.getOpType());
  if (!versions.empty())
    return "exists from opset " + std::to_string(versions.front()) + " on; the model imports " + std::to_string(opset);
  if (node.getDomain().empty() || node.getDomain() == "com.microsoft")
    return "no such operator is known in " + domain;
  return "the domain " + domain + " is not supported; ai.onnx, com.microsoft and functions of the model are";
}

static std::string checkAttributes(onnx::NodeOp node, const OnnxSchema &schema) {
  for (NamedAttribute attribute : node.getNodeAttributes()) {
    StringRef name = attribute.getName().getValue();
    const OnnxSchema::Attribute *formal = schema.attribute(name);
    if (!formal) {
      std::string known;
      for (const auto &other : schema.attributes)
        known += (known.empty() ? "" : ", ") + std::string(other.name);
      return "has no attribute '" + name.str() + "'" + (known.empty() ? "" : "; it has " + known);
    }
    if (!isOfKind(attribute.getValue(), formal->kind))
      return "attribute '" + name.str() + "' must be " + kindName(formal->kind);
  }
  SmallVector<StringRef> graphs;
  if (ArrayAttr names = node.getRegionNamesAttr())
    for (Attribute name : names)
      graphs.push_back(cast<StringAttr>(name).getValue());
  for (StringRef graph : graphs)
    if (const auto *formal = schema.attribute(graph); !formal || formal->kind != 'g')
      return "has no graph attribute '" + graph.str() + "'";
  for (const auto &formal : schema.attributes)
    if (formal.required && !node.attr(formal.name) && !llvm::is_contained(graphs, StringRef(formal.name)))
      return "lacks the attribute '" + std::string(formal.name) + "'";
  return "";
}

/// Training forms of operators that are supported in inference.
static std::string checkTraining(onnx::NodeOp node) {
  if (node.is("BatchNormalization")) {
    if (node.intAttr("training_mode", 0))
      return "attribute 'training_mode' = 1 is not supported; inference (0) is";
    if (node.intAttr("spatial", 1) == 0)
      return "attribute 'spatial' = 0 is not supported; statistics per channel (1) are";
    for (OpResult result : node->getResults().drop_front())
      if (!result.use_empty())
        return "the batch statistics of training are read; inference has one output";
  }
  if (node.is("Dropout") && node.input(2)) {
    auto flag = onnx::integers(onnx::constantValue(node.input(2)), 1);
    auto ratio = onnx::floats(onnx::constantValue(node.input(1)), 1);
    if (!flag || (flag->front() && !(ratio && ratio->front() == 0)))
      return "training_mode may be true; only inference is supported";
  }
  return "";
}

std::string tilewright::checkOperator(onnx::NodeOp node) {
  const OnnxSchema *schema =
      onnxSchemaOfVersion(node.getDomain(), node.getOpType(), static_cast<int64_t>(node.getSinceVersion()));
  if (!schema)
    return missingOperator(node);
  bool known = shapes::ShapeTable::get().find(node) != nullptr;
  if (schema->deprecated && !known)
    return "the operator was removed in this version";
  if (std::string problem = checkAttributes(node, *schema); !problem.empty())
    return problem;
  if (!schema->fits(node.getInputs().size(), node.getNumResults()))
    return "has " + std::to_string(node.getInputs().size()) + " inputs and " + std::to_string(node.getNumResults()) +
           " outputs, which the operator does not allow";
  for (unsigned i = 0; i < node.getInputs().size(); ++i)
    if (!node.input(i) && schema->input(i) && schema->input(i)->kind == OnnxSchema::Parameter::Single)
      return "input " + std::to_string(i) + " must not be left out";
  if (!known)
    return "the operator is not supported yet";
  return checkTraining(node);
}

namespace {
struct VerifySupportedPass final : tilewright::impl::VerifySupportedPassBase<VerifySupportedPass> {
  void runOnOperation() override {
    if (failed(verifySupported(getOperation(), checkOperator)))
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
