// RUN: tilewright-opt %s | tilewright-opt | FileCheck %s

// CHECK-LABEL: func.func @conv
func.func @conv(%x: tensor<1x3x8x8xf32> {onnx.name = "x"}, %w: tensor<4x3x3x3xf32>) -> tensor<1x4x6x6xf32> {
  // CHECK: %[[NONE:.*]] = onnx.none
  %none = onnx.none
  // CHECK: onnx.node "Conv" since 11 (%{{.*}}, %{{.*}}, %[[NONE]]) {kernel_shape = [3, 3]} : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x6x6xf32>
  %y = onnx.node "Conv" since 11 (%x, %w, %none) {kernel_shape = [3, 3]}
    : (tensor<1x3x8x8xf32>, tensor<4x3x3x3xf32>, none) -> tensor<1x4x6x6xf32>
  return %y : tensor<1x4x6x6xf32>
}

// CHECK-LABEL: func.func @other_domain
func.func @other_domain(%x: tensor<2xui8>) -> tensor<2xui8> {
  // CHECK: onnx.node "com.microsoft::QLinearSigmoid" since 1
  %y = onnx.node "com.microsoft::QLinearSigmoid" since 1 (%x) : (tensor<2xui8>) -> tensor<2xui8>
  return %y : tensor<2xui8>
}

// CHECK-LABEL: func.func @subgraph
func.func @subgraph(%c: tensor<i1>, %x: tensor<2xf32>) -> tensor<2xf32> {
  // CHECK: onnx.node "If" since 16 (%{{.*}}) body "then_branch" {
  // CHECK: } body "else_branch" {
  %y = onnx.node "If" since 16 (%c) body "then_branch" {
    onnx.yield %x : tensor<2xf32>
  } body "else_branch" {
    %k = onnx.constant dense<[1.0, 2.0]> : tensor<2xf32>
    onnx.yield %k : tensor<2xf32>
  } : (tensor<i1>) -> tensor<2xf32>
  return %y : tensor<2xf32>
}

// CHECK-LABEL: func.func private @"local::f"
func.func private @"local::f"(%x: tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    attributes {onnx.function = "local::f", onnx.function_attributes = ["a"], onnx.function_defaults = {}} {
  // CHECK: onnx.node "Elu" since 6 (%{{.*}}) {alpha = #onnx.attribute_reference<"a">} attributes {onnx.output_names = ["y"]} : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
  %y = onnx.node "Elu" since 6 (%x) {alpha = #onnx.attribute_reference<"a">} attributes {onnx.output_names = ["y"]}
    : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}

// CHECK-LABEL: func.func @strings
func.func @strings() -> tensor<2x!onnx.string> {
  // CHECK: onnx.constant dense<["a", "b"]> : tensor<2x!onnx.string>
  %c = onnx.constant dense<["a", "b"]> : tensor<2x!onnx.string>
  return %c : tensor<2x!onnx.string>
}
