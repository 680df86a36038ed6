"""Quantized operators on the array and on the host, element by element as onnxruntime computes them: scales of either sign, and the
roundings of its own operators, which add the zero point first."""

import numpy as np
import onnx
import onnxruntime
import pytest
import tilewright
from onnx import helper, numpy_helper

PAIRS = (1, 16, 64, 64)  # 65,536 elements
# Scale and zero point of a, b and the result. Powers of two make every other result a tie; the last zero point is odd.
QUANTIZATIONS = [
    ((0.05, 120), (0.07, 3), (0.06, 101)),
    ((0.05, 1), (0.05, 1), (0.1, 1)),
    ((0.5, 1), (0.25, 3), (1.0, 5)),
    ((0.03, 11), (0.01, 9), (0.02, 11)),
    ((0.02, 0), (0.04, 0), (0.08, 0)),
]


def network(nodes, inputs, output, constants) -> onnx.ModelProto:
    """`inputs` and `output` are (name, element type, shape)."""
    infos = [
        helper.make_tensor_value_info(n, helper.np_dtype_to_tensor_dtype(np.dtype(t)), s)
        for n, t, s in [*inputs, output]
    ]
    values = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "net", infos[:-1], infos[-1:], values)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def quantization(dtype, **tensors):
    """Constants NAME_s and NAME_z."""
    constants = {}
    for name, (scale, zero) in tensors.items():
        constants |= {f"{name}_s": np.float32(scale), f"{name}_z": dtype(zero)}
    return constants


def expected(model, feed):
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feed)[0]


def every_pair(dtype, shape=PAIRS):
    limits = np.iinfo(dtype)
    a, b = np.meshgrid(*[np.arange(limits.min, limits.max + 1).astype(dtype)] * 2)
    return {"a": a.reshape(shape).copy(), "b": b.reshape(shape).copy()}


def check(model, feed, target, units=None):
    compiled = tilewright.compile(model, target=target)
    outputs, report = compiled.run_and_profile(feed)
    (name,) = outputs
    assert np.array_equal(outputs[name], expected(model, feed))
    if units:
        assert {layer["unit"] for layer in report.layers} & {"array", "vector", "host"} == units
    return report


@pytest.mark.parametrize("quantizations", QUANTIZATIONS, ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("op", ["QLinearAdd", "QLinearMul"])
@pytest.mark.parametrize("target", ["cpu", "systolic"])
def test_every_pair_of_bytes(target, op, dtype, quantizations):
    a, b, y = quantizations
    node = helper.make_node(
        op, ["a", "a_s", "a_z", "b", "b_s", "b_z", "y_s", "y_z"], ["y"], "node", domain="com.microsoft"
    )
    constants = quantization(dtype, a=a, b=b, y=y)
    model = network([node], [("a", dtype, PAIRS), ("b", dtype, PAIRS)], ("y", dtype, PAIRS), constants)
    check(model, every_pair(dtype), target)


def test_a_sum_that_broadcasts_rounds_as_one_that_does_not():
    """The array does not take it: host and array must not differ."""
    node = helper.make_node(
        "QLinearAdd", ["a", "a_s", "a_z", "b", "b_s", "b_z", "y_s", "y_z"], ["y"], "node", domain="com.microsoft"
    )
    a, b, y = QUANTIZATIONS[2]
    constants = quantization(np.uint8, a=a, b=b, y=y)
    shapes = (1, 256, 16, 16), (1, 256, 1, 1)
    model = network(
        [node], [("a", np.uint8, shapes[0]), ("b", np.uint8, shapes[1])], ("y", np.uint8, shapes[0]), constants
    )
    pixels = np.broadcast_to(np.arange(256, dtype=np.uint8).reshape(1, 1, 16, 16), shapes[0])
    feed = {"a": pixels.copy(), "b": np.arange(256, dtype=np.uint8).reshape(shapes[1])}
    for target in ("cpu", "systolic"):
        check(model, feed, target)


@pytest.mark.parametrize(
    "x, y", [((0.1, 7), (0.1, 7)), ((0.05, 1), (0.1, 1)), ((0.5, 1), (1.0, 5)), ((0.03, 11), (0.02, 11))], ids=str
)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("target", ["cpu", "systolic"])
def test_average_pool_of_onnxruntime_with_an_odd_zero_point(target, dtype, x, y):
    node = helper.make_node(
        "QLinearAveragePool",
        ["x", "x_s", "x_z", "y_s", "y_z"],
        ["y"],
        "node",
        domain="com.microsoft",
        kernel_shape=[2, 2],
        strides=[2, 2],
    )
    constants = quantization(dtype, x=x, y=y)
    model = network([node], [("x", dtype, (1, 64, 16, 16))], ("y", dtype, (1, 64, 8, 8)), constants)
    feed = {"x": np.random.default_rng(5).integers(0, 256, (1, 64, 16, 16)).astype(np.uint8).view(dtype)}
    check(model, feed, target)


def qdq(op, dtype, x, y, inputs=("a",), activation="", shape=(1, 5, 6, 8), result=(1, 5, 3, 4), **attributes):
    nodes = [helper.make_node("DequantizeLinear", [i, "x_s", "x_z"], [f"{i}_real"]) for i in inputs]
    nodes.append(helper.make_node(op, [f"{i}_real" for i in inputs], ["value"], "node", **attributes))
    last = "value"
    if activation:
        nodes.append(helper.make_node(activation, [last], ["active"]))
        last = "active"
    nodes.append(helper.make_node("QuantizeLinear", [last, "y_s", "y_z"], ["y"]))
    return network(nodes, [(i, dtype, shape) for i in inputs], ("y", dtype, result), quantization(dtype, x=x, y=y))


NEGATIVE = {
    "MaxPool": dict(kernel_shape=[2, 2], strides=[2, 2]),
    "GlobalMaxPool": dict(result=(1, 5, 1, 1)),
    "Add": dict(inputs=("a", "b"), activation="Relu", result=(1, 5, 6, 8)),
    "Relu": dict(result=(1, 5, 6, 8)),
    "AveragePool": dict(kernel_shape=[2, 2], strides=[2, 2], activation="Relu"),
}


@pytest.mark.parametrize("scales", [(-0.05, -0.0431), (0.05, -0.07), (-0.05, 0.07)], ids=str)
@pytest.mark.parametrize("op", NEGATIVE)
@pytest.mark.parametrize("target", ["cpu", "systolic"])
def test_negative_scales_are_computed_on_the_host(target, op, scales):
    """They turn the order of the integers around."""
    model = qdq(op, np.uint8, (scales[0], 120), (scales[1], 120), **NEGATIVE[op])
    rng = np.random.default_rng(3)
    feed = {i: rng.integers(0, 256, (1, 5, 6, 8)).astype(np.uint8) for i in NEGATIVE[op].get("inputs", ("a",))}
    check(model, feed, target, units={"host"} if target == "systolic" else None)


@pytest.mark.parametrize("target", ["cpu", "systolic"])
def test_a_convolution_with_relu_to_a_negative_scale(target):
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "x_s", "x_z"], ["x_real"]),
        helper.make_node("DequantizeLinear", ["w", "w_s", "w_z"], ["w_real"]),
        helper.make_node("Conv", ["x_real", "w_real"], ["value"], "node"),
        helper.make_node("Relu", ["value"], ["active"]),
        helper.make_node("QuantizeLinear", ["active", "y_s", "y_z"], ["y"]),
    ]
    rng = np.random.default_rng(7)
    constants = quantization(np.int8, x=(0.5, 3), w=(0.25, 0), y=(-1.0, 4))
    constants["w"] = rng.integers(-9, 10, (4, 3, 1, 1)).astype(np.int8)
    model = network(nodes, [("x", np.int8, (1, 3, 8, 8))], ("y", np.int8, (1, 4, 8, 8)), constants)
    check(model, {"x": rng.integers(-128, 128, (1, 3, 8, 8)).astype(np.int8)}, target)


def float_net(*nodes, constants=()):
    info = [helper.make_tensor_value_info(n, onnx.TensorProto.FLOAT, s) for n, s in (("x", (1, 3, 8, 8)), ("y", None))]
    graph = helper.make_graph(
        list(nodes), "net", info[:1], info[1:], [numpy_helper.from_array(v, k) for k, v in dict(constants).items()]
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 24)], ir_version=10)


WEIGHTS = np.random.default_rng(2).normal(size=(8, 3, 3, 3)).astype(np.float32)


@pytest.mark.parametrize(
    "op, attributes",
    [
        ("Celu", {"alpha": 0.7}),
        ("ThresholdedRelu", {"alpha": 0.4}),
        ("Swish", {"alpha": 1.5}),
        ("Shrink", {"lambd": 0.6, "bias": 0.2}),
    ],
)
def test_whatever_quantization_surrounds_has_a_table(op, attributes):
    model = float_net(
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node(op, ["c"], ["y"], **attributes),
        constants={"w": WEIGHTS},
    )
    x = np.random.default_rng(4).normal(size=(1, 3, 8, 8)).astype(np.float32)
    compiled = tilewright.compile(model, quantize="int8", calibration={"x": x})
    outputs, report = compiled.run_and_profile({"x": x})
    assert [layer["kind"] for layer in report.layers if layer["unit"] != "host"] != []
    assert op not in str([layer for layer in report.layers if layer["unit"] == "host"])
    want = tilewright.compile(model, target="cpu").run({"x": x})["y"]
    assert np.sqrt(np.mean((outputs["y"] - want) ** 2) / np.mean(want**2)) < 0.05


def test_negative_padding_at_the_end_runs_on_the_host():
    model = float_net(helper.make_node("Conv", ["x", "w"], ["y"], pads=[1, 1, -1, -2]), constants={"w": WEIGHTS})
    x = np.random.default_rng(4).normal(size=(1, 3, 8, 8)).astype(np.float32)
    compiled = tilewright.compile(model, quantize="int8", calibration={"x": x})
    outputs, report = compiled.run_and_profile({"x": x})
    assert "negative" in str([layer["fallback_reason"] for layer in report.layers])
    want = tilewright.compile(model, target="cpu").run({"x": x})["y"]
    assert outputs["y"].shape == want.shape
    assert np.sqrt(np.mean((outputs["y"] - want) ** 2) / np.mean(want**2)) < 0.05


def test_layers_of_nodes_without_names_are_called_by_what_they_give():
    model = float_net(
        helper.make_node("Conv", ["x", "w"], ["c"]),
        helper.make_node("MaxPool", ["c"], ["y"], kernel_shape=[2, 2]),
        constants={"w": WEIGHTS},
    )
    x = np.random.default_rng(4).normal(size=(1, 3, 8, 8)).astype(np.float32)
    compiled = tilewright.compile(model, quantize="int8", calibration={"x": x})
    _, report = compiled.run_and_profile({"x": x})
    assert {"Conv giving c", "MaxPool giving y"} <= {layer["name"] for layer in report.layers}


AVERAGES = {
    "2x2": ("AveragePool", (9, 11), dict(kernel_shape=[2, 2], strides=[2, 2])),
    "padded": ("AveragePool", (9, 11), dict(kernel_shape=[3, 2], pads=[1, 0, 2, 1], strides=[2, 1])),
    "padding counts": ("AveragePool", (9, 11), dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=1)),
    "ceil_mode": ("AveragePool", (9, 10), dict(kernel_shape=[3, 2], strides=[2, 3], ceil_mode=1)),
    "SAME_LOWER": ("AveragePool", (9, 10), dict(kernel_shape=[2, 3], strides=[2, 2], auto_pad="SAME_LOWER")),
    "dilated": ("AveragePool", (9, 10), dict(kernel_shape=[2, 3], dilations=[2, 2])),
    "one dimension": ("AveragePool", (13,), dict(kernel_shape=[3], pads=[1, 1])),
    "global": ("GlobalAveragePool", (7, 6), {}),
    "mean": ("ReduceMean", (7, 6), dict(axes=[2, 3])),
}


@pytest.mark.parametrize("scales", [((1.7, 3), (1.7, 4)), ((0.1, 7), (0.1, 7)), ((0.05, 1), (0.02, 0))], ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("kind", AVERAGES)
def test_averages_are_the_same_on_both_targets(kind, dtype, scales):
    """One exact sum of integers and one factor; onnxruntime's chain of float32 operations is beside it at near-ties."""
    op, image, attributes = AVERAGES[kind]
    opset = 19 if "dilations" in attributes else 13
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "x_s", "x_z"], ["real"]),
        helper.make_node(op, ["real"], ["mean"], "node", **attributes),
        helper.make_node("QuantizeLinear", ["mean", "y_s", "y_z"], ["y"]),
    ]
    shape = (2, 40, *image)
    model = network(nodes, [("x", dtype, shape)], ("y", dtype, None), quantization(dtype, x=scales[0], y=scales[1]))
    model.opset_import[0].version = opset
    feed = {"x": np.random.default_rng(6).integers(0, 256, shape).astype(np.uint8).view(dtype)}
    outputs, report = tilewright.compile(model).run_and_profile(feed)
    assert [layer["unit"] for layer in report.layers if layer["name"] == "node"] == ["vector"]
    got = tilewright.compile(model, target="cpu").run(feed)["y"]
    assert np.array_equal(got, outputs["y"])
    off = np.abs(got.astype(int) - expected(model, feed))
    assert off.max() <= 1
    assert np.mean(off) < 0.1
