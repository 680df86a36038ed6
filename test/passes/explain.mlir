// RUN: tilewright-opt %s --partition --choose-tiles --place-buffers --explain -o /dev/null 2>&1 | FileCheck %s

// CHECK: a: contraction 1x16x8x8 -> 1x24x8x8; dense; tile 4 of 8 height, weights pass once; {{[0-9]+}} cycles modelled, bound by {{[a-z]+}}, {{[0-9.]+}} % of peak
// CHECK-SAME: grouped convolution: dense, with block-diagonal weights
// CHECK: 1 layer on systolic:4x16x4, {{[0-9]+}} cycles modelled
// CHECK: on the host:
// CHECK:   norm: Softmax(13): Softmax has no form on systolic:4x16x4
func.func @layers(%x0: tensor<1x16x8x8xi8>, %u: tensor<4xf32>) -> (tensor<1x24x8x8xi8>, tensor<4xf32>) {
  %w = onnx.constant dense<1> : tensor<24x8x1x1xi8>
  %x = tile.to_map %x0 strides [0, 64, 8, 1] : tensor<1x16x8x8xi8> -> tensor<1x16x8x8xi8>
  %a = tile.contraction %x, %w {layer = "a", group = 2 : i64} epilogue {
  ^bb0(%acc: i32):
    %q = tile.requantize %acc {bias = dense<0> : tensor<1xi32>, scale = dense<0.5> : tensor<1xf32>,
      zero_point = 0 : i64, clamp_min = 0 : i64, clamp_max = 127 : i64} : i32 -> i8
    tile.yield %q : i8
  } : tensor<1x16x8x8xi8>, tensor<24x8x1x1xi8> -> tensor<1x24x8x8xi8>
  %y = tile.from_map %a strides [0, 64, 8, 1] : tensor<1x24x8x8xi8> -> tensor<1x24x8x8xi8>
  %s = onnx.node "Softmax" since 13 (%u) : (tensor<4xf32>) -> tensor<4xf32> loc("norm")
  return %y, %s : tensor<1x24x8x8xi8>, tensor<4xf32>
}
