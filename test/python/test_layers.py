"""Networks on the array, layer by layer, against onnxruntime and the judge: equal in every element."""

import numpy as np
import onnx
import pytest
from compare_layers import compare, random_feed
from onnx import helper, numpy_helper
from test_builders import SMALL

from benchmarks.builders import BUILDERS

QUANTIZED = ["--quantize=int8", "--calibration=random:1"]


def check(path, arguments, executor="golden"):
    result = compare(path, random_feed(path, arguments, seed=3), arguments, executor)
    print(result)
    assert result.ok, str(result)


@pytest.mark.parametrize(
    "name, arguments",
    [
        ("micro_kws_static_qdq", ["--batch=1"]),
        ("micro_kws_static_qoperator", []),
        ("mnist_conv", QUANTIZED),
        ("residual_block_clean", QUANTIZED),
        ("pnet", [*QUANTIZED, "--input-shape=input_1:1x41x37x3"]),
        ("rnet", [*QUANTIZED, "--batch=1"]),
        ("rnet", [*QUANTIZED, "--batch=1", "--activations=uint8"]),
        ("rnet", [*QUANTIZED, "--batch=3"]),
        ("onet", [*QUANTIZED, "--batch=2"]),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(value[-1:]),
)
def test_trained_networks(model, name, arguments):
    check(model(name), arguments)


def test_on_rtl(model):
    check(model("onet"), [*QUANTIZED, "--batch=2"], "rtl")


@pytest.mark.parametrize(
    "name", ["resnet50", "mobilenet_v1", "mobilenet_v2", "squeezenet", "inception_v3", "densenet121"]
)
def test_small_relatives_of_benchmark_networks(tmp_path, name):
    onnx.save(BUILDERS[name](**SMALL[name]), tmp_path / "net.onnx")
    check(tmp_path / "net.onnx", QUANTIZED)


def wide_weights(dtype, activation):
    """A convolution and a matrix product whose weights have zero points all over the range, at its ends too, so that
    w - zero point needs more than 8 bits; with a LeakyRelu between them the sums are spelled out."""
    rng = np.random.default_rng(9)
    limits = np.iinfo(dtype)
    nodes, initializers = [], []

    def constant(name, value):
        initializers.append(numpy_helper.from_array(np.asarray(value), name))
        return name

    def integers(*shape):
        return rng.integers(limits.min, limits.max + 1, shape).astype(dtype)

    def quantized(name, scale, zero_points):
        return [constant(f"{name}_scale", np.float32(scale)), constant(f"{name}_zero", np.asarray(zero_points, dtype))]

    def node(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], name=output, **attributes))
        return output

    zeros = integers(24)
    zeros[:2] = limits.min, limits.max
    weights = quantized("w", rng.uniform(0.002, 0.02, 24), zeros)
    w = constant("w", integers(24, 5, 3, 3))
    x, y = quantized("x", 0.05, limits.max), quantized("y", 0.35, limits.min + 100)
    if activation:
        floats = [
            node("DequantizeLinear", ["input", *x], "x_float"),
            node("DequantizeLinear", [w, *weights], "w_float", axis=0),
        ]
        conv = node("Conv", floats, "conv", pads=[1, 1, 1, 1])
        conv = node("QuantizeLinear", [node("LeakyRelu", [conv], "leaky", alpha=0.3), *y], "conv_8bit")
    else:
        conv = node("QLinearConv", ["input", *x, w, *weights, *y], "conv_8bit", pads=[1, 1, 1, 1])
    flat = node("Flatten", [conv], "flat")
    b = [constant("b", integers(24 * 35, 10)), *quantized("b", rng.uniform(0.002, 0.02, 10), integers(10))]
    node("QLinearMatMul", [flat, *y, *b, *quantized("out", 7, 3)], "output")
    kind = helper.np_dtype_to_tensor_dtype(np.dtype(dtype))
    ends = [
        helper.make_tensor_value_info(name, kind, shape)
        for name, shape in (("input", [2, 5, 7, 5]), ("output", [2, 10]))
    ]
    graph = helper.make_graph(nodes, "wide", ends[:1], ends[1:], initializers)
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    onnx.checker.check_model(model)
    return model, {"input": integers(2, 5, 7, 5)}


@pytest.mark.parametrize("activation", [False, True], ids=["plain", "leaky"])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_weights_beyond_8_bits(tmp_path, dtype, activation):
    model, feed = wide_weights(dtype, activation)
    onnx.save(model, tmp_path / "net.onnx")
    result = compare(tmp_path / "net.onnx", feed, [])
    assert result.ok, str(result)
    assert (result.compared, result.judged) == (2, 2), str(result)


def test_a_wrong_layer_is_found(model, monkeypatch):
    """The comparison itself can fail: one changed byte of one layer's result."""
    import compare_layers

    genuine = compare_layers.run_package

    def tampered(*arguments):
        outputs, report = genuine(*arguments)
        changed = outputs["dense:8bit"].copy()
        changed.flat[7] ^= 1
        return {**outputs, "dense:8bit": changed}, report

    monkeypatch.setattr(compare_layers, "run_package", tampered)
    arguments = [*QUANTIZED, "--batch=1"]
    result = compare(model("rnet"), random_feed(model("rnet"), arguments, 0), arguments)
    assert not result.ok
    assert result.different["dense:8bit"] == 1
    assert result.misjudged == {"dense:8bit": 1}
    # What reads the changed byte is judged by what it was given.
    assert np.isin(list(result.different), ["dense:8bit", "dense_2:8bit", "dense_1:8bit"]).all()
