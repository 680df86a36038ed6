"""A package for one batch size serves any number of samples in passes, but only where no operator mixes samples."""

import numpy as np
import onnxruntime
import pytest
import tilewright
from onnx import helper, parser

# Graph bodies from float x[N, 3] or x[N, 2, 3] to y, by whether samples are computed alone.
ALONE = {
    "sum": "y = Add(x, x)",
    "row of a table": "y = Add(x, c3)",
    "softmax of a sample": "y = Softmax<axis=1>(x)",
    "softmax from the back": "y = Softmax<axis=-1>(x)",
    "layer normalization": "y = LayerNormalization<axis=-1>(x, c3)",
    "rows times a matrix": "y = MatMul(x, c3x3)",
    "dense": "y = Gemm(x, c3x3, c3)",
    "other axes permuted": "h = Unsqueeze(x, one) t = Transpose<perm=[0, 2, 1]>(h) y = Squeeze(t, two)",
    "reshape by its own size": "s = Shape(x) y = Reshape(x, s)",
    "zeros of its own shape": "s = Shape(x) z = ConstantOfShape(s) y = Add(x, z)",
    "table looked up": "i = Cast<to=7>(x) p = Abs(i) m = Mod(p, l3) y = Gather<axis=0>(c3x3, m)",
    "columns gathered": "y = Gather<axis=1>(x, one)",
    "columns sliced": "y = Slice(x, one, two, one, one)",
    "columns padded": "y = Pad(x, pads1)",
    "largest of a sample": "y, i = TopK<axis=-1>(x, two)",
    "mean of a sample": "y = ReduceMean<keepdims=1>(x, one)",
    "running sum": "o = Squeeze(one) y = CumSum(x, o)",
}
MIXED = {
    "softmax of the batch": "y = Softmax<axis=-2>(x)",
    "layer normalization of all": "y = LayerNormalization<axis=-2>(x, c1x3)",
    "norm over the batch": "y = LpNormalization<axis=-2>(x)",
    "gathered elements": "i = Cast<to=7>(x) z = Mul(i, l0) y = GatherElements(x, z)",
    "scattered elements": "i = Cast<to=7>(x) z = Mul(i, l0) y = ScatterElements(x, z, x)",
    "samples gathered": "i = Cast<to=7>(x) z = Mul(i, l0) f = ReduceSum<keepdims=0>(z, one) y = Gather(x, f)",
    "triangle": "y = Trilu(x)",
    "positions": "s = Shape(x) n = Gather<axis=0>(s, s0) r = Range(s0, n, s1) f = Cast<to=1>(r)"
    " u = Unsqueeze(f, one) y = Add(x, u)",
    "times the number of samples": "s = Shape<start=0, end=1>(x) f = Cast<to=1>(s) y = Mul(x, f)",
    "diagonal": "e = EyeLike(x) y = Add(x, e)",
    "samples reversed": "y = Slice(x, minus1, least, zero, minus1)",
    "samples shifted": "y = Pad(x, pads0)",
    "running sum of the batch": "o = Squeeze(zero) y = CumSum(x, o)",
    "mean of the batch": "m = ReduceMean<keepdims=1>(x, zero) y = Sub(x, m)",
    "a slope per compiled sample": "y = PRelu(x, c2x1)",
    "a row per compiled sample": "y = Gemm(x, c3x3, c2x1)",
    "flat indices": "u = Unsqueeze(x, one) m, i = MaxPool<kernel_shape=[3]>(u) y = Cast<to=1>(i)",
    "states between samples": "u = Unsqueeze(x, one) y = RNN<hidden_size=1>(u, c1x1x3, c1x1x1)",
    "its shape is an output": "s = Shape(x) y = Cast<to=1>(s)",
}
CONSTANTS = """
    float[3] c3 = {1, 2, 3}, float[1, 3] c1x3 = {1, 2, 3}, float[3, 3] c3x3 = {1, 2, 3, 4, 5, 6, 7, 8, 9},
    int64[1] zero = {0}, int64[1] one = {1}, int64[1] two = {2}, int64[1] minus1 = {-1}, int64 s0 = {0}, int64 s1 = {1},
    float[2, 1] c2x1 = {1, 2}, float[1, 1, 3] c1x1x3 = {1, 2, 3}, float[1, 1, 1] c1x1x1 = {0.5}, int64[1] least = {-9223372036854775807}, int64 l0 = {0}, int64 l3 = {3}, int64[4] pads1 = {0, 1, 0, 2},
    int64[4] pads0 = {1, 0, -1, 0}"""


def build(body, inputs="float[N, 3] x"):
    model = parser.parse_model(
        f'<ir_version: 8, opset_import: ["" : 18]> g ({inputs}) => (float y) <{CONSTANTS}> {{ {body} }}'
    )
    used = {name for node in model.graph.node for name in node.input}
    for initializer in list(model.graph.initializer):
        if initializer.name not in used:
            model.graph.initializer.remove(initializer)
    model.graph.output[0].type.CopyFrom(helper.make_tensor_type_proto(1, None))
    return model


def reference(model, feeds):
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    return onnxruntime.InferenceSession(model.SerializeToString(), options).run(None, feeds)[0]


def samples(count):
    return np.random.default_rng(count).uniform(-4, 4, (count, 3)).astype(np.float32)


@pytest.mark.parametrize("body", ALONE.values(), ids=ALONE.keys())
def test_any_number_of_samples(body):
    proto = build(body)
    model = tilewright.compile(proto, target="cpu", batch=2)
    for count in (2, 5, 1):
        x = samples(count)
        np.testing.assert_allclose(model.run({"x": x})["y"], reference(proto, {"x": x}), rtol=1e-5, atol=1e-6)
    assert model.run({"x": samples(0)})["y"].shape[0] == 0


@pytest.mark.parametrize("body", MIXED.values(), ids=MIXED.keys())
def test_samples_that_are_mixed(body):
    proto = build(body)
    model = tilewright.compile(proto, target="cpu", batch=2)
    x = samples(2)
    np.testing.assert_allclose(model.run({"x": x})["y"], reference(proto, {"x": x}), rtol=1e-5, atol=1e-6)
    with pytest.raises(tilewright.Error, match=r"no other number of samples: .+"):
        model.run({"x": samples(4)})


def test_no_samples_and_an_output_that_needs_none():
    proto = build("y = Relu(x) z = Mul(c3, c3)")
    proto.graph.output.append(helper.make_tensor_value_info("z", 1, [3]))
    outputs = tilewright.compile(proto, target="cpu", batch=2).run({"x": samples(0)})
    assert outputs["y"].shape == (0, 3)
    assert outputs["z"].tolist() == [1, 4, 9]


def test_two_batches():
    model = tilewright.compile(build("y = Gather(t, x)", "float[M, 3] t, int64[N] x"), target="cpu", batch=2)
    with pytest.raises(tilewright.Error, match="several names, 'M' and 'N'"):
        model.run({"t": np.zeros((4, 3), np.float32), "x": np.zeros(4, np.int64)})


def test_batch_on_another_axis():
    proto = build("y = MatMul(t, x)", "float[N, 3] t, float[3, N] x")
    model = tilewright.compile(proto, target="cpu", batch=2, input_shape={"x": (3, 2)})
    with pytest.raises(tilewright.Error, match="as another size than its first"):
        model.run({"t": np.zeros((4, 3), np.float32), "x": np.zeros((3, 4), np.float32)})
