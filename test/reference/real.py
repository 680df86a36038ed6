"""Float functions and float sums: computed in float64, given within the bounds that any sound float32 computation keeps.

Functions of one value: 4 float32 ulp of the value or of 1, whichever is more (implementations lose bits where 1 cancels);
gates x · g(x): 4 ulp of x. Sums of n terms: (4 + sqrt(n)) · 2^-24 of the sum of magnitudes, for runtimes add in
orders of their own and rounding errors add up like a random walk.
"""

import math

import numpy as np

from reference.arithmetic import F32, along
from reference.bounds import Bounds, bilinear, high, hull, low
from reference.contractions import convolve

FUNCTION_ULPS = 4
TINY = 2.0**-126


def _around(least, most, error) -> Bounds:
    """float32 bounds of float64 ones that may be off by `error`."""
    return Bounds((np.float64(least) - error).astype(F32), (np.float64(most) + error).astype(F32))


def _ulps(magnitude, count=FUNCTION_ULPS):
    return count * 2.0**-23 * magnitude + TINY


def _larger(least, most):
    return np.maximum(np.abs(least), np.abs(most))


def _ends(x):
    return low(x).astype(np.float64), high(x).astype(np.float64)


def _rising(function):
    """A function of one value that never falls."""

    def apply(attributes, x):
        least, most = (function(attributes, end) for end in _ends(x))
        return _around(least, most, _ulps(np.maximum(_larger(least, most), 1)))

    return apply


def _times_itself(gate):
    """x · gate(x), with a gate that never falls."""

    def apply(attributes, x):
        least, most = _ends(x)
        products = hull(*(a * gate(attributes, b) for a in (least, most) for b in (least, most)))
        return _around(products.low, products.high, _ulps(_larger(least, most)))

    return apply


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(attributes, x):
    return 1 / (1 + np.exp(-x))


def _hard_sigmoid(attributes, x):
    return np.clip(F32(attributes.get("alpha", 0.2)) * x + F32(attributes.get("beta", 0.5)), 0, 1)


def _elu(attributes, x):
    return np.where(x > 0, x, F32(attributes.get("alpha", 1)) * np.expm1(np.minimum(x, 0)))


def _gelu_gate(attributes, x):
    if attributes.get("approximate", b"none") == b"tanh":
        return (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3))) / 2
    return (1 + _erf(x / math.sqrt(2))) / 2


def _log_of_others(x, axis):
    """log of the sum of exp over all elements along `axis` but the one at hand."""
    x = np.moveaxis(x, axis, 0)
    nothing = np.full((1, *x.shape[1:]), -np.inf)
    before = np.concatenate([nothing, np.logaddexp.accumulate(x, 0)[:-1]])
    behind = np.concatenate([np.logaddexp.accumulate(x[::-1], 0)[::-1][1:], nothing])
    return np.moveaxis(np.logaddexp(before, behind), 0, axis)


def _softmax(attributes, x):
    current = attributes["opset"] >= 13
    axis = attributes.get("axis", -1 if current else 1)
    if not current and axis not in (-1, len(x.shape) - 1):
        raise NotImplementedError("flattening everything from the axis on")
    least, most = _ends(x)
    # Its own term is as small, and the others as large, as they may be; and the other way round.
    with np.errstate(over="ignore"):
        smallest = 1 / (1 + np.exp(_log_of_others(most, axis) - least))
        largest = 1 / (1 + np.exp(_log_of_others(least, axis) - most))
    count = x.shape[axis]
    return _around(smallest, largest, _ulps(largest, 2 * FUNCTION_ULPS + math.sqrt(count)))


def _sum_error(terms: int, magnitudes):
    return (4 + math.sqrt(terms)) * 2.0**-24 * magnitudes + TINY


def _add_bias(least, most, magnitudes, bias):
    if bias is None:
        return least, most, magnitudes
    return least + low(bias), most + high(bias), magnitudes + _larger(low(bias), high(bias))


def _conv(attributes, x, weights, bias=None):
    least, most, magnitudes = bilinear(lambda a, b: convolve(attributes, a, b), x, weights)
    if bias is not None:
        bias = Bounds(*(along(end(bias), least.ndim, 1).astype(np.float64) for end in (low, high)))
    least, most, magnitudes = _add_bias(least, most, magnitudes(), bias)
    return _around(least, most, _sum_error(int(np.prod(weights.shape[1:])), magnitudes))


def _matmul(attributes, a, b):
    least, most, magnitudes = bilinear(np.matmul, a, b)
    return _around(least, most, _sum_error(a.shape[-1], magnitudes()))


def _gemm(attributes, a, b, c=None):
    a, b = (Bounds(low(v).T, high(v).T) if attributes.get(word, 0) else v for v, word in ((a, "transA"), (b, "transB")))
    alpha, beta = (float(F32(attributes.get(word, 1))) for word in ("alpha", "beta"))
    least, most, magnitudes = bilinear(lambda x, y: alpha * np.matmul(x, y) if alpha > 0 else _refuse_alpha(), a, b)
    if c is not None:
        c = hull(beta * low(c).astype(np.float64), beta * high(c).astype(np.float64))
    least, most, magnitudes = _add_bias(least, most, magnitudes(), c)
    return _around(least, most, _sum_error(a.shape[-1], magnitudes))


def _refuse_alpha():
    raise NotImplementedError("alpha that is not positive")


def _average_pool(attributes, x):
    if attributes.get("ceil_mode", 0):
        raise NotImplementedError("ceil_mode")
    channels, kernel = x.shape[1], attributes["kernel_shape"]
    window = {**attributes, "group": channels}
    ones = np.ones((channels, 1, *kernel))
    least, most, magnitudes = bilinear(lambda a, b: convolve(window, a, b), x, ones)
    count = int(np.prod(kernel))
    if not attributes.get("count_include_pad", 0):
        count = convolve(window, np.ones(x.shape), ones)
    return _around(least / count, most / count, _sum_error(int(np.prod(kernel)), magnitudes() / count))


def _mean(x, axes, keep) -> Bounds:
    least, most = _ends(x)
    magnitudes = _larger(least, most).mean(axes, keepdims=keep)
    terms = x.size // max(1, magnitudes.size)
    return _around(least.mean(axes, keepdims=keep), most.mean(axes, keepdims=keep), _sum_error(terms, magnitudes))


def _reduce_mean(attributes, x, axes=None):
    axes = attributes.get("axes") if axes is None else axes.tolist()
    if axes is None and attributes.get("noop_with_empty_axes", 0):
        return x
    return _mean(x, None if axes is None else tuple(axes), bool(attributes.get("keepdims", 1)))


OPERATORS = {
    "Sigmoid": _rising(_sigmoid),
    "Tanh": _rising(lambda attributes, x: np.tanh(x)),
    "Erf": _rising(lambda attributes, x: _erf(x)),
    "Exp": _rising(lambda attributes, x: np.exp(x)),
    "Softplus": _rising(lambda attributes, x: np.logaddexp(0, x)),
    "HardSigmoid": _rising(_hard_sigmoid),
    "Elu": _rising(_elu),
    "HardSwish": _times_itself(lambda attributes, x: np.clip(x / 6 + 0.5, 0, 1)),
    "Gelu": _times_itself(_gelu_gate),
    "com.microsoft::Gelu": _times_itself(_gelu_gate),
    "Softmax": _softmax,
    "Conv": _conv,
    "MatMul": _matmul,
    "Gemm": _gemm,
    "AveragePool": _average_pool,
    "GlobalAveragePool": lambda attributes, x: _mean(x, tuple(range(2, len(x.shape))), True),
    "ReduceMean": _reduce_mean,
}
