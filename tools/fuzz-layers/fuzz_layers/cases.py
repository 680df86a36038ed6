"""Draws whole cases: a graph of one to four layers, its input, the array configuration it runs on."""

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

from fuzz_layers.graph import Graph
from fuzz_layers.layers import KINDS

SMALL_MEMORIES = 1 / 3  # share of the cases on small memories
# (scratchpad, ring) in bytes; few, because each is a simulator of its own.
MEMORIES = ((8 << 10, 4 << 10), (16 << 10, 8 << 10), (32 << 10, 4 << 10))


@dataclass(frozen=True)
class Case:
    """`scratchpad_bytes` and `ring_bytes` are None for the configuration's own memories. `decides`: what the reference
    says of the model itself holds; not so where the compiler quantizes, say, a float bias: then only what it says of the
    quantized network emitted does."""

    seed: tuple[int, int]
    model: onnx.ModelProto
    feed: dict[str, np.ndarray]
    decides: bool
    scratchpad_bytes: int | None
    ring_bytes: int | None

    def configuration(self, base: Path, folder: Path) -> Path:
        """The configuration file of this case: `base`, with small memories where the case asks for them."""
        if self.scratchpad_bytes is None:
            return base
        lines = []
        for line in base.read_text().splitlines():
            key = line.partition("=")[0].strip()
            if key == "scratchpad_bytes":
                line = f"scratchpad_bytes = {self.scratchpad_bytes}"
            elif key == "weight_ring_bytes":
                line = f"weight_ring_bytes = {self.ring_bytes}"
            lines.append(line)
        path = folder / f"{base.stem}-{self.scratchpad_bytes >> 10}k-{self.ring_bytes >> 10}k.toml"
        path.write_text("\n".join(lines) + "\n")
        return path


def draw(seed: int, index: int) -> Case:
    """Case `index` of the run with `seed`; the same for ever."""
    rng = np.random.default_rng([seed, index])
    while (case := _attempt(rng, (seed, index))) is None:
        pass
    return case


def _attempt(rng: np.random.Generator, seed: tuple[int, int]) -> Case | None:
    graph = Graph(rng)
    dtype = np.int8 if rng.random() < 0.6 else np.uint8
    if rng.random() < 0.2:
        shape = (int(rng.integers(1, 41)), int(rng.integers(1, 400)))
    else:
        channels = int(rng.choice([1, 3, 4, int(rng.integers(1, 131))], p=[0.08, 0.12, 0.05, 0.75]))
        samples = int(rng.choice([1, 1, 1, 2, 3]))
        shape = (samples, channels, int(rng.integers(1, 41)), int(rng.integers(1, 41)))
    tensor = graph.input(shape, dtype)
    kinds, weights = list(KINDS), np.array(list(KINDS.values()))
    for _ in range(int(rng.choice([1, 2, 3, 4], p=[0.4, 0.25, 0.2, 0.15]))):
        for _ in range(20):
            kind = kinds[rng.choice(len(kinds), p=weights / weights.sum())]
            if (out := kind(graph, tensor)) is not None:
                tensor = out
                break
        else:
            return None
    memories = MEMORIES[rng.integers(len(MEMORIES))] if rng.random() < SMALL_MEMORIES else (None, None)
    limits = np.iinfo(dtype)
    return Case(
        seed,
        graph.model([tensor]),
        {t.name: rng.integers(limits.min, limits.max + 1, t.shape).astype(dtype) for t in graph.inputs},
        graph.decides,
        *memories,
    )
