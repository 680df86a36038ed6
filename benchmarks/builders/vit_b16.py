"""ViT-B/16 (Dosovitskiy et al., 2020): 16x16 patches through a strided convolution, twelve pre-norm layers."""

import numpy as np
import onnx

from benchmarks.builders.graph import Graph
from benchmarks.builders.transformer import attention, feed_forward

PATCH = 16


def build(
    batch=1, resolution=224, classes=1000, seed=0, layers=12, features=768, heads=12, hidden=3072
) -> onnx.ModelProto:
    g = Graph("vit_b16", seed)
    image = g.input("image", [batch, 3, resolution, resolution])
    x = g.conv(image, features, PATCH, stride=PATCH, pads=0, gain=1.0, bias=True)
    x = g.node("Reshape", [x, g.constant(np.array([0, features, -1], np.int64), "shape")])
    x = g.node("Transpose", [x], perm=[0, 2, 1])
    x = g.node("Concat", [_class_token(g, image, batch, features), x], channels=features, axis=1)
    tokens = (resolution // PATCH) ** 2 + 1
    x = g.node("Add", [x, g.constant(g.normal((1, tokens, features), 0.3), "positions")])
    for _ in range(layers):
        x = g.node("Add", [x, attention(g, g.layer_norm(x), heads)])
        x = g.node("Add", [x, feed_forward(g, g.layer_norm(x), hidden)])
    x = g.node("Gather", [g.layer_norm(x), g.constant(np.int64(0), "first")], axis=1)
    g.output(g.gemm(x, classes, gain=1.0), "logits", [batch, classes])
    return g.model()


def _class_token(g: Graph, image: str, batch, features: int) -> str:
    token = g.normal((1, 1, features), 0.3)
    if isinstance(batch, int):
        return g.constant(np.repeat(token, batch, axis=0), "class_token")
    # A symbolic batch has to be asked for when the network runs.
    bounds = [g.constant(np.array([edge], np.int64), "edge") for edge in (0, 1)]
    size = g.node("Slice", [g.node("Shape", [image]), *bounds])
    shape = g.node("Concat", [size, g.constant(np.array([1, features], np.int64), "shape")], axis=0)
    return g.node("Expand", [g.constant(token, "class_token"), shape])
