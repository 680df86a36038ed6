// RUN: tilewright-opt %s --canonicalize --cse | FileCheck %s

// Nodes have no side effects: what nobody reads goes, equal ones are one, and so are equal constants.
// CHECK-LABEL: func.func @pure
// CHECK-NEXT: %[[C:.*]] = onnx.constant dense<1.000000e+00> : tensor<2xf32>
// CHECK-NEXT: %[[A:.*]] = onnx.node "Add" since 14 (%arg0, %[[C]])
// CHECK-NEXT: onnx.node "Mul" since 14 (%[[A]], %[[A]])
// CHECK-NEXT: return
func.func @pure(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c = onnx.constant dense<1.0> : tensor<2xf32>
  %d = onnx.constant dense<1.0> : tensor<2xf32>
  %a = onnx.node "Add" since 14 (%x, %c) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.node "Add" since 14 (%x, %d) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %dead = onnx.node "Relu" since 14 (%x) : (tensor<2xf32>) -> tensor<2xf32>
  %m = onnx.node "Mul" since 14 (%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return %m : tensor<2xf32>
}

// Nodes that differ in an attribute, or in the version, are different.
// CHECK-LABEL: func.func @different
// CHECK-COUNT-3: onnx.node
func.func @different(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) {
  %a = onnx.node "Elu" since 6 (%x) {alpha = 1.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  %b = onnx.node "Elu" since 6 (%x) {alpha = 2.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  %c = onnx.node "Elu" since 22 (%x) {alpha = 1.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  return %a, %b, %c : tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
