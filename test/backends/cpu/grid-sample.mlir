// RUN: run-host-function %s | FileCheck %s

func.func @main(%x: tensor<1x1x2x2xf32>) -> (tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>) {
  // The middle of the four pixels 0 1 2 3, and the pixel at the lower left corner.
  %grid = onnx.constant dense<[[[[0.0, 0.0], [-1.0, 1.0]]]]> : tensor<1x1x2x2xf32>
  // CHECK: tensor<1x1x1x2xf32>: 1.5 2
  %corners = onnx.node "GridSample" since 20 (%x, %grid) {mode = "linear", align_corners = 1}
    : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x1x2xf32>
  // Edges at -1 and 1: the second place is half a pixel outside in both directions, where there are zeros.
  // CHECK: tensor<1x1x1x2xf32>: 1.5 0.5
  %edges = onnx.node "GridSample" since 20 (%x, %grid) {mode = "linear"}
    : (tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>) -> tensor<1x1x1x2xf32>
  return %corners, %edges : tensor<1x1x1x2xf32>, tensor<1x1x1x2xf32>
}
