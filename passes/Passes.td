//===- Passes.td - Tilewright's passes ------------------------------------===//
//
// In the order in which a model goes through them. A pass is one file named after it, its test is
// test/passes/<its name>.mlir.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_PASSES
#define TILEWRIGHT_PASSES

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// onnx dialect
//===----------------------------------------------------------------------===//

def InlineFunctionsPass : Pass<"inline-functions", "::mlir::ModuleOp"> {
  let summary = "replace calls of model-local functions by their bodies";
  let description = [{
    A node whose domain and operator type name a private function marked `onnx.function` is replaced by that function's
    body; references to the function's attributes take the call's values, or the function's defaults, or vanish. Functions
    may call others; one that calls itself is an error. Function definitions are removed. Inlined nodes carry the call's
    name before their own (`call/inner`).
  }];
}

def VerifySupportedPass : Pass<"verify-supported", "::mlir::ModuleOp"> {
  let summary = "refuse a model with unsupported nodes, listing all of them";
  let description = [{
    Each node must be of an operator that exists in the imported opset, have the inputs, outputs and attributes of its
    schema, and be one that shape inference knows. Run it once functions are inlined.
  }];
}

def QuantizedToQdqPass : Pass<"quantized-to-qdq", "::mlir::func::FuncOp"> {
  let summary = "rewrite operators on quantized integers as float operators between DequantizeLinear and QuantizeLinear";
  let description = [{
    QLinearConv, QLinearMatMul and com.microsoft's QLinearAdd, QLinearMul, QLinearAveragePool, QLinearGlobalAveragePool,
    QLinearConcat, QLinearSigmoid, QLinearLeakyRelu, QLinearSoftmax, QLinearReduceMean, QLinearWhere, QGemm and
    MatMulIntegerToFloat. An int32 bias is dequantized with the product of the input's and the weights' scales. All
    operations carry the node's name, and the QuantizeLinear gives the node's output. Needs inferred types.
  }];
  let dependentDialects = ["::tilewright::onnx::OnnxDialect"];
}

def RecognizeActivationsPass : Pass<"recognize-activations", "::mlir::func::FuncOp"> {
  let summary = "replace activations spelled as arithmetic by one node";
  let description = [{
    x · clip(x + 3, 0, 6) ÷ 6 becomes HardSwish, clip(a·x + b, 0, c) ÷ c becomes HardSigmoid, and 0.5 · x · (1 + erf(x ÷ √2))
    becomes Gelu, in any order of factors and whichever constants are multiplied or divided by. Numbers may differ from
    these by what float32 and rounded literals (0.1666) make of them, so results may differ in the last places.
  }];
  let dependentDialects = ["::tilewright::onnx::OnnxDialect"];
}

def FoldConstantsPass : Pass<"fold-constants", "::mlir::func::FuncOp"> {
  let summary = "compute nodes whose inputs are all constants";
  let description = [{
    Moves of any type, arithmetic, comparisons and functions of float32, float64 and integers, casts, QuantizeLinear, and
    integer reductions. A result that is not the same everywhere by definition (a float cast out of range, NaN in Max or
    Relu, division by zero) is left to run time. Views of large constants share their memory.
  }];
  let options = [
    Option<"maxBytes", "max-bytes", "int64_t", "int64_t(1) << 32", "largest inputs and results of one node to compute">,
  ];
  let dependentDialects = ["::tilewright::onnx::OnnxDialect"];
}

def SimplifyPass : Pass<"simplify", "::mlir::func::FuncOp"> {
  let summary = "exact rewrites that leave fewer nodes";
  let description = [{
    Moves that change nothing are dropped; Reshape, Flatten, Squeeze and Unsqueeze in a row become one Reshape, Transposes one
    Transpose; Pad of zeros goes into the Conv or AveragePool behind it; ReduceMean over the spatial dimensions becomes
    GlobalAveragePool, a Sum of two Add; an If whose condition is known becomes its branch. Needs normalized opsets.
  }];
  let dependentDialects = ["::tilewright::onnx::OnnxDialect"];
}

def FoldAffinePass : Pass<"fold-affine", "::mlir::func::FuncOp"> {
  let summary = "fold batch normalization and per-channel constants into convolutions and matrix products";
  let description = [{
    BatchNormalization (inference), and Add, Sub, Mul, Div with one constant per channel (dimension 1) or one for all, are
    multiplied into the constant weights and bias of the Conv, Gemm or MatMul before them, if nothing else reads its
    result. The result keeps the name of the folded node's. On tensors of four dimensions, those per channel that are left
    become depthwise 1x1 convolutions. Sum of two tensors becomes Add. Products are taken in double and rounded once.
  }];
}

def InsertQdqPass : Pass<"insert-qdq", "::mlir::func::FuncOp"> {
  let summary = "quantize float layers to 8 bits with parameters from calibration";
  let description = [{
    QuantizeLinear and DequantizeLinear are put around each layer (docs/quantization.md says what is one): activations
    per tensor and asymmetric, weights per output channel, symmetric, -127..127, biases int32. Tensors whose values are
    only moved or compared share their parameters. A function that has such nodes already is left alone.
  }];
  let options = [
    Option<"ranges", "ranges", "std::string", "\"\"", "JSON file: tensor name -> [min, max]">,
    Option<"isUnsigned", "unsigned", "bool", "false", "activations are uint8, not int8">,
  ];
}

def NormalizeOpsetsPass : Pass<"normalize-opsets", "::mlir::ModuleOp"> {
  let summary = "rewrite older spellings of operators to one recent one";
  let description = [{
    Attributes that became inputs are moved, operators that were replaced or changed their meaning are rewritten (Upsample,
    Softmax before 13, the first BatchNormalization ...), geometry is spelled out (kernel_shape, strides, dilations, pads and
    group instead of auto_pad and defaults), Constant nodes become `onnx.constant`, Identity and Dropout vanish. A node that
    is done carries its version of one recent opset (or a newer one that the model asks for). Rules that need types or shapes wait until they are inferred: run
    it before and after infer-shapes.
  }];
  let dependentDialects = ["::tilewright::onnx::OnnxDialect"];
}

def InferShapesPass : Pass<"infer-shapes", "::mlir::func::FuncOp"> {
  let summary = "give every value its element type and shape";
  let description = [{
    Rules keyed (domain, operator, since_version) compute each result's shape as integer expressions over the symbols of
    the inputs. A known dimension goes into the type; a node with open ones carries `onnx.shape`, per result an affine map
    from the function's `onnx.symbols` to its dimensions. Integer tensors computed from shapes are followed, and replaced
    by constants when they are known. Inputs that do not fit an operator (types, ranks, sizes) are errors.
  }];
  let dependentDialects = ["::tilewright::onnx::OnnxDialect"];
}

//===----------------------------------------------------------------------===//
// tile dialect
//===----------------------------------------------------------------------===//

class TilePass<string name> : Pass<name, "::mlir::func::FuncOp"> {
  let dependentDialects = ["::tilewright::tile::TileDialect", "::tilewright::onnx::OnnxDialect"];
}

/// Passes that ask a target description.
class TargetPass<string name> : TilePass<name> {
  let options = [Option<"target", "target", "std::string", /*default=*/"\"systolic\"", "target, NAME[:CONFIG]">];
}

def FormLayersPass : TargetPass<"form-layers"> {
  let summary = "quantized onnx patterns become tile layers";
  let description = [{
    DequantizeLinear -> operators -> QuantizeLinear, with static shapes, becomes one tile layer between `tile.to_map` and
    `tile.from_map` wherever the target takes it. Layout operators become strides. What stays carries its reason.
  }];
}

def FuseLayersPass : TargetPass<"fuse-layers"> {
  let summary = "elementwise layers join the epilogue of the layer before them";
}

def ExposeTensorsPass : TilePass<"expose-tensors"> {
  let summary = "make every 8-bit tensor an output";
  let description = [{
    The result of each layer becomes the output `<layer>:8bit`, a tensor [N, C, H, W] as the layer's map, and each tensor
    that enters the device from the host `<tensor>:8bit`. For `--all-tensors`.
  }];
}

def PartitionPass : TargetPass<"partition"> {
  let summary = "orders host operators and layers into stages and says why each host operator is one";
  let description = [{
    Afterwards host operators of a stage come before its layers. A map that a later program reads passes through the host
    (from_map, Identity, to_map). Every onnx node has `tile.host_reason`.
  }];
}

def ChooseTilesPass : TargetPass<"choose-tiles"> {
  let summary = "tile sizes, loop order and residence of every layer, by the target's cost model";
  let description = [{
    Sets `tiling` and `estimate` of every layer. Where the target's buffers are placed by the compiler, also decides which
    maps stay on chip, which are streamed through DRAM, and how many rows each ring holds (placements without addresses);
    pairs of layers between which a large map would pass become a `tile.group`.
  }];
}

def PlaceBuffersPass : TargetPass<"place-buffers"> {
  let summary = "addresses of all maps on chip and in DRAM";
}

def ExplainPass : TargetPass<"explain"> {
  let summary = "prints the decisions on every layer, and the reason for every host operator, to stderr";
}

#endif
