"""The Python package: compile, run, profile, and errors in the compiler's words."""

import json
import threading

import numpy as np
import onnx
import onnxruntime
import pytest
import tilewright
from onnx import TensorProto, helper, numpy_helper


def conv_model(batch="N", size=8):
    random = np.random.default_rng(1)
    weights = random.uniform(-0.2, 0.2, (16, 3, 3, 3)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["c"], name="conv1", pads=[1, 1, 1, 1])
    relu = helper.make_node("Relu", ["c"], ["y"], name="relu1")
    graph = helper.make_graph(
        [node, relu],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [batch, 3, size, size])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [batch, 16, size, size])],
        [numpy_helper.from_array(weights, "w")],
    )
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)


def reference(model, feeds):
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    return dict(zip([output.name for output in session.get_outputs()], session.run(None, feeds), strict=True))


@pytest.fixture
def x():
    return np.random.default_rng(2).uniform(-1, 1, (1, 3, 8, 8)).astype(np.float32)


@pytest.mark.parametrize("form", ["proto", "bytes", "path"])
def test_cpu_equals_onnxruntime(form, x, tmp_path):
    proto = conv_model(1)
    onnx.save(proto, tmp_path / "net.onnx")
    source = {"proto": proto, "bytes": proto.SerializeToString(), "path": tmp_path / "net.onnx"}[form]
    model = tilewright.compile(source, target="cpu")
    assert model.inputs == [tilewright.TensorInfo("x", (1, 3, 8, 8), np.dtype("float32"))]
    assert model.outputs[0].name == "y"
    np.testing.assert_allclose(model.run({"x": x})["y"], reference(proto, {"x": x})["y"], atol=1e-5)


def test_int8_on_the_array(x):
    proto = conv_model(1)
    model = tilewright.compile(proto, quantize="int8", calibration={"x": x}, explain=True)
    assert "conv1" in model.explanation
    outputs, report = model.run_and_profile({"x": x}, executor="rtl")
    want = reference(proto, {"x": x})["y"]
    assert np.abs(outputs["y"] - want).max() < 0.03 * np.abs(want).max()
    assert np.array_equal(model.run({"x": x}, executor="golden")["y"], outputs["y"])

    slots = report.total["slots"]
    assert slots["useful"] + slots["mapping"] + slots["lost"] == slots["all"] == 256 * report.total["cycles"]
    assert slots["useful"] == 16 * 27 * 64
    (layer,) = [layer for layer in report.layers if layer["unit"] == "array"]
    assert layer["kind"] == "convolution"
    assert layer["predicted_cycles"] >= layer["ideal_cycles"] > 0
    assert f"{layer['predicted_cycles']:d} cycles modelled" in model.explanation
    assert json.loads(report.to_json())["quantization"].startswith("int8 activations")
    assert all(layer["fallback_reason"] for layer in report.layers if layer["unit"] == "host")
    assert json.loads(report.to_json())["total"] == report.total
    assert report.to_csv().count("\n") == len(report.layers) + 2
    assert "utilization" in str(report)


def test_host_steps_are_called_after_the_node_that_is_the_reason(x):
    """A product of two activations, its conversions in the same kernel."""
    graph = conv_model(1).graph
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], name="left", pads=[1, 1, 1, 1]),
        helper.make_node("Conv", ["x", "w"], ["b"], name="right", pads=[1, 1, 1, 1]),
        helper.make_node("Sigmoid", ["b"], ["gate"], name="gate"),
        helper.make_node("Mul", ["a", "gate"], ["m"], name="product"),
        helper.make_node("Relu", ["m"], ["r"], name="relu"),
        helper.make_node("Conv", ["r", "v"], ["y"], name="after", pads=[1, 1, 1, 1]),
    ]
    v = np.random.default_rng(4).uniform(-0.2, 0.2, (16, 16, 3, 3)).astype(np.float32)
    weights = [*graph.initializer, numpy_helper.from_array(v, "v")]
    graph = helper.make_graph(nodes, "net", graph.input, graph.output, weights)
    proto = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 13)], ir_version=8)
    model = tilewright.compile(proto, quantize="int8", calibration={"x": x})
    steps = [layer for layer in model.profile({"x": x}, executor="model").layers if layer["unit"] == "host"]
    product = next(step for step in steps if step["kind"] == "Mul")
    assert product["name"] == "product"
    assert "a product of two activations" in product["fallback_reason"]
    assert all(step["fallback_reason"] for step in steps)


def test_accuracy_is_in_package_and_report(x, tmp_path):
    """x is rounded, then the layer's weights and result: figures as computed from what it answers."""
    proto = conv_model(1)
    tilewright.compile(proto, quantize="int8", calibration={"x": x}, output=tmp_path / "net.twp")
    model = tilewright.load(tmp_path / "net.twp")
    outputs, report = model.run_and_profile({"x": x}, executor="golden")
    want = reference(proto, {"x": x})["y"]
    decibels = 10 * np.log10((want**2).sum() / ((want - outputs["y"]) ** 2).sum())
    assert model.outputs[0].sqnr_db == pytest.approx(decibels, abs=0.1)
    assert model.inputs[0].sqnr_db is None
    assert report.output_sqnr_db == {"y": pytest.approx(decibels, abs=0.1)}
    (layer,) = report.least_accurate()
    assert layer["name"] == "conv1" and layer["sqnr_db"] == pytest.approx(decibels, abs=0.1)
    assert layer["sqnr_alone_db"] > layer["sqnr_db"]
    assert "y " in str(report).split("noise of the outputs")[1].splitlines()[0]


def test_a_model_that_leaves_the_array_idle(x):
    model = tilewright.compile(conv_model(1))
    assert "note: no layer runs on the array 4x16x4: " in model.explanation
    assert "--quantize=int8 --calibration=" in model.explanation
    assert "nothing of the model runs on it" in str(model.profile({"x": x}))
    assert tilewright.compile(conv_model(1), quantize="int8", calibration="random:1").explanation == ""
    with pytest.raises(tilewright.Error, match="nothing in it runs on an array, so there is nothing to check"):
        model.run({"x": x}, check=True)


def test_made_up_data_say_nothing_about_accuracy(x):
    model = tilewright.compile(conv_model(1), quantize="int8", calibration="random:1")
    assert model.outputs[0].sqnr_db is None
    report = model.profile({"x": x}, executor="golden")
    assert report.output_sqnr_db == {} and report.least_accurate() == []


def test_progress_comes_as_lines_of_text(x):
    lines = []
    model = tilewright.compile(conv_model(1), quantize="int8", calibration={"x": x}, progress=lines.append)
    assert any(line.startswith("read net") for line in lines)
    for _ in range(2):
        model.run({"x": x}, executor="rtl", progress=lines.append)
    assert all(isinstance(line, str) for line in lines)


def test_any_number_of_samples_in_passes():
    proto = conv_model("N")
    model = tilewright.compile(proto, batch=4, quantize="int8", calibration="random:1")
    assert model.inputs[0].shape == ("N", 3, 8, 8)
    samples = np.random.default_rng(3).uniform(-1, 1, (6, 3, 8, 8)).astype(np.float32)
    all_six, report = model.run_and_profile({"x": samples}, executor="model")
    assert all_six["y"].shape == (6, 16, 8, 8)
    assert json.loads(report.to_json())["passes"] == 2
    # Two of the second pass's four samples are padding: they are no useful work.
    assert report.total["macs"] == 6 * 16 * 27 * 64
    golden = model.run({"x": samples}, executor="golden")["y"]
    one_by_one = [model.run({"x": samples[i : i + 1]}, executor="golden")["y"] for i in range(6)]
    assert np.array_equal(golden, np.concatenate(one_by_one))
    assert model.run({"x": samples[:0]}, executor="golden")["y"].shape == (0, 16, 8, 8)


def test_several_specialisations_share_weights():
    model = tilewright.compile(conv_model(1, "S"), target="cpu", input_shape=[{"x": [1, 3, 8, 8]}, {"x": [1, 3, 5, 5]}])
    assert model.run({"x": np.zeros((1, 3, 5, 5), np.float32)})["y"].shape == (1, 16, 5, 5)
    assert model.run({"x": np.zeros((1, 3, 8, 8), np.float32)})["y"].shape == (1, 16, 8, 8)
    with pytest.raises(tilewright.Error, match=r"compiled for other input shapes than x 1x3x6x6; it holds:\n.*1x3x8x8"):
        model.run({"x": np.zeros((1, 3, 6, 6), np.float32)})


def test_packages_are_kept_and_loaded(x, tmp_path):
    path = tmp_path / "net.twp"
    model = tilewright.compile(conv_model(1), target="cpu", output=path)
    assert np.array_equal(tilewright.load(path).run({"x": x})["y"], model.run({"x": x})["y"])


def test_outputs_outlive_the_model_and_inputs_may_be_views(x):
    model = tilewright.compile(conv_model(1), target="cpu")
    wide = np.zeros((1, 3, 8, 16), np.float32)
    wide[..., ::2] = x
    expected = model.run({"x": x})["y"]
    result = model.run({"x": wide[..., ::2]})["y"]
    del model
    assert np.array_equal(result, expected)


def test_threads_take_turns(x):
    model = tilewright.compile(conv_model(1), target="cpu")
    expected = model.run({"x": x})["y"]
    results = [None] * 8

    def work(index):
        results[index] = model.run({"x": x})["y"]

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(np.array_equal(result, expected) for result in results)


@pytest.mark.parametrize(
    "inputs, message",
    [
        ({}, "input 'x' is not given; the model takes: x"),
        ({"x": np.zeros((1, 3, 8, 8))}, "input 'x' is float64; the model takes float32"),
        ({"x": np.zeros((1, 3, 9, 8), np.float32)}, "compiled for other input shapes"),
        ({"x": np.zeros((1, 3, 8, 8), np.complex64)}, "complex64"),
        ({"x": np.zeros((1, 3, 8, 8), np.float32), "z": np.zeros(1, np.float32)}, "has no input 'z'"),
    ],
)
def test_wrong_inputs(inputs, message):
    model = tilewright.compile(conv_model(1), target="cpu")
    with pytest.raises(tilewright.Error, match=message):
        model.run(inputs)


def test_a_model_says_what_it_takes(x, tmp_path):
    model = tilewright.compile(conv_model(1), target="cpu")
    assert repr(model) == "<Model: x float32 1x3x8x8 -> y float32 1x16x8x8>"
    with pytest.raises(TypeError, match="a mapping from input names to arrays; the model takes: x float32 1x3x8x8"):
        model.run(x)
    with pytest.raises(tilewright.Error, match="^net: input 'x' is not given"):
        model.run({})
    onnx.save(conv_model(1), tmp_path / "a.onnx")
    with pytest.raises(tilewright.Error, match=r"/a\.onnx: the model has no input 'img'"):
        tilewright.compile(tmp_path / "a.onnx", target="cpu").run({"img": x})
    tilewright.compile(conv_model(1), target="cpu", output=tmp_path / "kept.twp")
    with pytest.raises(tilewright.Error, match=r"/kept\.twp: input 'x' is not given"):
        tilewright.load(tmp_path / "kept.twp").run({})


def test_compiler_errors():
    with pytest.raises(tilewright.Error, match="nowhere.onnx: .*No such file"):
        tilewright.compile("nowhere.onnx")
    with pytest.raises(tilewright.Error, match="no GPU code generation yet"):
        tilewright.compile(conv_model(1), target="cuda")
    with pytest.raises(tilewright.Error, match="--calibration"):
        tilewright.compile(conv_model(1), quantize="int8")
    with pytest.raises(tilewright.Error):
        tilewright.compile(b"not a model")


def test_forms_on_the_way():
    assert "onnx.node" in tilewright.emit(conv_model(1), "onnx", target="cpu")
    assert "tile.contraction" in tilewright.emit(conv_model(1), "tile", quantize="int8", calibration="random:1")


@pytest.mark.parametrize("view", [lambda x: x.astype(">f4"), np.asfortranarray, lambda x: np.repeat(x, 2, 3)[..., ::2]])
def test_arrays_in_other_layouts(view, x):
    model = tilewright.compile(conv_model(1), target="cpu")
    assert np.array_equal(model.run({"x": view(x)})["y"], model.run({"x": x})["y"])


def test_calibration_takes_any_name(x):
    proto = conv_model(1)
    proto.graph.input[0].name = proto.graph.node[0].input[0] = "file"
    model = tilewright.compile(proto, quantize="int8", calibration={"file": x.astype(">f4")})
    assert model.run({"file": x}, executor="golden")["y"].any()
    with pytest.raises(TypeError, match="3 is no input's name"):
        tilewright.compile(proto, quantize="int8", calibration={3: x})


@pytest.mark.parametrize(
    "call, error",
    [
        (lambda m: tilewright.compile(m, target="cpu", batch="2"), "option batch cannot be '2'"),
        (lambda m: tilewright.compile(m, target="cpu", batch=10**30), "option batch cannot be 10+"),
        (lambda m: tilewright.compile(m, target=3), "option target cannot be 3"),
        (lambda m: tilewright.compile(m, target="cpu", progress=3), "progress is a function of a line of text, not 3"),
        (lambda m: tilewright.compile(m.graph, target="cpu"), "a model is a path, bytes or an onnx.ModelProto"),
        (lambda m: tilewright.emit(m, "onnx", colour="blue"), "emit has no option colour"),
        (
            lambda m: tilewright.compile(m, target="cpu").run(
                {"x": np.ma.masked_less(np.zeros((1, 3, 8, 8), "f4"), 1)}
            ),
            "masked elements",
        ),
    ],
)
def test_what_is_no_option(call, error):
    with pytest.raises(TypeError, match=error):
        call(conv_model(1))


def test_forms_that_are_none():
    with pytest.raises(ValueError, match="no form 'package'; there are onnx, tile"):
        tilewright.emit(conv_model(1), "package")


def test_wave_that_cannot_be_written(x, tmp_path):
    model = tilewright.compile(conv_model(1), quantize="int8", calibration={"x": x})
    with pytest.raises(tilewright.Error, match="nowhere/a.fst: cannot be written: No such file"):
        model.run({"x": x}, wave=tmp_path / "nowhere" / "a.fst")
