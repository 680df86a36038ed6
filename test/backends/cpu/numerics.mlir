// RUN: run-host-function %s | FileCheck %s
// The rules of docs/numerics.md.

func.func @main(%unused: tensor<1xf32>)
    -> (tensor<5xf32>, tensor<5xf32>, tensor<5xi8>, tensor<5xi32>, tensor<5xi1>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>,
        tensor<2x2xf32>, tensor<2xi64>, tensor<4xf32>, tensor<2xf32>, tensor<2xf16>) {
  %x = onnx.constant dense<[0x7FC00000, 3.0e+09, -3.0e+09, 0x7F800000, -0.5]> : tensor<5xf32>
  // CHECK: tensor<5xf32>: nan 3e+09 0 inf 0
  %relu = onnx.node "Relu" since 14 (%x) : (tensor<5xf32>) -> tensor<5xf32>
  %low = onnx.constant dense<-1.0> : tensor<f32>
  %high = onnx.constant dense<1.0> : tensor<f32>
  // CHECK: tensor<5xf32>: nan 1 -1 1 -0.5
  %clip = onnx.node "Clip" since 13 (%x, %low, %high) : (tensor<5xf32>, tensor<f32>, tensor<f32>) -> tensor<5xf32>
  // Out of range: the nearest int32, of which int8 keeps the low bits; NaN is 0.
  // CHECK: tensor<5xi8>: 0 -1 0 -1 0
  %toI8 = onnx.node "Cast" since 19 (%x) {to = 3} : (tensor<5xf32>) -> tensor<5xi8>
  // CHECK: tensor<5xi32>: 0 2.147484e+09 -2.147484e+09 2.147484e+09 0
  %toI32 = onnx.node "Cast" since 19 (%x) {to = 6} : (tensor<5xf32>) -> tensor<5xi32>
  // CHECK: tensor<5xi1>: 1 1 1 1 1
  %toBool = onnx.node "Cast" since 19 (%x) {to = 9} : (tensor<5xf32>) -> tensor<5xi1>
  %a = onnx.constant dense<[8, -8, 7, -2147483648]> : tensor<4xi32>
  %b = onnx.constant dense<[-3, 3, 0, -1]> : tensor<4xi32>
  // Division truncates; neither zero nor overflow traps.
  // CHECK: tensor<4xi32>: -2 -2 0 -2.147484e+09
  %div = onnx.node "Div" since 14 (%a, %b) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: tensor<4xi32>: -1 1 0 0
  %mod = onnx.node "Mod" since 13 (%a, %b) : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // CHECK: tensor<4xi32>: 2 -2 0 0
  %fmod = onnx.node "Mod" since 13 (%a, %b) {fmod = 1} : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi32>
  // A NaN ranks above all numbers; of equals the first.
  %rows = onnx.constant dense<[[1.0, 0x7FC00000, 2.0], [5.0, 1.0, 5.0]]> : tensor<2x3xf32>
  %k = onnx.constant dense<2> : tensor<1xi64>
  // CHECK: tensor<2x2xf32>: nan 2 5 5
  %top, %at = onnx.node "TopK" since 11 (%rows, %k) : (tensor<2x3xf32>, tensor<1xi64>) -> (tensor<2x2xf32>, tensor<2x2xi64>)
  // CHECK: tensor<2xi64>: 1 0
  %arg = onnx.node "ArgMax" since 13 (%rows) {axis = 1, keepdims = 0} : (tensor<2x3xf32>) -> tensor<2xi64>
  %halves = onnx.constant dense<[0.5, 1.5, 2.5, -0.5]> : tensor<4xf32>
  // CHECK: tensor<4xf32>: 0 2 2 -0
  %round = onnx.node "Round" since 11 (%halves) : (tensor<4xf32>) -> tensor<4xf32>
  // Subnormals are numbers.
  %tiny = onnx.constant dense<[1.0e-40, -1.0e-40]> : tensor<2xf32>
  %big = onnx.constant dense<1048576.0> : tensor<f32>
  // CHECK: tensor<2xf32>: 1.04857{{.*}}e-34 -1.04857{{.*}}e-34
  %product = onnx.node "Mul" since 14 (%tiny, %big) : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  // float64 to float16 rounds once: a little above the tie at 1 + 2^-11, where two roundings would give 1.
  %wide = onnx.constant dense<[1.00048828125001, 1.00048828125]> : tensor<2xf64>
  // CHECK: tensor<2xf16>: 1.000977 1
  %narrow = onnx.node "Cast" since 19 (%wide) {to = 10} : (tensor<2xf64>) -> tensor<2xf16>
  return %relu, %clip, %toI8, %toI32, %toBool, %div, %mod, %fmod, %top, %arg, %round, %product, %narrow
    : tensor<5xf32>, tensor<5xf32>, tensor<5xi8>, tensor<5xi32>, tensor<5xi1>, tensor<4xi32>, tensor<4xi32>, tensor<4xi32>,
      tensor<2x2xf32>, tensor<2xi64>, tensor<4xf32>, tensor<2xf32>, tensor<2xf16>
}
