"""--quantize=int8 of models with fixed batches, with inputs that have default values, and calibrated at another size than compiled for."""

import numpy as np
import onnxruntime
import pytest
import tilewright
from onnx import TensorProto, helper, numpy_helper


def network(nodes, inputs, outputs, constants, opset=17, ir_version=8):
    """`inputs` and `outputs` are (name, shape)."""
    infos = [[helper.make_tensor_value_info(n, TensorProto.FLOAT, s) for n, s in part] for part in (inputs, outputs)]
    values = [numpy_helper.from_array(np.asarray(value), name) for name, value in constants.items()]
    graph = helper.make_graph(nodes, "net", *infos, values)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", opset)], ir_version=ir_version)


def expected(model, feed):
    return onnxruntime.InferenceSession(model.SerializeToString()).run(None, feed)[0]


def close(got, want):
    """8 bits against float32."""
    noise = np.sqrt(np.mean((got - want) ** 2) / np.mean(want**2))
    return noise < 0.05


RNG = np.random.default_rng(11)
WEIGHTS = RNG.normal(size=(4, 3, 3, 3)).astype(np.float32)


@pytest.mark.parametrize("more", [False, True], ids=["own axis", "one more axis"])
@pytest.mark.parametrize("shape", [(2, 3, 8, 8), (8, 4)], ids=str)
def test_fixed_batches(shape, more):
    weights = WEIGHTS if len(shape) == 4 else RNG.normal(size=(4, 5)).astype(np.float32)
    op = "Conv" if len(shape) == 4 else "MatMul"
    model = network([helper.make_node(op, ["x", "w"], ["y"])], [("x", shape)], [("y", None)], {"w": weights})
    samples = RNG.normal(size=(3, *shape) if more else (3 * shape[0], *shape[1:])).astype(np.float32)
    x = samples.reshape(3, *shape)[0]
    compiled = tilewright.compile(model, quantize="int8", calibration={"x": samples})
    assert close(compiled.run({"x": x})["y"], expected(model, {"x": x}))
    tilewright.compile(model, quantize="int8", calibration="random:1")


def test_calibration_at_another_size():
    """The mean has no name for its inner value; Slice is a node at one size and nothing at the other."""
    nodes = [
        helper.make_node("Slice", ["x", "first", "last", "axes"], ["s"]),
        helper.make_node("Conv", ["s", "w"], ["c"]),
        helper.make_node("ReduceMean", ["c"], ["m"], axes=[2, 3], keepdims=0),
        helper.make_node("Gemm", ["m", "d"], ["y"]),
    ]
    constants = {"w": WEIGHTS, "d": RNG.normal(size=(4, 6)).astype(np.float32)}
    constants |= {"first": np.int64([0]), "last": np.int64([8]), "axes": np.int64([2])}
    model = network(nodes, [("x", [1, 3, "H", 8])], [("y", [1, 6])], constants)
    samples = RNG.normal(size=(4, 3, 12, 8)).astype(np.float32)
    for height in (8, 12, 16):
        x = RNG.normal(size=(1, 3, height, 8)).astype(np.float32)
        x[:, :, :8] = samples[:1, :, :8]
        options = dict(quantize="int8", calibration={"x": samples}, input_shape={"x": (1, 3, height, 8)})
        compiled = tilewright.compile(model, **options)
        assert close(compiled.run({"x": x})["y"], expected(model, {"x": x}))


def with_defaults(ir_version=8):
    nodes = [helper.make_node("Conv", ["x", "w"], ["c"]), helper.make_node("Add", ["c", "b"], ["y"])]
    constants = {"w": WEIGHTS, "b": np.float32([[[1]], [[2]], [[3]], [[4]]])}
    inputs = [("x", [1, 3, 8, 8]), ("w", WEIGHTS.shape), ("b", [4, 1, 1])]
    return network(nodes, inputs, [("y", [1, 4, 6, 6])], constants, ir_version=ir_version)


@pytest.mark.parametrize("ir_version", [3, 8])
def test_inputs_with_default_values_are_compiled_in(ir_version):
    model = with_defaults(ir_version)
    x = RNG.normal(size=(1, 3, 8, 8)).astype(np.float32)
    want = expected(model, {"x": x})
    assert np.allclose(tilewright.compile(model, target="cpu").run({"x": x})["y"], want, atol=1e-4)
    compiled = tilewright.compile(model, quantize="int8", calibration={"x": x})
    outputs, report = compiled.run_and_profile({"x": x})
    assert close(outputs["y"], want)
    assert "array" in {layer["unit"] for layer in report.layers}
    with pytest.raises(
        tilewright.Error, match="no input 'b'.*default value was compiled in, unless --input-shape named it"
    ):
        compiled.run({"x": x, "b": np.zeros((4, 1, 1), np.float32)})


def test_a_scalar_with_a_default_value_can_be_asked_for():
    nodes = [helper.make_node("Mul", ["x", "k"], ["m"]), helper.make_node("Add", ["m", "k"], ["y"])]
    model = network(nodes, [("x", [1, 2]), ("k", [])], [("y", [1, 2])], {"k": np.float32(1)})
    x = np.float32([[1, 2]])
    assert tilewright.compile(model, target="cpu").run({"x": x})["y"].tolist() == [[2, 3]]
    compiled = tilewright.compile(model, target="cpu", input_shape={"k": ()})
    assert compiled.run({"x": x, "k": np.float32(10)})["y"].tolist() == [[20, 30]]


@pytest.mark.parametrize("options", [dict(target="cpu"), dict(quantize="int8")], ids=["cpu", "systolic"])
def test_an_input_with_a_default_value_can_be_asked_for(options):
    model = with_defaults()
    feed = {"x": RNG.normal(size=(1, 3, 8, 8)).astype(np.float32), "b": RNG.normal(size=(4, 1, 1)).astype(np.float32)}
    if "quantize" in options:
        options = options | {"calibration": feed}
    compiled = tilewright.compile(model, input_shape={"b": (4, 1, 1)}, **options)
    assert close(compiled.run(feed)["y"], expected(model, feed))
    with pytest.raises(tilewright.Error, match="input 'b' is not given"):
        compiled.run({"x": feed["x"]})
