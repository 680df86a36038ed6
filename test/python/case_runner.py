"""Runs the project's cases (small models with a known answer) through compile-model and run-model.

    python test/python/case_runner.py                                   every case, all targets and forms
    python test/python/case_runner.py --target=cpu --form=constant --only=conv/

Every case ends as one of: right, refused (a message and exit code 1), wrong, crashed. A model that must be turned down is right
when it is, with the words that the case asks for. Forms: the model as it is; with every extent of its inputs a symbol, compiled for
the inputs' shapes; with its inputs made constants, so that all of it folds.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = Path(__file__).resolve().parents[2]
TARGETS = ("cpu", "systolic")
FORMS = ("plain", "symbolic", "constant")
# Longer than any case takes by far: a compiler that hangs is one that crashed.
TIMEOUT = 120


@dataclass(frozen=True)
class Outcome:
    kind: str  # right, refused, wrong, crashed
    detail: str = ""


def find_cases() -> Path | None:
    """The folder with generate.py: $TILEWRIGHT_CASES, or shared/cases beside the checkout or above it."""
    if named := os.environ.get("TILEWRIGHT_CASES"):
        return Path(named)
    for folder in (ROOT, *ROOT.parents):
        if (folder / "shared" / "cases" / "generate.py").is_file():
            return folder / "shared" / "cases"
    return None


def generate(source: Path, target: Path) -> list[Path]:
    """Writes all cases to `target` and gives their folders."""
    subprocess.run([sys.executable, "generate.py", target], cwd=source, check=True, capture_output=True)
    return sorted(path.parent for path in target.glob("*/*/case.json"))


def run_all(folders: list[Path], tools: Path, work: Path, options: list[str], form="plain") -> dict[str, Outcome]:
    """The outcome of each case by "theme/name"; `options` go to compile-model."""

    def one(folder: Path) -> tuple[str, Outcome]:
        name = f"{folder.parent.name}/{folder.name}"
        scratch = work / name
        scratch.mkdir(parents=True)
        return name, run_case(folder, tools, scratch, options, form)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(one, folders))


def rewrite(model: onnx.ModelProto, inputs: dict[str, np.ndarray], form: str) -> onnx.ModelProto:
    """The same model in another form; `inputs` are the values it is run on."""
    result = onnx.ModelProto.FromString(model.SerializeToString())
    graph = result.graph
    if form == "plain":
        return result
    # What is known of tensors between follows from the inputs' shapes, which are open now, or is known anyway.
    graph.ClearField("value_info")
    if form == "symbolic":
        for value in (*graph.input, *graph.output):
            if value.name in {tensor.name for tensor in graph.initializer}:
                continue
            for axis, dim in enumerate(value.type.tensor_type.shape.dim):
                dim.dim_param = dim.dim_param or f"{value.name}_{axis}"
        return result
    kept = [value for value in graph.input if value.name not in inputs]
    replaced = [tensor for tensor in graph.initializer if tensor.name not in inputs]
    graph.ClearField("input")
    graph.input.extend(kept)
    graph.ClearField("initializer")
    graph.initializer.extend([*replaced, *(numpy_helper.from_array(array, name) for name, array in inputs.items())])
    return result


def run_case(folder: Path, tools: Path, scratch: Path, options: list[str], form: str = "plain") -> Outcome:
    case = json.loads((folder / "case.json").read_text())
    data = folder / "test_data_set_0"
    inputs = {
        name: _tensor(data / f"input_{i}.pb")
        for i, name in enumerate(case["inputs"])
        if (data / f"input_{i}.pb").is_file()
    }
    expected = {name: _tensor(data / f"output_{i}.pb") for i, name in enumerate(case["outputs"])}

    model = folder / "model.onnx"
    if form != "plain":
        proto = onnx.load(model, load_external_data=False)
        model = folder / f"model.{form}.onnx"  # beside the model's external data
        model.write_bytes(rewrite(proto, inputs, form).SerializeToString())
    if form == "constant":
        inputs = {}
    package = scratch / "case.twp"
    # Naming an input also keeps one that has a default value.
    shapes = [f"--input-shape={name}:{'x'.join(map(str, array.shape))}" for name, array in inputs.items()]
    commands = [[tools / "compile-model", model, "-o", package, "-q", *options, *shapes]]
    feeds = []
    for i, (name, array) in enumerate(inputs.items()):
        np.save(scratch / f"input_{i}.npy", array)
        feeds.append(f"--input={name}:{scratch / f'input_{i}.npy'}")
    commands.append([tools / "run-model", package, "-q", f"--output-dir={scratch / 'out'}", *feeds])
    for command in commands:
        if outcome := _failure(command, case):
            return outcome
    if not expected:
        return Outcome("wrong", "the model must be turned down")
    for name, want in expected.items():
        if problem := _compare(scratch / "out", name, want, case["tolerance"]):
            return Outcome("wrong", f"{name}: {problem}")
    return Outcome("right")


def _failure(command: list, case: dict) -> Outcome | None:
    """How a tool ended if it did not succeed."""
    try:
        done = subprocess.run(
            list(map(str, command)), check=False, capture_output=True, text=True, errors="replace", timeout=TIMEOUT
        )
    except subprocess.TimeoutExpired:
        return Outcome("crashed", f"no answer in {TIMEOUT} s")
    if done.returncode == 0:
        return None
    message = done.stderr.strip()
    if done.returncode != 1 or not message:
        return Outcome("crashed", f"exit code {done.returncode}: {message[-500:]}")
    missing = [word for word in case["refused"] if word.lower() not in message.lower()]
    if case["refused"] and not missing:
        return Outcome("right")
    if not case["outputs"]:
        return Outcome("wrong", f"turned down without the words {missing}: {message[:500]}")
    return Outcome("refused", message[:500])


def _compare(folder: Path, name: str, want: np.ndarray, tolerance: dict) -> str | None:
    name = name.partition("#")[0]
    path = folder / (name.replace("/", "_") + ".npy")
    if not path.is_file():
        return f"no file {path.name}"
    got = np.load(path)
    if got.dtype != want.dtype or got.shape != want.shape:
        return f"{got.dtype} {got.shape}, expected {want.dtype} {want.shape}"
    same = np.asarray(got == want)
    if want.dtype.kind == "f":
        with np.errstate(all="ignore"):
            same |= np.isnan(got) & np.isnan(want)
            near = np.isfinite(got) & np.isfinite(want)
            distance = np.abs(got.astype(np.float64) - want.astype(np.float64))
            if tolerance["kind"] == "close":
                same |= near & (distance <= tolerance["atol"] + tolerance["rtol"] * np.abs(want.astype(np.float64)))
            elif tolerance["kind"] == "ulp":
                same |= near & (np.abs(_ordinal(got) - _ordinal(want)) <= tolerance["ulp"])
    if same.all():
        return None
    at = tuple(int(i) for i in np.argwhere(~same)[0])
    return f"{(~same).sum()} of {same.size} wrong, first at {list(at)}: {got[at]}, expected {want[at]}"


def _ordinal(values: np.ndarray) -> np.ndarray:
    """Floating-point numbers as integers that count representable values, zero at zero."""
    bits = np.ascontiguousarray(values).view(f"i{values.dtype.itemsize}").astype(object).reshape(values.shape)
    lowest = -(2 ** (8 * values.dtype.itemsize - 1))
    return np.where(bits < 0, lowest - bits, bits)


def _tensor(path: Path) -> np.ndarray:
    return numpy_helper.to_array(onnx.TensorProto.FromString(path.read_bytes()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", choices=TARGETS, action="append", help="default: all")
    parser.add_argument("--form", choices=FORMS, action="append", help="default: all")
    parser.add_argument("--only", default="", metavar="TEXT", help="cases with this in theme/name")
    parser.add_argument("--refused", action="store_true", help="also list what is refused, with the message")
    parser.add_argument(
        "--tools", type=Path, default=ROOT / "build" / "bin", help="folder of compile-model and run-model"
    )
    arguments = parser.parse_args()
    source = find_cases()
    if source is None:
        print("no shared/cases beside or above this checkout, and TILEWRIGHT_CASES is not set", file=sys.stderr)
        return 1
    failed = False
    with tempfile.TemporaryDirectory(prefix="cases-") as work:
        folders = [f for f in generate(source, Path(work) / "cases") if arguments.only in f"{f.parent.name}/{f.name}"]
        print(f"{len(folders)} cases\n{'target':9}{'form':9}   right refused   wrong crashed")
        for target in arguments.target or TARGETS:
            for form in arguments.form or FORMS:
                start = time.monotonic()
                scratch = Path(work) / f"{target}-{form}"
                outcomes = run_all(folders, arguments.tools, scratch, [f"--target={target}"], form)
                count = Counter(outcome.kind for outcome in outcomes.values())
                columns = "".join(f"{count[kind]:8}" for kind in ("right", "refused", "wrong", "crashed"))
                print(f"{target:9}{form:9}{columns}   {time.monotonic() - start:.0f} s", flush=True)
                for name, outcome in sorted(outcomes.items()):
                    if outcome.kind in ("wrong", "crashed") or (arguments.refused and outcome.kind == "refused"):
                        print(f"  {outcome.kind} {name}: {outcome.detail}", flush=True)
                failed |= bool(count["wrong"] or count["crashed"])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
