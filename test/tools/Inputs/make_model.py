"""Writes the small models of the tool tests: `make_model.py NAME FILE`."""

import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


def _save(nodes, inputs, outputs, initializers, path, opset=13):
    infos = [[helper.make_tensor_value_info(*each) for each in group] for group in (inputs, outputs)]
    tensors = [numpy_helper.from_array(value, name) for name, value in initializers.items()]
    graph = helper.make_graph(nodes, "g", *infos, tensors)
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8), path)


def _conv_weights():
    random = np.random.default_rng(1)
    return random.uniform(-0.2, 0.2, (16, 3, 3, 3)).astype(np.float32), np.arange(16, dtype=np.float32) / 16


def conv(path, batch=1):
    """Conv + Relu in float; `batch` may be a symbol."""
    w, b = _conv_weights()
    nodes = [
        helper.make_node("Conv", ["x", "w", "b"], ["c"], name="conv1", pads=[1, 1, 1, 1]),
        helper.make_node("Relu", ["c"], ["y"], name="relu1"),
    ]
    sizes = [batch, 3, 8, 8], [batch, 16, 8, 8]
    _save(nodes, [("x", TensorProto.FLOAT, sizes[0])], [("y", TensorProto.FLOAT, sizes[1])], {"w": w, "b": b}, path)


def conv_batch(path):
    conv(path, "N")


def conv_open(path):
    """Height and width are open, too."""
    w, b = _conv_weights()
    node = helper.make_node("Conv", ["x", "w", "b"], ["y"], name="conv1", pads=[1, 1, 1, 1])
    sizes = [1, 3, "H", "W"], [1, 16, "H", "W"]
    _save([node], [("x", TensorProto.FLOAT, sizes[0])], [("y", TensorProto.FLOAT, sizes[1])], {"w": w, "b": b}, path)


def qlinear_conv(path):
    """A QLinearConv of uint8 with uint8 weights."""
    random = np.random.default_rng(2)
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz", "b"]
    initializers = {
        "xs": np.float32(0.02),
        "xz": np.uint8(120),
        "w": random.integers(0, 256, (16, 3, 3, 3), dtype=np.uint8),
        "ws": np.linspace(0.005, 0.02, 16, dtype=np.float32),
        "wz": np.full(16, 128, np.uint8),
        "ys": np.float32(0.1),
        "yz": np.uint8(100),
        "b": random.integers(-500, 500, 16, dtype=np.int32),
    }
    node = helper.make_node("QLinearConv", names, ["y"], name="qconv1", pads=[1, 1, 1, 1])
    sizes = [1, 3, 16, 16], [1, 16, 16, 16]
    _save([node], [("x", TensorProto.UINT8, sizes[0])], [("y", TensorProto.UINT8, sizes[1])], initializers, path)


def nan_scale(path):
    qlinear_conv(path)
    model = onnx.load(path)
    for tensor in model.graph.initializer:
        if tensor.name == "ys":
            tensor.CopyFrom(numpy_helper.from_array(np.float32(np.nan), "ys"))
    onnx.save(model, path)


def unsupported(path):
    """Two operators that nobody has, among good ones."""
    nodes = [
        helper.make_node("Relu", ["x"], ["a"], name="good"),
        helper.make_node("Frobnicate", ["a"], ["b"], name="bad1"),
        helper.make_node("Relu", ["b"], ["c"]),
        helper.make_node("Twiddle", ["c"], ["y"], name="bad2", domain="com.example"),
    ]
    _save(nodes, [("x", TensorProto.FLOAT, [2, 3])], [("y", TensorProto.FLOAT, [2, 3])], {}, path)


def cycle(path):
    nodes = [
        helper.make_node("Add", ["x", "b"], ["a"], name="first"),
        helper.make_node("Relu", ["a"], ["b"], name="second"),
    ]
    _save(nodes, [("x", TensorProto.FLOAT, [2])], [("b", TensorProto.FLOAT, [2])], {}, path)


def missing_tensor(path):
    node = helper.make_node("Add", ["x", "nowhere"], ["y"], name="sum")
    _save([node], [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])], {}, path)


def unknown_attribute(path):
    node = helper.make_node("Relu", ["x"], ["y"], name="r", colour="blue")
    _save([node], [("x", TensorProto.FLOAT, [2])], [("y", TensorProto.FLOAT, [2])], {}, path)


def like_names(path):
    """Two outputs that differ in a character that no file name holds; the second is minus the first."""
    nodes = [helper.make_node("Identity", ["x"], ["a/b"]), helper.make_node("Neg", ["x"], ["a_b"])]
    outputs = [(name, TensorProto.FLOAT, [5]) for name in ("a/b", "a_b")]
    _save(nodes, [("x", TensorProto.FLOAT, [5])], outputs, {}, path)


def absurd_size(path):
    """Shape inference is fine with it; no machine is."""
    node = helper.make_node("Relu", ["x"], ["y"], name="r")
    sizes = [1 << 40, 1 << 40]
    _save([node], [("x", TensorProto.FLOAT, sizes)], [("y", TensorProto.FLOAT, sizes)], {}, path)


def wide_conv(path):
    """More columns than the descriptors' 16-bit fields hold."""
    random = np.random.default_rng(3)
    names = ["x", "xs", "xz", "w", "ws", "wz", "ys", "yz"]
    initializers = {
        "xs": np.float32(0.02),
        "xz": np.uint8(128),
        "w": random.integers(0, 256, (8, 1, 1, 1), dtype=np.uint8),
        "ws": np.float32(0.01),
        "wz": np.uint8(128),
        "ys": np.float32(0.1),
        "yz": np.uint8(100),
    }
    node = helper.make_node("QLinearConv", names, ["y"], name="wide")
    sizes = [1, 1, 1, 70000], [1, 8, 1, 70000]
    _save([node], [("x", TensorProto.UINT8, sizes[0])], [("y", TensorProto.UINT8, sizes[1])], initializers, path)


if __name__ == "__main__":
    globals()[sys.argv[1]](sys.argv[2])
