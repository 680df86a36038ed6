"""A network under construction: nodes, seeded weights, and the few compositions that the builders share.

Weights are random but chosen so that a compiler cannot be right by accident: activations keep their scale through the
depth (He initialisation with the gain of the activation that went before) and differ from one input to another. The
second part needs care: behind a ReLU every channel has a positive mean, and a deep random network then answers the same
for any input. Filters over many channels are therefore centred, so that the common mean does not pass.
"""

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

OPSET = 17  # the first with LayerNormalization
IR_VERSION = 8

# Variance gain that keeps a centred filter's output at variance 1 when its input is relu(N(0, 1)), whose variance is
# 1/2 - 1/(2 pi); an uncentred filter sees the second moment, 1/2.
RELU_GAIN_CENTRED = 1 / (0.5 - 0.5 / np.pi)
RELU_GAIN = 2.0


class Graph:
    """Appends nodes in topological order; every method takes and returns tensor names. Images are NCHW."""

    def __init__(self, name: str, seed: int):
        self.name = name
        self.rng = np.random.default_rng(seed)
        self.nodes, self.inputs, self.outputs, self.initializers = [], [], [], []
        self.channels: dict[str, int] = {}  # of the tensors that convolutions and normalizations read
        self._counts: dict[str, int] = {}

    # Plain pieces of a graph.

    def input(self, name: str, shape, channels_axis: int = 1) -> str:
        self.inputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))
        self.channels[name] = shape[channels_axis]
        return name

    def output(self, value: str, name: str, shape) -> None:
        """Ends the graph's path at `value`: the tensor is renamed to `name`."""
        producer = next(node for node in self.nodes if value in node.output)
        producer.output[list(producer.output).index(value)] = name
        self.outputs.append(helper.make_tensor_value_info(name, TensorProto.FLOAT, shape))

    def constant(self, array, hint: str) -> str:
        name = self._unique(hint)
        self.initializers.append(numpy_helper.from_array(np.asarray(array, order="C"), name))
        return name

    def node(self, op: str, inputs, channels: int | None = None, **attributes) -> str:
        """One node with one output; it has as many channels as its first input unless `channels` says otherwise."""
        name = self._unique(op.lower())
        self.nodes.append(helper.make_node(op, inputs, [name + "_out"], name=name, **attributes))
        self.channels[name + "_out"] = channels or self.channels.get(inputs[0], 0)
        return name + "_out"

    def model(self) -> onnx.ModelProto:
        graph = helper.make_graph(self.nodes, self.name, self.inputs, self.outputs, self.initializers)
        opsets = [helper.make_opsetid("", OPSET)]
        return helper.make_model(
            graph, opset_imports=opsets, ir_version=IR_VERSION, producer_name="tilewright.benchmarks"
        )

    # Layers with weights.

    def conv(self, x, channels, kernel, stride=1, pads=None, groups=1, gain=RELU_GAIN_CENTRED, bias=False) -> str:
        """`kernel` and `pads` may be one number or (height, width); without `pads` the map keeps its size at stride 1."""
        kernel = _pair(kernel)
        pads = _pair(pads) if pads is not None else [k // 2 for k in kernel]
        shape = (channels, self.channels[x] // groups, *kernel)
        weights = self.weights(shape, gain, centred=self.channels[x] // groups >= 8)
        inputs = [x, self.constant(weights, "weight")]
        if bias:
            inputs.append(self.constant(self.normal((channels,), 0.05), "bias"))
        return self.node(
            "Conv",
            inputs,
            channels=channels,
            kernel_shape=kernel,
            strides=_pair(stride),
            pads=[*pads, *pads],
            group=groups,
        )

    def batch_norm(self, x, scale: float = 1.0) -> str:
        shape = (self.channels[x],)
        parameters = [self.uniform(shape, 0.8, 1.2) * np.float32(scale), self.normal(shape, 0.05)]
        parameters += [self.normal(shape, 0.05), self.uniform(shape, 0.8, 1.2)]
        hints = ["bn_scale", "bn_bias", "bn_mean", "bn_var"]
        return self.node(
            "BatchNormalization",
            [x, *(self.constant(p, h) for p, h in zip(parameters, hints, strict=True))],
            epsilon=1e-5,
        )

    def conv_bn(self, x, channels, kernel, scale: float = 1.0, **options) -> str:
        return self.batch_norm(self.conv(x, channels, kernel, **options), scale)

    def conv_bn_relu(self, x, channels, kernel, **options) -> str:
        return self.node("Relu", [self.conv_bn(x, channels, kernel, **options)])

    def gemm(self, x, features, inputs: int | None = None, gain=RELU_GAIN_CENTRED) -> str:
        """Fully connected over a flat tensor; weights are stored [features, inputs] as exporters do."""
        weights = self.weights((features, inputs or self.channels[x]), gain, centred=True)
        constants = [self.constant(weights, "weight"), self.constant(self.normal((features,), 0.05), "bias")]
        return self.node("Gemm", [x, *constants], channels=features, transB=1)

    def linear(self, x, features, gain=1.0) -> str:
        """Fully connected over the last axis of a tensor of any rank: MatMul and Add."""
        weights = self.weights((self.channels[x], features), gain, reduction_axes=(0,))
        y = self.node("MatMul", [x, self.constant(weights, "weight")], channels=features)
        return self.node("Add", [y, self.constant(self.normal((features,), 0.05), "bias")])

    def layer_norm(self, x) -> str:
        shape = (self.channels[x],)
        parameters = [self.uniform(shape, 0.8, 1.2), self.normal(shape, 0.05)]
        constants = [self.constant(p, h) for p, h in zip(parameters, ["ln_scale", "ln_bias"], strict=True)]
        return self.node("LayerNormalization", [x, *constants], axis=-1, epsilon=1e-6)

    def relu6(self, x) -> str:
        return self.node("Clip", [x, self.constant(np.float32(0), "min"), self.constant(np.float32(6), "max")])

    def gelu(self, x) -> str:
        """As exporters spell it below opset 20: x/2 * (1 + erf(x / sqrt(2)))."""
        erf = self.node("Erf", [self.node("Div", [x, self.constant(np.float32(np.sqrt(2)), "sqrt2")])])
        sum_ = self.node("Add", [erf, self.constant(np.float32(1), "one")])
        return self.node("Mul", [self.node("Mul", [x, sum_]), self.constant(np.float32(0.5), "half")])

    def pool(self, op, x, kernel, stride, pad=0, **attributes) -> str:
        kernel, stride, pads = _pair(kernel), _pair(stride), [*_pair(pad), *_pair(pad)]
        return self.node(op, [x], kernel_shape=kernel, strides=stride, pads=pads, **attributes)

    def concat(self, parts, axis: int = 1) -> str:
        return self.node("Concat", parts, channels=sum(self.channels[p] for p in parts), axis=axis)

    def classifier(self, x, classes: int, batch) -> None:
        """Global average pool, flatten, one dense layer: the head of most image classifiers."""
        flat = self.node("Flatten", [self.node("GlobalAveragePool", [x])], axis=1)
        self.output(self.gemm(flat, classes, gain=2.0), "logits", [batch, classes])

    # Random numbers, all float32 from the one seeded generator.

    def weights(self, shape, gain, centred=False, reduction_axes=None) -> np.ndarray:
        """Normal with variance gain / fan-in; reduced over all axes but the first unless said otherwise."""
        axes = reduction_axes or tuple(range(1, len(shape)))
        fan_in = np.prod([shape[axis] for axis in axes])
        array = self.rng.standard_normal(shape, dtype=np.float32)
        if centred:
            array -= array.mean(axis=axes, keepdims=True)
        array *= np.float32(np.sqrt(gain / fan_in))
        return array

    def normal(self, shape, deviation: float) -> np.ndarray:
        return self.rng.standard_normal(shape, dtype=np.float32) * np.float32(deviation)

    def uniform(self, shape, low: float, high: float) -> np.ndarray:
        return self.rng.random(shape, dtype=np.float32) * np.float32(high - low) + np.float32(low)

    def _unique(self, hint: str) -> str:
        number = self._counts.get(hint, 0)
        self._counts[hint] = number + 1
        return f"{hint}_{number}"


def _pair(value) -> list[int]:
    return [value, value] if isinstance(value, int) else list(value)
