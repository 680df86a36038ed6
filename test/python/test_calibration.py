"""--calibration: what it takes, what it refuses, and the scales that come of it."""

import re
import subprocess

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper


@pytest.fixture
def net(tmp_path):
    """y = relu(x · w) with a symbolic batch."""
    weights = np.array([[1, -2], [0.5, 4], [0, 1]], np.float32)
    graph = helper.make_graph(
        [helper.make_node("MatMul", ["x", "w"], ["z"]), helper.make_node("Relu", ["z"], ["y"])],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["N", 3])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, ["N", 2])],
        [numpy_helper.from_array(weights, "w")],
    )
    path = tmp_path / "net.onnx"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), path)
    return path


@pytest.fixture
def compile_net(net, build_dir):
    def run(calibration, *arguments, batch="--batch=1", method="min-max"):
        command = [build_dir / "bin" / "compile-model", net, "--quantize=int8", f"--calibration={calibration}", batch]
        command += [f"--calibration-range={method}"]
        return subprocess.run([*command, "--emit=onnx", *arguments], capture_output=True, text=True, check=False)

    return run


def scales(result, names=("x", "y")):
    """Scale and zero point of activations, from the quantized module's text."""
    assert result.returncode == 0, result.stderr
    constants = dict(re.findall(r"(%\w+) = onnx.constant dense<([^>\[]*)> : tensor<(?:f32|i8|ui8)>", result.stdout))
    found = {}
    for name in names:
        pattern = rf'"QuantizeLinear" since \d+ \(%\w+, (%\w+), (%\w+)\) attributes .*"{name}_quantized"'
        scale, zero = re.search(pattern, result.stdout).groups()
        found[name] = (float(constants[scale]), int(constants[zero]))
    return found


SAMPLES = np.array([[1, 0, 0], [-1, 2, 0], [0, 0, 3.2], [0.5, -0.25, 1]], np.float32)


def expected(values, low=-128):
    minimum, maximum = min(values.min(), 0), max(values.max(), 0)
    scale = np.float32((maximum - minimum) / 255)
    return pytest.approx((float(scale), int(np.rint(low - minimum / scale))), rel=1e-5)


def check(result, samples=SAMPLES, low=-128):
    found = scales(result)
    answers = np.maximum(samples.reshape(-1, 3) @ np.array([[1, -2], [0.5, 4], [0, 1]], np.float32), 0)
    assert found["x"] == expected(samples, low)
    assert found["y"] == expected(answers, low)


def test_one_archive(compile_net, tmp_path):
    np.savez(tmp_path / "samples.npz", x=SAMPLES)
    check(compile_net(tmp_path / "samples.npz"))
    # The package's batch has nothing to do with the samples.
    check(compile_net(tmp_path / "samples.npz", batch="--batch=16"))
    check(compile_net(tmp_path / "samples.npz", "--activations=uint8"), low=0)


def test_compressed_double_and_one_more_axis(compile_net, tmp_path):
    np.savez_compressed(tmp_path / "samples.npz", x=SAMPLES.astype(np.float64).reshape(4, 1, 3))
    check(compile_net(tmp_path / "samples.npz"))
    np.savez_compressed(tmp_path / "samples.npz", x=np.asfortranarray(SAMPLES))
    check(compile_net(tmp_path / "samples.npz"))


def test_folders(compile_net, tmp_path):
    folder = tmp_path / "samples"
    folder.mkdir()
    np.savez(folder / "a.npz", x=SAMPLES[:1])
    np.savez(folder / "b.npz", x=SAMPLES[1:])
    (folder / "README").write_text("not a sample")
    check(compile_net(folder))
    (folder / "a.npz").unlink()
    np.save(folder / "first.npy", SAMPLES[:1])
    check(compile_net(folder))


def test_percentile_cuts_the_tails(compile_net, tmp_path):
    samples = np.zeros((1000, 3), np.float32)
    samples[:, 0] = np.linspace(0, 1, 1000)
    samples[0, 2] = 1000
    np.savez(tmp_path / "samples.npz", x=samples)
    wide = scales(compile_net(tmp_path / "samples.npz"))["x"]
    narrow = scales(compile_net(tmp_path / "samples.npz", method="percentile:99.9"))["x"]
    assert wide[0] == pytest.approx(1000 / 255)
    assert narrow[0] == pytest.approx(1 / 255, rel=0.3)


def conv_scales(build_dir, folder, samples, method, nodes, names):
    """Scales in a network of a 1x1 convolution x -> z by one, and `nodes` after it."""
    size = samples.shape[2:]
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["z"]), *nodes],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 1, *size])],
        [helper.make_tensor_value_info(nodes[-1].output[0] if nodes else "z", TensorProto.FLOAT, [1, 1, *size])],
        [numpy_helper.from_array(np.ones((1, 1, 1, 1), np.float32), "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8), folder / "net.onnx")
    np.savez(folder / "samples.npz", x=samples)
    command = [build_dir / "bin" / "compile-model", folder / "net.onnx", "--quantize=int8", "--emit=onnx",
               f"--calibration={folder / 'samples.npz'}", f"--calibration-range={method}"]  # fmt: skip
    return scales(subprocess.run(command, capture_output=True, text=True, check=False), names)


@pytest.mark.parametrize("outlier", [1.5, 10])
def test_least_error_weighs_clipping_against_rounding(build_dir, tmp_path, outlier):
    """N values below 1 and one of R: N t^2 / (12 * 255^2) + (R - t)^2 is least at t = R / (1 + N / 780300)."""
    samples = np.random.default_rng(0).uniform(0, 1, (20, 1, 100, 100)).astype(np.float32)
    samples[7, 0, 3, 4] = outlier
    for method, end in (("mse", outlier / (1 + samples.size / 780300)), ("min-max", outlier)):
        scale, zero = conv_scales(build_dir, tmp_path, samples, method, [], ["x"])["x"]
        assert scale * 255 == pytest.approx(end, rel=0.01)
        assert zero == -128


@pytest.mark.parametrize("method", ["min-max", "mse", "percentile:99.99"])
def test_values_on_which_a_function_is_flat_need_no_range(build_dir, tmp_path, method):
    """Behind HardSwish nothing below -3 is told apart, so the 8 bits of its operand begin there."""
    samples = np.linspace(-40, 6, 16 * 64, dtype=np.float32).reshape(16, 1, 8, 8)
    nodes = [helper.make_node("HardSwish", ["z"], ["y"])]
    found = conv_scales(build_dir, tmp_path, samples, method, nodes, ("x", "z"))
    assert found["x"][0] * 255 == pytest.approx(46, rel=0.02)
    scale, zero = found["z"]
    assert (-128 - zero) * scale == pytest.approx(-3, abs=0.15)
    assert (127 - zero) * scale == pytest.approx(6, abs=0.15)
    # Somebody else reads it too: all of it counts.
    nodes += [helper.make_node("Conv", ["z", "w"], ["v"]), helper.make_node("Add", ["y", "v"], ["sum"])]
    scale, zero = conv_scales(build_dir, tmp_path, samples, method, nodes, ["z"])["z"]
    assert scale * 255 == pytest.approx(46, rel=0.02)


def test_random_data_mark_the_result(compile_net):
    first, again, other = (compile_net(f"random:{seed}", "--explain") for seed in (1, 1, 2))
    assert scales(first) == scales(again) != scales(other)
    assert "uncalibrated" in first.stdout + first.stderr


def test_explain_states_the_accuracy(compile_net, tmp_path):
    np.savez(tmp_path / "samples.npz", x=SAMPLES)
    result = compile_net(tmp_path / "samples.npz", "--explain")
    text = result.stdout + result.stderr
    rows = re.findall(r"^ +([0-9.]+) +([0-9.]+)  (\w+)", text, re.MULTILINE)
    decibels = {name: float(value) for value, alone, name in rows}
    assert set(decibels) == {"x", "y"}
    # x is rounded and nothing else; y has the noise of x too.
    alone = {name: float(value) for _, value, name in rows}
    assert alone["x"] == decibels["x"] and alone["y"] > decibels["y"]
    assert re.search(rf"output y {decibels['y']}", text)
    scale, zero = scales(result)["x"]
    rounded = (np.clip(np.rint(SAMPLES / np.float32(scale)) + zero, -128, 127) - zero) * np.float32(scale)
    noise = ((SAMPLES - rounded) ** 2).sum()
    assert decibels["x"] == pytest.approx(10 * np.log10((SAMPLES**2).sum() / noise), abs=0.1)


@pytest.mark.parametrize(
    "arrays, message",
    [
        ({"z": SAMPLES}, "no array for model input 'x'; there are 'z'"),
        ({}, "no array for model input 'x'"),
        ({"x": SAMPLES[:, :2]}, "has shape 4x2, but the model takes ?x3"),
        ({"x": SAMPLES[:0]}, "no sample in it"),
        ({"x": SAMPLES.astype(np.int32)}, "elements of type int32; the model takes float32"),
        ({"x": SAMPLES * np.float32(np.nan)}, "tensor 'x' is not finite on sample 0"),
        ({"x": SAMPLES * np.float32(3e38)}, "is not finite on sample"),
    ],
)
def test_refusals(compile_net, tmp_path, arrays, message):
    with np.errstate(all="ignore"):
        np.savez(tmp_path / "samples.npz", **arrays)
    result = compile_net(tmp_path / "samples.npz")
    assert result.returncode == 1
    assert message in result.stderr


def test_methods_that_are_none(compile_net, tmp_path):
    np.savez(tmp_path / "samples.npz", x=SAMPLES)
    for method in ("entropy", "percentile:", "percentile:101", "mse:2"):
        result = compile_net(tmp_path / "samples.npz", method=method)
        assert result.returncode == 1
        assert f"--calibration-range={method}: expected mse, min-max, or percentile:P" in result.stderr


def test_sources_that_are_none(compile_net, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "samples.txt").write_text("1 2 3")
    (tmp_path / "cut.npz").write_bytes(b"PK\x03\x04 and nothing else")
    for source, message in {
        tmp_path / "empty": "has neither .npz nor .npy files",
        tmp_path / "samples.txt": "expected a folder, an .npz, an .npy or random:SEED",
        tmp_path / "nowhere.npz": "cannot be read",
        tmp_path / "cut.npz": "is no .npz file",
        "random:x": "expected random:SEED",
    }.items():
        result = compile_net(source)
        assert result.returncode == 1, source
        assert message in result.stderr


def test_quantizing_without_data_says_how_to_give_some(net, build_dir):
    command = [build_dir / "bin" / "compile-model", net, "--quantize=int8", "--batch=1"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 1
    assert "--calibration=" in result.stderr and "random:SEED" in result.stderr
