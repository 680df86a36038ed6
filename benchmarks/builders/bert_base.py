"""The encoder of BERT-base (Devlin et al., 2018): twelve post-norm layers over embedded tokens.

The input is what the embedding table and its normalization give, so the network has no gather over a vocabulary and any
float input is a valid one.
"""

import onnx

from benchmarks.builders.graph import Graph
from benchmarks.builders.transformer import attention, feed_forward


def build(batch=1, tokens=128, seed=0, layers=12, features=768, heads=12, hidden=3072) -> onnx.ModelProto:
    g = Graph("bert_base_encoder", seed)
    x = g.input("embeddings", [batch, tokens, features], channels_axis=2)
    for _ in range(layers):
        x = g.layer_norm(g.node("Add", [attention(g, x, heads), x]))
        x = g.layer_norm(g.node("Add", [feed_forward(g, x, hidden), x]))
    g.output(x, "hidden_states", [batch, tokens, features])
    return g.model()
