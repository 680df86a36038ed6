"""The judge against onnxruntime where onnxruntime is right, and against plain integers where it is not."""

import itertools
from fractions import Fraction

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import TensorProto, helper, numpy_helper
from reference import Bounds, Unsupported, evaluate, outside, undecided
from reference.arithmetic import fma
from reference.bounds import OPERATORS as bounds_operators
from reference.real import OPERATORS as real_operators

OPSETS = [helper.make_opsetid("", 21), helper.make_opsetid("com.microsoft", 1)]


def one_node(op, inputs, constants=(), domain="", outputs=1, **attributes):
    """A model of one node; `inputs` are name → array in operand order, those named in `constants` become initializers."""
    names = [f"y{i}" for i in range(outputs)]
    present = {k: v for k, v in inputs.items() if v is not None}
    node = helper.make_node(op, [k if k in present else "" for k in inputs], names, "node", domain=domain, **attributes)
    infos = {
        k: helper.make_tensor_value_info(k, helper.np_dtype_to_tensor_dtype(v.dtype), v.shape)
        for k, v in present.items()
    }
    graph = helper.make_graph(
        [node],
        "one",
        [infos[k] for k in present if k not in constants],
        [onnx.ValueInfoProto(name=name) for name in names],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in present.items() if k in constants],
    )
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=10)


def both(model, inputs):
    feed = {v.name: inputs[v.name] for v in model.graph.input}
    options = ort.SessionOptions()
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    theirs = ort.InferenceSession(model.SerializeToString(), options).run(None, feed)
    values = evaluate(model, feed)
    return [values[o.name] for o in model.graph.output], theirs


def assert_equal(model, inputs):
    for ours, theirs in zip(*both(model, inputs), strict=True):
        assert ours.dtype == theirs.dtype
        np.testing.assert_array_equal(ours, theirs)


def integers(rng, shape, dtype):
    limits = np.iinfo(dtype)
    return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)


def scale(rng, shape=(), low=0.005, high=0.02):
    return np.asarray(rng.uniform(low, high, shape), np.float32)


U8, S8 = np.uint8, np.int8

# (kernel, strides, dilations, pads, groups, in channels, out channels)
CONVOLUTIONS = [
    ((3, 3), (1, 1), (1, 1), (1, 1, 1, 1), 1, 64, 8),
    ((1, 1), (1, 1), (1, 1), (0, 0, 0, 0), 1, 5, 7),
    ((3, 3), (2, 2), (1, 1), (0, 1, 1, 0), 8, 8, 8),
    ((1, 7), (1, 3), (1, 2), (0, 3, 0, 2), 1, 3, 4),
    ((5, 2), (2, 1), (3, 1), (4, 1, 2, 0), 2, 6, 4),
]


@pytest.mark.parametrize("dtype", [U8, S8])
@pytest.mark.parametrize("case", CONVOLUTIONS, ids=lambda c: f"{c[0]}g{c[4]}")
def test_qlinear_conv(case, dtype):
    kernel, strides, dilations, pads, groups, channels, features = case
    rng = np.random.default_rng(1)
    weight_shape = (features, channels // groups, *kernel)
    inputs = {
        "x": integers(rng, (2, channels, 13, 15), dtype),
        "x_scale": scale(rng),
        "x_zero": integers(rng, (), dtype),
        "w": integers(rng, weight_shape, dtype),
        "w_scale": scale(rng, features),
        # onnxruntime takes distinct zero points per channel, and is right about them.
        "w_zero": integers(rng, features, dtype),
        "y_scale": scale(rng, (), 0.3, 0.4),
        "y_zero": integers(rng, (), dtype),
        "bias": rng.integers(-5000, 5000, features).astype(np.int32),
    }
    attributes = dict(kernel_shape=kernel, strides=strides, dilations=dilations, pads=pads, group=groups)
    assert_equal(one_node("QLinearConv", inputs, constants=set(inputs) - {"x"}, **attributes), inputs)


@pytest.mark.parametrize("dtype", [U8, S8])
@pytest.mark.parametrize("shapes", [((5, 37), (37, 9)), ((2, 3, 16), (16, 4))])
def test_qlinear_matmul(shapes, dtype):
    rng = np.random.default_rng(2)
    inputs = {
        "a": integers(rng, shapes[0], dtype),
        "a_scale": scale(rng),
        "a_zero": integers(rng, (), dtype),
        "b": integers(rng, shapes[1], dtype),
        "b_scale": scale(rng, shapes[1][-1]),
        "b_zero": np.zeros(shapes[1][-1], dtype),
        "y_scale": scale(rng, (), 0.1, 0.2),
        "y_zero": integers(rng, (), dtype),
    }
    assert_equal(one_node("QLinearMatMul", inputs, constants=set(inputs) - {"a"}), inputs)


@pytest.mark.parametrize(
    "op, shapes", [("ConvInteger", ((1, 6, 9, 9), (4, 6, 3, 3))), ("MatMulInteger", ((3, 20), (20, 5)))]
)
def test_integer_products(op, shapes):
    rng = np.random.default_rng(3)
    a, b = (integers(rng, shape, U8) for shape in shapes)
    inputs = {"a": a, "b": b, "a_zero": integers(rng, (), U8), "b_zero": integers(rng, (), U8)}
    assert_equal(one_node(op, inputs, constants={"b", "b_zero"}), inputs)


def pairs_of_bytes(dtype):
    limits = np.iinfo(dtype)
    every = np.arange(limits.min, limits.max + 1).astype(dtype)
    return tuple(np.ascontiguousarray(part.reshape(-1)) for part in np.meshgrid(every, every))


@pytest.mark.parametrize("dtype", [U8, S8])
def test_qlinear_add_on_every_pair_of_bytes(dtype):
    rng = np.random.default_rng(4)
    a, b = pairs_of_bytes(dtype)
    for _ in range(60):
        inputs = {"a": a, "a_scale": scale(rng), "a_zero": integers(rng, (), dtype)}
        inputs |= {"b": b, "b_scale": scale(rng), "b_zero": integers(rng, (), dtype)}
        inputs |= {"c_scale": scale(rng, (), 0.01, 0.03), "c_zero": integers(rng, (), dtype)}
        constants = set(inputs) - {"a", "b"}
        assert_equal(one_node("QLinearAdd", inputs, constants=constants, domain="com.microsoft"), inputs)


def test_fma_rounds_once():
    # 1 + 2^-24 + 2^-60 lies above the tie between 1 and 1 + 2^-23: rounding to float64 first loses the last term.
    a, b, c = (np.array([v], np.float32) for v in (2.0**-30, 2.0**-30 + 2.0**-40, 1.0 + 2.0**-23))
    assert fma(a, b, c) == np.float32(1 + 2.0**-23)
    one = np.ones(1, np.float32)
    tie = np.array([2.0**-24], np.float32)
    above = np.array([1 + 2.0**-23], np.float32)
    assert fma(tie, one, one) == 1  # exactly the tie: to even
    assert fma(tie, above, one) == np.float32(1 + 2.0**-23)
    assert fma(-tie, above, -one) == -np.float32(1 + 2.0**-23)
    rng = np.random.default_rng(5)
    x, y, z = (rng.standard_normal(20000).astype(np.float32) for _ in range(3))
    z = (-(x * y) * (1 + z * np.float32(1e-6))).astype(np.float32)  # cancellation, where the low bits decide
    for i in range(0, 20000, 40):
        exact = Fraction(float(x[i])) * Fraction(float(y[i])) + Fraction(float(z[i]))
        got = fma(x[i : i + 1], y[i : i + 1], z[i : i + 1])[0]
        below, over = np.nextafter(got, np.float32(-np.inf)), np.nextafter(got, np.float32(np.inf))
        distance = abs(Fraction(float(got)) - exact)
        assert all(distance <= abs(Fraction(float(other)) - exact) for other in (below, over))


@pytest.mark.parametrize("dtype", [U8, S8])
def test_quantize_and_back(dtype):
    rng = np.random.default_rng(6)
    x = np.concatenate([rng.normal(0, 2, 5000), np.arange(-300, 300) * 0.0625]).astype(np.float32).reshape(2, 4, -1)
    for shape, axis in (((), 1), ((4,), 1)):
        inputs = {"x": x, "scale": np.full(shape, 0.125, np.float32), "zero": integers(rng, shape, dtype)}
        assert_equal(one_node("QuantizeLinear", inputs, axis=axis), inputs)
        inputs["x"] = integers(rng, x.shape, dtype)
        assert_equal(one_node("DequantizeLinear", inputs, axis=axis), inputs)


def small(rng):
    return integers(rng, (2, 4, 9, 8), S8)


@pytest.mark.parametrize(
    "op, extra, attributes",
    [
        ("MaxPool", {}, dict(kernel_shape=[3, 3], strides=[2, 2], pads=[1, 0, 1, 1])),
        ("MaxPool", {}, dict(kernel_shape=[3, 2], strides=[2, 3], ceil_mode=1)),
        ("MaxPool", {}, dict(kernel_shape=[2, 2], dilations=[2, 3])),
        ("Transpose", {}, dict(perm=[0, 2, 3, 1])),
        ("Flatten", {}, dict(axis=2)),
        ("Reshape", {"shape": np.array([0, -1, 4], np.int64)}, {}),
        ("Slice", {"starts": np.array([-1, 1]), "ends": np.array([-100, 7]), "axes": np.array([2, 3]), "steps": np.array([-2, 3])}, {}),
        ("Pad", {"pads": np.array([0, 0, 1, 2, 0, 0, 0, 3]), "value": np.array(7, S8)}, {}),
        ("Clip", {"min": np.array(-20, S8), "max": np.array(100, S8)}, {}),
        ("Squeeze", {}, {}),
        ("Unsqueeze", {"axes": np.array([0, -1])}, {}),
        ("DepthToSpace", {}, dict(blocksize=2, mode="CRD")),
        ("DepthToSpace", {}, dict(blocksize=2)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)  # fmt: skip
def test_moves_and_windows(op, extra, attributes):
    inputs = {"x": small(np.random.default_rng(7)), **extra}
    assert_equal(one_node(op, inputs, constants=set(extra), **attributes), inputs)


def test_split():
    inputs = {"x": small(np.random.default_rng(8)), "sizes": np.array([1, 3], np.int64)}
    assert_equal(one_node("Split", inputs, constants={"sizes"}, outputs=2, axis=1), inputs)


def test_gather_as_table():
    rng = np.random.default_rng(9)
    inputs = {"table": integers(rng, 256, S8), "x": rng.integers(0, 256, (2, 3, 5)).astype(np.int32)}
    assert_equal(one_node("Gather", inputs, constants={"table"}), inputs)


def test_epilogue_of_exact_operators():
    """PReLU as quantized files spell it: ConvInteger, Add, Cast, Less / Where, Mul, QuantizeLinear(1)."""
    rng = np.random.default_rng(10)
    features = 6
    constants = {
        "w": integers(rng, (features, 3, 3, 3), S8),
        "x_zero": np.array(-3, S8),
        "bias": rng.integers(-900, 900, (1, features, 1, 1)).astype(np.int32),
        "zero": np.array(0, np.int32),
        "m": scale(rng, (1, features, 1, 1), 1e-3, 2e-3),
        "m_neg": scale(rng, (1, features, 1, 1), 1e-4, 5e-4),
        "one": np.array(1, np.float32),
        "y_zero": np.array(-7, S8),
    }
    nodes = [
        helper.make_node("ConvInteger", ["x", "w", "x_zero"], ["acc"]),
        helper.make_node("Add", ["acc", "bias"], ["sum"]),
        helper.make_node("Cast", ["sum"], ["v"], to=TensorProto.FLOAT),
        helper.make_node("Less", ["sum", "zero"], ["negative"]),
        helper.make_node("Where", ["negative", "m_neg", "m"], ["factor"]),
        helper.make_node("Mul", ["v", "factor"], ["scaled"]),
        helper.make_node("QuantizeLinear", ["scaled", "one", "y_zero"], ["y"]),
    ]
    graph = helper.make_graph(
        nodes,
        "prelu",
        [helper.make_tensor_value_info("x", TensorProto.INT8, [1, 3, 12, 12])],
        [helper.make_tensor_value_info("y", TensorProto.INT8, [1, features, 10, 10])],
        [numpy_helper.from_array(v, k) for k, v in constants.items()],
    )
    model = helper.make_model(graph, opset_imports=OPSETS, ir_version=10)
    x = integers(rng, (1, 3, 12, 12), S8)
    assert_equal(model, {"x": x})


# Float functions and sums: the judge gives bounds, and onnxruntime's float32 lies within.


def floats(rng, *shape):
    return rng.normal(0, 2, shape).astype(np.float32)


FLOAT_OPERATORS = {
    **{op: ([(4, 50)], {}) for op in ("Sigmoid", "Tanh", "Erf", "Exp", "Softplus", "HardSigmoid", "Elu", "HardSwish")},
    "Gelu": ([(4, 50)], {}),
    "Softmax": ([(3, 5, 7)], dict(axis=1)),
    "Conv": ([(2, 6, 9, 8), (4, 3, 3, 2), (4,)], dict(group=2, strides=[2, 1], pads=[1, 0, 2, 1])),
    "MatMul": ([(2, 5, 90), (90, 7)], {}),
    "Gemm": ([(90, 5), (7, 90), (7,)], dict(transA=1, transB=1, alpha=0.5, beta=2.0)),
    "AveragePool": ([(2, 3, 9, 8)], dict(kernel_shape=[3, 2], strides=[2, 2], pads=[1, 0, 1, 1])),
    "GlobalAveragePool": ([(2, 3, 9, 8)], {}),
    "ReduceMean": ([(2, 3, 9, 8)], dict(keepdims=0)),
}


@pytest.mark.parametrize("op", FLOAT_OPERATORS)
def test_float_operators_within_bounds(op):
    rng = np.random.default_rng(12)
    shapes, attributes = FLOAT_OPERATORS[op]
    inputs = {f"x{i}": floats(rng, *shape) for i, shape in enumerate(shapes)}
    (bounds,), (theirs,) = both(one_node(op, inputs, **attributes), inputs)
    assert isinstance(bounds, Bounds) and bounds.shape == theirs.shape and bounds.dtype == theirs.dtype
    assert not outside(theirs, bounds).any()
    # Bounds that let anything pass would judge nothing.
    size = max(1, np.abs(theirs).max())
    assert (bounds.high - bounds.low).max() < 2e-5 * size
    assert outside(theirs + np.float32(1e-4) * size, bounds).all()


@pytest.mark.parametrize("count_include_pad", [0, 1])
def test_average_pool_counts(count_include_pad):
    inputs = {"x": floats(np.random.default_rng(13), 1, 2, 5, 5)}
    attributes = dict(kernel_shape=[3, 3], pads=[1, 1, 1, 1], count_include_pad=count_include_pad)
    (bounds,), (theirs,) = both(one_node("AveragePool", inputs, **attributes), inputs)
    assert not outside(theirs, bounds).any()


@pytest.mark.parametrize("op", ["PRelu", "LeakyRelu", "Sqrt", "Div"])
def test_float_operators_of_one_rounding_are_exact(op):
    rng = np.random.default_rng(14)
    x = floats(rng, 2, 3, 40)
    inputs = {"x": np.abs(x) if op == "Sqrt" else x}
    if op in ("PRelu", "Div"):
        inputs["y"] = floats(rng, 3, 1) if op == "PRelu" else floats(rng, 2, 3, 40)
    assert_equal(one_node(op, inputs, **({"alpha": 0.3} if op == "LeakyRelu" else {})), inputs)


def bounded_network(nodes, constants, shape):
    graph = helper.make_graph(
        nodes,
        "bounded",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, shape)],
        [onnx.ValueInfoProto(name="out")],
        [numpy_helper.from_array(np.asarray(v), k) for k, v in constants.items()],
    )
    return helper.make_model(graph, opset_imports=OPSETS, ir_version=10)


def test_rounding_boundaries_stay_open():
    """Softplus(x) = 2.5 lies between two numbers of 8 bits: both are right. What follows is bounded by both."""
    x = np.full((1, 4, 3, 3), 1.0, np.float32)
    x[0, 2, 1, 1] = np.log(np.expm1(2.5))
    w = integers(np.random.default_rng(15), (5, 4, 2, 2), S8)
    constants = {
        "one": np.float32(1),
        "zero": np.array(0, S8),
        "w": w,
        "m": scale(np.random.default_rng(16), (5, 1, 1)),
    }
    constants |= {"m_neg": -constants["m"], "none": np.array(0, np.int32)}
    nodes = [
        helper.make_node("Softplus", ["x"], ["float"]),
        helper.make_node("QuantizeLinear", ["float", "one", "zero"], ["q"]),
        helper.make_node("ConvInteger", ["q", "w"], ["sum"]),
        helper.make_node("Cast", ["sum"], ["v"], to=TensorProto.FLOAT),
        helper.make_node("Less", ["sum", "none"], ["negative"]),
        helper.make_node("Where", ["negative", "m_neg", "m"], ["factor"]),
        helper.make_node("Mul", ["v", "factor"], ["scaled"]),
        helper.make_node("QuantizeLinear", ["scaled", "one", "zero"], ["out"]),
    ]
    model = bounded_network(nodes, constants, x.shape)
    values = evaluate(model, {"x": x})
    q = values["q"]
    assert undecided(q) == 1 and (q.low[0, 2, 1, 1], q.high[0, 2, 1, 1]) == (2, 3)
    tail = onnx.ModelProto()
    tail.CopyFrom(model)
    del tail.graph.node[:2]
    tail.graph.input[0].CopyFrom(helper.make_tensor_value_info("q", TensorProto.INT8, x.shape))
    results = [evaluate(tail, {"q": end}) for end in (q.low, q.high)]
    assert np.array_equal(values["sum"].low, np.minimum(*(result["sum"] for result in results)))
    for name in ("sum", "out"):
        assert not any(outside(result[name], values[name]).any() for result in results)
        assert outside(values[name].high + 1, values[name]).all()
    # Away from the boundary nothing is open.
    x[0, 2, 1, 1] = 1
    assert isinstance(evaluate(model, {"x": x})["out"], np.ndarray)


@pytest.mark.parametrize("op", ["QLinearConv", "QLinearMatMul"])
def test_sums_of_two_bounded_operands(op):
    """Both operands open: every choice of their values lies within the bounds."""
    rng = np.random.default_rng(17)
    conv = op == "QLinearConv"
    shapes = ((1, 3, 4, 4), (2, 3, 2, 2)) if conv else ((4, 6), (6, 3))
    lows = [integers(rng, shape, S8) // 2 for shape in shapes]
    highs = [value + rng.integers(0, 2, value.shape).astype(S8) for value in lows]
    parameters = {"scale": scale(rng), "zero": np.array(3, S8), "y_scale": scale(rng, (), 0.05, 0.06)}
    names = ["a", "scale", "zero", "b", "scale", "zero", "y_scale", "zero"]
    model = one_node(op, {"a": lows[0], "b": lows[1], **parameters}, constants=set(parameters))
    model.graph.node[0].input[:] = names
    bounds = evaluate(model, {"a": lows[0], "b": lows[1]})["y0"]
    open_ = evaluate_with_bounds(model, {"a": Bounds(lows[0], highs[0]), "b": Bounds(lows[1], highs[1])})
    assert not outside(bounds, open_).any() and undecided(open_)
    for _ in range(20):
        chosen = {k: np.where(rng.random(lo.shape) < 0.5, lo, hi) for k, lo, hi in zip("ab", lows, highs, strict=True)}
        assert not outside(evaluate(model, chosen)["y0"], open_).any()


def test_softmax_of_open_values_far_apart():
    """One of two large values is open by more than float64's digits: the result may be anything from a half to one."""
    x = np.array([[-320.0, -320.0, -900.0]], np.float32)
    higher = np.array([[-267.0, -320.0, -900.0]], np.float32)
    model = one_node("Softmax", {"x": x}, axis=1)
    open_ = real_operators["Softmax"]({"opset": 21, "axis": 1}, Bounds(x, higher))
    for values in (x, higher):
        assert not outside(both(model, {"x": values})[1][0], open_).any()
    assert outside(np.array([[0.499, -0.001, 1e-6]]), open_).all()
    assert not np.isnan(open_.low).any() and not np.isnan(open_.high).any()


def evaluate_with_bounds(model, feed):
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in model.graph.initializer} | feed
    node = model.graph.node[0]
    return bounds_operators[node.op_type]({}, *(values[name] for name in node.input))[...]


# Where onnxruntime is not the judge.


def exact_conv_1x1(x, x_zero, w, multiplier, y_zero):
    """One output pixel per element, in Python integers and one float32 product."""
    accumulator = np.array([sum((int(a) - x_zero) * int(b) for a, b in zip(column, w, strict=True)) for column in x.T])
    scaled = np.rint(accumulator.astype(np.float32) * np.float32(multiplier))
    return np.clip(scaled + y_zero, 0, 255).astype(U8)


def test_unsigned_by_signed_saturates_elsewhere():
    """u8 x s8: on x86 without VNNI onnxruntime adds two products in 16 bits, and 2 * 255 * 127 does not fit.

    The judge is right about such layers; quantized files are written u8 x u8 or s8 x s8, where both are.
    """
    channels = 64
    inputs = {
        "x": np.full((1, channels, 1, 4), 255, U8),
        "x_scale": np.float32(0.01),
        "x_zero": np.array(0, U8),
        "w": np.full((1, channels, 1, 1), 127, S8),
        "w_scale": np.array([0.01], np.float32),
        "w_zero": np.zeros(1, S8),
        "y_scale": np.float32(1.0),
        "y_zero": np.array(0, U8),
    }
    inputs = {k: np.asarray(v) for k, v in inputs.items()}
    expected = exact_conv_1x1(
        inputs["x"].reshape(channels, 4), 0, inputs["w"].ravel(), np.float32(0.01) * np.float32(0.01) / np.float32(1), 0
    )
    assert expected.tolist() == [207] * 4  # 64 * 255 * 127 / 10^4
    ours, theirs = both(one_node("QLinearConv", inputs, constants=set(inputs) - {"x"}), inputs)
    np.testing.assert_array_equal(ours[0].ravel(), expected)
    saturated = int(np.rint(32 * 32767 * 1e-4))
    assert theirs[0].ravel().tolist() in ([207] * 4, [saturated] * 4)


def test_signed_input_times_unsigned_weights_is_not_taken_from_onnxruntime():
    """ConvInteger s8 x u8: onnxruntime reads the input as unsigned or refuses; the judge gives the definition's value."""
    x, w = np.full((1, 1, 1, 1), -1, S8), np.full((1, 1, 1, 1), 200, U8)
    model = one_node("ConvInteger", {"x": x, "w": w}, constants={"w"})
    assert evaluate(model, {"x": x})["y0"].ravel().tolist() == [-200]


def test_an_accumulator_that_wraps_is_an_error():
    x, w = np.full((1, 70000), 255, U8), np.full((70000, 1), 255, U8)
    with pytest.raises(OverflowError):
        evaluate(one_node("MatMulInteger", {"a": x, "b": w}), {"a": x, "b": w})


def test_sums_do_not_round_beyond_float32():
    # 2^24 + 1 is no float32: an accumulation in float32 would lose the one.
    terms = [(127, 127)] * 1042 + [(1, 1)]
    a = np.array([[t[0] for t in terms]], S8)
    b = np.array([[t[1]] for t in terms], S8)
    expected = sum(x * y for x, y in terms)
    assert expected > 2**24 and expected % 2 == 1
    assert evaluate(one_node("MatMulInteger", {"a": a, "b": b}), {"a": a, "b": b})["y0"].item() == expected


def test_unknown_operator():
    x = np.zeros((1, 2), np.float32)
    model = one_node("Hardmax", {"x": x})
    with pytest.raises(Unsupported, match="knows no Hardmax"):
        evaluate(model, {"x": x})
    assert set(evaluate(model, {"x": x}, stop_at_unsupported=True)) == {"x"}
    with pytest.raises(ValueError, match="no value for input 'x'"):
        evaluate(model, {})


def test_naive_loops_agree_with_the_vectorized_sum():
    """One small grouped, dilated, asymmetrically padded convolution, summed by nothing but loops."""
    rng = np.random.default_rng(11)
    x, w = integers(rng, (1, 4, 6, 5), S8), integers(rng, (2, 2, 2, 3), S8)
    attributes = dict(group=2, dilations=[2, 1], strides=[1, 2], pads=[1, 0, 2, 2])
    zero = np.array(5, S8)
    model = one_node("ConvInteger", {"x": x, "w": w, "zero": zero}, **attributes)
    got = evaluate(model, {"x": x, "w": w, "zero": zero})["y0"]
    for o, oy, ox in itertools.product(*(range(n) for n in got.shape[1:])):
        total = 0
        for c, ky, kx in itertools.product(range(2), range(2), range(3)):
            y, column = oy + 2 * ky - 1, 2 * ox + kx
            if 0 <= y < 6 and 0 <= column < 5:
                total += (int(x[0, 2 * o + c, y, column]) - 5) * int(w[o, c, ky, kx])
        assert got[0, o, oy, ox] == total
