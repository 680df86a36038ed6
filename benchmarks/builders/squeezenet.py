"""SqueezeNet 1.1 (Iandola et al., 2016): fire modules, no dense layer, max pools that round their size up."""

import onnx

from benchmarks.builders.graph import Graph

# (squeeze, expand) channels; "pool" is a 3x3 max pool of stride 2.
LAYERS = ("pool", (16, 64), (16, 64), "pool", (32, 128), (32, 128), "pool", (48, 192), (48, 192), (64, 256), (64, 256))


def build(batch=1, resolution=224, classes=1000, seed=0) -> onnx.ModelProto:
    g = Graph("squeezenet1_1", seed)
    x = g.input("image", [batch, 3, resolution, resolution])
    x = g.node("Relu", [g.conv(x, 64, 3, stride=2, pads=0, bias=True)])
    for layer in LAYERS:
        x = g.pool("MaxPool", x, 3, 2, ceil_mode=1) if layer == "pool" else _fire(g, x, *layer)
    x = g.node("Relu", [g.conv(x, classes, 1, bias=True)])
    x = g.node("Flatten", [g.node("GlobalAveragePool", [x])], axis=1)
    g.output(x, "logits", [batch, classes])
    return g.model()


def _fire(g: Graph, x: str, squeeze: int, expand: int) -> str:
    x = g.node("Relu", [g.conv(x, squeeze, 1, bias=True)])
    return g.concat([g.node("Relu", [g.conv(x, expand, kernel, bias=True)]) for kernel in (1, 3)])
