//===- OnnxOps.td - the onnx dialect: a model, one op per node ------------===//
//
// The dialect mirrors an ONNX graph one to one. It has a single generic operation for nodes, so that every node keeps
// its identity (name, domain, version) down to the report, and no operator is known to the dialect itself: what an
// operator means is a table keyed by (domain, op type, since_version) in the passes and back ends that lower it.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DIALECTS_ONNX_OPS
#define TILEWRIGHT_DIALECTS_ONNX_OPS

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Onnx_Dialect : Dialect {
  let name = "onnx";
  let cppNamespace = "::tilewright::onnx";
  let summary = "An ONNX model as it was read: one operation per node";
  let useDefaultTypePrinterParser = 1;
  let useDefaultAttributePrinterParser = 1;
  let hasConstantMaterializer = 1;
}

def Onnx_StringType : TypeDef<Onnx_Dialect, "String", [], "::mlir::Type"> {
  let mnemonic = "string";
  let summary = "element type of ONNX string tensors";
  let extraClassDeclaration = [{}];
}

def Onnx_UnknownType : TypeDef<Onnx_Dialect, "Unknown", [], "::mlir::Type"> {
  let mnemonic = "unknown";
  let summary = "element type that is not known yet";
  let description = [{
    A model does not state the types of its inner values: after import they are `tensor<*x!onnx.unknown>`, and shape
    inference gives them their element types and shapes.
  }];
  let extraClassDeclaration = [{}];
}

def Onnx_AttributeReferenceAttr : AttrDef<Onnx_Dialect, "AttributeReference"> {
  let mnemonic = "attribute_reference";
  let summary = "in a function's node: the value that the caller gives for the function's attribute of this name";
  let parameters = (ins "::mlir::StringAttr":$name);
  let assemblyFormat = "`<` $name `>`";
}

class Onnx_Op<string mnemonic, list<Trait> traits = []> : Op<Onnx_Dialect, mnemonic, traits>;

def Onnx_NodeOp : Onnx_Op<"node", [Pure]> {
  let summary = "one node of an ONNX graph";
  let description = [{
    `op_type`, `domain` ("" is ai.onnx) and `since_version` (the version of the operator's schema that the model's opset
    import selects, not the opset itself) say which operator it is; `node_attributes` holds the node's ONNX attributes under
    their own names (i64, f32, string, arrays of them, elements; graphs are regions, listed by name in `region_names`).
    An absent optional operand is the result of `onnx.none`. The location is the node's name.

    ```mlir
    %y = onnx.node "Conv" since 11 (%x, %w, %none) {kernel_shape = [3, 3]} :
           (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x6x6xf32>
    %q = onnx.node "com.microsoft::QLinearAdd" since 1 (...) ...
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$op_type, DefaultValuedStrAttr<StrAttr, "">:$domain,
                       I64Attr:$since_version, DictionaryAttr:$node_attributes, OptionalAttr<StrArrayAttr>:$region_names);
  let results = (outs Variadic<AnyType>:$outputs);
  let regions = (region VariadicRegion<AnyRegion>:$bodies);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// "Conv", or "com.microsoft::QLinearAdd" outside ai.onnx.
    std::string getQualifiedName();
    /// True for the ai.onnx operator `name`, of any version.
    bool is(llvm::StringRef name) { return getDomain().empty() && getOpType() == name; }
    /// The ONNX attribute `name`, or null when the node does not give it.
    ::mlir::Attribute attr(llvm::StringRef name) { return getNodeAttributes().get(name); }
    int64_t intAttr(llvm::StringRef name, int64_t byDefault);
    float floatAttr(llvm::StringRef name, float byDefault);
    llvm::StringRef stringAttr(llvm::StringRef name, llvm::StringRef byDefault);
    /// The integers of an `ints` attribute; empty when it is absent.
    llvm::SmallVector<int64_t> intsAttr(llvm::StringRef name);
    /// Operand `i`, or null when the node has fewer operands or leaves it out.
    ::mlir::Value input(unsigned i);
    /// The node's name in the model; empty when it has none.
    llvm::StringRef nodeName();
  }];
}

def Onnx_ConstantOp : Onnx_Op<"constant", [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "a tensor whose value is known: an initializer or a folded node";
  let description = [{
    Large values are `dense_resource` attributes whose blob points into the mapped model file: they are not copied.
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$value attr-dict";
  let hasFolder = 1;
  let hasVerifier = 1;
}

def Onnx_NoneOp : Onnx_Op<"none", [Pure]> {
  let summary = "an optional operand that the node leaves out";
  let results = (outs NoneType:$result);
  let assemblyFormat = "attr-dict";
}

def Onnx_YieldOp : Onnx_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends the body of a subgraph (If, Loop, Scan) and gives its outputs";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

#endif
