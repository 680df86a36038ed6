"""Additions of two tensors on the array, on every pair of bytes, equal onnxruntime: as QLinearAdd, which rounds the sum with its
zero point, and as DequantizeLinear, Add, QuantizeLinear, which rounds before."""

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper, numpy_helper

tilewright = pytest.importorskip("tilewright", reason="the Python module was not built")

SHAPE = (1, 16, 64, 64)  # 65,536 elements
# Scales of operands and sum. Powers of two: every other sum is a tie.
SCALES = [(0.25, 0.25, 0.5), (0.5, 0.125, 0.25), (0.0173, 0.0311, 0.0289), (0.02173, 0.01319, 0.03461)]


def addition(spelling: str, dtype, scales, zero_points, activation: str = "") -> onnx.ModelProto:
    constants, names = [], {}
    for tensor, scale, zero in zip("abc", scales, zero_points, strict=True):
        names[tensor] = [f"{tensor}_scale", f"{tensor}_zero"]
        constants.append(numpy_helper.from_array(np.float32(scale), names[tensor][0]))
        constants.append(numpy_helper.from_array(np.array(zero, dtype), names[tensor][1]))
    if spelling == "QLinearAdd":
        inputs = ["a", *names["a"], "b", *names["b"], *names["c"]]
        nodes = [helper.make_node("QLinearAdd", inputs, ["c"], "add", domain="com.microsoft")]
    else:
        nodes = [helper.make_node("DequantizeLinear", [t, *names[t]], [f"{t}_real"]) for t in "ab"]
        nodes.append(helper.make_node("Add", ["a_real", "b_real"], ["sum"], "add"))
        if activation:
            nodes.append(helper.make_node(activation, ["sum"], ["active"]))
        nodes.append(helper.make_node("QuantizeLinear", ["active" if activation else "sum", *names["c"]], ["c"]))
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    a, b, c = (helper.make_tensor_value_info(name, kind, SHAPE) for name in "abc")
    graph = helper.make_graph(nodes, "addition", [a, b], [c], constants)
    opsets = [helper.make_opsetid("", 13), helper.make_opsetid("com.microsoft", 1)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=8)


def every_pair(dtype) -> dict[str, np.ndarray]:
    limits = np.iinfo(dtype)
    a, b = np.meshgrid(*[np.arange(limits.min, limits.max + 1).astype(dtype)] * 2)
    return {"a": a.reshape(SHAPE).copy(), "b": b.reshape(SHAPE).copy()}


def onnxruntime_result(model: onnx.ModelProto, feed: dict[str, np.ndarray]) -> np.ndarray:
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feed)[0]


@pytest.mark.parametrize("scales", SCALES, ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8], ids=["int8", "uint8"])
@pytest.mark.parametrize("spelling", ["QLinearAdd", "Add", "Relu"])
def test_every_pair_of_bytes(spelling, dtype, scales):
    lowest = int(np.iinfo(dtype).min)
    zero_points = [lowest + 131, lowest + 120, lowest + 135]  # the sum's is odd
    kind = "QLinearAdd" if spelling == "QLinearAdd" else "Add"
    proto = addition(kind, dtype, scales, zero_points, "Relu" if spelling == "Relu" else "")
    feed = every_pair(dtype)
    model = tilewright.compile(proto)
    outputs, report = model.run_and_profile(feed, executor="rtl", check=True)
    assert [layer["kind"] for layer in report.layers if layer["unit"] == "vector"] == ["add"]
    want = onnxruntime_result(proto, feed)
    assert np.array_equal(outputs["c"], want)

    emitted = onnx.load_from_string(tilewright.emit(proto, "quantized"))
    assert (kind == "QLinearAdd") == ("QLinearAdd" in {node.op_type for node in emitted.graph.node})
    assert np.array_equal(onnxruntime_result(emitted, feed), want)


@pytest.mark.parametrize("scales", SCALES, ids=str)
@pytest.mark.parametrize("dtype", [np.int8, np.uint8], ids=["int8", "uint8"])
@pytest.mark.parametrize("spelling", ["QLinearAdd", "Add", "Relu"])
def test_every_pair_of_bytes_on_the_host(spelling, dtype, scales):
    lowest = int(np.iinfo(dtype).min)
    kind = "QLinearAdd" if spelling == "QLinearAdd" else "Add"
    activation = "Relu" if spelling == "Relu" else ""
    proto = addition(kind, dtype, scales, [lowest + 131, lowest + 120, lowest + 135], activation)
    feed = every_pair(dtype)
    outputs = tilewright.compile(proto, target="cpu").run(feed)
    assert np.array_equal(outputs["c"], onnxruntime_result(proto, feed))


def test_the_two_rules_differ():
    """At ties with an odd zero point: the test above would not pass by chance."""
    feed = every_pair(np.int8)
    a, b = (onnxruntime_result(addition(s, np.int8, SCALES[0], [3, -8, 7]), feed) for s in ("QLinearAdd", "Add"))
    assert 10000 < np.count_nonzero(a != b) < 40000


@pytest.mark.parametrize("dtype", [np.int8, np.uint8], ids=["int8", "uint8"])
def test_an_addition_that_the_array_cannot_do_stays_on_the_host(dtype):
    proto = addition("Add", dtype, (0.1, 0.1, 0.2), [3, 8, 7])
    feed = every_pair(dtype)
    model = tilewright.compile(proto)
    outputs, report = model.run_and_profile(feed, executor="golden")
    assert "too near a tie" in str([layer["fallback_reason"] for layer in report.layers if layer["unit"] == "host"])
    assert np.array_equal(outputs["c"], onnxruntime_result(proto, feed))
