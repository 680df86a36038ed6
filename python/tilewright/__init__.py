"""Tilewright: ONNX models on an open systolic tensor array, simulated in RTL, and on the CPU.

    import tilewright

    model = tilewright.compile("net.onnx", quantize="int8", calibration={"image": images})
    outputs = model.run({"image": image})          # {name: numpy array}
    report = model.profile({"image": image})       # achieved against peak, layer by layer
    print(report)

The options of `compile` are those of the command compile-model, in the same words; the same holds for `Model.run` and
run-model.
"""

import os
import tempfile
import zipfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from . import _core
from ._core import Error, __version__
from .report import Report

__all__ = ["Error", "Model", "Report", "TensorInfo", "__version__", "compile", "emit", "load"]


#: What `emit` can give, and the compiler's options that Python hands on as they are.
_FORMS = ("onnx", "tile", "target", "llvm", "asm", "quantized")
_WORDS = ("target", "config", "quantize", "calibration_range", "activations", "batch", "explain")


@dataclass(frozen=True)
class TensorInfo:
    """An input or output as the model declares it; sizes that are open are strings."""

    name: str
    shape: tuple[int | str, ...]
    dtype: np.dtype
    #: Of an output, when the compiler quantized the network: signal to quantization noise against float on calibration
    #: samples, in dB. 200 when they are equal.
    sqnr_db: float | None = None

    def __str__(self) -> str:
        return f"{self.name} {self.dtype} {'x'.join(map(str, self.shape)) or 'scalar'}"


class Model:
    """A compiled model. Made by `compile` or `load`."""

    def __init__(self, core: _core.Model, explanation: str = ""):
        self._core = core
        #: The compiler's notes, as when nothing runs on the array. With explain=True also where each layer runs, its tile
        #: and predicted cycles, and why something stays on the host.
        self.explanation = explanation

    def __repr__(self) -> str:
        tensors = (", ".join(map(str, each)) for each in (self.inputs, self.outputs))
        return f"<Model: {' -> '.join(tensors)}>"

    @property
    def inputs(self) -> list[TensorInfo]:
        return _infos(self._core.inputs())

    @property
    def outputs(self) -> list[TensorInfo]:
        return _infos(self._core.outputs())

    @property
    def specialisations(self) -> list[str]:
        """The input shapes that the package serves, a line each."""
        return self._core.specialisations()

    @property
    def programs(self) -> list[bytes]:
        """The array's programs, descriptors as the array fetches them (docs/descriptors.md)."""
        return self._core.programs()

    def run(self, inputs: Mapping[str, np.ndarray], **options) -> dict[str, np.ndarray]:
        """Runs the model; arrays in, arrays out, by name. Options as for `profile`."""
        return self._run(inputs, **options)[0]

    def profile(self, inputs: Mapping[str, np.ndarray], **options) -> Report:
        """Runs the model and reports what was reached.

        executor: "rtl" (Verilator; the cycles that count), "model" (cycles estimated), "golden" (no cycles, fast).
        wave: an .fst file for the signals of the RTL. dram_bytes_per_cycle: overrides the configuration's rate.
        check: golden runs beside it; Error if a word written to scratchpad or DRAM differs.
        progress: called now and then with a line of text.
        """
        return Report(self._run(inputs, **options)[1])

    def run_and_profile(self, inputs: Mapping[str, np.ndarray], **options) -> tuple[dict[str, np.ndarray], Report]:
        """Both results of one run."""
        outputs, report = self._run(inputs, **options)
        return outputs, Report(report)

    def _run(
        self,
        inputs: Mapping[str, np.ndarray],
        *,
        executor: str = "rtl",
        wave: str | os.PathLike | None = None,
        dram_bytes_per_cycle: int = 0,
        check: bool = False,
        progress: Callable[[str], None] | None = None,
    ):
        if not isinstance(inputs, Mapping):
            raise TypeError(
                "inputs are a mapping from input names to arrays; the model takes: " + ", ".join(map(str, self.inputs))
            )
        arrays = {name: _native(value) for name, value in inputs.items()}
        if progress is not None and not callable(progress):
            raise TypeError(f"progress is a function of a line of text, not {progress!r}")
        if dram_bytes_per_cycle < 0:
            raise Error(
                f"dram_bytes_per_cycle={dram_bytes_per_cycle}: must be at least 1, or 0 for the configuration's"
            )
        return self._core.run(
            arrays, executor, "" if wave is None else os.fspath(wave), dram_bytes_per_cycle, check, progress
        )


def compile(
    model,
    *,
    output: str | os.PathLike | None = None,
    target: str = "systolic",
    config: str | os.PathLike = "4x16x4",
    quantize: str = "none",
    calibration: str | os.PathLike | Mapping[str, np.ndarray] | None = None,
    calibration_range: str | None = None,
    activations: str | None = None,
    batch: int | None = None,
    input_shape: Mapping[str, Sequence[int]] | Sequence[Mapping[str, Sequence[int]]] | None = None,
    explain: bool = False,
    progress: Callable[[str], None] | None = None,
) -> Model:
    """Compiles an ONNX model.

    model: a path, the bytes of a file, or an onnx.ModelProto.
    output: where to keep the package (.twp); without it, it is gone with the returned model.
    target: "systolic" (the array, with the CPU for the rest) or "cpu".
    config: the array, a name in configs/ or a .toml file.
    quantize: "none" or "int8"; the latter needs `calibration`: arrays by input name (first axis: samples), an .npz file,
        a folder of them, or "random:SEED" for performance work.
    calibration_range: "mse" (the least error; default), "min-max" or "percentile:P" (docs/quantization.md compares them).
    activations: the type of quantized activations, "uint8" (default) or "int8".
    batch: samples per pass where the model leaves the first size open.
    input_shape: {name: sizes}, or a list of those for several specialisations.
    explain: say in the model's `explanation` where each layer runs, and why something stays on the host.
    progress: called with a line of text after each stage.

    Raises Error with the compiler's message.
    """
    options = _options(locals())
    with tempfile.TemporaryDirectory(prefix="tilewright-") as folder:
        package = os.path.abspath(output) if output is not None else str(Path(folder) / "model.twp")
        _, explanation = _call(model, options, calibration, package, progress)
        # The folder is gone when a message could name it.
        name = "" if output is not None else _source(model)[1]
        return Model(_core.Model.load(package, name), explanation)


def emit(model, form: str, *, all_tensors: bool = False, **options) -> str | bytes:
    """A form on the way: "onnx", "tile", "target", "llvm", "asm" as text; "quantized" as the bytes of an ONNX file.

    Options as for `compile`.
    """
    calibration, progress = options.get("calibration"), options.pop("progress", None)
    if form not in _FORMS:
        raise ValueError(f"no form {form!r}; there are {', '.join(_FORMS)}")
    if unknown := set(options) - set(_WORDS) - {"calibration", "input_shape"}:
        raise TypeError(f"emit has no option {', '.join(sorted(unknown))}")
    words = _options(options) | {"emit": form, "all_tensors": all_tensors}
    emitted, _ = _call(model, words, calibration, "", progress)
    return emitted if form == "quantized" else emitted.decode()


def load(package: str | os.PathLike) -> Model:
    """A model that was compiled before."""
    return Model(_core.Model.load(os.fspath(package)))


def _native(value) -> np.ndarray:
    """Row-major and in the machine's byte order; copied only if it is not so already."""
    array = np.asarray(value)
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        raise TypeError("an array with masked elements: fill them first")
    return np.require(array, dtype=array.dtype.newbyteorder("="), requirements="C")


def _infos(tensors) -> list[TensorInfo]:
    return [TensorInfo(name, shape, np.dtype(dtype), sqnr_db) for name, shape, dtype, sqnr_db in tensors]


def _options(given: Mapping) -> dict:
    """The compiler's words out of those given; None leaves the compiler its default."""
    options = {word: given[word] for word in _WORDS if given.get(word) is not None}
    if "config" in options:
        options["config"] = os.fspath(options["config"])
    shapes = given.get("input_shape") or []
    shapes = [shapes] if isinstance(shapes, Mapping) else shapes
    options["input_shape"] = [f"{name}:{'x'.join(map(str, sizes))}" for each in shapes for name, sizes in each.items()]
    return options


def _save(file, arrays: Mapping[str, np.ndarray]) -> None:
    """An .npz file; an input may have any name, those of numpy.savez's own parameters too."""
    with zipfile.ZipFile(file, "w") as archive:
        for name, value in arrays.items():
            if not isinstance(name, str):
                raise TypeError(f"calibration: {name!r} is no input's name")
            with archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
                np.lib.format.write_array(entry, _native(value), allow_pickle=False)


def _source(model) -> tuple[Callable[[], bytes] | None, str]:
    """What gives the model's bytes (a file: None), and its name in messages."""
    if hasattr(model, "SerializeToString") and hasattr(model, "graph"):
        return model.SerializeToString, model.graph.name or "model"
    if isinstance(model, bytes | bytearray | memoryview):
        return lambda: bytes(model), "model"
    if not isinstance(model, str | os.PathLike):
        raise TypeError(f"a model is a path, bytes or an onnx.ModelProto, not {type(model).__name__}")
    return None, os.fspath(model)


def _call(model, options: dict, calibration, package: str, progress):
    if progress is not None and not callable(progress):
        raise TypeError(f"progress is a function of a line of text, not {progress!r}")
    source, name = _source(model)
    source = source() if source else None
    if calibration is None:
        return _core.compile(source, name, options, package, progress)
    if not isinstance(calibration, Mapping):
        return _core.compile(source, name, options | {"calibration": os.fspath(calibration)}, package, progress)
    with tempfile.NamedTemporaryFile(suffix=".npz") as file:
        _save(file, calibration)
        file.flush()
        return _core.compile(source, name, options | {"calibration": file.name}, package, progress)
