"""MobileNetV1 (Howard et al., 2017), width 1.0: depthwise 3x3 and pointwise 1x1 convolutions, each with ReLU6."""

import onnx

from benchmarks.builders.graph import RELU_GAIN, Graph

# (channels after the pointwise convolution, stride of the depthwise one)
BLOCKS = ((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2), *((512, 1),) * 5, (1024, 2), (1024, 1))


def build(batch=1, resolution=224, classes=1000, seed=0, width=1.0, blocks=None) -> onnx.ModelProto:
    """`width` scales the channels; `blocks`, if given, keeps only the first so many depthwise-separable blocks."""
    g = Graph("mobilenet_v1", seed)
    x = g.input("image", [batch, 3, resolution, resolution])
    x = g.relu6(g.conv_bn(x, int(32 * width), 3, stride=2))
    for channels, stride in BLOCKS[:blocks]:
        x = g.relu6(g.conv_bn(x, g.channels[x], 3, stride=stride, groups=g.channels[x], gain=RELU_GAIN))
        x = g.relu6(g.conv_bn(x, int(channels * width), 1))
    g.classifier(x, classes, batch)
    return g.model()
