"""Values known within bounds, and what operators make of them.

A float function, or a sum of floats in an order of the runtime's own, has no one right result to the last bit: the judge
says between which values it lies. QuantizeLinear makes 8-bit bounds of them, nearly always one number; they stay two where
the exact value lies at a rounding boundary. What is computed from those is bounded in turn, by interval arithmetic: an
answer outside its bounds is wrong whichever way the boundary was rounded.
"""

from dataclasses import dataclass

import numpy as np

from reference import arithmetic, contractions, moves, windows
from reference.arithmetic import F32


@dataclass(frozen=True)
class Bounds:
    """low <= value <= high in each element; two arrays of one shape and type."""

    low: np.ndarray
    high: np.ndarray

    @property
    def shape(self) -> tuple[int, ...]:
        return self.low.shape

    @property
    def dtype(self) -> np.dtype:
        return self.low.dtype

    @property
    def size(self) -> int:
        return self.low.size

    def __getitem__(self, part) -> "Bounds":
        return Bounds(self.low[part], self.high[part])


def low(value):
    return value.low if isinstance(value, Bounds) else value


def high(value):
    return value.high if isinstance(value, Bounds) else value


def outside(got: np.ndarray, want, tolerance=0) -> np.ndarray:
    """Where `got` is not what the judge says, NaN included."""
    return ~((got + tolerance >= low(want)) & (got - tolerance <= high(want)))


def undecided(want) -> int:
    """In how many elements the judge allows more than one answer."""
    return int(np.count_nonzero(low(want) != high(want)))


def settled(value):
    """The array itself once both bounds are one."""
    return value.low if isinstance(value, Bounds) and np.array_equal(value.low, value.high) else value


def hull(*candidates: np.ndarray) -> Bounds:
    return Bounds(np.minimum.reduce(candidates), np.maximum.reduce(candidates))


def rising(function):
    """For an operator that no operand's growth makes smaller; parameters are exact."""

    def apply(attributes, *operands):
        ends = (function(attributes, *map(end, operands)) for end in (low, high))
        pairs = [result if isinstance(result, (tuple, list)) else (result,) for result in ends]
        return tuple(Bounds(*pair) for pair in zip(*pairs, strict=True))

    return apply


def _subtract(attributes, a, b):
    return Bounds(low(a) - high(b), high(a) - low(b))


def _multiply(attributes, a, b):
    return hull(*(x * y for x in (low(a), high(a)) for y in (low(b), high(b))))


def _divide(attributes, a, b):
    if np.any((low(b) <= 0) & (high(b) >= 0)):
        raise NotImplementedError("division by what may be zero")
    return hull(*(x / y for x in (low(a), high(a)) for y in (low(b), high(b))))


def _less(attributes, a, b):
    """False where it is surely not, True where it surely is; between them it may be either."""
    return Bounds(np.less(high(a), low(b)), np.less(low(a), high(b)))


def _where(attributes, condition, x, y):
    always, possibly = low(condition), high(condition)
    least = np.where(always, low(x), np.where(possibly, np.minimum(low(x), low(y)), low(y)))
    return Bounds(least, np.where(always, high(x), np.where(possibly, np.maximum(high(x), high(y)), high(y))))


def _leaky(attributes, x, slope):
    """Linear on both sides of zero, where it is zero."""
    ends = [arithmetic.prelu(attributes, end, slope) for end in (x.low, x.high, np.clip(F32(0), x.low, x.high))]
    return hull(*ends)


def _gather(attributes, data, indices):
    if isinstance(indices, Bounds):
        spread = int((indices.high.astype(np.int64) - indices.low).max())
        if spread > 16:
            raise NotImplementedError("indices of wide bounds")
        choices = [np.minimum(indices.low + i, indices.high) for i in range(spread + 1)]
    else:
        choices = [indices]
    axis = attributes.get("axis", 0)
    return hull(*(np.take(end, choice, axis) for choice in choices for end in (low(data), high(data))))


def bilinear(multiply, a, b):
    """Sums of products of centres, and how far they may be off: (least, most, sums of magnitudes). `a` and `b` may be
    exact; whole numbers stay exact in float64."""
    centre_a, centre_b = ((low(v).astype(np.float64) + high(v)) / 2 for v in (a, b))
    radius_a, radius_b = ((high(v).astype(np.float64) - low(v)) / 2 for v in (a, b))
    total = multiply(centre_a, centre_b)
    spread = np.zeros_like(total)
    magnitude_a, magnitude_b = np.abs(centre_a), np.abs(centre_b)
    if radius_a.any():
        spread = spread + multiply(radius_a, magnitude_b + radius_b)
    if radius_b.any():
        spread = spread + multiply(magnitude_a, radius_b)
    return total - spread, total + spread, lambda: multiply(magnitude_a + radius_a, magnitude_b + radius_b)


def _centred(tensor, zero_point, axis=0):
    return Bounds(*(contractions.centred(end(tensor), zero_point, axis) for end in (low, high)))


def _conv_sums(attributes, x, weights, x_zero=None, w_zero=None):
    least, most, _ = bilinear(
        lambda a, b: contractions.convolve(attributes, a, b), _centred(x, x_zero), _centred(weights, w_zero)
    )
    return least, most


def _matmul_sums(attributes, a, b, a_zero=None, b_zero=None):
    least, most, _ = bilinear(np.matmul, _centred(a, a_zero, -2), _centred(b, b_zero, -1))
    return least, most


def _integer(sums):
    return lambda attributes, *operands: Bounds(*map(contractions.to_int32, sums(attributes, *operands)))


def _qlinear(sums, finish):
    """Requantization rises with the sum: scales are positive."""

    def apply(attributes, a, a_scale, a_zero, b, b_scale, b_zero, y_scale, y_zero, bias=None):
        ends = sums(attributes, a, b, a_zero, b_zero)
        return Bounds(*(finish(total, a_scale, b_scale, y_scale, y_zero, bias) for total in ends))

    return apply


RISING = [
    "QuantizeLinear", "DequantizeLinear", "com.microsoft::QuantizeLinear", "com.microsoft::DequantizeLinear",
    "com.microsoft::QLinearAdd", "Cast", "Clip", "Relu", "Sqrt", "Add", "Max", "Min", "MaxPool", "GlobalMaxPool",
    "Identity", "Reshape", "Flatten", "Squeeze", "Unsqueeze", "Slice", "Split", "Pad", "DepthToSpace",
    "Transpose", "Concat", "Expand",
]  # fmt: skip
EXACT = {**arithmetic.OPERATORS, **windows.OPERATORS, **moves.OPERATORS}

OPERATORS = {
    **{name: rising(EXACT[name]) for name in RISING},
    "Shape": lambda attributes, x: np.array(x.shape, np.int64),
    "Sub": _subtract,
    "Mul": _multiply,
    "Div": _divide,
    "Less": _less,
    "Greater": lambda attributes, a, b: _less(attributes, b, a),
    "Where": _where,
    "PRelu": _leaky,
    "LeakyRelu": lambda attributes, x: _leaky(attributes, x, F32(attributes.get("alpha", 0.01))),
    "Gather": _gather,
    "ConvInteger": _integer(_conv_sums),
    "MatMulInteger": _integer(_matmul_sums),
    "QLinearConv": _qlinear(_conv_sums, contractions.requantize_conv),
    "QLinearMatMul": _qlinear(_matmul_sums, contractions.requantize_matmul),
}
