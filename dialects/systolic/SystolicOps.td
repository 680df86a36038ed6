//===- SystolicOps.td - device programs, one op per descriptor ------------===//
//
// A program of the array as it will be encoded: an op per descriptor, in fetch order. The ops carry their fields by name in one
// dictionary; which fields there are, their widths and enumerations come from backends/systolic/isa/descriptors.toml, so
// a field added there needs nothing here.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DIALECTS_SYSTOLIC_OPS
#define TILEWRIGHT_DIALECTS_SYSTOLIC_OPS

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Systolic_Dialect : Dialect {
  let name = "systolic";
  let cppNamespace = "::tilewright::systolic";
  let summary = "Programs of the systolic tensor array: one operation per descriptor";
}

class Systolic_Op<string mnemonic, list<Trait> traits = []> : Op<Systolic_Dialect, mnemonic, traits>;

//===----------------------------------------------------------------------===//
// Programs
//===----------------------------------------------------------------------===//

def Systolic_ProgramOp : Systolic_Op<"program",
    [Symbol, IsolatedFromAbove, NoRegionArguments, NoTerminator, SingleBlock]> {
  let summary = "descriptors in fetch order, and what they find in DRAM";
  let description = [{
    `layers` are the rows of the report (the field `layer` of descriptors is an index), `inputs` and `outputs` the tensors
    that host and array share: dictionaries as written by LowerToSystolic. `constants` (packed weights and tables) are put
    at `constants_address`; without them (a program written by hand) weights descriptors read whatever is there.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$array, I64Attr:$constants_address, I64Attr:$program_address,
                       I64Attr:$dram_bytes, I64Attr:$expected_cycles, ArrayAttr:$inputs, ArrayAttr:$outputs, ArrayAttr:$layers,
                       OptionalAttr<ElementsAttr>:$constants);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name attr-dict-with-keyword $body";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Name of row `index` of the report; empty when there is none.
    llvm::StringRef layerName(int64_t index);
  }];
}

def Systolic_RunOp : Systolic_Op<"run"> {
  let summary = "one execution of a program: host tensors in and out, in the order of its `inputs` and `outputs`";
  let arguments = (ins FlatSymbolRefAttr:$program, Variadic<AnyStaticShapeTensor>:$inputs);
  let results = (outs Variadic<AnyStaticShapeTensor>:$outputs);
  let assemblyFormat = "$program `(` $inputs `)` attr-dict `:` functional-type($inputs, $outputs)";
}

//===----------------------------------------------------------------------===//
// Descriptors
//===----------------------------------------------------------------------===//

class Systolic_DescriptorOp<string mnemonic, string text> : Systolic_Op<mnemonic, [HasParent<"ProgramOp">]> {
  let summary = text;
  let description = [{
    Fields that are left out are zero. Integers are i64 attributes, flags booleans, float32 fields f32, enumerations strings.
    The meaning of each field is in docs/descriptors.md.
  }];
  let arguments = (ins DictionaryAttr:$fields);
  let assemblyFormat = "$fields attr-dict-with-keyword";
  let hasVerifier = 1;
}

def Systolic_LoadOp : Systolic_DescriptorOp<"load", "copies a region of DRAM into a map in the scratchpad">;
def Systolic_WeightsOp : Systolic_DescriptorOp<"weights", "appends bytes to the weight ring, or fills a table">;
def Systolic_ExecuteOp : Systolic_DescriptorOp<"execute", "a tile of a convolution or product, through the epilogue">;
def Systolic_VectorOp : Systolic_DescriptorOp<"vector", "a tile of a pool, an addition or a rescaling">;
def Systolic_StoreOp : Systolic_DescriptorOp<"store", "copies a region of a map to DRAM">;
def Systolic_SyncOp : Systolic_DescriptorOp<"sync", "holds the fetch; ends the program">;

#endif
