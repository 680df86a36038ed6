"""Layer by layer: the array against onnxruntime, on the array's own 8-bit inputs, and the whole network against the judge.

The network is compiled twice with --all-tensors: as a package, whose run gives every 8-bit tensor, and as an ONNX file.
In that file each layer is cut off from the one before it: its inputs become inputs of the graph and are fed what the
array had there. So one wrong layer is one wrong line, whatever comes after it.

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


@dataclass
class Comparison:
    """Of one run. `on_array` are the report's layers, `compared` those whose 8-bit result was checked."""

    on_array: int = 0
    compared: int = 0
    elements: int = 0
    different: dict[str, int] = field(default_factory=dict)  # layer -> elements unlike onnxruntime's
    judged: int = 0
    misjudged: dict[str, int] = field(default_factory=dict)  # layer -> elements unlike the reference's
    # layer -> elements for which floats at a rounding boundary leave the reference more than one answer
    undecided: dict[str, int] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        return self.compared == self.on_array > 0 and not self.different and not self.misjudged

    def __str__(self) -> str:
        lines = [f"  {name}: {count} elements differ from onnxruntime" for name, count in self.different.items()]
        lines += [f"  {name}: {count} elements differ from the reference" for name, count in self.misjudged.items()]
        lines += [f"  {name}: {count} elements may be more than one number" for name, count in self.undecided.items()]
        equal = self.compared - len(self.different)
        lines.append(
            f"{self.compared} layers compared of {self.on_array} on the array: {equal} equal onnxruntime on all of "
            f"{self.elements} elements; end to end {self.judged - len(self.misjudged)} of {self.judged} equal the reference"
        )
        return "\n".join(lines)


def build_dir() -> Path:
    return Path(os.environ.get("TILEWRIGHT_BUILD", ROOT / "build"))


def compile_model(model: Path, output: Path, arguments: list[str], form: str) -> None:
    command = [
        build_dir() / "bin" / "compile-model",
        model,
        "-o",
        output,
        "--all-tensors",
        f"--emit={form}",
        *arguments,
    ]
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


def cut_into_layers(model: onnx.ModelProto, layers: set[str]) -> tuple[onnx.ModelProto, dict[str, str], list[str]]:
    """Each 8-bit tensor becomes an input of the graph, and what computes a layer's an output.

    Returns the graph, 8-bit tensor -> the output that exposes it, and the outputs to compare: those of `layers`, not what
    the host quantized.
    """
    cut = onnx.ModelProto()
    cut.CopyFrom(model)
    graph = cut.graph
    made_by = {output: node for node in graph.node for output in node.output}
    exposed = {}
    types = {}
    for value in graph.output:
        if value.name.endswith(SUFFIX) or SUFFIX + "_" in value.name:
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
    del graph.output[:]
    names = [t + "/computed" for t, output in exposed.items() if output.rpartition(SUFFIX)[0] in layers]
    graph.output.extend(onnx.ValueInfoProto(name=name, type=types[name.removesuffix("/computed")]) for name in names)
    return cut, exposed, names


def compare(model: Path, feed: dict[str, np.ndarray], arguments: list[str], executor: str = "golden") -> Comparison:
    """Raises RuntimeError with the tool's message when something cannot be compiled or run."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        compile_model(model, folder / "net.twp", arguments, "package")
        compile_model(model, folder / "net.onnx", arguments, "quantized")
        ours, report = run_package(folder / "net.twp", feed, executor, folder)
        quantized = onnx.load(folder / "net.onnx")

    layers = [layer["name"] for layer in report["layers"] if layer["unit"] != "host"]
    result = Comparison(on_array=len(layers))
    cut, exposed, names = cut_into_layers(quantized, set(layers))
    fed = dict(feed)
    for tensor, output in exposed.items():
        fed[tensor] = ours[file_stem(output)]
    options = ort.SessionOptions()
    options.log_severity_level = 3
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = ort.InferenceSession(cut.SerializeToString(), options)
    wanted = {value.name for value in session.get_inputs()}
    theirs = session.run(names, {k: v for k, v in fed.items() if k in wanted})
    for tensor, array in zip((n.removesuffix("/computed") for n in names), theirs, strict=True):
        result.compared += 1
        result.elements += array.size
        if count := int((fed[tensor] != array).sum()) if fed[tensor].shape == array.shape else array.size:
            result.different[exposed[tensor]] = count

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
