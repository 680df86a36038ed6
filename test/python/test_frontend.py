"""The front end against onnx and onnxruntime: shapes of real models, and models that compute the same after normalization."""

import functools
import os
import re
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import numpy_helper

ROOT = Path(__file__).resolve().parents[2]
OPT = Path(os.environ.get("TILEWRIGHT_BUILD", ROOT / "build")) / "bin" / "tilewright-opt"
NODE_CASES = Path(onnx.__file__).parent / "backend" / "test" / "data" / "node"

# Input shapes to compile for; the models' own where they are fixed.
MODELS = {
    "pnet": {"input_1": [2, 51, 38, 3]},
    "rnet": {"input_2": [3, 24, 24, 3]},
    "onet": {"input_3": [2, 48, 48, 3]},
    "micro_kws_static_fp32": {},
    "micro_kws_static_qdq": {"serving_default_input:0": [2, 1960]},
    "micro_kws_static_qoperator": {},
    "micro_kws_qoperator_add_shape": {},
    "micro_kws_qoperator_avg_pool": {},
    "micro_kws_qoperator_softmax": {},
    "mnist_conv": {},
    "residual_block_clean": {},
    "subpixel": {},
    "text_direction": {"x": [2, 3, 48, 192]},
    "open_nsfw": {"input:0": [1, 224, 224, 3]},
}
ELEMENTS = {"f32": 1, "ui8": 2, "i8": 3, "i32": 6, "i64": 7, "i1": 9, "f64": 11}


def opt(*arguments):
    return subprocess.run([OPT, *map(str, arguments)], check=False, capture_output=True, text=True, timeout=300)


def imported(path, shapes, *passes):
    flags = [f"--input-shape={name}:{'x'.join(map(str, dims))}" for name, dims in shapes.items()]
    done = opt(
        f"--import-onnx={path}",
        *flags,
        *passes,
        "--mlir-elide-elementsattrs-if-larger=4",
        "--mlir-elide-resource-strings-if-larger=4",
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def types_by_name(text):
    """The type that the IR gives each named value."""
    types = {}
    for line in text.splitlines():
        names = re.search(r"onnx\.output_names = \[([^\]]*)\]", line)
        if names and " -> " in line:
            results = re.findall(r"tensor<([^>]*)>", line.rsplit(" -> ", 1)[1])
            types.update(zip(re.findall(r'"((?:[^"\\]|\\.)*)"', names.group(1)), results, strict=True))
    return types


def shapes_by_onnx(path, shapes):
    model = onnx.load(path)
    for value in model.graph.input:
        for dim, size in zip(value.type.tensor_type.shape.dim, shapes.get(value.name, []), strict=False):
            dim.dim_value = size
    del model.graph.value_info[:]
    inferred = onnx.shape_inference.infer_shapes(model, data_prop=True)
    for value in inferred.graph.value_info:
        yield value.name, value.type.tensor_type


@pytest.mark.parametrize("name", MODELS)
def test_shapes_are_those_onnx_infers(name, model):
    path = model(name)
    ours = types_by_name(imported(path, MODELS[name], "--inline-functions", "--infer-shapes"))
    compared = 0
    for value, theirs in shapes_by_onnx(path, MODELS[name]):
        if value not in ours:
            continue  # a shape computation that is a constant here
        *dims, element = ours[value].split("x")
        assert ELEMENTS[element] == theirs.elem_type, value
        assert "?" not in dims, value
        expected = [dim.dim_value if dim.HasField("dim_value") else None for dim in theirs.shape.dim]
        if theirs.HasField("shape") and None not in expected:
            assert [int(dim) for dim in dims] == expected, value
            compared += 1
    # onnx itself stops at the first operator that it has no schema for.
    assert compared >= len(ours) // 5


@functools.cache
def session_options():
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.log_severity_level = 4
    options.intra_op_num_threads = 1
    return options


def run(path, feeds):
    session = onnxruntime.InferenceSession(str(path), session_options(), providers=["CPUExecutionProvider"])
    return dict(zip([o.name for o in session.get_outputs()], session.run(None, feeds), strict=True))


def normalize(path, shapes, out):
    imported(path, shapes, "--onnx-pipeline", f"--export-onnx=file={out}")


def random_feeds(path, shapes):
    rng = np.random.default_rng(0)
    session = onnxruntime.InferenceSession(str(path), session_options(), providers=["CPUExecutionProvider"])
    return {i.name: rng.standard_normal(shapes.get(i.name, i.shape)).astype(np.float32) for i in session.get_inputs()}


@pytest.mark.parametrize("name", MODELS)
def test_normalized_model_computes_the_same(name, model, tmp_path):
    path = model(name)
    feeds = random_feeds(path, MODELS[name])
    normalize(path, MODELS[name], tmp_path / "out.onnx")
    before, after = run(path, feeds), run(tmp_path / "out.onnx", feeds)
    assert before.keys() == after.keys()
    for key, value in before.items():
        # A quantized layer spelled with float operators may land on the other side of a tie.
        tolerance = 0.02 if "qoperator" in name else 1e-4
        np.testing.assert_allclose(after[key], value, rtol=tolerance, atol=tolerance * np.abs(value).max(), err_msg=key)


def node_cases():
    """Every seventh of onnx's stored cases: about 250, of all operators."""
    return sorted(path.name for path in NODE_CASES.iterdir() if path.is_dir())[::7]


def load(path):
    tensor = onnx.TensorProto.FromString(path.read_bytes())
    return tensor.name, numpy_helper.to_array(tensor)


def close(a, b):
    if a.dtype.kind in "fc":
        return np.allclose(a, b, rtol=1e-3, atol=1e-5, equal_nan=True)
    return np.array_equal(a, b)


def judge(case, tmp_path):
    """One of: same, refused, not run (onnxruntime or the file format has no such thing), and what is wrong."""
    path, out = NODE_CASES / case / "model.onnx", tmp_path / "out.onnx"
    done = opt(f"--import-onnx={path}", "--onnx-pipeline", f"--export-onnx=file={out}", "-o", os.devnull)
    if done.returncode == 1:
        assert done.stderr.strip(), case
        return "refused"
    assert done.returncode == 0, f"{case}: {done.stderr[-500:]}"
    data = NODE_CASES / case / "test_data_set_0"
    try:
        feeds = dict(load(file) for file in sorted(data.glob("input_*.pb")))
        stored = dict(load(file) for file in sorted(data.glob("output_*.pb")))
        before = run(path, feeds)
    except Exception:  # noqa: BLE001 - a sequence among the data, an operator that onnxruntime lacks: it has many types
        return "not run"
    try:
        after = run(out, feeds)
    except Exception as error:  # noqa: BLE001 - onnxruntime has many types of them
        return "not run" if "NOT_IMPLEMENTED" in str(error) else f"wrong: {error}"
    same = all(
        key in after
        and after[key].shape == value.shape
        and (close(after[key], value) or close(after[key], before[key]))
        for key, value in stored.items()
    )
    return "same" if same else "wrong"


def test_onnx_node_cases(tmp_path):
    verdicts = {case: judge(case, tmp_path) for case in node_cases()}
    wrong = {case: verdict for case, verdict in verdicts.items() if verdict.startswith("wrong")}
    counts = {word: sum(v == word for v in verdicts.values()) for word in ("same", "refused", "not run")}
    print(counts)
    print("refused:", *sorted(case for case, verdict in verdicts.items() if verdict == "refused"))
    assert not wrong
    assert len(verdicts) >= 250 and counts["same"] >= 150, counts
