"""MobileNetV2 (Sandler et al., 2018), width 1.0: inverted residuals with linear bottlenecks."""

import onnx

from benchmarks.builders.graph import RELU_GAIN, Graph

# (expansion, channels, repeats, stride of the first)
STAGES = ((1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2), (6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1))


def build(batch=1, resolution=224, classes=1000, seed=0, width=1.0, stages=None, head=1280) -> onnx.ModelProto:
    """`width` scales the channels; `stages`, if given, keeps only the first so many stages; `head` is the last 1x1's width."""
    g = Graph("mobilenet_v2", seed)
    x = g.input("image", [batch, 3, resolution, resolution])
    x = g.relu6(g.conv_bn(x, int(32 * width), 3, stride=2))
    for expansion, channels, repeats, stride in STAGES[:stages]:
        for block in range(repeats):
            x = _inverted_residual(g, x, expansion, int(channels * width), stride if block == 0 else 1)
    x = g.relu6(g.conv_bn(x, head, 1, gain=1.0))
    g.classifier(x, classes, batch)
    return g.model()


def _inverted_residual(g: Graph, x: str, expansion: int, channels: int, stride: int) -> str:
    y, hidden = x, g.channels[x] * expansion
    if expansion != 1:
        # What enters is linear, mean zero and variance one: the gain of a ReLU would double it block after block.
        y = g.relu6(g.conv_bn(y, hidden, 1, gain=1.0))
    y = g.relu6(g.conv_bn(y, hidden, 3, stride=stride, groups=hidden, gain=RELU_GAIN))
    residual = stride == 1 and g.channels[x] == channels
    y = g.conv_bn(y, channels, 1, scale=0.5 if residual else 1.0)
    return g.node("Add", [x, y]) if residual else y
