"""Convolutions and matrix products of integers, exact.

Sums are taken in float64, which numpy multiplies fast: every product and every partial sum is a whole number far below
2^53, so no order of summation rounds. What does not fit int32 is an error, for the hardware's accumulator would wrap.
"""

import itertools

import numpy as np

from reference.arithmetic import F32, along, requantize
from reference.windows import pads_of, window_counts


def to_int32(total: np.ndarray) -> np.ndarray:
    if total.size and (total.min() < -(2**31) or total.max() >= 2**31):
        raise OverflowError("an accumulator does not fit int32")
    return total.astype(np.int32)


def centred(tensor: np.ndarray, zero_point, axis: int = 0) -> np.ndarray:
    """tensor - zero point, as float64 whole numbers."""
    zero = 0 if zero_point is None else along(zero_point, tensor.ndim, axis).astype(np.float64)
    return tensor.astype(np.float64) - zero


def convolve(attributes, x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Any number of spatial dimensions; x and weights are whole numbers with their zero points taken off."""
    groups = attributes.get("group", 1)
    kernel, spatial = weights.shape[2:], x.shape[2:]
    rank = len(kernel)
    strides, dilations = attributes.get("strides", [1] * rank), attributes.get("dilations", [1] * rank)
    begins, ends = pads_of(attributes, rank)
    counts = window_counts(spatial, kernel, strides, dilations, begins, ends)
    # Outside the map the real value is zero, which is the zero point: already taken off.
    padded = np.pad(x, [(0, 0), (0, 0), *zip(begins, ends, strict=True)])
    samples, channels = x.shape[:2]
    filters = weights.reshape(groups, weights.shape[0] // groups, channels // groups, *kernel)
    total = np.zeros((samples, groups, filters.shape[1], int(np.prod(counts))))
    for tap in itertools.product(*(range(k) for k in kernel)):
        part = [
            slice(t * d, t * d + (n - 1) * s + 1, s) for t, d, n, s in zip(tap, dilations, counts, strides, strict=True)
        ]
        pixels = padded[(slice(None), slice(None), *part)].reshape(samples, groups, channels // groups, -1)
        total += np.matmul(filters[(slice(None),) * 3 + tap], pixels)
    return total.reshape(samples, weights.shape[0], *counts)


def conv_integer(attributes, x, weights, x_zero=None, w_zero=None):
    return to_int32(convolve(attributes, centred(x, x_zero), centred(weights, w_zero)))


def matmul_integer(attributes, a, b, a_zero=None, b_zero=None):
    return to_int32(np.matmul(centred(a, a_zero, -2), centred(b, b_zero, -1)))


def requantize_conv(total, x_scale, w_scale, y_scale, y_zero, bias=None):
    if bias is not None:
        total = total + along(bias, total.ndim, 1).astype(np.float64)
    multiplier = along((F32(x_scale) * w_scale.astype(F32)) / F32(y_scale), total.ndim, 1)
    return requantize(to_int32(total), multiplier, y_zero)


def requantize_matmul(total, a_scale, b_scale, y_scale, y_zero, bias=None):
    multiplier = along((F32(a_scale) * b_scale.astype(F32)) / F32(y_scale), total.ndim, -1)
    return requantize(to_int32(total), multiplier, y_zero)


def qlinear_conv(attributes, x, x_scale, x_zero, w, w_scale, w_zero, y_scale, y_zero, bias=None):
    total = convolve(attributes, centred(x, x_zero), centred(w, w_zero))
    return requantize_conv(total, x_scale, w_scale, y_scale, y_zero, bias)


def qlinear_matmul(attributes, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero):
    total = np.matmul(centred(a, a_zero, -2), centred(b, b_zero, -1))
    return requantize_matmul(total, a_scale, b_scale, y_scale, y_zero)


OPERATORS = {
    "ConvInteger": conv_integer,
    "MatMulInteger": matmul_integer,
    "QLinearConv": qlinear_conv,
    "QLinearMatMul": qlinear_matmul,
}
