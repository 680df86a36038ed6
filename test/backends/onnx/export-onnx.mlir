// RUN: tilewright-opt %s --export-onnx=file=%t.onnx -o /dev/null
// RUN: tilewright-opt --import-onnx=%t.onnx | FileCheck %s
// RUN: tilewright-opt --import-onnx=%t.onnx | FileCheck %s --check-prefix=UNUSED
// RUN: sed 's/"Relu" since 14 (%x)/"Softmax" since 11 (%x) {axis = 0}/' %s > %t.softmax.mlir
// RUN: not tilewright-opt %t.softmax.mlir --export-onnx=file=%t.softmax.onnx 2>&1 | FileCheck %s --check-prefix=MIXED
// RUN: not tilewright-opt %s --export-onnx=file=%t.nowhere/x.onnx 2>&1 | FileCheck %s --check-prefix=NOWHERE

// MIXED: error: Softmax since 11 cannot be written beside nodes of opset 13
// NOWHERE: cannot be written: No such file or directory

// UNUSED-NOT: i16

// What is written is read back: names, symbols, absent operands, attributes of each kind, constants of several types.
// CHECK: onnx.opset_imports = {ai.onnx = 14 : i64, com.microsoft = 1 : i64}
// CHECK: func.func @main(%[[X:.*]]: tensor<?x4xf32> {onnx.dim_symbols = ["N", ""], onnx.name = "the input"}) -> ({{.*}} {onnx.name = "same"}, {{.*}} {onnx.name = "clipped"}
// CHECK-DAG: %[[MAX:.*]] = onnx.constant dense<6.000000e+00> : tensor<f32>
// CHECK-DAG: %[[SCALE:.*]] = onnx.constant dense<5.000000e-01> : tensor<f32>
// CHECK-DAG: %[[ZERO:.*]] = onnx.constant dense<-3> : tensor<i8>
// CHECK-DAG: %[[R:.*]] = onnx.node "Relu" since 14 (%[[X]])
// CHECK-DAG: %[[C:.*]] = onnx.node "Clip" since 13 (%[[R]], %{{.*}}, %[[MAX]]) attributes {onnx.output_names = ["clipped"]}
// CHECK-DAG: %[[Q:.*]] = onnx.node "QuantizeLinear" since 13 (%[[C]], %[[SCALE]], %[[ZERO]]) {axis = 1 : i64}
// CHECK-DAG: onnx.node "com.microsoft::Made" since {{[0-9]+}} (%[[Q]]) {f = 2.500000e-01 : f32, fs = [1.000000e+00 : f32, 2.000000e+00 : f32], i = -7 : i64, is = [1, -2], s = "text", ss = ["a", "b"], t = dense<[1, 2]> : tensor<2xi64>}
module attributes {onnx.opset_imports = {ai.onnx = 13 : i64}} {
  func.func @main(%x: tensor<?x4xf32> {onnx.name = "the input", onnx.dim_symbols = ["N", ""]}) -> (tensor<?x4xf32> {onnx.name = "same"}, tensor<?x4xf32> {onnx.name = "clipped"}, tensor<?x4xi8> {onnx.name = "made"}) {
    %none = onnx.none
    %max = onnx.constant dense<6.0> : tensor<f32>
    %scale = onnx.constant dense<0.5> : tensor<f32>
    %zero = onnx.constant dense<-3> : tensor<i8>
    %unused = onnx.constant dense<[77, 78]> : tensor<2xi16>
    %r = onnx.node "Relu" since 14 (%x) : (tensor<?x4xf32>) -> tensor<?x4xf32>
    %c = onnx.node "Clip" since 13 (%r, %none, %max) attributes {onnx.output_names = ["other name"]} : (tensor<?x4xf32>, none, tensor<f32>) -> tensor<?x4xf32>
    %q = onnx.node "QuantizeLinear" since 13 (%c, %scale, %zero) {axis = 1} : (tensor<?x4xf32>, tensor<f32>, tensor<i8>) -> tensor<?x4xi8>
    %m = onnx.node "com.microsoft::Made" since 1 (%q) {f = 0.25 : f32, fs = [1.0 : f32, 2.0 : f32], i = -7, is = [1, -2], s = "text", ss = ["a", "b"], t = dense<[1, 2]> : tensor<2xi64>} : (tensor<?x4xi8>) -> tensor<?x4xi8>
    return %x, %c, %m : tensor<?x4xf32>, tensor<?x4xf32>, tensor<?x4xi8>
  }
}
