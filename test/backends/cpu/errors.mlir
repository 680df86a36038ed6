// RUN: not run-host-function %s 2>&1 | FileCheck %s

// Everything that is not supported is listed at once.
// CHECK: node 'first': NoSuchOperator(3): the operator is not supported on the host
// CHECK: node '': Clip(6): supported from version 11 on
// CHECK: node '': Conv(11): pads needs two numbers per spatial dimension
// CHECK: error: the model has nodes that cannot run on the host
func.func @main(%x: tensor<1x1x3x3xf32>) -> (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) {
  %a = onnx.node "NoSuchOperator" since 3 (%x) : (tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32> loc("first")
  %b = onnx.node "Clip" since 6 (%x) : (tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  %c = onnx.node "Conv" since 11 (%x, %x) {pads = [1]} : (tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>) -> tensor<1x1x3x3xf32>
  return %a, %b, %c : tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>, tensor<1x1x3x3xf32>
}
