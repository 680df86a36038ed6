"""Attention and feed-forward blocks shared by BERT and ViT, spelled as framework exporters do."""

import numpy as np

from benchmarks.builders.graph import Graph


def attention(g: Graph, x: str, heads: int) -> str:
    """Multi-head self-attention over [batch, tokens, features]."""
    features = g.channels[x]
    query, key, value = (
        _split_heads(g, g.linear(x, features), heads, p) for p in ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    )
    scores = g.node("MatMul", [query, key])
    scores = g.node("Div", [scores, g.constant(np.float32(np.sqrt(features // heads)), "scale")])
    context = g.node("MatMul", [g.node("Softmax", [scores], axis=-1), value])
    context = g.node("Transpose", [context], perm=[0, 2, 1, 3])
    shape = g.constant(np.array([0, 0, features], np.int64), "shape")
    return g.linear(g.node("Reshape", [context, shape], channels=features), features)


def feed_forward(g: Graph, x: str, hidden: int) -> str:
    features = g.channels[x]
    return g.linear(g.gelu(g.linear(x, hidden)), features, gain=2.0)


def _split_heads(g: Graph, x: str, heads: int, permutation) -> str:
    shape = g.constant(np.array([0, 0, heads, g.channels[x] // heads], np.int64), "shape")
    return g.node("Transpose", [g.node("Reshape", [x, shape])], perm=permutation)
