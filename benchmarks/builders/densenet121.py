"""DenseNet-121 (Huang et al., 2016): batch normalization stands before the convolution, and every layer concatenates."""

import onnx

from benchmarks.builders.graph import Graph


def build(batch=1, resolution=224, classes=1000, seed=0, blocks=(6, 12, 24, 16), growth=32) -> onnx.ModelProto:
    """`blocks` layers per dense block; `growth` channels are added by each."""
    g = Graph("densenet121", seed)
    x = g.input("image", [batch, 3, resolution, resolution])
    x = g.conv_bn_relu(x, 2 * growth, 7, stride=2)
    x = g.pool("MaxPool", x, 3, 2, pad=1)
    for index, count in enumerate(blocks):
        for _ in range(count):
            y = g.conv(_bn_relu(g, x), 4 * growth, 1)
            y = g.conv(_bn_relu(g, y), growth, 3)
            x = g.concat([x, y])
        if index + 1 < len(blocks):
            x = g.conv(_bn_relu(g, x), g.channels[x] // 2, 1)
            x = g.pool("AveragePool", x, 2, 2)
    g.classifier(_bn_relu(g, x), classes, batch)
    return g.model()


def _bn_relu(g: Graph, x: str) -> str:
    return g.node("Relu", [g.batch_norm(x)])
