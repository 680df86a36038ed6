// RUN: tilewright-opt %s --fold-affine | FileCheck %s

// The tensor behind the folded node keeps its name; (0.5 x) * 4 / sqrt(3 + 1) + (1 - 2 * 2) and the old bias.
// CHECK-LABEL: func.func @batch_norm
func.func @batch_norm(%x: tensor<1x1x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = onnx.constant dense<0.5> : tensor<2x1x1x1xf32>
  %b = onnx.constant dense<[1.0, 10.0]> : tensor<2xf32>
  %scale = onnx.constant dense<[4.0, 2.0]> : tensor<2xf32>
  %bias = onnx.constant dense<1.0> : tensor<2xf32>
  %mean = onnx.constant dense<2.0> : tensor<2xf32>
  %var = onnx.constant dense<3.0> : tensor<2xf32>
  // CHECK-DAG: %[[W:.*]] = onnx.constant dense<{{\[\[\[\[}}1.000000e+00]]], {{\[\[\[}}5.000000e-01]]]]> : tensor<2x1x1x1xf32>
  // CHECK-DAG: %[[B:.*]] = onnx.constant dense<[-1.000000e+00, 9.000000e+00]> : tensor<2xf32>
  // CHECK: %[[Y:.*]] = onnx.node "Conv" since 11 (%{{.*}}, %[[W]], %[[B]]) attributes {onnx.output_names = ["normal"]}
  // CHECK-NOT: BatchNormalization
  // CHECK: return %[[Y]]
  %c = onnx.node "Conv" since 11 (%x, %w, %b) attributes {onnx.output_names = ["conv"]} : (tensor<1x1x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %y = onnx.node "BatchNormalization" since 15 (%c, %scale, %bias, %mean, %var) {epsilon = 1.0 : f32} attributes {onnx.output_names = ["normal"]} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// A convolution without bias gets one; 3 - 2 x.
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %w = onnx.constant dense<1.0> : tensor<2x2x1x1xf32>
  %two = onnx.constant dense<2.0> : tensor<f32>
  %k = onnx.constant dense<[[[3.0]], [[5.0]]]> : tensor<2x1x1xf32>
  // CHECK-DAG: %[[W:.*]] = onnx.constant dense<-2.000000e+00>
  // CHECK-DAG: %[[B:.*]] = onnx.constant dense<[3.000000e+00, 5.000000e+00]>
  // CHECK: %[[Y:.*]] = onnx.node "Conv" since 11 (%{{.*}}, %[[W]], %[[B]])
  // CHECK: return %[[Y]]
  %c = onnx.node "Conv" since 11 (%x, %w) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %m = onnx.node "Mul" since 14 (%two, %c) : (tensor<f32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y = onnx.node "Sub" since 14 (%k, %m) : (tensor<2x1x1xf32>, tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// Before a convolution, as in DenseNet: a depthwise 1x1 convolution. Scalars stay for the elementwise nodes around them.
// CHECK-LABEL: func.func @depthwise
func.func @depthwise(%x: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %scale = onnx.constant dense<[4.0, 2.0]> : tensor<2xf32>
  %one = onnx.constant dense<1.0> : tensor<2xf32>
  %half = onnx.constant dense<0.5> : tensor<f32>
  // CHECK: onnx.node "Conv" since {{[0-9]+}} {{.*}} {group = 2 : i64, kernel_shape = [1, 1]} attributes {onnx.output_names = ["bn"]} : (tensor<1x2x4x4xf32>, tensor<2x1x1x1xf32>, tensor<2xf32>)
  // CHECK: "Relu"
  // CHECK: "Mul"
  %b = onnx.node "BatchNormalization" since 9 (%x, %scale, %one, %one, %one) attributes {onnx.output_names = ["bn"]} : (tensor<1x2x4x4xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x4x4xf32>
  %r = onnx.node "Relu" since 14 (%b) : (tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  %y = onnx.node "Mul" since 14 (%r, %half) : (tensor<1x2x4x4xf32>, tensor<f32>) -> tensor<1x2x4x4xf32>
  return %y : tensor<1x2x4x4xf32>
}

// Somebody else reads the convolution's result: nothing may be folded into it.
// CHECK-LABEL: func.func @read_twice
func.func @read_twice(%x: tensor<1x2x4x4xf32>) -> (tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>) {
  %w = onnx.constant dense<1.0> : tensor<2x2x1x1xf32>
  %k = onnx.constant dense<[[[3.0]], [[5.0]]]> : tensor<2x1x1xf32>
  // CHECK: %[[C:.*]] = onnx.node "Conv" since 11 (%{{[^,]*}}, %{{[^,]*}}) :
  // CHECK: onnx.node "Conv" since {{[0-9]+}} (%[[C]],
  %c = onnx.node "Conv" since 11 (%x, %w) : (tensor<1x2x4x4xf32>, tensor<2x2x1x1xf32>) -> tensor<1x2x4x4xf32>
  %y = onnx.node "Add" since 14 (%c, %k) : (tensor<1x2x4x4xf32>, tensor<2x1x1xf32>) -> tensor<1x2x4x4xf32>
  return %c, %y : tensor<1x2x4x4xf32>, tensor<1x2x4x4xf32>
}

// Training mode, an infinite factor, and constants that are per column or per element are no affine map per channel.
// CHECK-LABEL: func.func @left_alone
func.func @left_alone(%x: tensor<1x2x2x2xf32>) -> (tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>) {
  %column = onnx.constant dense<[3.0, 5.0]> : tensor<2xf32>
  %zero = onnx.constant dense<[[[0.0]], [[1.0]]]> : tensor<2x1x1xf32>
  // CHECK: "Add"
  // CHECK: "Div"
  // CHECK: "BatchNormalization"
  %a = onnx.node "Add" since 14 (%x, %column) : (tensor<1x2x2x2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  %d = onnx.node "Div" since 14 (%x, %zero) : (tensor<1x2x2x2xf32>, tensor<2x1x1xf32>) -> tensor<1x2x2x2xf32>
  %b = onnx.node "BatchNormalization" since 15 (%x, %column, %column, %column, %column) {training_mode = 1} : (tensor<1x2x2x2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>) -> tensor<1x2x2x2xf32>
  return %a, %d, %b : tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>, tensor<1x2x2x2xf32>
}

// Columns of a matrix product are channels; offsets behind a MatMul are its bias already.
// CHECK-LABEL: func.func @dense
func.func @dense(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %w = onnx.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %k = onnx.constant dense<[10.0, 100.0]> : tensor<2xf32>
  // CHECK: %[[W:.*]] = onnx.constant dense<{{\[\[}}1.000000e+01, 2.000000e+02], [3.000000e+01, 4.000000e+02]]>
  // CHECK: %[[M:.*]] = onnx.node "MatMul" since 13 (%{{.*}}, %[[W]])
  // CHECK: onnx.node "Add" since 14 (%[[M]],
  %m = onnx.node "MatMul" since 13 (%x, %w) : (tensor<3x2xf32>, tensor<2x2xf32>) -> tensor<3x2xf32>
  %s = onnx.node "Mul" since 14 (%m, %k) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  %y = onnx.node "Add" since 14 (%s, %k) : (tensor<3x2xf32>, tensor<2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}

// CHECK-LABEL: func.func @sum
func.func @sum(%x: tensor<3x2xf32>) -> tensor<3x2xf32> {
  // CHECK: %[[S:.*]] = onnx.node "Add" since {{[0-9]+}} (%arg0, %arg0)
  // CHECK: onnx.node "Sum" since 13 (%[[S]], %arg0, %arg0)
  %s = onnx.node "Sum" since 8 (%x, %x) : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %y = onnx.node "Sum" since 13 (%s, %x, %x) : (tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %y : tensor<3x2xf32>
}
