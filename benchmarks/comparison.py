"""Whole networks against onnxruntime (graph optimization off): every layer on the array, and the CPU target in float.

    python -m benchmarks.comparison                               # both tables, all networks
    python -m benchmarks.comparison vgg16 pnet --table=layers --executor=rtl

Table `layers`: float networks are quantized to int8 with made-up samples (what is compared does not depend on the ranges),
and each layer is run in onnxruntime on the array's own 8-bit inputs; test/python/compare_layers.py says how. Table `float`:
outputs of the CPU target for the model as it is. Needs `make build`. A row is printed as soon as it is known; exit code
1 if a layer was left out, or anything differs by more than is stated above the table.
"""

import argparse
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import onnx

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "test" / "python"), str(ROOT / "test")]

import compare_layers

from benchmarks.build_model import NETWORKS
from benchmarks.fetch_models import ModelUnavailable, fetch

# Of the CPU target's outputs, difference over largest magnitude: it takes sums in another order than onnxruntime.
FLOAT_TOLERANCE = 1e-4

QUANTIZE = ["--quantize=int8", "--calibration=random:1"]

# Trained models of models.toml: how to compile what the file leaves open.
FLOAT_MODELS = {
    "pnet": ["--input-shape=input_1:1x205x273x3"],
    "rnet": ["--batch=16"],
    "onet": ["--batch=8"],
    "micro_kws_static_fp32": [],
    "mnist_conv": [],
    "residual_block_clean": [],
    "subpixel": [],
    "text_direction": ["--input-shape=x:2x3x48x192"],
    "open_nsfw": ["--batch=1"],
}
QUANTIZED_MODELS = {
    "micro_kws_qdq": ["--batch=1"],
    "micro_kws_static_qdq": ["--batch=1"],
    "micro_kws_static_qoperator": [],
    "micro_kws_qoperator_add_shape": [],
    "micro_kws_qoperator_avg_pool": [],
    "micro_kws_qoperator_softmax": [],
}
SHAPES = {**FLOAT_MODELS, **QUANTIZED_MODELS, **{name: [] for name in NETWORKS}}


class Table:
    """Prints rows one by one; `header` is what stands above them."""

    def __init__(self, title: str, columns: list[str]):
        print(f"\n{title}\n\n| {' | '.join(columns)} |\n|{'---|' * len(columns)}", flush=True)

    def row(self, *cells) -> None:
        print(f"| {' | '.join(str(cell) for cell in cells)} |", flush=True)


def locate(name: str, folder: Path) -> Path:
    if name not in NETWORKS:
        return fetch(name)
    path = folder / f"{name}.onnx"
    if not path.exists():
        onnx.save(NETWORKS[name](), path)
    return path


def compare_on_array(name: str, path: Path, table: Table, executor: str, judge: bool) -> bool:
    arguments = [*SHAPES[name], *([] if name in QUANTIZED_MODELS else QUANTIZE)]
    feed = compare_layers.random_feed(path, arguments, seed=1)
    result = compare_layers.compare(path, feed, arguments, executor, judge)
    table.row(
        name,
        f"{result.compared} of {result.on_array}",
        f"{result.elements:,}",
        result.by_one,
        sum(result.different.values()) - result.by_one,
        *([f"{result.judged - len(result.misjudged)} of {result.judged}"] if judge else []),
        f"{len(result.host_steps)}: {max(result.host_steps.values(), default=0)}",
        f"{max(result.host_floats.values(), default=0.0):.0e}",
    )
    if not result.ok:
        print(f"{name}:\n{result}", file=sys.stderr, flush=True)
    return result.ok


def compare_in_float(name: str, path: Path, table: Table, folder: Path) -> bool:
    feed = compare_layers.random_feed(path, SHAPES[name], seed=1)
    compare_layers.compile_model(path, folder / "net.twp", ["--target=cpu", *SHAPES[name]])
    ours, _ = compare_layers.run_package(folder / "net.twp", feed, "golden", folder)
    theirs = compare_layers.run_onnxruntime(path, feed)
    pairs = [(ours[compare_layers.file_stem(output)], array) for output, array in theirs.items()]
    absolute = max(float(np.abs(a.astype(np.float64) - b).max()) if a.shape == b.shape else np.inf for a, b in pairs)
    relative = max(compare_layers.relative_difference(a, b) for a, b in pairs)
    table.row(name, f"{sum(array.size for array in theirs.values()):,}", f"{absolute:.1e}", f"{relative:.1e}")
    return relative <= FLOAT_TOLERANCE


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(SHAPES)} (default: all)")
    parser.add_argument("--table", choices=["layers", "float"], help="only this one")
    parser.add_argument(
        "--executor", default="golden", choices=["golden", "rtl"], help="of the layers (default: golden)"
    )
    parser.add_argument("--no-judge", action="store_true", help="not also the integer reference, end to end")
    options = parser.parse_args(arguments)
    names = options.networks or list(SHAPES)
    if unknown := [name for name in names if name not in SHAPES]:
        parser.error(f"no network {', '.join(unknown)}; there are {', '.join(SHAPES)}")

    judge, failed = not options.no_judge, 0
    with tempfile.TemporaryDirectory() as folder_name:
        folder = Path(folder_name)

        def run(table: Table, compare, *arguments) -> None:
            nonlocal failed
            for index, name in enumerate(names):
                start = time.monotonic()
                try:
                    right = compare(name, locate(name, folder), table, *arguments)
                except (ModelUnavailable, RuntimeError) as error:
                    print(f"{name}: {error}", file=sys.stderr, flush=True)
                    right = False
                failed += not right
                seconds = f"{time.monotonic() - start:.1f} s"
                print(f"[{index + 1}/{len(names)}] {name} {seconds}", file=sys.stderr, flush=True)

        if options.table != "float":
            title = (
                f"Layers on the array (executor {options.executor}) run in onnxruntime on the array's 8-bit inputs: no "
            )
            title += (
                f"element may differ.\nWhat the host makes, or only moves: {compare_layers.HOST_STEPS} step in 8 bits, "
            )
            title += f"{compare_layers.HOST_FLOATS:g} of the largest output in float."
            columns = ["network", "layers compared of those on the array", "elements", "differ by 1", "by more"]
            columns += ["equal the reference, end to end"] if judge else []
            columns += ["other 8-bit tensors: most steps", "outputs"]
            run(Table(title, columns), compare_on_array, options.executor, judge)
        if options.table != "layers":
            title = f"The CPU target on the models as they are: outputs within {FLOAT_TOLERANCE:g} of the largest."
            columns = ["network", "elements", "largest difference", "of the largest magnitude"]
            run(Table(title, columns), compare_in_float, folder)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
