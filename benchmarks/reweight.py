"""Gives a graph whose weights say nothing random ones that do.

The onnx package's `light` models have the graphs of well-known networks, but every larger weight is a ConstantOfShape of
0.02: their output is one constant whatever the convolutions do. Here each parameter is drawn anew by the role it plays.
"""

import numpy as np
import onnx
from onnx import numpy_helper

# Input index of a parameter -> how it is drawn.
BATCH_NORM = {1: "scale", 2: "shift", 3: "shift", 4: "scale"}


def reweight(model: onnx.ModelProto, seed: int = 0) -> onnx.ModelProto:
    """A copy of `model` with new weights for Conv, Gemm and BatchNormalization, ready-made (no ConstantOfShape)."""
    result = onnx.ModelProto()
    result.CopyFrom(model)
    graph, rng = result.graph, np.random.default_rng(seed)
    shapes = _parameter_shapes(graph)
    drawn: dict[str, np.ndarray] = {}
    for node in graph.node:
        for index, name in enumerate(node.input):
            if name in shapes and name not in drawn and (role := _role(node, index)):
                drawn[name] = _draw(rng, role, shapes[name])
    kept = [tensor for tensor in graph.initializer if tensor.name not in drawn]
    nodes = [node for node in graph.node if node.output[0] not in drawn]
    read = {name for node in nodes for name in node.input}
    del graph.initializer[:], graph.node[:]
    graph.node.extend(nodes)
    graph.initializer.extend(tensor for tensor in kept if tensor.name in read)
    graph.initializer.extend(numpy_helper.from_array(array, name) for name, array in drawn.items())
    # Below IR 4 every initializer must be listed as an input too; from then on it need not, and cannot be overridden.
    names = {tensor.name for tensor in kept} | set(drawn)
    inputs = [value for value in graph.input if value.name not in names]
    del graph.input[:]
    graph.input.extend(inputs)
    result.ir_version = max(model.ir_version, 4)
    return result


def _parameter_shapes(graph: onnx.GraphProto) -> dict[str, list[int]]:
    """Shapes of float initializers and of what ConstantOfShape makes from constants."""
    constants = {tensor.name: tensor for tensor in graph.initializer}
    shapes = {t.name: list(t.dims) for t in graph.initializer if t.data_type == onnx.TensorProto.FLOAT}
    for node in graph.node:
        if node.op_type == "ConstantOfShape" and node.input[0] in constants:
            shapes[node.output[0]] = numpy_helper.to_array(constants[node.input[0]]).tolist()
    return shapes


def _role(node: onnx.NodeProto, index: int) -> str | None:
    if node.op_type in ("Conv", "Gemm"):
        return {1: "weight", 2: "shift"}.get(index)
    return BATCH_NORM.get(index) if node.op_type == "BatchNormalization" else None


def _draw(rng: np.random.Generator, role: str, shape: list[int]) -> np.ndarray:
    if role == "scale":
        return rng.uniform(0.8, 1.2, shape).astype(np.float32)
    if role == "shift":
        return (0.05 * rng.standard_normal(shape)).astype(np.float32)
    # Variance 1/fan-in: with 2, as behind a ReLU, the sums of a residual network grow until softmax is one-hot.
    fan_in = int(np.prod(shape[1:]))
    return (rng.standard_normal(shape, dtype=np.float32) / np.sqrt(fan_in)).astype(np.float32)
