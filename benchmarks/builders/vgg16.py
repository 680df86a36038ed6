"""VGG-16 (Simonyan and Zisserman, 2014), configuration D without batch normalization."""

import onnx

from benchmarks.builders.graph import Graph

STAGES = ((64, 2), (128, 2), (256, 3), (512, 3), (512, 3))


def build(batch=1, resolution=224, classes=1000, seed=0, width=1.0, features=4096) -> onnx.ModelProto:
    """`resolution` is a multiple of 32; `width` scales the channels, `features` the two hidden dense layers."""
    g = Graph("vgg16", seed)
    x = g.input("image", [batch, 3, resolution, resolution])
    for channels, count in STAGES:
        for _ in range(count):
            x = g.node("Relu", [g.conv(x, int(channels * width), 3, bias=True)])
        x = g.pool("MaxPool", x, 2, 2)
    inputs = g.channels[x] * (resolution // 32) ** 2
    x = g.node("Flatten", [x], axis=1)
    x = g.node("Relu", [g.gemm(x, features, inputs)])
    x = g.node("Relu", [g.gemm(x, features)])
    g.output(g.gemm(x, classes), "logits", [batch, classes])
    return g.model()
