"""The layers that the fuzzer draws from. Each function adds one layer behind `x` and returns its output, or None when
the drawn parameters do not fit the tensor."""

import numpy as np

from fuzz_layers.graph import Graph, Tensor

MAX_MACS = 4_000_000  # of one layer: the reference is numpy and the RTL is simulated


def convolution(graph: Graph, x: Tensor) -> Tensor | None:
    """Kernel 1–7 and 1×N, stride 1–3, dilation 1–3, asymmetric pads, group 1, C and between."""
    rng = graph.rng
    if len(x.shape) != 4:
        return None
    samples, channels, height, width = x.shape
    kernel = [int(rng.integers(1, 8)) for _ in range(2)]
    if rng.random() < 0.2:
        kernel[rng.integers(2)] = 1
    elif rng.random() < 0.5:
        kernel = [kernel[0]] * 2
    stride = [int(rng.choice([1, 1, 2, 3])) for _ in range(2)]
    dilation = [int(rng.choice([1, 1, 1, 2, 3])) for _ in range(2)]
    if rng.random() < 0.6:
        stride[1], dilation = stride[0], [1, 1]
    extent = [(k - 1) * d + 1 for k, d in zip(kernel, dilation, strict=True)]
    pads = [int(rng.integers(0, min(e, 4))) for e in extent * 2]
    size = [(n + pads[i] + pads[i + 2] - extent[i]) // stride[i] + 1 for i, n in enumerate((height, width))]
    if min(size) < 1:
        return None
    group, out_channels = _groups(rng, channels)
    per_group = channels // group
    taps = kernel[0] * kernel[1] * per_group
    if samples * out_channels * size[0] * size[1] * taps > MAX_MACS:
        return None
    weight_type = x.dtype if rng.random() < 0.8 else np.int8
    weights, scales, zero_points = _weights(rng, (out_channels, per_group, *kernel), weight_type)
    out = graph.tensor("conv", (samples, out_channels, *size), x.dtype, _scale_for(rng, x, scales, taps))
    per_channel = scales.size > 1
    names = [
        x.name,
        *graph.quantization(x),
        graph.constant(weights, "weight"),
        graph.constant(scales if per_channel else scales[0], "scale"),
        graph.constant(zero_points if per_channel else zero_points[0], "zero_point"),
        *graph.quantization(out),
    ]
    if rng.random() < 0.7:
        names.append(graph.constant(rng.integers(-5000, 5000, out_channels).astype(np.int32), "bias"))
    graph.node(
        "QLinearConv", names, out.name, kernel_shape=kernel, strides=stride, dilations=dilation, pads=pads, group=group
    )
    return out


def _groups(rng, channels: int) -> tuple[int, int]:
    """(group, output channels)."""
    draw = rng.random()
    if draw < 0.55 or channels == 1:
        return 1, int(rng.integers(1, 131))
    if draw < 0.8:
        return channels, channels * int(rng.choice([1, 1, 1, 2]))
    divisors = [g for g in range(2, channels) if channels % g == 0]
    group = int(rng.choice(divisors)) if divisors else channels
    return group, group * int(rng.integers(1, max(2, 130 // group)))


def _weights(rng, shape, dtype) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """8-bit weights with scales and zero points of one element or one per output channel."""
    limits = np.iinfo(dtype)
    weights = rng.integers(limits.min, limits.max + 1, shape).astype(dtype)
    count = shape[0] if rng.random() < 0.6 else 1
    scales = rng.uniform(0.002, 0.02, count).astype(np.float32)
    draw = rng.random()
    if draw < 0.5:  # the middle of the range, as most tools write
        zero_points = np.full(count, 0 if dtype is np.int8 else 128, dtype)
    elif draw < 0.75:
        zero_points = rng.integers(limits.min, limits.max + 1, count).astype(dtype)
    else:  # ends of the range: w - zero point needs more than 8 bits
        zero_points = rng.choice([limits.min, limits.max], count).astype(dtype)
    return weights, scales, zero_points


def _scale_for(rng, x: Tensor, weight_scales: np.ndarray, taps: int) -> float:
    """An output scale that uses the 8 bits, sometimes saturating, sometimes nearly idle."""
    spread = float(x.scale) * float(np.mean(weight_scales)) * 74 * 74 * np.sqrt(taps)
    return float(spread / rng.choice([20, 40, 60, 200]))


def float_convolution(graph: Graph, x: Tensor) -> Tensor | None:
    """QDQ form: a float convolution and its activation between DequantizeLinear and QuantizeLinear, which become one
    layer whose activation narrows the clamp or gives negative sums a scale of their own."""
    rng = graph.rng
    if len(x.shape) != 4:
        return None
    samples, channels, height, width = x.shape
    size = int(rng.choice([1, 3, 5]))
    if min(height, width) < size - 2 * (size // 2) or channels * size * size * 16 * height * width * samples > MAX_MACS:
        return None
    group = channels if rng.random() < 0.3 else 1
    out_channels = channels if group > 1 else int(rng.integers(1, 65))
    if samples * out_channels * height * width * size * size * channels // group > MAX_MACS:
        return None
    weights = rng.integers(-127, 128, (out_channels, channels // group, size, size)).astype(np.int8)
    scales = rng.uniform(0.002, 0.02, out_channels).astype(np.float32)
    spread = _scale_for(rng, x, scales, size * size * channels // group)
    out = graph.tensor("conv", (samples, out_channels, height, width), x.dtype, spread)
    floats = [graph.fresh("float") for _ in range(4)]
    graph.node("DequantizeLinear", [x.name, *graph.quantization(x)], floats[0])
    zero_points = graph.constant(np.zeros(out_channels, np.int8), "zero_point")
    graph.node(
        "DequantizeLinear",
        [graph.constant(weights, "weight"), graph.constant(scales, "scale"), zero_points],
        floats[1],
        axis=0,
    )
    real_bias = (rng.uniform(-40, 40, out_channels) * spread).astype(np.float32)
    if rng.random() < 0.5:  # as tools write it: int32 at the scale of the sums
        units = x.scale * scales
        bias = graph.fresh("bias")
        stored = [graph.constant(np.rint(real_bias / units).astype(np.int32), "bias"), graph.constant(units, "scale")]
        graph.node("DequantizeLinear", stored, bias, axis=0)
    else:
        bias = graph.constant(real_bias, "bias")
        graph.decides = False
    pads = [size // 2] * 4
    graph.node("Conv", [floats[0], floats[1], bias], floats[2], kernel_shape=[size, size], pads=pads, group=group)
    kind = str(rng.choice(["Relu", "Clip", "PRelu", "LeakyRelu"]))
    extra, attributes = [], ACTIVATIONS.get(kind, {})
    if kind == "PRelu":
        extra = [graph.constant(rng.uniform(-0.5, 1.5, (out_channels, 1, 1)).astype(np.float32), "slope")]
    if kind == "Clip":
        extra = [graph.constant(np.float32(0)), graph.constant(np.float32(60 * spread))]
    graph.node(kind, [floats[2], *extra], floats[3], **attributes)
    graph.node("QuantizeLinear", [floats[3], *graph.quantization(out)], out.name)
    return out


def sum_of_pools(graph: Graph, x: Tensor) -> Tensor | None:
    """An addition that no convolution can take into its epilogue."""
    rng = graph.rng
    if len(x.shape) != 4:
        return None
    pool = Tensor(graph.fresh("pool"), x.shape, x.dtype, x.scale, x.zero_point)
    graph.node("MaxPool", [x.name], pool.name, kernel_shape=[3, 3], pads=[1, 1, 1, 1])
    out = graph.tensor("sum", x.shape, x.dtype, float(x.scale) * rng.uniform(0.7, 2))
    return _addition(graph, x, pool, out)


def _addition(graph: Graph, a: Tensor, b: Tensor, out: Tensor) -> Tensor:
    """An addition that rounds its sum with the zero point, or without: two spellings, each with its own bits."""
    if graph.rng.random() < 0.5:
        operands = [a.name, *graph.quantization(a), b.name, *graph.quantization(b), *graph.quantization(out)]
        graph.node("QLinearAdd", operands, out.name, domain="com.microsoft")
        return out
    return graph.float_layer("Add", [a, b], out)


def matmul(graph: Graph, x: Tensor) -> Tensor | None:
    rng = graph.rng
    if len(x.shape) != 2:
        return None
    rows, inner = x.shape
    columns = int(rng.integers(1, 131))
    if rows * inner * columns > MAX_MACS:
        return None
    weight_type = x.dtype if rng.random() < 0.8 else np.int8
    weights, scales, zero_points = _weights(rng, (columns, inner), weight_type)
    out = graph.tensor("matmul", (rows, columns), x.dtype, _scale_for(rng, x, scales, inner))
    per_column = scales.size > 1
    names = [
        x.name,
        *graph.quantization(x),
        graph.constant(weights.T, "weight"),
        graph.constant(scales if per_column else scales[0], "scale"),
        graph.constant(zero_points if per_column else zero_points[0], "zero_point"),
        *graph.quantization(out),
    ]
    graph.node("QLinearMatMul", names, out.name)
    return out


def _pool_window(graph: Graph, x: Tensor):
    rng = graph.rng
    if len(x.shape) != 4:
        return None
    kernel = [int(rng.integers(1, 5)) for _ in range(2)]
    stride = [int(rng.integers(1, 4)) for _ in range(2)]
    pads = [int(rng.integers(0, k)) for k in kernel * 2]
    size = [(x.shape[2 + i] + pads[i] + pads[i + 2] - kernel[i]) // stride[i] + 1 for i in range(2)]
    return None if min(size) < 1 else (dict(kernel_shape=kernel, strides=stride, pads=pads), size)


def max_pool(graph: Graph, x: Tensor) -> Tensor | None:
    window = _pool_window(graph, x)
    if window is None:
        return None
    out = Tensor(graph.fresh("pool"), (*x.shape[:2], *window[1]), x.dtype, x.scale, x.zero_point)
    graph.node("MaxPool", [x.name], out.name, **window[0])
    return out


def average_pool(graph: Graph, x: Tensor) -> Tensor | None:
    window = _pool_window(graph, x)
    if window is None:
        return None
    out = graph.tensor("pool", (*x.shape[:2], *window[1]), x.dtype, float(x.scale) * graph.rng.uniform(0.6, 1.2))
    include = int(graph.rng.random() < 0.5)
    return graph.float_layer("AveragePool", [x], out, **window[0], count_include_pad=include)


def global_average_pool(graph: Graph, x: Tensor) -> Tensor | None:
    if len(x.shape) != 4 or x.shape[2] * x.shape[3] > 400:
        return None
    out = graph.tensor("pool", (*x.shape[:2], 1, 1), x.dtype, float(x.scale) * graph.rng.uniform(0.3, 1.0))
    return graph.float_layer("GlobalAveragePool", [x], out)


def residual(graph: Graph, x: Tensor) -> Tensor | None:
    """x → 1×1 convolution → added to x: what a residual block ends with; the operands in either order."""
    rng = graph.rng
    if len(x.shape) != 4 or x.shape[1] ** 2 * np.prod(x.shape) / x.shape[1] > MAX_MACS:
        return None
    channels = x.shape[1]
    weights, scales, zero_points = _weights(rng, (channels, channels, 1, 1), x.dtype)
    branch = graph.tensor("branch", x.shape, x.dtype, _scale_for(rng, x, scales, channels))
    per_channel = scales.size > 1
    names = [
        x.name,
        *graph.quantization(x),
        graph.constant(weights, "weight"),
        graph.constant(scales if per_channel else scales[0], "scale"),
        graph.constant(zero_points if per_channel else zero_points[0], "zero_point"),
        *graph.quantization(branch),
    ]
    graph.node("QLinearConv", names, branch.name, kernel_shape=[1, 1])
    out = graph.tensor("sum", x.shape, x.dtype, float(max(x.scale, branch.scale)) * rng.uniform(0.7, 2))
    a, b = (branch, x) if rng.random() < 0.5 else (x, branch)
    return _addition(graph, a, b, out)


ACTIVATIONS = {
    "Relu": {},
    "LeakyRelu": {"alpha": 0.1},
    "Sigmoid": {},
    "Tanh": {},
    "HardSigmoid": {},
    "HardSwish": {},
    "Elu": {"alpha": 0.7},
    "Erf": {},
    "Softplus": {},
    "Gelu": {},
    "Softmax": {"axis": 1},
}
RANGES = {"Sigmoid": 1, "HardSigmoid": 1, "Softmax": 1, "Tanh": 2, "Erf": 2}  # of those that are bounded


def activation(graph: Graph, x: Tensor) -> Tensor:
    kind = str(graph.rng.choice([*ACTIVATIONS, "PRelu", "Clip"]))
    scale = RANGES[kind] / 256 if kind in RANGES else float(x.scale) * graph.rng.uniform(0.5, 1.1)
    out = graph.tensor("activation", x.shape, x.dtype, scale)
    extra = []
    if kind == "PRelu":
        slope = (x.shape[1], 1, 1) if len(x.shape) == 4 else (x.shape[1],)
        extra = [graph.constant(graph.rng.uniform(-0.5, 1.5, slope).astype(np.float32), "slope")]
    if kind == "Clip":
        low, high = sorted(graph.rng.uniform(-100, 100, 2) * float(x.scale))
        extra = [graph.constant(np.float32(low), "low"), graph.constant(np.float32(high), "high")]
    return graph.float_layer(kind, [x], out, extra, **ACTIVATIONS.get(kind, {}))


def product_of_activations(graph: Graph, x: Tensor) -> Tensor | None:
    """x · xᵀ: no operand is constant."""
    if len(x.shape) != 2:
        return None
    rows, inner = x.shape
    turned = Tensor(graph.fresh("transpose"), (inner, rows), x.dtype, x.scale, x.zero_point)
    graph.node("Transpose", [x.name], turned.name, perm=[1, 0])
    spread = float(x.scale) ** 2 * 74 * 74 * np.sqrt(inner)
    out = graph.tensor("product", (rows, rows), x.dtype, spread / float(graph.rng.choice([20, 60, 200])))
    operands = [x.name, *graph.quantization(x), turned.name, *graph.quantization(turned), *graph.quantization(out)]
    graph.node("QLinearMatMul", operands, out.name)
    return out


def weights_at_run_time(graph: Graph, x: Tensor) -> Tensor | None:
    """A 1×1 convolution whose weights are an input of the model."""
    rng = graph.rng
    if len(x.shape) != 4:
        return None
    out_channels = int(rng.integers(1, 33))
    if out_channels * int(np.prod(x.shape)) > MAX_MACS:
        return None
    weights = graph.input((out_channels, x.shape[1], 1, 1), x.dtype)
    scale = _scale_for(rng, x, np.full(1, weights.scale), x.shape[1])
    out = graph.tensor("conv", (x.shape[0], out_channels, *x.shape[2:]), x.dtype, scale)
    operands = [x.name, *graph.quantization(x), weights.name, *graph.quantization(weights), *graph.quantization(out)]
    graph.node("QLinearConv", operands, out.name, kernel_shape=[1, 1])
    return out


def concat(graph: Graph, x: Tensor) -> Tensor | None:
    """x next to a convolution of x in one scale: a placement at a channel offset, seldom a multiple of 16."""
    if len(x.shape) != 4 or x.shape[1] > 64:
        return None
    rng = graph.rng
    out_channels = int(rng.integers(1, 65))
    if out_channels * int(np.prod(x.shape)) > MAX_MACS:
        return None
    weights, scales, zero_points = _weights(rng, (out_channels, x.shape[1], 1, 1), x.dtype)
    branch = Tensor(graph.fresh("branch"), (x.shape[0], out_channels, *x.shape[2:]), x.dtype, x.scale, x.zero_point)
    per_channel = scales.size > 1
    names = [
        x.name,
        *graph.quantization(x),
        graph.constant(weights, "weight"),
        graph.constant(scales if per_channel else scales[0], "scale"),
        graph.constant(zero_points if per_channel else zero_points[0], "zero_point"),
        *graph.quantization(branch),
    ]
    graph.node("QLinearConv", names, branch.name, kernel_shape=[1, 1])
    shape = (x.shape[0], x.shape[1] + out_channels, *x.shape[2:])
    out = Tensor(graph.fresh("concat"), shape, x.dtype, x.scale, x.zero_point)
    order = [x.name, branch.name] if rng.random() < 0.5 else [branch.name, x.name]
    graph.node("Concat", order, out.name, axis=1)
    return out


# Layer kinds with their weight in the draw.
KINDS = {
    convolution: 10,
    float_convolution: 3,
    sum_of_pools: 0.7,
    matmul: 5,
    max_pool: 2,
    average_pool: 1.5,
    global_average_pool: 0.7,
    residual: 2.5,
    activation: 3,
    concat: 1.5,
    product_of_activations: 1,
    weights_at_run_time: 0.5,
}
