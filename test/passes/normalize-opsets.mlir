// RUN: tilewright-opt %s --normalize-opsets --split-input-file | FileCheck %s

// Attributes become inputs.
// CHECK-LABEL: func.func @clip
// CHECK: %[[LOW:.*]] = onnx.constant dense<0.000000e+00> : tensor<f32>
// CHECK: %[[HIGH:.*]] = onnx.constant dense<6.000000e+00> : tensor<f32>
// CHECK: onnx.node "Clip" since 13 (%{{.*}}, %[[LOW]], %[[HIGH]]) :
func.func @clip(%x: tensor<2xf32>) -> tensor<2xf32> {
  %y = onnx.node "Clip" since 6 (%x) {min = 0.0 : f32, max = 6.0 : f32} : (tensor<2xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func @axes
// CHECK: %[[AXES:.*]] = onnx.constant dense<-1> : tensor<1xi64>
// CHECK: onnx.node "ReduceMean" since 18 (%{{.*}}, %[[AXES]]) {keepdims = 0 : i64}
func.func @axes(%x: tensor<2x3xf32>) -> tensor<2xf32> {
  %y = onnx.node "ReduceMean" since 13 (%x) {axes = [-1], keepdims = 0 : i64} : (tensor<2x3xf32>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// A second input broadcast at an axis gets ones behind.
// CHECK-LABEL: func.func @old_broadcast
// CHECK: %[[AXES:.*]] = onnx.constant dense<[1, 2]> : tensor<2xi64>
// CHECK: %[[B:.*]] = onnx.node "Unsqueeze" since {{.*}} (%arg1, %[[AXES]])
// CHECK: onnx.node "Add" since 14 (%arg0, %[[B]])
func.func @old_broadcast(%a: tensor<2x3x4x5xf32>, %b: tensor<3xf32>) -> tensor<2x3x4x5xf32> {
  %y = onnx.node "Add" since 6 (%a, %b) {axis = 1 : i64, broadcast = 1 : i64}
    : (tensor<2x3x4x5xf32>, tensor<3xf32>) -> tensor<2x3x4x5xf32>
  return %y : tensor<2x3x4x5xf32>
}

// Geometry is spelled out; SAME puts the odd element at the end, or at the beginning.
// CHECK-LABEL: func.func @same
// CHECK: "Conv" since 11 {{.*}} {dilations = [1, 1], group = 1 : i64, kernel_shape = [3, 3], pads = [0, 0, 1, 1], strides = [2, 2]}
// CHECK: "MaxPool" since 12 {{.*}} {dilations = [1, 1], kernel_shape = [2, 2], pads = [1, 1, 0, 0], strides = [1, 1]}
func.func @same(%x: tensor<1x3x8x8xf32>, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32> {
  %c = onnx.node "Conv" since 1 (%x, %w) {auto_pad = "SAME_UPPER", strides = [2, 2]}
    : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>) -> tensor<1x4x4x4xf32>
  %p = onnx.node "MaxPool" since 8 (%c) {auto_pad = "SAME_LOWER", kernel_shape = [2, 2]}
    : (tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %p : tensor<1x4x4x4xf32>
}

// Rounding up becomes padding where padding does not count, and stays where it does.
// CHECK-LABEL: func.func @ceil
// CHECK: "MaxPool"{{.*}} {dilations = [1, 1], kernel_shape = [3, 3], pads = [0, 0, 1, 1], strides = [2, 2]}
// CHECK: "AveragePool"{{.*}} {ceil_mode = 1 : i64, count_include_pad = 1 : i64, {{.*}}pads = [0, 0, 0, 0]
func.func @ceil(%x: tensor<1x3x8x8xf32>) -> (tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>) {
  %m = onnx.node "MaxPool" since 10 (%x) {ceil_mode = 1 : i64, kernel_shape = [3, 3], strides = [2, 2]}
    : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  %a = onnx.node "AveragePool" since 10 (%x) {ceil_mode = 1 : i64, count_include_pad = 1 : i64, kernel_shape = [3, 3], strides = [2, 2]}
    : (tensor<1x3x8x8xf32>) -> tensor<1x3x4x4xf32>
  return %m, %a : tensor<1x3x4x4xf32>, tensor<1x3x4x4xf32>
}

// Softmax before 13 took everything from the axis on as one row.
// CHECK-LABEL: func.func @softmax
// CHECK: %[[SHAPE:.*]] = onnx.node "Shape"
// CHECK: %[[ROWS:.*]] = onnx.node "Flatten" {{.*}} {axis = 1 : i64}
// CHECK: %[[S:.*]] = onnx.node "Softmax" since 13 (%[[ROWS]]) {axis = 1 : i64}
// CHECK: onnx.node "Reshape" {{.*}} (%[[S]], %[[SHAPE]])
// CHECK: onnx.node "Softmax" since 13 (%{{.*}}) {axis = 2 : i64}
func.func @softmax(%x: tensor<2x3x4xf32>) -> tensor<2x3x4xf32> {
  %a = onnx.node "Softmax" since 1 (%x) : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  %b = onnx.node "Softmax" since 11 (%a) {axis = -1 : i64} : (tensor<2x3x4xf32>) -> tensor<2x3x4xf32>
  return %b : tensor<2x3x4xf32>
}

// CHECK-LABEL: func.func @upsample
// CHECK: %[[SCALES:.*]] = onnx.constant dense<[1.000000e+00, 1.000000e+00, 2.000000e+00, 2.000000e+00]> : tensor<4xf32>
// CHECK: onnx.node "Resize" since 19 (%arg0, %{{.*}}, %[[SCALES]]) {coordinate_transformation_mode = "asymmetric", mode = "nearest", nearest_mode = "floor"}
func.func @upsample(%x: tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32> {
  %y = onnx.node "Upsample" since 7 (%x) {scales = [1.0 : f32, 1.0 : f32, 2.0 : f32, 2.0 : f32]}
    : (tensor<1x1x2x2xf32>) -> tensor<1x1x4x4xf32>
  return %y : tensor<1x1x4x4xf32>
}

// What does nothing in inference goes; training outputs of batch normalization too.
// CHECK-LABEL: func.func @inference
// CHECK-NEXT: %[[Y:.*]] = onnx.node "BatchNormalization" since 15 (%arg0, %arg1, %arg1, %arg1, %arg1) {epsilon = {{.*}}}
// CHECK-SAME: -> tensor<1x3x2x2xf32>
// CHECK: return %[[Y]]
func.func @inference(%x: tensor<1x3x2x2xf32>, %v: tensor<3xf32>) -> tensor<1x3x2x2xf32> {
  %y:5 = onnx.node "BatchNormalization" since 7 (%x, %v, %v, %v, %v) {epsilon = 0.01 : f32, momentum = 0.9 : f32}
    : (tensor<1x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
    -> (tensor<1x3x2x2xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>, tensor<3xf32>)
  %d = onnx.node "Dropout" since 7 (%y#0) {ratio = 0.5 : f32} : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  %i = onnx.node "Identity" since 1 (%d) : (tensor<1x3x2x2xf32>) -> tensor<1x3x2x2xf32>
  return %i : tensor<1x3x2x2xf32>
}

// CHECK-LABEL: func.func @constants
// CHECK: onnx.constant dense<[1, 2]> : tensor<2xi64>
// CHECK: onnx.constant dense<2.500000e+00> : tensor<f32>
// CHECK-NOT: "Constant"
func.func @constants() -> (tensor<2xi64>, tensor<f32>) {
  %a = onnx.node "Constant" since 13 () {value_ints = [1, 2]} : () -> tensor<2xi64>
  %b = onnx.node "Constant" since 13 () {value_float = 2.5 : f32} : () -> tensor<f32>
  return %a, %b : tensor<2xi64>, tensor<f32>
}

// Rules that need a type wait for it, and keep the version until then.
// CHECK-LABEL: func.func @later
// CHECK: onnx.node "Clip" since 6 (%arg0) {max = 6.000000e+00 : f32}
func.func @later(%x: tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown> {
  %y = onnx.node "Clip" since 6 (%x) {max = 6.0 : f32} : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}
