"""A quantized ONNX graph under construction: tensors know their type, shape, scale and zero point."""

from dataclasses import dataclass, field

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper


@dataclass(frozen=True)
class Tensor:
    """An 8-bit tensor of the graph; `shape` is N×C×H×W or M×N."""

    name: str
    shape: tuple[int, ...]
    dtype: type
    scale: np.float32
    zero_point: int


@dataclass
class Graph:
    """Collects nodes and initializers. `decides` turns false once the compiler has to quantize a constant, so that
    the model's own results are no longer the ones to reach."""

    rng: np.random.Generator
    nodes: list = field(default_factory=list)
    initializers: list = field(default_factory=list)
    inputs: list[Tensor] = field(default_factory=list)
    decides: bool = True
    names: int = 0

    def fresh(self, stem: str) -> str:
        self.names += 1
        return f"{stem}_{self.names}"

    def constant(self, value: np.ndarray, stem: str = "constant") -> str:
        name = self.fresh(stem)
        self.initializers.append(numpy_helper.from_array(np.asarray(value, order="C"), name))
        return name

    def quantization(self, tensor: Tensor) -> list[str]:
        """The names of two constants: scale and zero point."""
        return [
            self.constant(np.float32(tensor.scale), "scale"),
            self.constant(np.array(tensor.zero_point, tensor.dtype), "zero_point"),
        ]

    def node(self, kind: str, inputs: list[str], output: str, domain: str = "", **attributes) -> None:
        self.nodes.append(helper.make_node(kind, inputs, [output], name=self.fresh(kind), domain=domain, **attributes))

    def input(self, shape: tuple[int, ...], dtype: type) -> Tensor:
        tensor = self.tensor("input", shape, dtype)
        self.inputs.append(tensor)
        return tensor

    def tensor(self, stem: str, shape: tuple[int, ...], dtype: type, scale: float | None = None) -> Tensor:
        """A new tensor with a random zero point, now and then at the end of its range."""
        limits = np.iinfo(dtype)
        middle = (limits.max + limits.min + 1) // 2
        choices = [middle, limits.min, limits.max, int(self.rng.integers(limits.min, limits.max + 1))]
        zero_point = choices[self.rng.choice(4, p=[0.25, 0.2, 0.05, 0.5])]
        scale = np.float32(scale if scale is not None else self.rng.uniform(0.005, 0.2))
        return Tensor(self.fresh(stem), tuple(int(n) for n in shape), dtype, scale, zero_point)

    def float_layer(
        self, kind: str, operands: list[Tensor], out: Tensor, extra: list[str] = (), **attributes
    ) -> Tensor:
        """DequantizeLinear of the operands → one float operator → QuantizeLinear."""
        floats = []
        for operand in operands:
            floats.append(self.fresh("float"))
            self.node("DequantizeLinear", [operand.name, *self.quantization(operand)], floats[-1])
        result = self.fresh("float")
        self.node(kind, [*floats, *extra], result, **attributes)
        self.node("QuantizeLinear", [result, *self.quantization(out)], out.name)
        return out

    def model(self, outputs: list[Tensor]) -> onnx.ModelProto:
        def declare(tensor: Tensor):
            kind = TensorProto.INT8 if tensor.dtype is np.int8 else TensorProto.UINT8
            return helper.make_tensor_value_info(tensor.name, kind, tensor.shape)

        graph = helper.make_graph(
            self.nodes, "fuzz", [declare(t) for t in self.inputs], [declare(t) for t in outputs], self.initializers
        )
        opsets = [helper.make_opsetid("", 20), helper.make_opsetid("com.microsoft", 1)]
        return helper.make_model(graph, opset_imports=opsets, ir_version=9)
