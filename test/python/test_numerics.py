"""Rules of docs/numerics.md on which runtimes differ or that are easily lost, on the CPU target."""

import numpy as np
import onnxruntime
import pytest
import tilewright
from onnx import helper, numpy_helper


def node_model(op, feeds, result, opset=18, **attributes):
    names = list(feeds)
    element = helper.np_dtype_to_tensor_dtype
    graph = helper.make_graph(
        [helper.make_node(op, names, ["y"], name="node", **attributes)],
        "net",
        [helper.make_tensor_value_info(n, element(feeds[n].dtype), feeds[n].shape) for n in names],
        [helper.make_tensor_value_info("y", element(np.dtype(result)), None)],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=8)


def run(op, feeds, result, **attributes):
    return tilewright.compile(node_model(op, feeds, result, **attributes), target="cpu").run(feeds)["y"]


@pytest.mark.parametrize("element", ["int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("op, exact", [("ReduceLogSum", lambda x: np.log(x.sum())), ("ReduceLogSumExp", None)])
def test_logarithms_of_integers_truncate(op, exact, element):
    x = np.array([3, 4, 5, 6, 7, 8], element)
    want = exact(x) if exact else np.log(np.exp(x.astype(np.float64)).sum())
    assert run(op, {"x": x}, element, keepdims=0) == np.array(want).astype(element)


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", ["int32", "int64", "uint32", "uint64"])
def test_cast_takes_the_nearest_integer(source, target):
    limits = np.iinfo(target)
    top = float(limits.max) + 1
    below = float(np.nextafter(np.array(top, source), np.array(0, source)))
    x = np.array([np.inf, 1e30, top, below, -np.inf, -1e30, float(limits.min), 2.5, -0.75, np.nan], source)
    inside = int(min(below, limits.max))
    want = [limits.max] * 3 + [inside] + [limits.min] * 3 + [2, 0, 0]
    got = run("Cast", {"x": x}, target, to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))
    assert got.tolist() == want


@pytest.mark.parametrize("source", ["float32", "float64"])
@pytest.mark.parametrize("target", ["int8", "uint8", "int16", "uint16"])
def test_cast_to_narrow_integers_keeps_low_bits(source, target):
    x = np.array([np.inf, -np.inf, 300.7, -1.5, 70000.0, 3e9], source)
    wide = np.array([2**31 - 1, -(2**31), 300, -1, 70000, 2**31 - 1], np.int32)
    got = run("Cast", {"x": x}, target, to=helper.np_dtype_to_tensor_dtype(np.dtype(target)))
    assert got.tolist() == wide.astype(target).tolist()


@pytest.mark.parametrize("element", ["int32", "int64"])
def test_pow_of_integers_is_exact_and_wraps(element):
    bits = np.iinfo(element).bits
    base = np.array([3, 2, 7, -3, -1, -1, 1, 2, 0, 5, 10], element)
    exponent = np.array([39, bits - 1, 0, 3, -3, -2, -9, -1, 0, 100, 2], element)

    def exact(b, e):
        value = b**e if e >= 0 else (b ** (-e) if abs(b) == 1 else 0)
        return (value + 2 ** (bits - 1)) % 2**bits - 2 ** (bits - 1)

    got = run("Pow", {"x": base, "e": exponent}, element)
    assert got.tolist() == [exact(int(b), int(e)) for b, e in zip(base, exponent, strict=True)]


@pytest.mark.parametrize(
    "x, lambd, bias, want",
    [
        (np.arange(5, dtype=np.int8), 1.5, 0.6, [0, 0, 1, 2, 3]),
        (np.arange(-4, 1, dtype=np.int8), 1.5, 0.6, [-3, -2, -1, 0, 0]),
        (np.arange(5, dtype=np.uint8), 1.0, 0.0, [0, 0, 2, 3, 4]),
    ],
)
def test_shrink_of_integers(x, lambd, bias, want):
    assert run("Shrink", {"x": x}, x.dtype, lambd=lambd, bias=bias).tolist() == want


@pytest.mark.parametrize("element", ["int32", "int64", "uint32", "uint64"])
@pytest.mark.parametrize("alpha, beta, want", [(0.5, 1.0, [[1, 4], [2, 5]]), (1.0, 0.5, [[1, 3], [3, 6]])])
def test_gemm_of_integers_with_fractions(alpha, beta, want, element):
    feeds = {"a": np.array([[1, 2], [3, 5]], element), "b": np.eye(2, dtype=element), "c": np.array([1, 3], element)}
    assert run("Gemm", feeds, element, alpha=alpha, beta=beta).tolist() == want


def test_zeros_keep_their_sign():
    x = np.array([0.0, -0.0], np.float32)
    for op in ("Tanh", "Erf", "Sin", "Identity", "Asinh", "Atan", "Sqrt", "LeakyRelu", "Floor"):
        assert np.signbit(run(op, {"x": x}, "float32")).tolist() == [False, True], op


def test_first_resize_rounds_each_axis_its_own_way():
    x = np.arange(20, dtype=np.float32).reshape(1, 1, 4, 5)
    feeds = {"x": x, "scales": np.array([1, 1, 0.6, 1.7], np.float32)}
    graph = helper.make_graph(
        [helper.make_node("Resize", ["x", "scales"], ["y"], mode="nearest")],
        "net",
        [helper.make_tensor_value_info("x", 1, x.shape)],
        [helper.make_tensor_value_info("y", 1, None)],
        [numpy_helper.from_array(feeds["scales"], "scales")],
    )
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 10)], ir_version=8)
    want = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, {"x": x})[0]
    assert np.array_equal(tilewright.compile(proto, target="cpu").run({"x": x})["y"], want)


@pytest.mark.parametrize(
    "op, activations, alpha, beta",
    [
        ("GRU", ["Sigmoid", "LeakyRelu"], [0.05], None),
        ("GRU", ["HardSigmoid", "ScaledTanh"], [0.3, 0.7], [0.4, 0.9]),
        ("LSTM", ["Sigmoid", "Elu", "LeakyRelu"], [0.6, 0.2], None),
        ("RNN", ["Affine"], [0.4], [0.1]),
    ],
)
def test_recurrent_activations_take_their_numbers_in_order(op, activations, alpha, beta):
    gates = {"GRU": 3, "LSTM": 4, "RNN": 1}[op]
    random = np.random.default_rng(3)
    feeds = {
        "x": random.normal(size=(3, 2, 4)).astype(np.float32),
        "w": random.normal(size=(1, gates * 5, 4)).astype(np.float32),
        "r": random.normal(size=(1, gates * 5, 5)).astype(np.float32) * 0.3,
    }
    attributes = {"activations": activations, "activation_alpha": alpha, "hidden_size": 5}
    if beta:
        attributes["activation_beta"] = beta
    proto = node_model(op, feeds, "float32", **attributes)
    want = onnxruntime.InferenceSession(proto.SerializeToString()).run(None, feeds)[0]
    got = tilewright.compile(proto, target="cpu").run(feeds)["y"]
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def quantized_product(depth, weight, bias=None, out_scale=1e7):
    """uint8 row · int8 column between DequantizeLinear and QuantizeLinear, all scales 1 but the result's."""
    nodes = [
        helper.make_node("DequantizeLinear", ["x", "one"], ["xf"]),
        helper.make_node("DequantizeLinear", ["w", "one"], ["wf"]),
        helper.make_node("Conv", ["xf", "wf"] + (["bf"] if bias is not None else []), ["yf"], name="sums"),
        helper.make_node("QuantizeLinear", ["yf", "so", "zo"], ["y"]),
    ]
    constants = {
        "one": np.float32(1),
        "w": np.full((1, depth, 1, 1), weight, np.int8),
        "so": np.float32(out_scale),
        "zo": np.uint8(0),
    }
    if bias is not None:
        nodes.insert(2, helper.make_node("DequantizeLinear", ["b", "one"], ["bf"]))
        constants["b"] = np.array([bias], np.int32)
    graph = helper.make_graph(
        nodes,
        "net",
        [helper.make_tensor_value_info("x", helper.np_dtype_to_tensor_dtype(np.dtype("uint8")), (1, depth, 1, 1))],
        [helper.make_tensor_value_info("y", helper.np_dtype_to_tensor_dtype(np.dtype("uint8")), (1, 1, 1, 1))],
        [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 18)], ir_version=8)


@pytest.mark.parametrize("target", ["cpu", "systolic"])
@pytest.mark.parametrize(
    "depth, weight, bias",
    [(70000, 127, None), (70000, -127, 2**31 - 1), (1, 1, 2**31 - 254), (1, 1, 2**31 - 256), (66311, 127, 0)],
)
def test_sums_beyond_int32_stay_float(target, depth, weight, bias):
    """Where no proof shows that int32 holds the sums, the product is computed in float32."""
    proto = quantized_product(depth, weight, bias)
    model = tilewright.compile(proto, target=target)
    for value in (255, 0, 3):
        x = np.full((1, depth, 1, 1), value, np.uint8)
        want = max(0, min(255, round((value * weight * depth + (bias or 0)) / 1e7)))
        assert abs(int(model.run({"x": x})["y"].item()) - want) <= 1
