"""What quantization costs trained classifiers on pictures: the class of each must stay that of the float network.

Ranges come from the compiler's own calibration on pictures other than those judged; benchmarks/accuracy.py prepares both.
"""

import numpy as np
import pytest

tilewright = pytest.importorskip("tilewright", reason="the Python module was not built")

from benchmarks import accuracy


def judge(case: accuracy.Case, path, executor: str):
    """The compiled model, signal to noise, how many classes are the float network's, of how many, and a report."""
    model = tilewright.compile(path, quantize="int8", calibration={case.input: case.calibration}, **case.options)
    exact, rounded = accuracy.float_outputs(case), accuracy.judged_outputs(model, case, executor)
    decibels, same, count = accuracy.accuracy(exact, rounded)
    report = model.profile({case.input: case.judged[:1]}, executor="golden")
    worst = ", ".join(f"{layer['name']} {layer['sqnr_alone_db']:.1f}" for layer in report.least_accurate(3))
    print(f"{case.model}: {same} of {count} as float, logits {decibels:.1f} dB signal to quantization noise;")
    print(f"  on calibration samples {report.output_sqnr_db}, least accurate layers alone: {worst}")
    return model, decibels, same, count, report


def test_open_nsfw_on_photographs(model):
    case = accuracy.nsfw(quarters=False)
    compiled, decibels, same, count, report = judge(case, model("open_nsfw"), "rtl")
    assert count == 4 and same == count
    assert decibels > 20
    # What the package says about its outputs, and about every layer on the array.
    (output,) = compiled.outputs
    assert report.output_sqnr_db == {output.name: pytest.approx(output.sqnr_db, abs=0.01)}
    layers = [layer for layer in report.layers if layer["unit"] == "array"]
    assert len(layers) == 54
    assert all(15 < layer["sqnr_db"] < 60 and layer["sqnr_alone_db"] > layer["sqnr_db"] - 0.5 for layer in layers)


def test_text_direction_on_a_photographed_page(model):
    case = accuracy.text_direction()
    _, decibels, same, count, _ = judge(case, model("text_direction"), "rtl")
    assert count == 32 and same == count
    assert decibels > 20


@pytest.mark.parametrize("name", ["rnet", "onet", "pnet", "text_direction", "mnist_conv"])
def test_what_the_package_says_is_what_comes_out(model, name):
    """The compiler measures in float on rounded values; the array computes in integers. On the samples that the compiler
    took, its figures are those of the answers."""
    case = accuracy.CASES[name]()
    case.judged = case.calibration[:4]
    compiled = tilewright.compile(
        model(name), quantize="int8", calibration={case.input: case.calibration}, **case.options
    )
    exact, rounded = accuracy.float_outputs(case), accuracy.judged_outputs(compiled, case)
    for output in compiled.outputs:
        a, b = (np.concatenate([np.ravel(sample[output.name]) for sample in samples]) for samples in (exact, rounded))
        noise = (a.astype(np.float64) - b) ** 2
        assert output.sqnr_db == pytest.approx(10 * np.log10((a.astype(np.float64) ** 2).sum() / noise.sum()), abs=0.5)


def test_calibration_and_judgement_use_different_pictures():
    for case in (accuracy.nsfw(quarters=False), accuracy.text_direction()):
        seen = {sample.tobytes() for sample in case.calibration}
        assert not any(sample.tobytes() in seen for sample in case.judged)
        assert np.isfinite(case.judged).all()
