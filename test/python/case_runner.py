"""Runs the project's cases (small models with a known answer) through compile-model and run-model.

Every case ends as one of: right, refused (a message and exit code 1), wrong, crashed. A model that must be turned down is right
when it is, with the words that the case asks for.
"""

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx
from onnx import numpy_helper

ROOT = Path(__file__).resolve().parents[2]
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


def run_all(folders: list[Path], tools: Path, work: Path, options: list[str]) -> dict[str, Outcome]:
    """The outcome of each case by "theme/name"; `options` go to compile-model."""

    def one(folder: Path) -> tuple[str, Outcome]:
        name = f"{folder.parent.name}/{folder.name}"
        scratch = work / name
        scratch.mkdir(parents=True)
        return name, run_case(folder, tools, scratch, options)

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return dict(pool.map(one, folders))


def run_case(folder: Path, tools: Path, scratch: Path, options: list[str]) -> Outcome:
    case = json.loads((folder / "case.json").read_text())
    data = folder / "test_data_set_0"
    inputs = {
        name: _tensor(data / f"input_{i}.pb")
        for i, name in enumerate(case["inputs"])
        if (data / f"input_{i}.pb").is_file()
    }
    expected = {name: _tensor(data / f"output_{i}.pb") for i, name in enumerate(case["outputs"])}

    package = scratch / "case.twp"
    shapes = [f"--input-shape={name}:{'x'.join(map(str, array.shape))}" for name, array in inputs.items() if array.ndim]
    commands = [[tools / "compile-model", folder / "model.onnx", "-o", package, "-q", *options, *shapes]]
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
