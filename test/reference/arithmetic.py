"""Elementwise operators: quantization, the float32 steps of an epilogue, the residual add.

Every float operation is on float32 arrays, so numpy rounds once per operation, half to even.
"""

import numpy as np
from onnx import helper

F32 = np.float32


def round_half_even(value: np.ndarray) -> np.ndarray:
    return np.rint(value)


def along(parameter, rank: int, axis: int):
    """A per-channel parameter shaped to meet axis `axis` of a tensor of rank `rank`; a scalar stays one."""
    parameter = np.asarray(parameter)
    if parameter.size == 1:
        return parameter.reshape(())
    if parameter.ndim != 1:
        raise NotImplementedError("scales in blocks")
    shape = [1] * rank
    shape[axis] = parameter.size
    return parameter.reshape(shape)


def saturate(value: np.ndarray, dtype) -> np.ndarray:
    limits = np.iinfo(dtype)
    return np.clip(value, limits.min, limits.max).astype(dtype)


def requantize(accumulator: np.ndarray, multiplier: np.ndarray, zero_point: np.ndarray) -> np.ndarray:
    """int32 → 8 bits: to float32, times the multiplier, clamp, round, plus zero point."""
    limits = np.iinfo(zero_point.dtype)
    zero = int(zero_point)
    scaled = accumulator.astype(F32) * multiplier
    clamped = np.clip(scaled, F32(limits.min - zero), F32(limits.max - zero))
    return (round_half_even(clamped).astype(np.int32) + zero).astype(zero_point.dtype)


def fma(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """float32 a·b + c with one rounding.

    The product of two float32 is exact in float64; the sum is made round-to-odd there, so that the second rounding, to
    float32, sees on which side of a tie the exact value lies.
    """
    a, b, c = (np.asarray(operand, np.float64) for operand in (a, b, c))
    product = np.asarray(a * b)
    total = np.asarray(product + c)
    virtual = total - product
    error = (product - (total - virtual)) + (c - virtual)
    even = (total.view(np.int64) & 1) == 0
    toward = np.where(error > 0, np.inf, -np.inf)
    total = np.where((error != 0) & even & np.isfinite(total), np.nextafter(total, toward), total)
    return total.astype(F32)


def quantize_linear(attributes, x, scale, zero_point=None):
    if zero_point is None:
        dtype = helper.tensor_dtype_to_np_dtype(attributes.get("output_dtype") or 2)
        zero_point = np.zeros(np.shape(scale), dtype)
    axis = attributes.get("axis", 1)
    scaled = round_half_even(x / along(scale, x.ndim, axis))
    return saturate(scaled + along(zero_point, x.ndim, axis).astype(F32), zero_point.dtype)


def dequantize_linear(attributes, x, scale, zero_point=None):
    axis = attributes.get("axis", 1)
    zero = np.int32(0) if zero_point is None else along(zero_point, x.ndim, axis).astype(np.int32)
    return (x.astype(np.int32) - zero).astype(F32) * along(scale, x.ndim, axis)


def qlinear_add(attributes, a, a_scale, a_zero, b, b_scale, b_zero, c_scale, c_zero=None):
    """rne(fma(a, ra, fma(b, rb, fix))) with ra = sa/sc, rb = sb/sc, fix = zc - fma(ra, za, rb·zb): onnxruntime's form.

    Also the sum inside `fix` is fused: with ra·za rounded on its own, 1 of 500,000 pairs of bytes comes out otherwise.
    """
    c_zero = np.zeros((), a.dtype) if c_zero is None else c_zero
    a_zero, b_zero = (np.asarray(0 if zero is None else zero).astype(F32) for zero in (a_zero, b_zero))
    ra, rb = a_scale / c_scale, b_scale / c_scale
    fix = c_zero.astype(F32) - fma(ra, a_zero, rb * b_zero)
    a, b = np.broadcast_arrays(a.astype(F32), b.astype(F32))
    return saturate(round_half_even(fma(a, ra, fma(b, rb, fix))), c_zero.dtype)


def cast(attributes, x):
    to = helper.tensor_dtype_to_np_dtype(attributes["to"])
    if np.issubdtype(x.dtype, np.floating) and not np.issubdtype(to, np.floating):
        raise NotImplementedError("float to integer: rounding belongs to QuantizeLinear")
    return x.astype(to)


def clip(attributes, x, low=None, high=None):
    low = attributes.get("min") if low is None else low
    high = attributes.get("max") if high is None else high
    x = x if low is None else np.maximum(x, np.asarray(low).astype(x.dtype))
    return x if high is None else np.minimum(x, np.asarray(high).astype(x.dtype))


def prelu(attributes, x, slope):
    """One rounded product where x is negative."""
    return np.where(x < 0, x * slope, x)


def _same_type(operation):
    """numpy would widen int8 + int8 to int8 too, but float32 + python float must not appear: operands agree in ONNX."""

    def apply(attributes, *operands):
        result = operands[0]
        for operand in operands[1:]:
            if operand.dtype != result.dtype:
                raise NotImplementedError(f"operands of types {result.dtype} and {operand.dtype}")
            result = operation(result, operand)
        return result

    return apply


OPERATORS = {
    "QuantizeLinear": quantize_linear,
    "DequantizeLinear": dequantize_linear,
    "com.microsoft::QuantizeLinear": quantize_linear,
    "com.microsoft::DequantizeLinear": dequantize_linear,
    "com.microsoft::QLinearAdd": qlinear_add,
    "Cast": cast,
    "Clip": clip,
    "Relu": lambda attributes, x: np.maximum(x, x.dtype.type(0)),
    "LeakyRelu": lambda attributes, x: prelu(attributes, x, F32(attributes.get("alpha", 0.01))),
    "PRelu": prelu,
    "Sqrt": lambda attributes, x: np.sqrt(x),
    "Div": _same_type(np.divide),
    "Add": _same_type(np.add),
    "Sub": _same_type(np.subtract),
    "Mul": _same_type(np.multiply),
    "Max": _same_type(np.maximum),
    "Min": _same_type(np.minimum),
    "Less": _same_type(np.less),
    "Greater": _same_type(np.greater),
    "GreaterOrEqual": _same_type(np.greater_equal),
    "Where": lambda attributes, condition, x, y: np.where(condition, x, y),
}
