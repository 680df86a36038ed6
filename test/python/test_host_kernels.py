"""Random convolutions, products, pools, quantized layers and fused chains on the CPU target against onnxruntime.

Each test packs many small nodes into one model, so that it is compiled once. The seed is printed; TILEWRIGHT_SEED sets it.
"""

import os
import subprocess

import numpy as np
import onnx
import onnxruntime
import pytest
from case_runner import ROOT
from onnx import helper

SEED = int(os.environ.get("TILEWRIGHT_SEED", "0"))


class Net:
    """Independent pieces of a model and their inputs."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.nodes, self.inputs, self.outputs = [], {}, []

    def integer(self, low, high):
        return int(self.random.integers(low, high + 1))

    def feed(self, array):
        name = f"in{len(self.inputs)}"
        self.inputs[name] = np.ascontiguousarray(array)
        return name

    def normal(self, *shape):
        return self.feed(self.random.standard_normal(shape).astype(np.float32))

    def node(self, op, inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], **attributes))
        return name

    def model(self):
        values = [
            helper.make_tensor_value_info(name, helper.np_dtype_to_tensor_dtype(array.dtype), array.shape)
            for name, array in self.inputs.items()
        ]
        results = [helper.make_empty_tensor_value_info(name) for name in self.outputs]
        graph = helper.make_graph(self.nodes, "net", values, results)
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def convolution(net):
    rank = net.integer(1, 3) if net.integer(0, 3) == 0 else 2
    kernel = [net.integer(1, 3) for _ in range(rank)]
    strides = [net.integer(1, 3) for _ in range(rank)]
    dilations = [net.integer(1, 2) for _ in range(rank)]
    pads = [net.integer(0, 2) for _ in range(2 * rank)]
    size = [net.integer(3, 19 if rank < 3 else 8) + 2 * (k - 1) for k in kernel]
    kind = net.integer(0, 2)
    groups, channels, features = [(1, net.integer(1, 20), net.integer(1, 20)), (3, 2, 3), (net.integer(1, 6), 1, 1)][
        kind
    ]
    inputs = [net.normal(net.integer(1, 2), groups * channels, *size), net.normal(groups * features, channels, *kernel)]
    if net.integer(0, 1):
        inputs.append(net.normal(groups * features))
    return net.node("Conv", inputs, strides=strides, dilations=dilations, pads=pads, group=groups)


def transposed(net):
    kernel, strides = [net.integer(1, 4), net.integer(1, 4)], [net.integer(1, 3), net.integer(1, 3)]
    pads = [net.integer(0, min(1, k - 1)) for k in kernel * 2]
    groups = net.integer(1, 2)
    image = net.normal(1, groups * net.integer(1, 4), net.integer(2, 7), net.integer(2, 7))
    weights = net.normal(net.inputs[image].shape[1], net.integer(1, 5), *kernel)
    return net.node("ConvTranspose", [image, weights], strides=strides, pads=pads, group=groups)


def product(net):
    m, n, k = net.integer(1, 40), net.integer(1, 40), net.integer(1, 70)
    if net.integer(0, 1):
        a, b = net.integer(0, 1), net.integer(0, 1)
        inputs = [net.normal(*((k, m) if a else (m, k))), net.normal(*((n, k) if b else (k, n)))]
        bias = [(n,), (m, 1), (m, n)][net.integer(0, 2)]
        return net.node("Gemm", [*inputs, net.normal(*bias)], transA=a, transB=b, alpha=0.5, beta=2.0)
    batch = [net.integer(1, 3) for _ in range(net.integer(0, 2))]
    return net.node("MatMul", [net.normal(*batch, m, k), net.normal(*batch[net.integer(0, len(batch)) :], k, n)])


def pool(net):
    kernel, strides = [net.integer(1, 4), net.integer(1, 4)], [net.integer(1, 3), net.integer(1, 3)]
    pads = [net.integer(0, k - 1) for k in kernel * 2]
    image = net.normal(1, net.integer(1, 9), net.integer(4, 20), net.integer(4, 20))
    op = ["MaxPool", "AveragePool"][net.integer(0, 1)]
    return net.node(op, [image], kernel_shape=kernel, strides=strides, pads=pads)


def fused(net):
    """A root, then a chain of elementwise nodes in which values may be used twice."""
    values = [[convolution, product, pool][net.integer(0, 2)](net)]
    shape = None
    for _ in range(net.integer(1, 6)):
        value = values[-1 - net.integer(0, min(1, len(values) - 1))]
        if net.integer(0, 1) and shape is None:
            op = ["Relu", "Sigmoid", "Tanh", "Abs", "Neg", "Erf", "Softplus", "HardSigmoid", "LeakyRelu"]
            values.append(net.node(op[net.integer(0, len(op) - 1)], [value]))
        else:
            op = ["Add", "Mul", "Sub", "Max", "Min"][net.integer(0, 4)]
            other = values[net.integer(0, len(values) - 1)] if net.integer(0, 1) else net.normal(1)
            values.append(net.node(op, [value, other] if net.integer(0, 1) else [other, value]))
    return values[-1]


def quantized(net):
    """u8 × s8; small weights, because onnxruntime adds pairs of products in 16 bits on machines without VNNI."""
    kernel, groups = net.integer(1, 3), net.integer(1, 2)
    features, channels = groups * net.integer(1, 13), groups * net.integer(1, 9)
    bytes_ = net.random.integers(0, 256, (1, channels, net.integer(3, 12), net.integer(3, 20)))
    per_channel = (features,) if net.integer(0, 1) else ()
    one = net.random.random
    scalar = lambda value, dtype: net.feed(np.array(value, dtype))
    inputs = [
        net.feed(bytes_.astype(np.uint8)),
        scalar(one() * 0.1 + 0.01, np.float32),
        scalar(net.integer(0, 255), np.uint8),
        net.feed(net.random.integers(-60, 60, (features, channels // groups, kernel, kernel)).astype(np.int8)),
        net.feed(np.asarray(net.random.random(per_channel) * 0.1 + 0.01, np.float32)),
        net.feed(np.zeros(per_channel, np.int8)),
        scalar(one() * 2 + 0.5, np.float32),
        scalar(net.integer(0, 255), np.uint8),
        net.feed(net.random.integers(-5000, 5000, features).astype(np.int32)),
    ]
    return net.node("QLinearConv", inputs, group=groups, pads=[kernel // 2] * 4)


@pytest.mark.parametrize(
    ("piece", "count"),
    [(convolution, 25), (transposed, 12), (product, 25), (pool, 12), (fused, 20), (quantized, 15)],
    ids=lambda value: getattr(value, "__name__", ""),
)
def test_like_onnxruntime(piece, count, tmp_path):
    print(f"seed {SEED}")
    net = Net([SEED, count])
    net.outputs = [piece(net) for _ in range(count)]
    onnx.save(net.model(), tmp_path / "net.onnx")
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    expected = onnxruntime.InferenceSession(tmp_path / "net.onnx", options).run(net.outputs, net.inputs)

    tools = ROOT / "build" / "bin"
    subprocess.run(
        [tools / "compile-model", tmp_path / "net.onnx", "-o", tmp_path / "net.twp", "--target=cpu", "-q"], check=True
    )
    feeds = []
    for name, array in net.inputs.items():
        np.save(tmp_path / f"{name}.npy", array)
        feeds.append(f"--input={name}:{tmp_path / f'{name}.npy'}")
    subprocess.run([tools / "run-model", tmp_path / "net.twp", "-q", f"--output-dir={tmp_path}", *feeds], check=True)
    for name, want in zip(net.outputs, expected, strict=True):
        got = np.load(tmp_path / f"{name}.npy")
        node = next(node for node in net.nodes if node.output[0] == name)
        message = (
            f"{helper.printable_node(node)}, inputs {[net.inputs[i].shape for i in node.input if i in net.inputs]}"
        )
        assert got.shape == want.shape and got.dtype == want.dtype, message
        if want.dtype == np.float32:
            np.testing.assert_allclose(got, want, rtol=2e-4, atol=2e-5 * np.abs(want).max(), err_msg=message)
        else:
            np.testing.assert_array_equal(got, want, err_msg=message)
