// RUN: tilewright-opt %s --form-layers=target=systolic:%S/Inputs/small.toml -split-input-file | FileCheck %s

// 8 KB of scratchpad. The second part begins in the middle of a word of 16 channels, which two layers therefore write:
// the concatenation, 8 KB, would have to stay on chip whole.
// CHECK-LABEL: func.func @part_within_a_word
// CHECK-NOT: tile.move concat
// CHECK: onnx.node "Concat"{{.*}}a part of it begins within a word of 16 channels, so that all of it would have to stay on chip: 8192 bytes of 8192
func.func @part_within_a_word(%x: tensor<1x8x16x16xi8>, %y: tensor<1x16x16x16xi8>) -> tensor<1x24x16x16xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<3> : tensor<i8>
  %a = onnx.node "DequantizeLinear" since 13 (%x, %s, %z) : (tensor<1x8x16x16xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8x16x16xf32>
  %b = onnx.node "DequantizeLinear" since 13 (%y, %s, %z) : (tensor<1x16x16x16xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x16x16xf32>
  %c = onnx.node "Concat" since 13 (%a, %b) {axis = 1} : (tensor<1x8x16x16xf32>, tensor<1x16x16x16xf32>) -> tensor<1x24x16x16xf32>
  %q = onnx.node "QuantizeLinear" since 13 (%c, %s, %z) : (tensor<1x24x16x16xf32>, tensor<f32>, tensor<i8>) -> tensor<1x24x16x16xi8>
  return %q : tensor<1x24x16x16xi8>
}

// -----

// Parts that begin at a word can be streamed, whatever their size.
// CHECK-LABEL: func.func @parts_at_words
// CHECK: tile.move concat
func.func @parts_at_words(%x: tensor<1x8x16x16xi8>, %y: tensor<1x16x16x16xi8>) -> tensor<1x24x16x16xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<3> : tensor<i8>
  %a = onnx.node "DequantizeLinear" since 13 (%x, %s, %z) : (tensor<1x8x16x16xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8x16x16xf32>
  %b = onnx.node "DequantizeLinear" since 13 (%y, %s, %z) : (tensor<1x16x16x16xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x16x16xf32>
  %c = onnx.node "Concat" since 13 (%b, %a) {axis = 1} : (tensor<1x16x16x16xf32>, tensor<1x8x16x16xf32>) -> tensor<1x24x16x16xf32>
  %q = onnx.node "QuantizeLinear" since 13 (%c, %s, %z) : (tensor<1x24x16x16xf32>, tensor<f32>, tensor<i8>) -> tensor<1x24x16x16xi8>
  return %q : tensor<1x24x16x16xi8>
}

// -----

// As within a word, but small enough to stay.
// CHECK-LABEL: func.func @small_part_within_a_word
// CHECK: tile.move concat
func.func @small_part_within_a_word(%x: tensor<1x8x8x8xi8>, %y: tensor<1x16x8x8xi8>) -> tensor<1x24x8x8xi8> {
  %s = onnx.constant dense<0.5> : tensor<f32>
  %z = onnx.constant dense<3> : tensor<i8>
  %a = onnx.node "DequantizeLinear" since 13 (%x, %s, %z) : (tensor<1x8x8x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x8x8x8xf32>
  %b = onnx.node "DequantizeLinear" since 13 (%y, %s, %z) : (tensor<1x16x8x8xi8>, tensor<f32>, tensor<i8>) -> tensor<1x16x8x8xf32>
  %c = onnx.node "Concat" since 13 (%a, %b) {axis = 1} : (tensor<1x8x8x8xf32>, tensor<1x16x8x8xf32>) -> tensor<1x24x8x8xf32>
  %q = onnx.node "QuantizeLinear" since 13 (%c, %s, %z) : (tensor<1x24x8x8xf32>, tensor<f32>, tensor<i8>) -> tensor<1x24x8x8xi8>
  return %q : tensor<1x24x8x8xi8>
}
