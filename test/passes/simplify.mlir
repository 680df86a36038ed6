// RUN: tilewright-opt %s --simplify | FileCheck %s

// CHECK-LABEL: func.func @no_ops
// CHECK-NEXT: return %arg0
func.func @no_ops(%x: tensor<2x3xf32>) -> tensor<2x3xf32> {
  %zeros = onnx.constant dense<0> : tensor<4xi64>
  %shape = onnx.constant dense<[2, 3]> : tensor<2xi64>
  %start = onnx.constant dense<0> : tensor<1xi64>
  %end = onnx.constant dense<9> : tensor<1xi64>
  %r = onnx.node "Reshape" since 21 (%x, %shape) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<2x3xf32>
  %t = onnx.node "Transpose" since 21 (%r) {perm = [0, 1]} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  %p = onnx.node "Pad" since 21 (%t, %zeros) : (tensor<2x3xf32>, tensor<4xi64>) -> tensor<2x3xf32>
  %s = onnx.node "Slice" since 13 (%p, %start, %end) : (tensor<2x3xf32>, tensor<1xi64>, tensor<1xi64>) -> tensor<2x3xf32>
  %c = onnx.node "Concat" since 13 (%s) {axis = 0 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
  return %c : tensor<2x3xf32>
}

// Shapes that are equal only as far as types tell, and a slice backwards, stay.
// CHECK-LABEL: func.func @no_no_ops
// CHECK: "Expand"
// CHECK: "Slice"
func.func @no_no_ops(%x: tensor<?x3xf32>, %s: tensor<2xi64>, %y: tensor<2xf32>) -> (tensor<?x3xf32>, tensor<2xf32>) {
  %minus = onnx.constant dense<-1> : tensor<1xi64>
  %far = onnx.constant dense<-9> : tensor<1xi64>
  %axis = onnx.constant dense<0> : tensor<1xi64>
  %e = onnx.node "Expand" since 13 (%x, %s) : (tensor<?x3xf32>, tensor<2xi64>) -> tensor<?x3xf32>
  %r = onnx.node "Slice" since 13 (%y, %minus, %far, %axis, %minus)
    : (tensor<2xf32>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<2xf32>
  return %e, %r : tensor<?x3xf32>, tensor<2xf32>
}

// CHECK-LABEL: func.func @moves
// CHECK: %[[S:.*]] = onnx.constant dense<[6, 1, 4]> : tensor<3xi64>
// CHECK: %[[R:.*]] = onnx.node "Reshape" since 21 (%arg0, %[[S]]) {allowzero = 1 : i64} attributes {onnx.output_names = ["r"]}
// CHECK: %[[T:.*]] = onnx.node "Transpose" {{.*}} (%arg0) {perm = [1, 2, 0]} : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
// CHECK: return %[[R]], %[[T]]
func.func @moves(%x: tensor<2x3x4xf32>) -> (tensor<6x1x4xf32>, tensor<3x4x2xf32>) {
  %axes = onnx.constant dense<1> : tensor<1xi64>
  %shape = onnx.constant dense<[6, 4]> : tensor<2xi64>
  %a = onnx.node "Reshape" since 21 (%x, %shape) : (tensor<2x3x4xf32>, tensor<2xi64>) -> tensor<6x4xf32>
  %r = onnx.node "Unsqueeze" since 21 (%a, %axes) attributes {onnx.output_names = ["r"]}
    : (tensor<6x4xf32>, tensor<1xi64>) -> tensor<6x1x4xf32>
  %b = onnx.node "Transpose" since 21 (%x) {perm = [2, 1, 0]} : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %t = onnx.node "Transpose" since 21 (%b) {perm = [1, 0, 2]} : (tensor<4x3x2xf32>) -> tensor<3x4x2xf32>
  return %r, %t : tensor<6x1x4xf32>, tensor<3x4x2xf32>
}

// The batch is open, and one open dimension is what a Reshape can find out itself.
// CHECK-LABEL: func.func @computed_shape
// CHECK: %[[S:.*]] = onnx.constant dense<[-1, 12]> : tensor<2xi64>
// CHECK: onnx.node "Reshape" since 21 (%arg0, %[[S]])
func.func @computed_shape(%x: tensor<?x3x4xf32>, %s: tensor<2xi64>) -> tensor<?x12xf32> {
  %r = onnx.node "Reshape" since 21 (%x, %s) : (tensor<?x3x4xf32>, tensor<2xi64>) -> tensor<?x12xf32>
  return %r : tensor<?x12xf32>
}

// CHECK-LABEL: func.func @pad
// CHECK-NOT: "Pad"
// CHECK: onnx.node "Conv" since 11 (%arg0, %arg1) {{.*}}pads = [1, 2, 1, 1]
func.func @pad(%x: tensor<1x3x4x4xf32>, %w: tensor<2x3x3x3xf32>) -> tensor<1x2x4x5xf32> {
  %pads = onnx.constant dense<[0, 0, 1, 1, 0, 0, 1, 0]> : tensor<8xi64>
  %p = onnx.node "Pad" since 21 (%x, %pads) : (tensor<1x3x4x4xf32>, tensor<8xi64>) -> tensor<1x3x6x5xf32>
  %y = onnx.node "Conv" since 11 (%p, %w) {kernel_shape = [3, 3], pads = [0, 1, 0, 1], strides = [1, 1]}
    : (tensor<1x3x6x5xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x4x5xf32>
  return %y : tensor<1x2x4x5xf32>
}

// Ones are not what a convolution pads with, and channels are not where.
// CHECK-LABEL: func.func @other_pads
// CHECK: "Pad"
// CHECK: "Pad"
func.func @other_pads(%x: tensor<1x3x4x4xf32>, %w: tensor<2x3x3x3xf32>, %v: tensor<2x4x3x3xf32>)
    -> (tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>) {
  %around = onnx.constant dense<[0, 0, 1, 1, 0, 0, 1, 1]> : tensor<8xi64>
  %channel = onnx.constant dense<[0, 1, 0, 0, 0, 0, 0, 0]> : tensor<8xi64>
  %one = onnx.constant dense<1.0> : tensor<f32>
  %p = onnx.node "Pad" since 21 (%x, %around, %one) : (tensor<1x3x4x4xf32>, tensor<8xi64>, tensor<f32>) -> tensor<1x3x6x6xf32>
  %y = onnx.node "Conv" since 11 (%p, %w) {kernel_shape = [3, 3], pads = [0, 0, 0, 0]}
    : (tensor<1x3x6x6xf32>, tensor<2x3x3x3xf32>) -> tensor<1x2x4x4xf32>
  %q = onnx.node "Pad" since 21 (%x, %channel) : (tensor<1x3x4x4xf32>, tensor<8xi64>) -> tensor<1x4x4x4xf32>
  %z = onnx.node "Conv" since 11 (%q, %v) {kernel_shape = [3, 3], pads = [0, 0, 0, 0]}
    : (tensor<1x4x4x4xf32>, tensor<2x4x3x3xf32>) -> tensor<1x2x2x2xf32>
  return %y, %z : tensor<1x2x4x4xf32>, tensor<1x2x2x2xf32>
}

// CHECK-LABEL: func.func @special_cases
// CHECK: %[[P:.*]] = onnx.node "GlobalAveragePool" since 1 (%arg0) : (tensor<1x3x4x4xf32>) -> tensor<1x3x1x1xf32>
// CHECK: %[[S:.*]] = onnx.node "Squeeze" {{.*}} (%[[P]], %{{.*}}) attributes {onnx.output_names = ["m"]}
// CHECK: onnx.node "Add" since 14 (%[[S]], %[[S]])
func.func @special_cases(%x: tensor<1x3x4x4xf32>) -> tensor<1x3xf32> {
  %axes = onnx.constant dense<[-1, -2]> : tensor<2xi64>
  %m = onnx.node "ReduceMean" since 18 (%x, %axes) {keepdims = 0 : i64} attributes {onnx.output_names = ["m"]}
    : (tensor<1x3x4x4xf32>, tensor<2xi64>) -> tensor<1x3xf32>
  %s = onnx.node "Sum" since 13 (%m, %m) : (tensor<1x3xf32>, tensor<1x3xf32>) -> tensor<1x3xf32>
  return %s : tensor<1x3xf32>
}

// CHECK-LABEL: func.func @decided
// CHECK-NEXT: %[[Y:.*]] = onnx.node "Neg"
// CHECK-NEXT: return %[[Y]]
func.func @decided(%x: tensor<2xf32>) -> tensor<2xf32> {
  %no = onnx.constant dense<false> : tensor<i1>
  %y = onnx.node "If" since 16 (%no) body "then_branch" {
    onnx.yield %x : tensor<2xf32>
  } body "else_branch" {
    %n = onnx.node "Neg" since 13 (%x) : (tensor<2xf32>) -> tensor<2xf32>
    onnx.yield %n : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}
