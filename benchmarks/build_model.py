"""Writes a benchmark network as an ONNX file.

python -m benchmarks.build_model resnet50 -o resnet50.onnx
python -m benchmarks.build_model resnet50 -o small.onnx --set resolution=32 --set width=16 --set "blocks=(1,1)"
python -m benchmarks.build_model light_resnet50 -o light.onnx     # onnx's own graph with weights that matter
"""

import argparse
import ast
import inspect
import sys
from pathlib import Path

import onnx

from benchmarks.builders import BUILDERS
from benchmarks.fetch_models import ModelUnavailable, fetch
from benchmarks.reweight import reweight


def light_resnet50(seed=0) -> onnx.ModelProto:
    """The onnx package's ResNet-50 graph, whose own weights are constant, with random ones."""
    return reweight(onnx.load(fetch("light_resnet50")), seed)


NETWORKS = {**BUILDERS, "light_resnet50": light_resnet50}


def _setting(text: str) -> tuple[str, object]:
    name, equals, value = text.partition("=")
    if not equals:
        raise argparse.ArgumentTypeError(f"'{text}' is not NAME=VALUE")
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        return name, value  # a symbolic dimension's name


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="build_model", description="Write a benchmark network as an ONNX file.")
    parser.add_argument("network", choices=NETWORKS)
    parser.add_argument("-o", "--output", type=Path, required=True, metavar="FILE.onnx")
    parser.add_argument("--batch", help="a number, or a name for a symbolic batch (default: 1)")
    parser.add_argument("--seed", type=int, default=0, help="of the weights (default: 0)")
    parser.add_argument(
        "--set", dest="settings", action="append", type=_setting, default=[], metavar="NAME=VALUE",
        help="any other parameter of the builder, such as resolution=64",
    )  # fmt: skip
    options = parser.parse_args(arguments)
    build = NETWORKS[options.network]
    settings = {"seed": options.seed, **dict(options.settings)}
    if options.batch is not None:
        settings["batch"] = int(options.batch) if options.batch.isdigit() else options.batch
    known = inspect.signature(build).parameters
    if unknown := [name for name in settings if name not in known]:
        parser.error(f"{options.network} has no parameter {', '.join(unknown)}; it has {', '.join(known)}")
    try:
        onnx.save(build(**settings), options.output)
    except (ModelUnavailable, OSError) as error:
        print(f"build_model: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
