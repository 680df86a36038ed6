"""Benchmark networks: the published size, activations that stay alive, outputs that depend on the input."""

import numpy as np
import onnx
import onnxruntime as ort
import pytest
from onnx import numpy_helper, shape_inference

from benchmarks import build_model
from benchmarks.builders import BUILDERS
from benchmarks.reweight import reweight

# Small relatives with every kind of layer of the full network.
SMALL = {
    "resnet50": dict(resolution=64, width=16, classes=10, blocks=(2, 1, 1, 2)),
    "vgg16": dict(resolution=32, width=0.25, features=64, classes=10),
    "mobilenet_v1": dict(resolution=64, width=0.5, classes=10),
    "mobilenet_v2": dict(resolution=64, width=0.5, head=96, classes=10),
    "squeezenet": dict(resolution=64, classes=10),
    "inception_v3": dict(resolution=80, classes=10),
    "densenet121": dict(resolution=64, classes=10, growth=16, blocks=(3, 3, 3, 3)),
    "bert_base": dict(tokens=16, layers=2, features=64, heads=4, hidden=128),
    "vit_b16": dict(resolution=48, layers=2, features=64, heads=4, hidden=128, classes=10),
}


def macs_and_parameters(model):
    """Multiply-accumulates of convolutions and matrix products, from inferred shapes; number of weights."""
    graph = shape_inference.infer_shapes(model, data_prop=True, strict_mode=True).graph
    values = [*graph.value_info, *graph.input, *graph.output]
    shapes = {v.name: [d.dim_value for d in v.type.tensor_type.shape.dim] for v in values}
    shapes |= {t.name: list(t.dims) for t in graph.initializer}
    macs = 0
    for node in graph.node:
        if node.op_type in ("Conv", "Gemm"):
            macs += int(np.prod(shapes[node.output[0]])) * int(np.prod(shapes[node.input[1]][1:]))
        elif node.op_type == "MatMul":
            macs += int(np.prod(shapes[node.output[0]])) * shapes[node.input[0]][-1]
    # Batch norm statistics are not counted as parameters by those who publish numbers, shapes and bounds neither.
    statistics = {name for node in graph.node if node.op_type == "BatchNormalization" for name in node.input[3:]}
    floats = [t for t in graph.initializer if t.data_type == onnx.TensorProto.FLOAT and t.dims]
    return macs, sum(int(np.prod(t.dims)) for t in floats if t.name not in statistics)


@pytest.mark.parametrize(
    "name, settings, macs, parameters",
    [
        ("resnet50", {}, 4_089_184_256, 25_557_032),
        # The convolutions alone: 15.35 GMAC at 224x224, so 1/49 of that at 32x32, and one dense MAC per class.
        ("vgg16", dict(resolution=32, features=1, classes=1), 15_346_630_656 // 49 + 514, 14_714_688 + 512 + 1 + 2 + 2),
        ("mobilenet_v1", {}, 568_740_352, 4_231_976),
        ("mobilenet_v2", {}, 300_774_272, 3_504_872),
        ("squeezenet", {}, 349_151_936, 1_235_496),
        ("inception_v3", {}, 5_713_216_096, 23_834_568),
        ("densenet121", {}, 2_834_161_664, 7_978_856),
        # One of twelve equal layers: 85,054,464 parameters and 11,173,625,856 MACs in all.
        ("bert_base", dict(layers=1), 11_173_625_856 // 12, 85_054_464 // 12),
        # Published: 86,567,656 with twelve layers of 7,087,872; the MACs are those of one layer and of both ends.
        (
            "vit_b16",
            dict(layers=1),
            196 * 768 * 768 + 768_000 + 197 * 7_077_888 + 2 * 197 * 197 * 768,
            86_567_656 - 11 * 7_087_872,
        ),
    ],
)
def test_published_size(name, settings, macs, parameters):
    assert macs_and_parameters(BUILDERS[name](**settings)) == (macs, parameters)


def run(model, feed, outputs=None):
    options = ort.SessionOptions()
    options.log_severity_level = 3
    return ort.InferenceSession(model.SerializeToString(), options).run(outputs, feed)


def random_feed(model, seed):
    value = model.graph.input[0]
    shape = [d.dim_value or 3 for d in value.type.tensor_type.shape.dim]
    return {value.name: np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)}


def spread_between_inputs(model, tensor):
    """How far two inputs' answers lie apart, in units of the answer's own spread over its elements."""
    first, second = (run(model, random_feed(model, seed), [tensor])[0] for seed in (1, 2))
    return np.abs(first - second).mean() / first.std()


@pytest.mark.parametrize("name", BUILDERS)
def test_activations_stay_alive_and_outputs_depend_on_the_input(name):
    model = BUILDERS[name](**SMALL[name])
    onnx.checker.check_model(model, full_check=True)
    assert spread_between_inputs(model, model.graph.output[0].name) > 0.02

    every = [o for node in model.graph.node for o in node.output]
    extended = onnx.ModelProto()
    extended.CopyFrom(model)
    known = {o.name for o in model.graph.output}
    extended.graph.output.extend(onnx.ValueInfoProto(name=o) for o in every if o not in known)
    names = [o.name for o in extended.graph.output]
    for tensor, value in zip(names, run(extended, random_feed(model, 1)), strict=True):
        if value.dtype == np.float32 and value.size > 1:
            assert 0.01 < value.std() < 100 or "softmax" in tensor, (tensor, value.std())
            assert (value != 0).mean() > 0.1, tensor


@pytest.mark.parametrize("name", ["resnet50", "vit_b16", "bert_base"])
def test_symbolic_batch_answers_as_the_fixed_one(name):
    fixed, symbolic = (BUILDERS[name](**SMALL[name], batch=batch) for batch in (3, "N"))
    feed = random_feed(fixed, 1)
    np.testing.assert_allclose(run(symbolic, feed)[0], run(fixed, feed)[0], rtol=1e-5, atol=1e-5)


def test_seeds():
    build, small = BUILDERS["resnet50"], SMALL["resnet50"]
    assert build(**small).SerializeToString() == build(**small).SerializeToString()
    assert build(**small).SerializeToString() != build(**small, seed=1).SerializeToString()


def test_reweighted_light_graph(model):
    light = onnx.load(model("light_resnet50"))
    result = reweight(light, seed=3)
    onnx.checker.check_model(result)
    kept = [n.op_type for n in light.graph.node if n.op_type != "ConstantOfShape"]
    assert [n.op_type for n in result.graph.node] == kept
    for node in result.graph.node:
        if node.op_type in ("Conv", "Gemm"):
            weights = next(t for t in result.graph.initializer if t.name == node.input[1])
            assert numpy_helper.to_array(weights).std() > 0
    # Softmax hides what happens before it.
    logits = next(node.input[0] for node in result.graph.node if node.op_type == "Softmax")
    result.graph.output.append(onnx.ValueInfoProto(name=logits))
    assert spread_between_inputs(result, logits) > 1e-3


def test_command_line(tmp_path, capsys):
    path = tmp_path / "net.onnx"
    settings = ["--set", "resolution=32", "--set", "width=8", "--set", "blocks=(1, 1)", "--set", "classes=4"]
    assert build_model.main(["resnet50", "-o", str(path), "--batch", "N", *settings]) == 0
    net = onnx.load(path)
    assert [d.dim_param or d.dim_value for d in net.graph.input[0].type.tensor_type.shape.dim] == ["N", 3, 32, 32]
    assert run(net, random_feed(net, 0))[0].shape == (3, 4)
    with pytest.raises(SystemExit):
        build_model.main(["resnet50", "-o", str(path), "--set", "colour=1"])
    assert "resnet50 has no parameter colour; it has batch, resolution" in capsys.readouterr().err
    assert build_model.main(["squeezenet", "-o", str(tmp_path / "no" / "where.onnx")]) == 1
