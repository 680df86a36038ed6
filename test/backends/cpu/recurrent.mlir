// RUN: run-host-function %s | FileCheck %s

// One feature, one hidden unit, two steps, no saturation: h1 = relu(1*x1), h2 = relu(1*x2 + 2*h1).
func.func @main(%unused: tensor<1xf32>) -> (tensor<2x1x1x1xf32>, tensor<1x1x1xf32>, tensor<2x2x1x1xf32>) {
  %x = onnx.constant dense<[[[1.0]], [[3.0]]]> : tensor<2x1x1xf32>
  %w = onnx.constant dense<1.0> : tensor<1x1x1xf32>
  %r = onnx.constant dense<2.0> : tensor<1x1x1xf32>
  // CHECK: tensor<2x1x1x1xf32>: 1 5
  // CHECK: tensor<1x1x1xf32>: 5
  %y, %h = onnx.node "RNN" since 14 (%x, %w, %r) {hidden_size = 1, activations = ["Relu"]}
    : (tensor<2x1x1xf32>, tensor<1x1x1xf32>, tensor<1x1x1xf32>) -> (tensor<2x1x1x1xf32>, tensor<1x1x1xf32>)
  // The second direction runs backwards: 3, then 1 + 2*3.
  %w2 = onnx.constant dense<1.0> : tensor<2x1x1xf32>
  %r2 = onnx.constant dense<2.0> : tensor<2x1x1xf32>
  // CHECK: tensor<2x2x1x1xf32>: 1 7 5 3
  %both = onnx.node "RNN" since 14 (%x, %w2, %r2) {hidden_size = 1, activations = ["Relu", "Relu"], direction = "bidirectional"}
    : (tensor<2x1x1xf32>, tensor<2x1x1xf32>, tensor<2x1x1xf32>) -> tensor<2x2x1x1xf32>
  return %y, %h, %both : tensor<2x1x1x1xf32>, tensor<1x1x1xf32>, tensor<2x2x1x1xf32>
}
