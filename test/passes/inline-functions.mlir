// RUN: tilewright-opt %s --inline-functions --split-input-file --verify-diagnostics --mlir-print-debuginfo --mlir-print-local-scope | FileCheck %s

// A reference takes the call's value, the function's default, or makes the attribute vanish; names are prefixed.
// CHECK-LABEL: func.func @main
// CHECK: onnx.node "LeakyRelu" since 16 (%{{.*}}) {alpha = 2.500000e+00 : f32} attributes {onnx.output_names = ["call/e"]}
// CHECK-SAME: loc("call/leak"("call"))
// CHECK: onnx.node "Elu" since 6 (%{{.*}}) {alpha = 5.000000e-01 : f32}
// CHECK: onnx.node "Selu" since 6 (%{{.*}}) attributes {onnx.output_names = ["y"]}
// CHECK-NOT: local::Scale
func.func @main(%x: tensor<2xf32>) -> tensor<*x!onnx.unknown> {
  %y = onnx.node "local::Scale" since 1 (%x) {by = 2.5 : f32} attributes {onnx.output_names = ["y"]}
    : (tensor<2xf32>) -> tensor<*x!onnx.unknown> loc("call")
  return %y : tensor<*x!onnx.unknown>
}
func.func private @"local::Scale"(%a: tensor<*x!onnx.unknown>, %b: tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    attributes {onnx.function = "local::Scale", onnx.function_attributes = ["by", "soft", "none"],
                onnx.function_defaults = {soft = 0.5 : f32}} {
  %e = onnx.node "LeakyRelu" since 16 (%a) {alpha = #onnx.attribute_reference<"by">} attributes {onnx.output_names = ["e"]}
    : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown> loc("leak")
  %f = onnx.node "Elu" since 6 (%e) {alpha = #onnx.attribute_reference<"soft">}
    : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
  %g = onnx.node "Selu" since 6 (%f) {alpha = #onnx.attribute_reference<"none">} attributes {onnx.output_names = ["g"]}
    : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
  return %g : tensor<*x!onnx.unknown>
}

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<*x!onnx.unknown> {
  // expected-error @+1 {{function local::F has no attribute 'alpha'}}
  %y = onnx.node "local::F" since 1 (%x) {alpha = 1 : i64} : (tensor<2xf32>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}
func.func private @"local::F"(%a: tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    attributes {onnx.function = "local::F", onnx.function_attributes = [], onnx.function_defaults = {}} {
  return %a : tensor<*x!onnx.unknown>
}

// -----

func.func @main(%x: tensor<2xf32>) -> tensor<*x!onnx.unknown> {
  %y = onnx.node "local::F" since 1 (%x) : (tensor<2xf32>) -> tensor<*x!onnx.unknown>
  return %y : tensor<*x!onnx.unknown>
}
func.func private @"local::F"(%a: tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    attributes {onnx.function = "local::F", onnx.function_attributes = [], onnx.function_defaults = {}} {
  // expected-error @+1 {{function local::F calls itself}}
  %b = onnx.node "local::F" since 1 (%a) : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
  return %b : tensor<*x!onnx.unknown>
}
