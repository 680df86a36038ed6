// RUN: tilewright-opt %s --recognize-activations --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @hard_swish
// CHECK-NEXT: %[[A:.*]] = onnx.node "HardSwish" since 14 (%arg0) attributes {onnx.output_names = ["y"]}
// CHECK-NEXT: return %[[A]]
func.func @hard_swish(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %three = onnx.constant dense<3.0> : tensor<f32>
  %six = onnx.constant dense<6.0> : tensor<1xf32>
  %top = onnx.constant dense<6.0> : tensor<f32>
  %a = onnx.node "Add" since 14 (%x, %three) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %c = onnx.node "Clip" since 13 (%a, %zero, %top) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %m = onnx.node "Mul" since 14 (%x, %c) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %d = onnx.node "Div" since 14 (%m, %six) attributes {onnx.output_names = ["y"]}
    : (tensor<2x3xf32>, tensor<1xf32>) -> tensor<2x3xf32>
  return %d : tensor<2x3xf32>
}

// The gate is a value of its own, which somebody else reads.
// CHECK-LABEL: func.func @gate
// CHECK-NEXT: %[[G:.*]] = onnx.node "HardSigmoid" since 6 (%arg0) {alpha = 0.166666672 : f32, beta = 5.000000e-01 : f32}
// CHECK-NEXT: %[[Y:.*]] = onnx.node "HardSwish" since 14 (%arg0)
// CHECK-NEXT: return %[[G]], %[[Y]]
func.func @gate(%x: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>) {
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %three = onnx.constant dense<3.0> : tensor<f32>
  %top = onnx.constant dense<6.0> : tensor<f32>
  %sixth = onnx.constant dense<0.16666667> : tensor<f32>
  %a = onnx.node "Add" since 14 (%three, %x) : (tensor<f32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %c = onnx.node "Clip" since 13 (%a, %zero, %top) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %g = onnx.node "Mul" since 14 (%c, %sixth) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %y = onnx.node "Mul" since 14 (%g, %x) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  return %g, %y : tensor<2x3xf32>, tensor<2x3xf32>
}

// CHECK-LABEL: func.func @gelu
// CHECK-NEXT: onnx.node "Gelu" since 20 (%arg0)
func.func @gelu(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %root = onnx.constant dense<1.41421354> : tensor<f32>
  %one = onnx.constant dense<1.0> : tensor<f32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  %d = onnx.node "Div" since 14 (%x, %root) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %e = onnx.node "Erf" since 13 (%d) : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %a = onnx.node "Add" since 14 (%e, %one) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %m = onnx.node "Mul" since 14 (%x, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %y = onnx.node "Mul" since 14 (%m, %half) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %y : tensor<2x3xf32>
}

// Another offset, another value, a top that the divisor does not undo: nothing is recognized.
// CHECK-LABEL: func.func @others
// CHECK-NOT: Hard
// CHECK: return
func.func @others(%x: tensor<2x3xf32>, %z: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>) {
  %zero = onnx.constant dense<0.0> : tensor<f32>
  %two = onnx.constant dense<2.0> : tensor<f32>
  %three = onnx.constant dense<3.0> : tensor<f32>
  %six = onnx.constant dense<6.0> : tensor<f32>
  %a = onnx.node "Add" since 14 (%x, %two) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %c = onnx.node "Clip" since 13 (%a, %zero, %six) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %m = onnx.node "Mul" since 14 (%x, %c) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = onnx.node "Div" since 14 (%m, %six) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %b = onnx.node "Add" since 14 (%x, %three) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %d = onnx.node "Clip" since 13 (%b, %zero, %six) : (tensor<2x3xf32>, tensor<f32>, tensor<f32>) -> tensor<2x3xf32>
  %n = onnx.node "Mul" since 14 (%z, %d) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
  %q = onnx.node "Div" since 14 (%n, %six) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  %r = onnx.node "Div" since 14 (%d, %two) : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
  return %p, %q, %r : tensor<2x3xf32>, tensor<2x3xf32>, tensor<2x3xf32>
}
