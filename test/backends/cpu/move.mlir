// RUN: run-host-function %s | FileCheck %s

func.func @main(%x: tensor<2x3xi32>, %image: tensor<1x4x1x2xf32>)
    -> (tensor<3x2xi32>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<2x2xi32>, tensor<2x5xi32>, tensor<4x3xi32>,
        tensor<1x1x2x4xf32>, tensor<2xi32>) {
  %axes = onnx.constant dense<[1, 0]> : tensor<2xi64>
  %starts = onnx.constant dense<[-1, 1]> : tensor<2xi64>
  %ends = onnx.constant dense<[-10, 2]> : tensor<2xi64>
  %steps = onnx.constant dense<[-2, 1]> : tensor<2xi64>
  %pads = onnx.constant dense<[0, 1, 0, 1]> : tensor<4xi64>
  %repeats = onnx.constant dense<[2, 1]> : tensor<2xi64>
  %at = onnx.constant dense<[2, -3]> : tensor<2xi64>
  // CHECK: tensor<3x2xi32>: 0 3 1 4 2 5
  %transposed = onnx.node "Transpose" since 13 (%x) : (tensor<2x3xi32>) -> tensor<3x2xi32>
  // CHECK: tensor<2x4xi32>: 0 1 2 0 3 4 5 3
  %first, %rest = onnx.node "Split" since 18 (%x) {axis = 1, num_outputs = 2}
    : (tensor<2x3xi32>) -> (tensor<2x1xi32>, tensor<2x2xi32>)
  %joined = onnx.node "Concat" since 13 (%x, %first) {axis = -1} : (tensor<2x3xi32>, tensor<2x1xi32>) -> tensor<2x4xi32>
  // Backwards along the last axis.
  // CHECK: tensor<1x2xi32>: 5 3
  %slice = onnx.node "Slice" since 13 (%x, %starts, %ends, %axes, %steps)
    : (tensor<2x3xi32>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>, tensor<2xi64>) -> tensor<1x2xi32>
  // CHECK: tensor<2x2xi32>: 2 0 5 3
  %gathered = onnx.node "Gather" since 13 (%x, %at) {axis = 1} : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<2x2xi32>
  // CHECK: tensor<2x5xi32>: 1 0 1 2 1 4 3 4 5 4
  %reflected = onnx.node "Pad" since 21 (%x, %pads) {mode = "reflect"} : (tensor<2x3xi32>, tensor<4xi64>) -> tensor<2x5xi32>
  // CHECK: tensor<4x3xi32>: 0 1 2 3 4 5 0 1 2 3 4 5
  %tiled = onnx.node "Tile" since 13 (%x, %repeats) : (tensor<2x3xi32>, tensor<2xi64>) -> tensor<4x3xi32>
  // Channels 0..3 become a 2x2 block of each pixel.
  // CHECK: tensor<1x1x2x4xf32>: 0 2 1 3 4 6 5 7
  %spread = onnx.node "DepthToSpace" since 13 (%image) {blocksize = 2} : (tensor<1x4x1x2xf32>) -> tensor<1x1x2x4xf32>
  // CHECK: tensor<2xi32>: 2 3
  %index = onnx.constant dense<[[0, 2], [1, 0]]> : tensor<2x2xi64>
  %points = onnx.node "GatherND" since 13 (%x, %index) : (tensor<2x3xi32>, tensor<2x2xi64>) -> tensor<2xi32>
  return %transposed, %joined, %slice, %gathered, %reflected, %tiled, %spread, %points
    : tensor<3x2xi32>, tensor<2x4xi32>, tensor<1x2xi32>, tensor<2x2xi32>, tensor<2x5xi32>, tensor<4x3xi32>,
      tensor<1x1x2x4xf32>, tensor<2xi32>
}
