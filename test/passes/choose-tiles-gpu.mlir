// RUN: tilewright-opt %s --choose-tiles=target=cuda | FileCheck %s

// Tiles for the GPU: attention as a group, a batched f16 product of two tensors.
// CHECK-LABEL: func.func @gpu_layers
func.func @gpu_layers(%q: tensor<12x64x1x128xf16>, %k: tensor<12x64x1x128xf16>, %v: tensor<12x64x1x128xf16>) {
  // CHECK: tile.group attributes {tiling = #tile.tiling<[1, 1, {{[0-9]+}}, 1, {{[0-9]+}}]
  %o = tile.group {
    // CHECK: tile.contraction
    // CHECK-SAME: unit = "tensor_core"
    %s = tile.contraction %q, %k {weights_order = #tile<weights_order token_major>} epilogue {
    ^bb0(%acc: f32):
      %h = tile.affine %acc {scale = dense<0.125> : tensor<1xf32>} : f32 -> f32
      tile.yield %h : f32
    } : tensor<12x64x1x128xf16>, tensor<12x64x1x128xf16> -> tensor<12x128x1x128xf32>
    // CHECK: tile.normalize
    // CHECK-SAME: unit = "simt"
    %p = tile.normalize softmax %s epilogue {
    ^bb0(%e: f32):
      %h = tile.affine %e : f32 -> f16
      tile.yield %h : f16
    } : tensor<12x128x1x128xf32> -> tensor<12x128x1x128xf16>
    %r = tile.contraction %p, %v {weights_order = #tile<weights_order channel_major>} epilogue {
    ^bb0(%acc: f32):
      %h = tile.affine %acc : f32 -> f16
      tile.yield %h : f16
    } : tensor<12x128x1x128xf16>, tensor<12x64x1x128xf16> -> tensor<12x64x1x128xf16>
    tile.yield %r : tensor<12x64x1x128xf16>
  } : tensor<12x64x1x128xf16>
  return
}

// CHECK-LABEL: func.func @batched_f16_matmul
func.func @batched_f16_matmul(%a: tensor<12x64x1x1024xf16>, %b: tensor<12x2048x1x64xf16>) -> tensor<12x2048x1x1024xf16> {
  // CHECK: tile.contraction
  // CHECK-SAME: tiling = #tile.tiling<[1, 1, [[N:[0-9]+]], 1, [[M:[0-9]+]]], reduction = [], order = [batch, channels, width], unit = "tensor_core", weights = reloaded>
  %y = tile.contraction %a, %b {weights_order = #tile<weights_order channel_major>} epilogue {
  ^bb0(%acc: f32):
    %h = tile.affine %acc : f32 -> f16
    tile.yield %h : f16
  } : tensor<12x64x1x1024xf16>, tensor<12x2048x1x64xf16> -> tensor<12x2048x1x1024xf16>
  return %y : tensor<12x2048x1x1024xf16>
}
