"""Windows over spatial dimensions: how many there are, and the largest value in each."""

import itertools

import numpy as np


def pads_of(attributes, rank: int) -> tuple[list[int], list[int]]:
    """Begin and end padding per spatial dimension."""
    if attributes.get("auto_pad", b"NOTSET") not in (b"NOTSET", b"VALID"):
        raise NotImplementedError("auto_pad: pads are written out in quantized files")
    pads = attributes.get("pads", [0] * (2 * rank))
    return list(pads[:rank]), list(pads[rank:])


def window_counts(spatial, kernel, strides, dilations, begins, ends, ceil=False) -> list[int]:
    counts = []
    for size, k, s, d, begin, end in zip(spatial, kernel, strides, dilations, begins, ends, strict=True):
        room = size + begin + end - (d * (k - 1) + 1)
        count = -(-room // s) + 1 if ceil else room // s + 1
        # A window that rounding up added must still begin inside the map or its leading padding.
        if ceil and (count - 1) * s >= size + begin:
            count -= 1
        counts.append(count)
    return counts


def max_pool(attributes, x):
    kernel = attributes["kernel_shape"]
    rank = len(kernel)
    strides, dilations = attributes.get("strides", [1] * rank), attributes.get("dilations", [1] * rank)
    begins, ends = pads_of(attributes, rank)
    if attributes["outputs"] != 1 or attributes.get("storage_order", 0):
        raise NotImplementedError("indices")
    ceil = bool(attributes.get("ceil_mode", 0))
    counts = window_counts(x.shape[2:], kernel, strides, dilations, begins, ends, ceil)
    lowest = np.iinfo(x.dtype).min if np.issubdtype(x.dtype, np.integer) else -np.inf
    reach = [(n - 1) * s + d * (k - 1) + 1 for n, s, d, k in zip(counts, strides, dilations, kernel, strict=True)]
    extra = [max(end, r - size - begin) for end, r, size, begin in zip(ends, reach, x.shape[2:], begins, strict=True)]
    padded = np.pad(x, [(0, 0), (0, 0), *zip(begins, extra, strict=True)], constant_values=lowest)
    result = np.full((*x.shape[:2], *counts), lowest, x.dtype)
    for tap in itertools.product(*(range(k) for k in kernel)):
        part = [
            slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, counts, strides, strict=True)
        ]
        result = np.maximum(result, padded[(slice(None), slice(None), *part)])
    return result


def global_max_pool(attributes, x):
    return x.max(axis=tuple(range(2, x.ndim)), keepdims=True)


OPERATORS = {"MaxPool": max_pool, "GlobalMaxPool": global_max_pool}
