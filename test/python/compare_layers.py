"""Layer by layer: the array against onnxruntime, on the array's own 8-bit inputs, and the whole network against the judge.

The network is compiled twice with --all-tensors: as a package, whose run gives every 8-bit tensor, and as an ONNX file.
In that file each layer is cut off from the one before it: its inputs become inputs of the graph and are fed what the
array had there. So one wrong layer is one wrong line, whatever comes after it. What the host makes from the array's results is
compared within a tolerance: what it quantizes for the array, and the network's outputs.

    python test/python/compare_layers.py net.onnx --executor=rtl -- --quantize=int8 --calibration=samples.npz --batch=1

Inputs are random (--seed), or NAME:FILE.npy with --input. Exit code 1 if any layer differs.
"""

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import onnxruntime as ort

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path[:0] = [str(ROOT), str(ROOT / "test")]

from reference import evaluate, outside, undecided

SUFFIX = ":8bit"

# What float operators of the host may differ by: sums are taken in another order than onnxruntime's, so that a value beside
# a tie is rounded to the other step; outputs in float, of the largest magnitude in the tensor.
HOST_STEPS = 1
HOST_FLOATS = 1e-5


@dataclass
class Comparison:
    """Of one run. `on_array` are the report's layers, `compared` those whose 8-bit result was checked."""

    on_array: int = 0
    compared: int = 0
    elements: int = 0
    different: dict[str, int] = field(default_factory=dict)  # layer -> elements unlike onnxruntime's
    by_one: int = 0  # of the different elements, those that differ by 1
    judged: int = 0
    misjudged: dict[str, int] = field(default_factory=dict)  # layer -> elements unlike the reference's
    # layer -> elements for which floats at a rounding boundary leave the reference more than one answer
    undecided: dict[str, int] = field(default_factory=dict)
    host_steps: dict[str, int] = field(default_factory=dict)  # 8-bit tensor of the host -> largest difference
    host_floats: dict[str, float] = field(default_factory=dict)  # output -> largest difference / largest magnitude

    @property
    def ok(self) -> bool:
        return self.compared == self.on_array > 0 and not self.different and not self.misjudged and not self.off_host()

    def off_host(self) -> dict[str, float]:
        """What the host made and is out of tolerance."""
        bounds = ((self.host_steps, HOST_STEPS), (self.host_floats, HOST_FLOATS))
        return {name: value for values, bound in bounds for name, value in values.items() if not value <= bound}

    def __str__(self) -> str:
        lines = [f"  {name}: {count} elements differ from onnxruntime" for name, count in self.different.items()]
        lines += [f"  {name}: {count} elements differ from the reference" for name, count in self.misjudged.items()]
        lines += [f"  {name}: {count} elements may be more than one number" for name, count in self.undecided.items()]
        lines += [f"  {name}: the host is {value:.2g} from onnxruntime" for name, value in self.off_host().items()]
        equal = self.compared - len(self.different)
        lines.append(
            f"{self.compared} layers compared of {self.on_array} on the array: {equal} equal onnxruntime on all of "
            f"{self.elements} elements; end to end {self.judged - len(self.misjudged)} of {self.judged} equal the reference"
        )
        return "\n".join(lines)


def build_dir() -> Path:
    return Path(os.environ.get("TILEWRIGHT_BUILD", ROOT / "build"))


def compile_model(model: Path, output: Path, arguments: list[str]) -> None:
    command = [build_dir() / "bin" / "compile-model", model, "-o", output, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"compile-model failed:\n{result.stderr}")


def run_package(package: Path, feed: dict[str, np.ndarray], executor: str, folder: Path):
    """Outputs by file name, and the report."""
    arguments = []
    for index, (name, array) in enumerate(feed.items()):
        np.save(folder / f"input{index}.npy", array)
        arguments.append(f"--input={name}:{folder / f'input{index}.npy'}")
    command = [build_dir() / "bin" / "run-model", package, *arguments, f"--output-dir={folder / 'out'}", "--quiet"]
    command += [f"--executor={executor}", f"--report={folder / 'report.json'}"]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        raise RuntimeError(f"run-model failed:\n{result.stderr}")
    outputs = {path.stem: np.load(path) for path in (folder / "out").glob("*.npy")}
    return outputs, json.loads((folder / "report.json").read_text())


def file_stem(name: str) -> str:
    """The name that run-model gives the file of an output."""
    return re.sub(r"[/\\\0]", "_", name)


def cut_into_layers(model: onnx.ModelProto) -> tuple[onnx.ModelProto, dict[str, str]]:
    """Each 8-bit tensor becomes an input of the graph, and what computes it an output TENSOR/computed.

    Returns the graph, whose other outputs are the model's, and 8-bit tensor -> the output that exposes it.
    """
    cut = onnx.ModelProto()
    cut.CopyFrom(model)
    graph = cut.graph
    made_by = {output: node for node in graph.node for output in node.output}
    exposed = {}
    types = {}
    for value in graph.output:
        if is_layer_output(value.name):
            tensor = value.name
            while tensor in made_by and made_by[tensor].op_type == "Identity":
                tensor = made_by[tensor].input[0]
            exposed.setdefault(tensor, value.name)
            types.setdefault(tensor, value.type)
    for node in graph.node:
        for index, output in enumerate(node.output):
            if output in exposed:
                node.output[index] = output + "/computed"
    for tensor, type_ in types.items():
        graph.input.append(onnx.ValueInfoProto(name=tensor, type=type_))
    outputs = [value for value in graph.output if not is_layer_output(value.name)]
    del graph.output[:]
    graph.output.extend(outputs)
    graph.output.extend(onnx.ValueInfoProto(name=name + "/computed", type=type_) for name, type_ in types.items())
    return cut, exposed


def is_layer_output(name: str) -> bool:
    return name.endswith(SUFFIX) or SUFFIX + "_" in name


def run_onnxruntime(model: onnx.ModelProto | Path, feed: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Its outputs, each operator run as it is written."""
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(model if isinstance(model, Path) else model.SerializeToString(), options)
    wanted = {value.name for value in session.get_inputs()}
    names = [value.name for value in session.get_outputs()]
    return dict(zip(names, session.run(names, {k: v for k, v in feed.items() if k in wanted}), strict=True))


def relative_difference(ours: np.ndarray, theirs: np.ndarray) -> float:
    """The largest difference over the largest magnitude; equal infinities and NaN do not differ."""
    if ours.shape != theirs.shape or ours.dtype != theirs.dtype:
        return np.inf
    if np.array_equal(ours, theirs, equal_nan=ours.dtype.kind == "f"):
        return 0.0
    ours, theirs = ours.astype(np.float64), theirs.astype(np.float64)
    return float(np.abs(ours - theirs).max() / np.abs(theirs).max())


def compare(
    model: Path, feed: dict[str, np.ndarray], arguments: list[str], executor: str = "golden", judge: bool = True
) -> Comparison:
    """Raises RuntimeError with the tool's message when something cannot be compiled or run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compile_model(model, folder / "net.twp", ["--all-tensors", *arguments])
        compile_model(model, folder / "net.onnx", ["--all-tensors", "--emit=quantized", *arguments])
        ours, report = run_package(folder / "net.twp", feed, executor, folder)
        quantized = onnx.load(folder / "net.onnx")

    layers = [layer["name"] for layer in report["layers"] if layer["unit"] != "host"]
    result = Comparison(on_array=len(layers))
    cut, exposed = cut_into_layers(quantized)
    fed = dict(feed) | {tensor: ours[file_stem(output)] for tensor, output in exposed.items()}
    for name, array in run_onnxruntime(cut, fed).items():
        tensor = name.removesuffix("/computed")
        if tensor not in exposed:
            result.host_floats[name] = relative_difference(ours[file_stem(name)], array)
            continue
        same = fed[tensor].shape == array.shape and fed[tensor].dtype == array.dtype
        difference = np.abs(fed[tensor].astype(np.int16) - array) if same else np.full(array.shape, 255)
        if exposed[tensor].rpartition(SUFFIX)[0] not in layers:
            result.host_steps[exposed[tensor]] = int(difference.max(initial=0))
            continue
        result.compared += 1
        result.elements += array.size
        if count := int((difference != 0).sum()):
            result.different[exposed[tensor]] = count
            result.by_one += int((difference == 1).sum())

    if judge:
        values = evaluate(quantized, feed, stop_at_unsupported=True)
        for tensor, output in exposed.items():
            if output in values:
                result.judged += 1
                if count := int(outside(fed[tensor], values[output]).sum()):
                    result.misjudged[output] = count
                if count := undecided(values[output]):
                    result.undecided[output] = count
    return result


def random_feed(model: Path, arguments: list[str], seed: int) -> dict[str, np.ndarray]:
    """Normal numbers for every input, in the shapes that the compiler was asked for."""
    batch = next((int(a.partition("=")[2]) for a in arguments if a.startswith("--batch=")), 1)
    given = dict(a.partition("=")[2].rsplit(":", 1) for a in arguments if a.startswith("--input-shape="))
    rng, feed = np.random.default_rng(seed), {}
    graph = onnx.load(model, load_external_data=False).graph
    initializers = {tensor.name for tensor in graph.initializer}
    for value in graph.input:
        if value.name in initializers:
            continue
        dims = [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        shape = [int(s) for s in given[value.name].split("x")] if value.name in given else dims
        if shape and shape[0] <= 0:
            shape[0] = batch
        feed[value.name] = rng.standard_normal(shape, dtype=np.float32)
    return feed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("--executor", default="golden", choices=["golden", "rtl", "model"])
    parser.add_argument("--input", action="append", default=[], metavar="NAME:FILE.npy")
    parser.add_argument("--seed", type=int, default=0)
    own, rest = sys.argv[1:], []
    if "--" in own:
        own, rest = own[: own.index("--")], own[own.index("--") + 1 :]
    options = parser.parse_args(own)
    options.arguments = rest
    feed = random_feed(options.model, options.arguments, options.seed)
    feed |= {name: np.load(path) for name, path in (text.rsplit(":", 1) for text in options.input)}
    result = compare(options.model, feed, options.arguments, options.executor)
    print(result)
    return 0 if result.ok else 1


if __name__ == "__main__":
    sys.exit(main())
