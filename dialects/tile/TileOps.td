//===- TileOps.td - layers: roots, epilogues, boundaries ------------------===//
//
// A layer is one root with an epilogue region. Feature maps are tensors [N, C, H, W], whatever the model's layout was: a
// matmul of M rows and K columns is [1, K, 1, M]. Element type i8, or ui8 where the model's tensor is uint8; the device
// holds ui8 values as int8 (value - 128), and *all integers in attributes of epilogue operations and roots (zero points,
// clamps, pad values, biases, tables) are in that device domain*. Only #tile.quant speaks the model's domain.
//
//===----------------------------------------------------------------------===//

#ifndef TILEWRIGHT_DIALECTS_TILE_OPS
#define TILEWRIGHT_DIALECTS_TILE_OPS

include "dialects/tile/TileAttributes.td"
include "dialects/tile/TileInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []> : Op<Tile_Dialect, mnemonic, traits>;

// An i64 attribute that reads as a signed number.
def Tile_IntAttr : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer attribute"> {
  let convertFromStorage = "$_self.getInt()";
}

def Tile_Element : AnyTypeOf<[I8, UI8, I32, F16, BF16, F32]>;
def Tile_Map : 4DTensorOf<[I8, UI8, I32, F16, BF16, F32]>;

//===----------------------------------------------------------------------===//
// Roots
//===----------------------------------------------------------------------===//

// What every layer carries: its name in the report, the nodes of the model it stands for ("name: Op"), the inputs'
// quantization (one per map operand), and the decisions once made.
defvar LayerArguments = (ins OptionalAttr<StrAttr>:$layer, OptionalAttr<StrArrayAttr>:$nodes,
  OptionalAttr<TypedArrayAttrBase<Tile_QuantAttr, "quantization of each map operand">>:$input_quants,
  OptionalAttr<Tile_TilingAttr>:$tiling,
  OptionalAttr<TypedArrayAttrBase<Tile_PlacementAttr, "placement of each map operand">>:$operand_placements,
  OptionalAttr<Tile_PlacementAttr>:$result_placement, OptionalAttr<Tile_EstimateAttr>:$estimate);

class Tile_RootOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, !listconcat([Pure, DeclareOpInterfaceMethods<TileRootInterface>], traits)> {
  let results = (outs Tile_Map:$result);
  let regions = (region SizedRegion<1>:$epilogue);
  let hasVerifier = 1;
}

// Windows: [height, width] pairs; pads are [top, left, bottom, right].
defvar WindowArguments = (ins DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$strides,
  DefaultValuedAttr<DenseI64ArrayAttr, "{1, 1}">:$dilations,
  DefaultValuedAttr<DenseI64ArrayAttr, "{0, 0, 0, 0}">:$pads, DefaultValuedAttr<Tile_IntAttr, "0">:$pad_value);

def Tile_ContractionOp : Tile_RootOp<"contraction"> {
  let summary = "convolution, matrix product, dense layer: sums of products over a window and input channels";
  let description = [{
    `weights` is a constant [out channels, in channels / group, kernel height, kernel width] of int8 (the model's zero
    points are already subtracted) or floats, or, by `weights_order`, a second map. Positions outside the input read
    `pad_value`. `weight_scales` (f32, one per output channel or one) are the model's, for the report and for writing the
    network back.
  }];
  let arguments = !con((ins Tile_Map:$input, AnyStaticShapeTensor:$weights, Variadic<Tile_Map>:$residuals,
      DefaultValuedAttr<Tile_IntAttr, "1">:$group,
      DefaultValuedAttr<Tile_WeightsOrderAttr, "::tilewright::tile::WeightsOrder::Constant">:$weights_order,
      OptionalAttr<ElementsAttr>:$weight_scales), WindowArguments, LayerArguments);
  let assemblyFormat = [{
    $input `,` $weights (`residual` `(` $residuals^ `:` type($residuals) `)`)? attr-dict `epilogue` $epilogue
    `:` type($input) `,` type($weights) `->` type($result)
  }];
}

def Tile_DepthwiseOp : Tile_RootOp<"depthwise"> {
  let summary = "per-channel convolution: weights [channels, 1, kernel height, kernel width]";
  let arguments = !con((ins Tile_Map:$input, AnyStaticShapeTensor:$weights, Variadic<Tile_Map>:$residuals,
      OptionalAttr<ElementsAttr>:$weight_scales), WindowArguments, LayerArguments);
  let assemblyFormat = [{
    $input `,` $weights (`residual` `(` $residuals^ `:` type($residuals) `)`)? attr-dict `epilogue` $epilogue
    `:` type($input) `,` type($weights) `->` type($result)
  }];
}

def Tile_PoolingOp : Tile_RootOp<"pooling"> {
  let summary = "maximum or sum over a window; an average is a sum whose requantization divides by the count";
  let description = [{
    A sum enters the epilogue as i32. With `exclude_pad` the divisor is the number of taps inside the map, which differs
    near the edges: the requantization's scale is that of a whole window, `getRegions` lists the rectangles of constant
    count and `scaleForCount` their scales (double division, rounded once to float32).
  }];
  let arguments = !con((ins Tile_Map:$input, Variadic<Tile_Map>:$residuals, Tile_PoolKindAttr:$kind,
      DenseI64ArrayAttr:$kernel, UnitAttr:$exclude_pad), WindowArguments, LayerArguments);
  let assemblyFormat = [{
    $kind $input (`residual` `(` $residuals^ `:` type($residuals) `)`)? attr-dict `epilogue` $epilogue
    `:` type($input) `->` type($result)
  }];
  let extraClassDeclaration = [{
    /// A rectangle of outputs whose windows cover the same number of input elements.
    struct Region { int64_t rowStart, rowCount, columnStart, columnCount, count; };
    llvm::SmallVector<Region> getRegions();
    /// x_scale / (y_scale * count), in double, rounded once; y_scale is the epilogue's first quantization.
    float scaleForCount(int64_t count);
  }];
}

def Tile_ElementwiseOp : Tile_RootOp<"elementwise"> {
  let summary = "one element in, one out: everything it does is in its epilogue (rescale, table, addition of residuals)";
  let arguments = !con((ins Tile_Map:$input, Variadic<Tile_Map>:$residuals), LayerArguments);
  let assemblyFormat = [{
    $input (`residual` `(` $residuals^ `:` type($residuals) `)`)? attr-dict `epilogue` $epilogue
    `:` type($input) `->` type($result)
  }];
  let hasFolder = 1;
}

def Tile_ReductionOp : Tile_RootOp<"reduction"> {
  let summary = "maximum or sum over `dims` (of height, width, channels) of a map; the result has extent 1 there";
  let arguments = !con((ins Tile_Map:$input, Variadic<Tile_Map>:$residuals, Tile_PoolKindAttr:$kind,
      DenseI64ArrayAttr:$dims), LayerArguments);
  let assemblyFormat = [{
    $kind $input (`residual` `(` $residuals^ `:` type($residuals) `)`)? attr-dict `epilogue` $epilogue
    `:` type($input) `->` type($result)
  }];
}

def Tile_NormalizeOp : Tile_RootOp<"normalize"> {
  let summary = "softmax, layer or RMS norm over the channels, as one unit; gain and offset are an affine epilogue";
  let arguments = !con((ins Tile_Map:$input, Variadic<Tile_Map>:$residuals, Tile_NormalizeKindAttr:$kind,
      DefaultValuedAttr<F32Attr, "0.0">:$epsilon), LayerArguments);
  let assemblyFormat = [{
    $kind $input (`residual` `(` $residuals^ `:` type($residuals) `)`)? attr-dict `epilogue` $epilogue
    `:` type($input) `->` type($result)
  }];
}

def Tile_MoveOp : Tile_RootOp<"move"> {
  let summary = "data movement: concatenate, slice, transpose, pad, gather, resize";
  let description = [{
    Unit "none": nothing runs, the operands are written where the result lies (concat) or the result is read where the
    operand lies (slice).
  }];
  let arguments = !con((ins Variadic<Tile_Map>:$inputs, Tile_MoveKindAttr:$kind,
      OptionalAttr<DenseI64ArrayAttr>:$offsets, OptionalAttr<DenseI64ArrayAttr>:$permutation,
      OptionalAttr<DenseI64ArrayAttr>:$indices, OptionalAttr<DenseI64ArrayAttr>:$strides,
      DefaultValuedAttr<Tile_IntAttr, "0">:$pad_value), LayerArguments);
  let assemblyFormat = [{
    $kind $inputs attr-dict `epilogue` $epilogue `:` type($inputs) `->` type($result)
  }];
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Epilogue operations: scalars, in the order in which the hardware applies them
//===----------------------------------------------------------------------===//

class Tile_EpilogueOp<string mnemonic, list<Trait> traits = []> : Tile_Op<mnemonic, !listconcat([Pure], traits)> {
  let results = (outs Tile_Element:$result);
}

def Tile_RequantizeOp : Tile_EpilogueOp<"requantize"> {
  let summary = "int32 sum to 8 bits: v = float32(sum + bias) * m; clamp; round half to even; add the zero point";
  let description = [{
    Steps 1 and 2 of docs/accelerator.md. `bias` (i32) holds the model's bias and the input zero point's term; `scale` (f32)
    is m, `negative_scale` what multiplies negative sums (PReLU, LeakyReLU), if different. Each has one entry per output
    channel or a single one. `quant` is the result's quantization in the model.
  }];
  let arguments = (ins Tile_Element:$value, ElementsAttr:$bias, ElementsAttr:$scale,
                       OptionalAttr<ElementsAttr>:$negative_scale, Tile_IntAttr:$zero_point, Tile_IntAttr:$clamp_min,
                       Tile_IntAttr:$clamp_max, OptionalAttr<Tile_QuantAttr>:$quant);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
  let hasVerifier = 1;
  let hasCanonicalizer = 1;
}

def Tile_TableOp : Tile_EpilogueOp<"table", [AllTypesMatch<["value", "result"]>]> {
  let summary = "q = table[q + 128]: 256 entries of i8 in the device domain";
  let arguments = (ins Tile_Element:$value, ElementsAttr:$table, OptionalAttr<Tile_QuantAttr>:$quant);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_ResidualAddOp : Tile_EpilogueOp<"residual_add"> {
  let summary = "rne(fma(a, ra, fma(b, rb, fix))), clamped: a quantized addition, to the bits of ONNX or onnxruntime";
  let description = [{
    Step 4 of docs/accelerator.md. a is `value` and b the `residual` map's element, or the other way round with `swap`
    (the model's operand order matters for the bits). Operands that are ui8 enter with 128 added (operands and result are
    all ui8, or all i8). With `zero_point` (in the device's domain, as for requantize) it is added after rounding: what
    DequantizeLinear, Add, QuantizeLinear mean. Without, `fix` holds the model's zero point, which is rounded with the
    sum: what onnxruntime's QLinearAdd means. `quant` is the sum's quantization.
  }];
  let arguments = (ins Tile_Element:$value, Tile_Element:$residual, F32Attr:$ra, F32Attr:$rb, F32Attr:$fix,
                       OptionalAttr<Tile_IntAttr>:$zero_point, UnitAttr:$swap, Tile_IntAttr:$clamp_min, Tile_IntAttr:$clamp_max, OptionalAttr<Tile_QuantAttr>:$quant);
  let assemblyFormat = "$value `,` $residual attr-dict `:` type($value) `,` type($residual) `->` type($result)";
  let hasVerifier = 1;
}

def Tile_AffineOp : Tile_EpilogueOp<"affine"> {
  let summary = "float epilogue: value * scale + bias, one entry per channel or a single one, converted to the result type";
  let arguments = (ins Tile_Element:$value, OptionalAttr<ElementsAttr>:$scale, OptionalAttr<ElementsAttr>:$bias);
  let assemblyFormat = "$value attr-dict `:` type($value) `->` type($result)";
}

def Tile_ActivationOp : Tile_EpilogueOp<"activation", [AllTypesMatch<["value", "result"]>]> {
  let summary = "float epilogue: an activation function";
  let arguments = (ins Tile_ActivationAttr:$kind, Tile_Element:$value);
  let assemblyFormat = "$kind $value attr-dict `:` type($value)";
}

def Tile_AddOp : Tile_EpilogueOp<"add", [AllTypesMatch<["value", "residual", "result"]>]> {
  let summary = "float epilogue: adds a residual";
  let arguments = (ins Tile_Element:$value, Tile_Element:$residual);
  let assemblyFormat = "$value `,` $residual attr-dict `:` type($value)";
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike]> {
  let summary = "ends an epilogue (one scalar) or a group (its results)";
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "($values^ `:` type($values))? attr-dict";
}

//===----------------------------------------------------------------------===//
// Structure
//===----------------------------------------------------------------------===//

def Tile_GroupOp : Tile_Op<"group", [Pure]> {
  let summary = "layers that run tile by tile, interleaved: what they pass to each other stays on chip, a few rows at a time";
  let description = [{
    The last layer's tile (`tiling` of the group) decides; each earlier layer computes the rows that the next one needs and
    that are not there yet. Values inside are visible outside only through the yield.
  }];
  let arguments = (ins OptionalAttr<Tile_TilingAttr>:$tiling, OptionalAttr<StrAttr>:$layer);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "attr-dict-with-keyword $body `:` type($results)";
  let hasVerifier = 1;
}

def Tile_ToMapOp : Tile_Op<"to_map", [Pure]> {
  let summary = "enters the device: reads a tensor of the model as a map";
  let description = [{
    Element (n, c, h, w) of the map is element n*s0 + c*s1 + h*s2 + w*s3 of the tensor in row-major order, s = `strides`
    (0 where the extent is 1): NCHW, NHWC, flattened and transposed tensors differ only in strides. The map's place in
    DRAM is `placement` once chosen; what the runtime does at this point is a copy into that layout.
  }];
  let arguments = (ins AnyStaticShapeTensor:$tensor, DenseI64ArrayAttr:$strides, OptionalAttr<Tile_DramAttr>:$placement);
  let results = (outs Tile_Map:$result);
  let assemblyFormat = "$tensor `strides` $strides attr-dict `:` type($tensor) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_FromMapOp : Tile_Op<"from_map", [Pure]> {
  let summary = "leaves the device: reads a map as a tensor of the model; strides as in to_map";
  let arguments = (ins Tile_Map:$map, DenseI64ArrayAttr:$strides, OptionalAttr<Tile_DramAttr>:$placement);
  let results = (outs AnyStaticShapeTensor:$result);
  let assemblyFormat = "$map `strides` $strides attr-dict `:` type($map) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif
