// RUN: run-host-function %s | FileCheck %s
// Arguments count 0, 1, 2, ...

func.func @main(%x: tensor<1x1x3x3xf32>, %w: tensor<1x1x2x2xf32>, %d: tensor<1x2x2x2xf32>, %dw: tensor<2x1x2x2xf32>)
    -> (tensor<1x1x2x2xf32>, tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x2x1x1xf32>, tensor<1x1x4x4xf32>) {
  %none = onnx.none
  // 0*0 + 1*1 + 2*3 + 3*4 = 19
  // CHECK: tensor<1x1x2x2xf32>: 19 25 37 43
  %plain = onnx.node "Conv" since 11 (%x, %w, %none) : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, none) -> tensor<1x1x2x2xf32>
  // The pad is at the beginning only: the first window sees pixel 0 under weight 3.
  // CHECK: tensor<1x1x3x3xf32>: 0 3 8 9 19 25 21 37 43
  %padded = onnx.node "Conv" since 11 (%x, %w, %none) {pads = [1, 1, 0, 0]}
    : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, none) -> tensor<1x1x3x3xf32>
  // SAME_UPPER with stride 2: one row and column of padding, at the end.
  // CHECK: tensor<1x1x2x2xf32>: 19 10 7 0
  %same = onnx.node "Conv" since 11 (%x, %w, %none) {auto_pad = "SAME_UPPER", strides = [2, 2]}
    : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, none) -> tensor<1x1x2x2xf32>
  // Depthwise: 0+1+4+9 and 4*4+5*5+6*6+7*7
  // CHECK: tensor<1x2x1x1xf32>: 14 126
  %depthwise = onnx.node "Conv" since 11 (%d, %dw, %none) {group = 2}
    : (tensor<1x2x2x2xf32>, tensor<2x1x2x2xf32>, none) -> tensor<1x2x1x1xf32>
  // CHECK: tensor<1x1x4x4xf32>: 0 0 1 2 0 5 11 11 6 23 29 23 12 32 37 24
  %transposed = onnx.node "ConvTranspose" since 11 (%x, %w, %none)
    : (tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, none) -> tensor<1x1x4x4xf32>
  return %plain, %padded, %same, %depthwise, %transposed
    : tensor<1x1x2x2xf32>, tensor<1x1x3x3xf32>, tensor<1x1x2x2xf32>, tensor<1x2x1x1xf32>, tensor<1x1x4x4xf32>
}
