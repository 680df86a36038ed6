// RUN: tilewright-opt %s --expose-tensors | FileCheck %s

// The model's output stays first; the tensor that the host makes and each layer's result follow, by unique names.
// CHECK: func.func @main(%{{.*}}) -> (tensor<1x4x2x2xi8> {onnx.name = "y"}, tensor<1x4x2x2xi8> {onnx.name = "q:8bit"}, tensor<1x4x2x2xi8> {onnx.name = "move:8bit"}, tensor<1x4x2x2xi8> {onnx.name = "move:8bit_1"})
func.func @main(%x: tensor<1x4x2x2xf32>) -> (tensor<1x4x2x2xi8> {onnx.name = "y"}) {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<0> : tensor<i8>
  // CHECK: %[[Q:.*]] = onnx.node "QuantizeLinear"
  %q = onnx.node "QuantizeLinear" since 25 (%x, %s, %z) attributes {onnx.output_names = ["q"]} : (tensor<1x4x2x2xf32>, tensor<f32>, tensor<i8>) -> tensor<1x4x2x2xi8>
  %0 = tile.to_map %q strides [0, 4, 2, 1] : tensor<1x4x2x2xi8> -> tensor<1x4x2x2xi8>
  // CHECK: %[[A:.*]] = tile.elementwise
  %a = tile.elementwise %0 {layer = "move"} epilogue {
  ^bb0(%v: i8):
    tile.yield %v : i8
  } : tensor<1x4x2x2xi8> -> tensor<1x4x2x2xi8>
  // CHECK: %[[B:.*]] = tile.elementwise
  %b = tile.elementwise %a {layer = "move"} epilogue {
  ^bb0(%v: i8):
    tile.yield %v : i8
  } : tensor<1x4x2x2xi8> -> tensor<1x4x2x2xi8>
  // CHECK: %[[Y:.*]] = tile.from_map %[[B]] strides [0, 4, 2, 1]
  // CHECK: %[[A8:.*]] = tile.from_map %[[A]] strides [0, 4, 2, 1] {onnx.output_names = ["move:8bit"]}
  // CHECK: %[[B8:.*]] = tile.from_map %[[B]] strides [0, 4, 2, 1] {onnx.output_names = ["move:8bit_1"]}
  // CHECK: return %[[Y]], %[[Q]], %[[A8]], %[[B8]]
  %y = tile.from_map %b strides [0, 4, 2, 1] : tensor<1x4x2x2xi8> -> tensor<1x4x2x2xi8>
  return %y : tensor<1x4x2x2xi8>
}
