// RUN: tilewright-opt %s -split-input-file -verify-diagnostics

func.func @unnamed_region(%c: tensor<i1>) {
  // expected-error @+1 {{has 1 regions but names 0 of them}}
  "onnx.node"(%c) <{op_type = "If", domain = "", since_version = 16 : i64, node_attributes = {}}> ({
    "onnx.yield"() : () -> ()
  }) : (tensor<i1>) -> ()
  return
}

// -----

func.func @no_operator(%x: tensor<2xf32>) {
  // expected-error @+1 {{has an empty op type}}
  %y = onnx.node "" since 1 (%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @no_version(%x: tensor<2xf32>) {
  // expected-error @+1 {{expected 'since'}}
  %y = onnx.node "Relu" (%x) : (tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @operand_count(%x: tensor<2xf32>) {
  // expected-error @+1 {{number of operands and types do not match: got 1 operands and 2 types}}
  %y = onnx.node "Add" since 14 (%x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  return
}

// -----

func.func @constant_type() {
  // expected-error @+1 {{failed to verify that all of {value, result} have same type}}
  %c = "onnx.constant"() <{value = dense<1> : tensor<2xi64>}> : () -> tensor<3xi64>
  return
}

// -----

func.func @printed_without_values() -> tensor<64xi8> {
  // expected-error @+1 {{'onnx.constant' op has no values: they were left out when it was printed}}
  %0 = onnx.constant dense_resource<__elided__> : tensor<64xi8>
  return %0 : tensor<64xi8>
}
