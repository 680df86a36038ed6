// RUN: run-host-function %s | FileCheck %s

func.func @main(%x: tensor<2x3xf32>, %i: tensor<2x3xi64>)
    -> (tensor<2x1xf32>, tensor<3xi64>, tensor<f32>, tensor<2x2xf32>, tensor<2x2xi64>, tensor<2xi64>, tensor<2x1xf32>) {
  %axis = onnx.constant dense<1> : tensor<1xi64>
  %zero = onnx.constant dense<0> : tensor<1xi64>
  %k = onnx.constant dense<2> : tensor<1xi64>
  // CHECK: tensor<2x1xf32>: 1 4
  %mean = onnx.node "ReduceMean" since 18 (%x, %axis) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  // CHECK: tensor<3xi64>: 0 4 10
  %product = onnx.node "ReduceProd" since 18 (%i, %zero) {keepdims = 0} : (tensor<2x3xi64>, tensor<1xi64>) -> tensor<3xi64>
  // CHECK: tensor<f32>: 5
  %max = onnx.node "ReduceMax" since 20 (%x) {keepdims = 0} : (tensor<2x3xf32>) -> tensor<f32>
  // CHECK: tensor<2x2xf32>: 2 1 5 4
  // CHECK: tensor<2x2xi64>: 2 1 2 1
  %top, %where = onnx.node "TopK" since 11 (%x, %k) : (tensor<2x3xf32>, tensor<1xi64>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  // CHECK: tensor<2xi64>: 2 2
  %arg = onnx.node "ArgMax" since 13 (%x) {axis = 1, keepdims = 0} : (tensor<2x3xf32>) -> tensor<2xi64>
  // CHECK: tensor<2x1xf32>: 2.407606 5.407606
  %lse = onnx.node "ReduceLogSumExp" since 18 (%x, %axis) : (tensor<2x3xf32>, tensor<1xi64>) -> tensor<2x1xf32>
  return %mean, %product, %max, %top, %where, %arg, %lse
    : tensor<2x1xf32>, tensor<3xi64>, tensor<f32>, tensor<2x2xf32>, tensor<2x2xi64>, tensor<2xi64>, tensor<2x1xf32>
}
