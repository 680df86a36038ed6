// RUN: tilewright-opt %s --verify-supported --split-input-file --verify-diagnostics

// expected-error @+1 {{9 nodes are not supported:}}
module {
  func.func @main(%x: tensor<2x3xf32>) -> tensor<*x!onnx.unknown> {
    %ok = onnx.node "Relu" since 14 (%x) : (tensor<2x3xf32>) -> tensor<*x!onnx.unknown>
    %a = onnx.node "Frobnicate" since 17 (%ok) : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    %b = onnx.node "acme::Quant" since 1 (%a) : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    %c = onnx.node "acme::Quant" since 0 (%b) : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    %d = onnx.node "Gelu" since 17 (%c) : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    %e = onnx.node "Relu" since 14 (%d) {slope = 2.0 : f32} : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    %f = onnx.node "Elu" since 6 (%e) {alpha = 2 : i64} : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    %g = onnx.node "Relu" since 14 (%f, %f)
      : (tensor<*x!onnx.unknown>, tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    %h = onnx.node "Gather" since 13 (%g) : (tensor<*x!onnx.unknown>) -> tensor<*x!onnx.unknown>
    %i = onnx.node "SequenceAt" since 11 (%h, %x) : (tensor<*x!onnx.unknown>, tensor<2x3xf32>) -> tensor<*x!onnx.unknown>
    return %i : tensor<*x!onnx.unknown>
  }
}
