"""Inception-v3 (Szegedy et al., 2015) without the auxiliary classifier; asymmetric kernels, four-way concatenations."""

import onnx

from benchmarks.builders.graph import Graph


def build(batch=1, resolution=299, classes=1000, seed=0) -> onnx.ModelProto:
    """`resolution` of at least 75."""
    g = Graph("inception_v3", seed)
    x = g.input("image", [batch, 3, resolution, resolution])
    x = g.conv_bn_relu(x, 32, 3, stride=2, pads=0)
    x = g.conv_bn_relu(x, 32, 3, pads=0)
    x = g.conv_bn_relu(x, 64, 3)
    x = g.pool("MaxPool", x, 3, 2)
    x = g.conv_bn_relu(x, 80, 1)
    x = g.conv_bn_relu(x, 192, 3, pads=0)
    x = g.pool("MaxPool", x, 3, 2)
    for pool_channels in (32, 64, 64):
        x = _mixed_35(g, x, pool_channels)
    x = _reduce_35(g, x)
    for channels in (128, 160, 160, 192):
        x = _mixed_17(g, x, channels)
    x = _reduce_17(g, x)
    for _ in range(2):
        x = _mixed_8(g, x)
    g.classifier(x, classes, batch)
    return g.model()


def _chain(g: Graph, x: str, *layers) -> str:
    """Convolutions one after another, each (channels, kernel) or (channels, kernel, options)."""
    for channels, kernel, *options in layers:
        x = g.conv_bn_relu(x, channels, kernel, **(options[0] if options else {}))
    return x


def _average(g: Graph, x: str, channels: int) -> str:
    # The padding counts, as in the frameworks this network comes from.
    return g.conv_bn_relu(g.pool("AveragePool", x, 3, 1, pad=1, count_include_pad=1), channels, 1)


def _mixed_35(g: Graph, x: str, pool_channels: int) -> str:
    five = _chain(g, x, (48, 1), (64, 5))
    three = _chain(g, x, (64, 1), (96, 3), (96, 3))
    return g.concat([_chain(g, x, (64, 1)), five, three, _average(g, x, pool_channels)])


def _reduce_35(g: Graph, x: str) -> str:
    down = {"stride": 2, "pads": 0}
    three = _chain(g, x, (64, 1), (96, 3), (96, 3, down))
    return g.concat([_chain(g, x, (384, 3, down)), three, g.pool("MaxPool", x, 3, 2)])


def _mixed_17(g: Graph, x: str, c: int) -> str:
    row, column = (1, 7), (7, 1)
    seven = _chain(g, x, (c, 1), (c, row), (192, column))
    double = _chain(g, x, (c, 1), (c, column), (c, row), (c, column), (192, row))
    return g.concat([_chain(g, x, (192, 1)), seven, double, _average(g, x, 192)])


def _reduce_17(g: Graph, x: str) -> str:
    down = {"stride": 2, "pads": 0}
    three = _chain(g, x, (192, 1), (320, 3, down))
    seven = _chain(g, x, (192, 1), (192, (1, 7)), (192, (7, 1)), (192, 3, down))
    return g.concat([three, seven, g.pool("MaxPool", x, 3, 2)])


def _mixed_8(g: Graph, x: str) -> str:
    row, column = (1, 3), (3, 1)
    three = _chain(g, x, (384, 1))
    three = g.concat([_chain(g, three, (384, row)), _chain(g, three, (384, column))])
    double = _chain(g, x, (448, 1), (384, 3))
    double = g.concat([_chain(g, double, (384, row)), _chain(g, double, (384, column))])
    return g.concat([_chain(g, x, (320, 1)), three, double, _average(g, x, 192)])
