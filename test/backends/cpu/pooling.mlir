// RUN: run-host-function %s | FileCheck %s

func.func @main(%x: tensor<1x1x4x4xf32>)
    -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>) {
  // CHECK: tensor<1x1x2x2xf32>: 5 7 13 15
  // CHECK: tensor<1x1x2x2xi64>: 5 7 13 15
  %max, %at = onnx.node "MaxPool" since 12 (%x) {kernel_shape = [2, 2], strides = [2, 2]}
    : (tensor<1x1x4x4xf32>) -> (tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>)
  // Pads count in neither sum nor number.
  // CHECK: tensor<1x1x2x2xf32>: 2.5 4 8.5 10
  %mean = onnx.node "AveragePool" since 19 (%x) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 0, 0]}
    : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
  // With count_include_pad they count in the number.
  // CHECK: tensor<1x1x2x2xf32>: 1.111111 2.666667 5.666667 10
  %all = onnx.node "AveragePool" since 19 (%x) {kernel_shape = [3, 3], strides = [2, 2], pads = [1, 1, 0, 0], count_include_pad = 1}
    : (tensor<1x1x4x4xf32>) -> tensor<1x1x2x2xf32>
  // CHECK: tensor<1x1x1x1xf32>: 7.5
  %global = onnx.node "GlobalAveragePool" since 1 (%x) : (tensor<1x1x4x4xf32>) -> tensor<1x1x1x1xf32>
  return %max, %at, %mean, %all, %global
    : tensor<1x1x2x2xf32>, tensor<1x1x2x2xi64>, tensor<1x1x2x2xf32>, tensor<1x1x2x2xf32>, tensor<1x1x1x1xf32>
}
