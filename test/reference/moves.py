"""Operators that only move values, and the tables of an epilogue (Gather on 256 constants)."""

import numpy as np
from onnx import numpy_helper


def reshape(attributes, x, shape):
    keep = not attributes.get("allowzero", 0)
    return x.reshape([x.shape[i] if d == 0 and keep else d for i, d in enumerate(shape.tolist())])


def flatten(attributes, x):
    axis = attributes.get("axis", 1)
    axis = axis + x.ndim if axis < 0 else axis
    return x.reshape(int(np.prod(x.shape[:axis])), -1)


def squeeze(attributes, x, axes=None):
    return np.squeeze(x, None if axes is None else tuple(axes.tolist()))


def unsqueeze(attributes, x, axes):
    return np.expand_dims(x, tuple(axes.tolist()))


def slice_(attributes, x, starts, ends, axes=None, steps=None):
    axes = range(len(starts)) if axes is None else axes.tolist()
    steps = [1] * len(starts) if steps is None else steps.tolist()
    parts = [slice(None)] * x.ndim
    for axis, start, end, step in zip(axes, starts.tolist(), ends.tolist(), steps, strict=True):
        # Python reads "up to and including the first" only from None; ONNX writes it as any end below -size.
        parts[axis] = slice(start, None if step < 0 and end < -x.shape[axis] else end, step)
    return x[tuple(parts)]


def split(attributes, x, sizes=None):
    axis = attributes.get("axis", 0)
    if sizes is None:
        step = -(-x.shape[axis] // attributes["outputs"])
        sizes = np.array([step] * (attributes["outputs"] - 1))
    else:
        sizes = sizes[:-1]
    return tuple(np.split(x, np.cumsum(sizes), axis))


def pad(attributes, x, pads, value=None, axes=None):
    if attributes.get("mode", b"constant") != b"constant":
        raise NotImplementedError(f"mode {attributes['mode'].decode()}")
    axes = list(range(x.ndim)) if axes is None else axes.tolist()
    widths = [(0, 0)] * x.ndim
    for i, axis in enumerate(axes):
        widths[axis] = (int(pads[i]), int(pads[len(axes) + i]))
    if min(min(pair) for pair in widths) < 0:
        raise NotImplementedError("negative pads")
    return np.pad(x, widths, constant_values=0 if value is None else np.asarray(value).item())


def constant(attributes):
    if "value" not in attributes:
        raise NotImplementedError("a value that is no tensor")
    return numpy_helper.to_array(attributes["value"])


def depth_to_space(attributes, x):
    n, c, h, w = x.shape
    b = attributes["blocksize"]
    if attributes.get("mode", b"DCR") == b"DCR":
        return x.reshape(n, b, b, c // b**2, h, w).transpose(0, 3, 4, 1, 5, 2).reshape(n, c // b**2, h * b, w * b)
    return x.reshape(n, c // b**2, b, b, h, w).transpose(0, 1, 4, 2, 5, 3).reshape(n, c // b**2, h * b, w * b)


OPERATORS = {
    "Constant": constant,
    "Identity": lambda attributes, x: x,
    "Reshape": reshape,
    "Flatten": flatten,
    "Squeeze": squeeze,
    "Unsqueeze": unsqueeze,
    "Slice": slice_,
    "Split": split,
    "Pad": pad,
    "DepthToSpace": depth_to_space,
    "Shape": lambda attributes, x: np.array(x.shape, np.int64),
    "Transpose": lambda attributes, x: x.transpose(attributes.get("perm")),
    "Concat": lambda attributes, *parts: np.concatenate(parts, attributes["axis"]),
    "Gather": lambda attributes, data, indices: np.take(data, indices, attributes.get("axis", 0)),
    "Expand": lambda attributes, x, shape: np.broadcast_to(x, np.broadcast_shapes(x.shape, tuple(shape.tolist()))),
}
