"""Networks on the array, layer by layer, against onnxruntime and the judge: equal in every element."""

import numpy as np
import onnx
import pytest
from compare_layers import compare, random_feed
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
