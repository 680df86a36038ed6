// RUN: run-host-function %s | FileCheck %s

func.func @main(%x: tensor<2x2xf32>, %scale: tensor<2xf32>) -> (tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>) {
  // CHECK: tensor<2x2xf32>: 0.2689414 0.7310586 0.2689414 0.7310586
  %softmax = onnx.node "Softmax" since 13 (%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: tensor<2x2xf32>: 0.1192029 0.1192029 0.88079{{[0-9]+}} 0.88079{{[0-9]+}}
  %columns = onnx.node "Softmax" since 13 (%x) {axis = 0} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // CHECK: tensor<2x2xf32>: -2.126928 -2.126928 -0.126928 -0.126928
  %log = onnx.node "LogSoftmax" since 13 (%x) {axis = 0} : (tensor<2x2xf32>) -> tensor<2x2xf32>
  // Mean and deviation are 0.5 off each: -1 and 1, times 0 and 1.
  // CHECK: tensor<2x2xf32>: -0 1 -0 1
  %norm = onnx.node "LayerNormalization" since 17 (%x, %scale) {epsilon = 0.0 : f32}
    : (tensor<2x2xf32>, tensor<2xf32>) -> tensor<2x2xf32>
  return %softmax, %columns, %log, %norm : tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>
}
