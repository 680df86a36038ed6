// RUN: tilewright-opt %s --infer-shapes --split-input-file --verify-diagnostics | FileCheck %s

// Open dimensions are expressions over the inputs' symbols.
// CHECK-DAG: #[[CONV:.*]] = affine_map<()[s0, s1] -> (s0, 10, s1 - 2, 6)>
// CHECK-DAG: #[[POOL:.*]] = affine_map<()[s0, s1] -> (s0, 10, (s1 - 2) ceildiv 2, 3)>
// CHECK-LABEL: func.func @symbolic
// CHECK-SAME: -> (tensor<?x10x?x3xf32> {onnx.shape = #[[POOL]]}) attributes {onnx.symbols = ["N", "H"]}
// CHECK: "Conv"{{.*}}onnx.shape = [#[[CONV]]]{{.*}} -> tensor<?x10x?x6xf32>
func.func @symbolic(%x: tensor<?x3x?x8xf32> {onnx.dim_symbols = ["N", "", "H", ""]}, %w: tensor<10x3x3x3xf32>)
    -> tensor<*x!onnx.unknown> {
  %c = onnx.node "Conv" since 11 (%x, %w) : (tensor<?x3x?x8xf32>, tensor<10x3x3x3xf32>) -> tensor<*x!onnx.unknown>
  %p = onnx.node "MaxPool" since 12 (%c) {kernel_shape = [2, 2], strides = [2, 2], auto_pad = "SAME_UPPER"}
    : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
  return %p : tensor<*x!onnx.unknown>
}

// -----

// A shape computed by nodes is followed: [N, C*H*W] with N open, then a product that cancels.
// CHECK-LABEL: func.func @followed
// CHECK: "Reshape"{{.*}} -> tensor<?x60xf32>
// CHECK: "Reshape"{{.*}} -> tensor<?x3x20xf32>
func.func @followed(%x: tensor<?x3x4x5xf32> {onnx.dim_symbols = ["N", "", "", ""]}) -> tensor<*x!onnx.unknown> {
  %zero = onnx.constant dense<0> : tensor<i64>
  %axes = onnx.constant dense<0> : tensor<1xi64>
  %rest = onnx.constant dense<-1> : tensor<1xi64>
  %s = onnx.node "Shape" since 13 (%x) : (tensor<?x3x4x5xf32>) -> tensor<*x!onnx.unknown>
  %n = onnx.node "Gather" since 13 (%s, %zero) : (tensor<*x!onnx.unknown>, tensor<i64>) -> tensor<*x!onnx.unknown>
  %u = onnx.node "Unsqueeze" since 13 (%n, %axes) : (tensor<*x!onnx.unknown>, tensor<1xi64>) -> tensor<*x!onnx.unknown>
  %t = onnx.node "Concat" since 13 (%u, %rest) {axis = 0 : i64}
    : (tensor<*x!onnx.unknown>, tensor<1xi64>) -> tensor<*x!onnx.unknown>
  %r = onnx.node "Reshape" since 14 (%x, %t) : (tensor<?x3x4x5xf32>, tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
  %back = onnx.constant dense<[-1, 3, 20]> : tensor<3xi64>
  %y = onnx.node "Reshape" since 14 (%r, %back) : (tensor<*x!onnx.unknown>, tensor<3xi64>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}

// -----

// With known dimensions the shape computation itself becomes a constant.
// CHECK-LABEL: func.func @known
// CHECK-NOT: "Shape"
// CHECK: onnx.constant dense<[3, 2]> : tensor<2xi64>
// CHECK: "Expand"{{.*}} -> tensor<3x2xf32>
func.func @known(%x: tensor<2x3xf32>, %k: tensor<1x2xf32>) -> tensor<*x!onnx.unknown> {
  %starts = onnx.constant dense<-1> : tensor<1xi64>
  %ends = onnx.constant dense<-9223372036854775807> : tensor<1xi64>
  %axes = onnx.constant dense<0> : tensor<1xi64>
  %steps = onnx.constant dense<-1> : tensor<1xi64>
  %s = onnx.node "Shape" since 13 (%x) : (tensor<2x3xf32>) -> tensor<*x!onnx.unknown>
  %r = onnx.node "Slice" since 13 (%s, %starts, %ends, %axes, %steps)
    : (tensor<*x!onnx.unknown>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>, tensor<1xi64>) -> tensor<*x!onnx.unknown>
  %y = onnx.node "Expand" since 13 (%k, %r) : (tensor<1x2xf32>, tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}

// -----

// Branches: what both agree on is kept.
// CHECK-LABEL: func.func @branches
// CHECK: "If"{{.*}} body "then_branch"
// CHECK: -> tensor<?x3xf32>
func.func @branches(%c: tensor<i1>, %x: tensor<2x3xf32>) -> tensor<*x!onnx.unknown> {
  %y = onnx.node "If" since 16 (%c) body "then_branch" {
    onnx.yield %x : tensor<2x3xf32>
  } body "else_branch" {
    %d = onnx.node "Concat" since 13 (%x, %x) {axis = 0 : i64}
      : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*x!onnx.unknown>
    onnx.yield %d : tensor<*x!onnx.unknown>
  } : (tensor<i1>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}

// -----

// A carried value that grows: its size in the first round is no constant.
// CHECK-LABEL: func.func @loop
// CHECK: "Loop"
// CHECK: ^bb0(%{{.*}}: tensor<i64>, %{{.*}}: tensor<i1>, %[[V:.*]]: tensor<?x3xf32>)
// CHECK: "Shape"{{.*}} (%[[V]])
// CHECK: "Concat"{{.*}} -> tensor<?x3xf32>
// CHECK: -> (tensor<?x3xf32>, tensor<?x2xi64>)
func.func @loop(%n: tensor<i64>, %c: tensor<i1>, %x: tensor<1x3xf32>) -> (tensor<*x!onnx.unknown>, tensor<*x!onnx.unknown>) {
  %y:2 = onnx.node "Loop" since 16 (%n, %c, %x) body "body" {
  ^bb0(%i: tensor<*x!onnx.unknown>, %go: tensor<*x!onnx.unknown>, %v: tensor<*x!onnx.unknown>):
    %s = onnx.node "Shape" since 15 (%v) : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    %w = onnx.node "Concat" since 13 (%v, %x) {axis = 0 : i64}
      : (tensor<*x!onnx.unknown>, tensor<1x3xf32>) -> tensor<*x!onnx.unknown>
    onnx.yield %go, %w, %s : tensor<*x!onnx.unknown>, tensor<*x!onnx.unknown>, tensor<*x!onnx.unknown>
  } : (tensor<i64>, tensor<i1>, tensor<1x3xf32>) -> (tensor<*x!onnx.unknown>, tensor<*x!onnx.unknown>)
  return %y#0, %y#1 : tensor<*x!onnx.unknown>, tensor<*x!onnx.unknown>
}

// -----

// The zero point gives a quantized tensor its type.
// CHECK-LABEL: func.func @quantized
// CHECK: "QuantizeLinear"{{.*}} -> tensor<1x4xi8>
// CHECK: "com.microsoft::QLinearAdd"{{.*}} -> tensor<1x4xi8>
// CHECK: "DequantizeLinear"{{.*}} -> tensor<1x4xf32>
func.func @quantized(%x: tensor<1x4xf32>, %s: tensor<f32>, %z: tensor<i8>) -> tensor<*x!onnx.unknown> {
  %q = onnx.node "QuantizeLinear" since 13 (%x, %s, %z)
    : (tensor<1x4xf32>, tensor<f32>, tensor<i8>) -> tensor<*x!onnx.unknown>
  %a = onnx.node "com.microsoft::QLinearAdd" since 1 (%q, %s, %z, %q, %s, %z, %s, %z)
    : (tensor<*x!onnx.unknown>, tensor<f32>, tensor<i8>, tensor<*x!onnx.unknown>, tensor<f32>, tensor<i8>, tensor<f32>,
       tensor<i8>) -> tensor<*x!onnx.unknown>
  %d = onnx.node "DequantizeLinear" since 13 (%a, %s, %z)
    : (tensor<*x!onnx.unknown>, tensor<f32>, tensor<i8>) -> tensor<*x!onnx.unknown>
  return %d : tensor<*x!onnx.unknown>
}

// -----

func.func @inner(%a: tensor<2x3xf32>) -> tensor<*x!onnx.unknown> {
  // expected-error @+1 {{MatMul(13): shapes [2, 3] and [2, 3] do not fit: the inner dimensions are 3 and 2}}
  %y = onnx.node "MatMul" since 13 (%a, %a) : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}

// -----

func.func @types(%a: tensor<3xf32>, %b: tensor<3xi64>) -> tensor<*x!onnx.unknown> {
  // expected-error @+1 {{Add(14) giving 'sum': input 1 is of type int64 and input 0 of type float; they must be the same}}
  %y = onnx.node "Add" since 14 (%a, %b) attributes {onnx.output_names = ["sum"]}
    : (tensor<3xf32>, tensor<3xi64>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}

// -----

func.func @group(%x: tensor<1x3x4x4xf32>, %w: tensor<2x1x3x3xf32>) -> tensor<*x!onnx.unknown> {
  // expected-error @+1 {{Conv(11): attribute 'group' is 2, which does not divide [3, 2], the channels in and out}}
  %y = onnx.node "Conv" since 11 (%x, %w) {group = 2 : i64}
    : (tensor<1x3x4x4xf32>, tensor<2x1x3x3xf32>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}

// -----

func.func @reshape(%x: tensor<2x3xf32>) -> tensor<*x!onnx.unknown> {
  %s = onnx.constant dense<2> : tensor<2xi64>
  // expected-error @+1 {{a tensor [2, 3] of 6 elements cannot be reshaped to [2, 2]}}
  %y = onnx.node "Reshape" since 14 (%x, %s) : (tensor<2x3xf32>, tensor<2xi64>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}

// -----

func.func @absurd() -> tensor<*x!onnx.unknown> {
  %s = onnx.constant dense<1099511627776> : tensor<2xi64>
  // expected-error @+1 {{the output would have the shape [1099511627776, 1099511627776]; up to 2^40 elements are supported}}
  %y = onnx.node "ConstantOfShape" since 9 (%s) : (tensor<2xi64>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}

// -----

func.func @nan_scale(%x: tensor<2xf32>) -> tensor<*x!onnx.unknown> {
  %s = onnx.constant dense<0x7FC00000> : tensor<f32>
  // expected-error @+1 {{QuantizeLinear(13): the scale is nan; it must be finite and not 0}}
  %y = onnx.node "QuantizeLinear" since 13 (%x, %s) : (tensor<2xf32>, tensor<f32>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}
