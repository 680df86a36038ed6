"""ResNet-50 (He et al., 2015), in the v1.5 form that frameworks ship: the 3x3 convolution of a block has the stride."""

import onnx

from benchmarks.builders.graph import Graph


def build(batch=1, resolution=224, classes=1000, seed=0, blocks=(3, 4, 6, 3), width=64) -> onnx.ModelProto:
    """`blocks` per stage and `width` of the first stage make smaller relatives; input is NCHW, already normalized."""
    g = Graph("resnet50", seed)
    x = g.input("image", [batch, 3, resolution, resolution])
    x = g.conv_bn_relu(x, width, 7, stride=2)
    x = g.pool("MaxPool", x, 3, 2, pad=1)
    for stage, count in enumerate(blocks):
        for block in range(count):
            x = _bottleneck(g, x, width << stage, stride=2 if stage > 0 and block == 0 else 1, project=block == 0)
    g.classifier(x, classes, batch)
    return g.model()


def _bottleneck(g: Graph, x: str, width: int, stride: int, project: bool) -> str:
    y = g.conv_bn_relu(x, width, 1)
    y = g.conv_bn_relu(y, width, 3, stride=stride)
    # The branch adds a quarter of the variance, so that sixteen blocks in a row do not blow up.
    y = g.conv_bn(y, 4 * width, 1, scale=0.5)
    shortcut = g.conv_bn(x, 4 * width, 1, stride=stride) if project else x
    return g.node("Relu", [g.node("Add", [y, shortcut])])
