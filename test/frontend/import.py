# The importer mirrors a model: order, names, absent operands, symbols, constants, subgraphs, functions.
# RUN: %python %s %t.onnx
# RUN: tilewright-opt --import-onnx=%t.onnx --input-shape=k:3 | FileCheck %s
# RUN: tilewright-opt --import-onnx=%t.onnx | FileCheck %s --check-prefix=DEFAULT
# RUN: tilewright-opt --import-onnx=%t.onnx --batch=4 | FileCheck %s --check-prefix=BATCH
# RUN: not tilewright-opt --import-onnx=%t.onnx --input-shape=z:1x2 2>&1 | FileCheck %s --check-prefix=NOINPUT
# RUN: not tilewright-opt --import-onnx=%t.onnx --input-shape=x:1x5 2>&1 | FileCheck %s --check-prefix=FIXED
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

x = helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])
unsized = helper.make_tensor_value_info("u", TensorProto.FLOAT, [-1, "N"])
c = helper.make_tensor_value_info("c", TensorProto.BOOL, [])
k = helper.make_tensor_value_info("k", TensorProto.FLOAT, [3])
y = helper.make_tensor_value_info("y", TensorProto.FLOAT, None)
branch_out = helper.make_tensor_value_info("b", TensorProto.FLOAT, None)
then = helper.make_graph([helper.make_node("Neg", ["t"], ["b"])], "then", [], [branch_out])
other = helper.make_graph([helper.make_node("Abs", ["t"], ["b"])], "else", [], [branch_out])
nodes = [  # last first: the importer sorts
    helper.make_node("Clip", ["i", "", "m"], ["y"], name="clip"),
    helper.make_node("If", ["c"], ["i"], then_branch=then, else_branch=other),
    helper.make_node("Scale", ["x", "k"], ["t"], name="scaled", domain="local", by=2.5),
]
function = helper.make_function(
    "local",
    "Scale",
    ["a", "b"],
    ["d"],
    [helper.make_node("LeakyRelu", ["a"], ["e"], name="leak"), helper.make_node("Mul", ["e", "b"], ["d"])],
    [helper.make_opsetid("", 17)],
    ["by"],
)
function.node[0].attribute.append(onnx.AttributeProto(name="alpha", ref_attr_name="by", type=onnx.AttributeProto.FLOAT))
graph = helper.make_graph(
    nodes,
    "g",
    [x, unsized, c, k],
    [y, x],
    [numpy_helper.from_array(np.float32([1, 2, 3]), "k"), numpy_helper.from_array(np.float32(6), "m")],
)
model = helper.make_model(
    graph,
    ir_version=8,
    functions=[function],
    opset_imports=[helper.make_opsetid("", 17), helper.make_opsetid("local", 1)],
)
onnx.save(model, sys.argv[1])

# CHECK: module attributes {onnx.ir_version = 8 : i64, onnx.opset_imports = {ai.onnx = 17 : i64, local = 1 : i64}}
# CHECK: func.func @main(%[[X:.*]]: tensor<?x3xf32> {onnx.dim_symbols = ["N", ""], onnx.name = "x"},
# CHECK-SAME: tensor<?x?xf32> {onnx.dim_symbols = ["", "N"], onnx.name = "u"}
# CHECK-SAME: %[[C:.*]]: tensor<i1> {onnx.dim_symbols = [], onnx.name = "c"}
# An initializer that is an input may be given by the caller, where the input is asked for.
# CHECK-SAME: %[[K:.*]]: tensor<3xf32> {onnx.default_value = dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
# CHECK-SAME: -> (tensor<*x!onnx.unknown> {onnx.name = "y"}, tensor<?x3xf32> {onnx.name = "x"})
# CHECK: %[[NONE:.*]] = onnx.none
# CHECK: %[[M:.*]] = onnx.constant dense<6.000000e+00> : tensor<f32>
# CHECK: %[[T:.*]] = onnx.node "local::Scale" since 1 (%[[X]], %[[K]]) {by = 2.500000e+00 : f32}
# CHECK: %[[I:.*]] = onnx.node "If" since 16 (%[[C]]) body "else_branch" {
# CHECK: onnx.node "Abs" since 13 (%[[T]])
# CHECK: body "then_branch" {
# CHECK: onnx.node "Neg" since 13 (%[[T]])
# CHECK: %[[Y:.*]] = onnx.node "Clip" since 13 (%[[I]], %[[NONE]], %[[M]])
# CHECK: return %[[Y]], %[[X]]
# CHECK: func.func private @"local::Scale"
# CHECK-SAME: onnx.function = "local::Scale", onnx.function_attributes = ["by"]
# CHECK: onnx.node "LeakyRelu" since 16 (%{{.*}}) {alpha = #onnx.attribute_reference<"by">}

# Where it is not, the default value is a constant.
# DEFAULT: func.func @main(%[[X:.*]]: tensor<?x3xf32>
# DEFAULT-NOT: default_value
# DEFAULT: %[[K:.*]] = onnx.constant dense<[1.000000e+00, 2.000000e+00, 3.000000e+00]>
# DEFAULT: onnx.node "local::Scale" since 1 (%[[X]], %[[K]])

# The batch is the number for a leading symbol, wherever the symbol occurs, and for nameless leading dimensions.
# BATCH: func.func @main(%{{.*}}: tensor<4x3xf32>
# BATCH-SAME: tensor<4x4xf32>

# NOINPUT: import.py.tmp.onnx: there is no input 'z' to give a shape to; the inputs are: x, u, c
# FIXED: input 'x' has the shape Nx3, where 3 is fixed; it cannot be compiled for 1x5
