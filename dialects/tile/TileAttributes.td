//===- TileAttributes.td - quantization and the decisions on a layer ------===//

#ifndef TILEWRIGHT_DIALECTS_TILE_ATTRIBUTES
#define TILEWRIGHT_DIALECTS_TILE_ATTRIBUTES

include "dialects/tile/TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"

class Tile_Enum<string name, string doc, list<I32EnumAttrCase> cases> : I32EnumAttr<name, doc, cases> {
  let cppNamespace = "::tilewright::tile";
  let genSpecializedAttr = 0;
}
class Tile_EnumAttr<I32EnumAttr info, string mnemonic> : EnumAttr<Tile_Dialect, info, mnemonic>;

def Tile_LoopDim : Tile_Enum<"LoopDim", "a dimension of the iteration space", [
  I32EnumAttrCase<"Batch", 0, "batch">, I32EnumAttrCase<"Group", 1, "group">, I32EnumAttrCase<"Channels", 2, "channels">,
  I32EnumAttrCase<"Height", 3, "height">, I32EnumAttrCase<"Width", 4, "width">,
  I32EnumAttrCase<"Reduction", 5, "reduction">]>;

def Tile_WeightsPolicy : Tile_Enum<"WeightsPolicy", "how the stationary operand passes through its memory", [
  I32EnumAttrCase<"None", 0, "none">,         // the root has no weights
  I32EnumAttrCase<"Kept", 1, "kept">,         // a channel tile's weights are loaded once and stay for all of its inner tiles
  I32EnumAttrCase<"Reloaded", 2, "reloaded">, // loaded again for every tile of the dimensions outside `channels`
  I32EnumAttrCase<"Streamed", 3, "streamed">  // one block exceeds the memory: each word is freed once read, and passes
                                              // again for every group of the brick's pixels
]>;

def Tile_WeightsOrder : Tile_Enum<"WeightsOrder", "layout of a contraction's second operand", [
  I32EnumAttrCase<"Constant", 0, "constant">,         // [channels out, channels in / group, kernel height, kernel width]
  I32EnumAttrCase<"TokenMajor", 1, "token_major">,    // a map [N, channels in, 1, channels out]: K of Q K^T
  I32EnumAttrCase<"ChannelMajor", 2, "channel_major"> // a map [N, channels out, 1, channels in]: V of P V
]>;

def Tile_PoolKind : Tile_Enum<"PoolKind", "what a window or reduction computes", [
  I32EnumAttrCase<"Max", 0, "max">, I32EnumAttrCase<"Sum", 1, "sum">]>;

def Tile_NormalizeKind : Tile_Enum<"NormalizeKind", "a normalization over channels, as one unit", [
  I32EnumAttrCase<"Softmax", 0, "softmax">, I32EnumAttrCase<"LayerNorm", 1, "layer_norm">,
  I32EnumAttrCase<"RmsNorm", 2, "rms_norm">]>;

def Tile_MoveKind : Tile_Enum<"MoveKind", "data movement between maps", [
  I32EnumAttrCase<"Concat", 0, "concat">,       // along channels, in operand order
  I32EnumAttrCase<"Slice", 1, "slice">,         // box at `offsets` of the input
  I32EnumAttrCase<"Transpose", 2, "transpose">, // dimension i of the result is dimension `permutation[i]` of the input
  I32EnumAttrCase<"Pad", 3, "pad">,             // the input lies at `offsets`; the rest is `pad_value`
  I32EnumAttrCase<"Gather", 4, "gather">,       // channels `indices` of the input
  I32EnumAttrCase<"Resize", 5, "resize">        // nearest neighbour by the integer factors `strides`
]>;

def Tile_Activation : Tile_Enum<"Activation", "activation of a float epilogue", [
  I32EnumAttrCase<"Relu", 0, "relu">, I32EnumAttrCase<"Gelu", 1, "gelu">, I32EnumAttrCase<"Silu", 2, "silu">,
  I32EnumAttrCase<"Tanh", 3, "tanh">, I32EnumAttrCase<"Sigmoid", 4, "sigmoid">, I32EnumAttrCase<"Exp", 5, "exp">]>;

def Tile_DramLayout : Tile_Enum<"DramLayout", "how a map lies in DRAM", [
  I32EnumAttrCase<"Words", 0, "words">,  // blocked: [n][c/16][y][x][16]
  I32EnumAttrCase<"Bytes", 1, "bytes">,  // rows of contiguous pixels (an NHWC image of few channels)
  I32EnumAttrCase<"Planar", 2, "planar"> // one plane per channel (an NCHW image of few channels)
]>;

def Tile_WeightsOrderAttr : Tile_EnumAttr<Tile_WeightsOrder, "weights_order">;
def Tile_PoolKindAttr : Tile_EnumAttr<Tile_PoolKind, "pool_kind">;
def Tile_NormalizeKindAttr : Tile_EnumAttr<Tile_NormalizeKind, "normalize_kind">;
def Tile_MoveKindAttr : Tile_EnumAttr<Tile_MoveKind, "move_kind">;
def Tile_ActivationAttr : Tile_EnumAttr<Tile_Activation, "activation_kind">;

class Tile_Attr<string name, string attrMnemonic> : AttrDef<Tile_Dialect, name> { let mnemonic = attrMnemonic; }

def Tile_QuantAttr : Tile_Attr<"Quant", "quant"> {
  let summary = "affine quantization of a tensor, exactly as in the model: real = scale * (q - zero_point)";
  let description = [{
    `zero_point` is in the model's domain (0..255 for ui8), unlike the numbers of epilogue operations, which are in the
    device's. Example: `#tile.quant<0.0078125 : f32, 128>`.
  }];
  let parameters = (ins "::mlir::FloatAttr":$scale, "int64_t":$zero_point);
  let assemblyFormat = "`<` $scale `,` $zero_point `>`";
  let extraClassDeclaration = [{
    float scaleValue() const { return static_cast<float>(getScale().getValueAsDouble()); }
  }];
}

def Tile_TilingAttr : Tile_Attr<"Tiling", "tiling"> {
  let summary = "tile sizes and loop order of a layer, chosen by choose-tiles, obeyed by back ends";
  let description = [{
    `sizes` are the tile's extents in [batch, group, channels, height, width], `reduction` those of the reduction
    dimensions (empty: not cut). `order` lists the dimensions that are cut, outermost loop first. `unit` is the target's
    name for what executes the layer ("dense", "depthwise", "packed", "vector" on the array; "none" when nothing runs).
    On the array, a tile is one job (times channel blocks); with `streamed` weights each job is further cut into groups of
    P pixels.
  }];
  let parameters = (ins ArrayRefParameter<"int64_t">:$sizes, OptionalArrayRefParameter<"int64_t">:$reduction,
                        OptionalArrayRefParameter<"::tilewright::tile::LoopDim">:$order, "::mlir::StringAttr":$unit,
                        EnumParameter<Tile_WeightsPolicy>:$weights);
  let assemblyFormat = [{
    `<` `[` $sizes `]` `,` `reduction` `=` `[` (`]`) : ($reduction^ `]`)? `,` `order` `=` `[` (`]`) : ($order^ `]`)? `,`
    `unit` `=` $unit `,` `weights` `=` $weights `>`
  }];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t size(LoopDim dim) const { return getSizes()[static_cast<unsigned>(dim)]; }
  }];
}

def Tile_DramAttr : Tile_Attr<"Dram", "dram"> {
  let summary = "where a map lies in the activation arena in DRAM";
  let description = [{
    `offset` and strides are in bytes; `plane_stride` is between channel words (words) or channels (planar).
  }];
  let parameters = (ins EnumParameter<Tile_DramLayout>:$layout, "int64_t":$offset, "int64_t":$row_stride,
                        "int64_t":$plane_stride, "int64_t":$sample_stride);
  let assemblyFormat = [{
    `<` $layout `,` `offset` `=` $offset `,` `row_stride` `=` $row_stride `,` `plane_stride` `=` $plane_stride `,`
    `sample_stride` `=` $sample_stride `>`
  }];
}

def Tile_PlacementAttr : Tile_Attr<"Placement", "placement"> {
  let summary = "where a map lies in the scratchpad, and in DRAM when it also lives there";
  let description = [{
    The row ring of docs/accelerator.md: word of (n, channel word cb, y, x) =
    base + n*sample_pitch + cb*plane_pitch + (y mod ring_rows)*pitch + x, in words of 16 bytes. `channel_offset`: the byte
    within the first word at which channel 0 lies (results only; operands start at byte 0). `packed`: channels of a
    packed image (rows of x*packed + c bytes), otherwise 0. `ring_samples`: samples that there is room for when they are
    fewer than the map's (n counts from the first sample of the tile then), otherwise 0.

    With `dram` on an operand, this layer loads the rows it needs into the ring before it reads them; with `dram` on a
    result, it stores its rows behind it. Without, the rows are (or stay) in the scratchpad.
  }];
  let parameters = (ins "int64_t":$base, "int64_t":$pitch, "int64_t":$plane_pitch, "int64_t":$sample_pitch,
                        "int64_t":$ring_rows, DefaultValuedParameter<"int64_t", "0">:$channel_offset,
                        DefaultValuedParameter<"int64_t", "0">:$packed,
                        DefaultValuedParameter<"int64_t", "0">:$ring_samples,
                        OptionalParameter<"::tilewright::tile::DramAttr">:$dram);
  let assemblyFormat = "`<` struct(params) `>`";
}

def Tile_EstimateAttr : Tile_Attr<"Estimate", "estimate"> {
  let summary = "what the target's cost model predicts for a layer";
  let description = [{
    `cycles`: predicted; `ideal`: useful MACs / peak; `dram_bytes`: read and written; `bound`: compute, memory, mapping,
    latency, overhead or host.
  }];
  let parameters = (ins "int64_t":$cycles, "int64_t":$ideal, "int64_t":$dram_bytes, "::mlir::StringAttr":$bound);
  let assemblyFormat = "`<` struct(params) `>`";
}

#endif
