"""fuzz-layers: random quantized layers and small graphs, compiled for the array and run: reference = golden = RTL on
every element, golden = RTL on every word written to scratchpad and DRAM.

  fuzz-layers --count=500 --seed=1
  fuzz-layers --seed=1 --only=137 --keep=failing     repeats one case and keeps its files
"""

import argparse
import re
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import onnx

from fuzz_layers import paths
from fuzz_layers.cases import Case, draw
from fuzz_layers.check import check

MOST_UNJUDGED = 0.02  # of the cases; more, and the run fails
ROOT = Path(__file__).resolve().parents[3]


def main() -> int:
    options = _arguments()
    base = Path(options.config) if options.config.endswith(".toml") else ROOT / "configs" / f"{options.config}.toml"
    if not base.exists():
        print(f"fuzz-layers: error: no configuration {options.config}: {base} does not exist", file=sys.stderr)
        return 1
    taken, faults, errors = Counter(), 0, []
    aside = {"not judged": Counter(), "refused": Counter()}
    judged = Counter()
    indices = [options.only] if options.only is not None else range(options.count)
    start = last = time.monotonic()
    print(f"fuzz-layers: seed {options.seed}, {len(indices)} cases on {base.stem}", flush=True)
    with tempfile.TemporaryDirectory(prefix="fuzz-layers-") as folder:
        for done, index in enumerate(indices, 1):
            case = draw(options.seed, index)
            configuration = case.configuration(base, Path(folder))
            result = check(case, configuration, with_rtl=not options.golden_only)
            taken += result.paths
            if result.refused:
                aside["refused"][_kind(result.refused)] += 1
            elif result.unjudged and not result.fault:
                aside["not judged"][_kind(result.unjudged)] += 1
            judged.update({"elements": result.elements, "undecided": result.undecided})
            judged["apart"] = max(judged["apart"], result.apart)
            if options.only is not None and (result.refused or result.unjudged):
                print(result.refused or f"not judged: {result.unjudged}")
            if result.fault:
                faults += 1
                print(f"case {index} on {configuration.stem}: {result.fault}", flush=True)
            if result.cycles:
                errors.append((result.modelled - result.cycles) / result.cycles)
            if options.keep and (result.fault or options.only is not None):
                _keep(case, configuration, Path(options.keep) / f"case-{options.seed}-{index}")
            if time.monotonic() - last > 5:
                last = time.monotonic()
                print(f"  {done} of {len(indices)} cases, {last - start:.0f} s", file=sys.stderr, flush=True)
    return _summary(taken, faults, aside, judged, errors, len(indices), options)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "fuzz-layers", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--count", type=int, default=100, help="cases to run (default: 100)")
    parser.add_argument("--seed", type=int, default=1, help="of the whole run; a case depends on it and its number")
    parser.add_argument("--only", type=int, help="run the case of this number alone")
    parser.add_argument(
        "--config", default="4x16x4", help="a name in configs/ or a .toml file; some cases shrink its memories"
    )
    parser.add_argument("--golden-only", action="store_true", help="without RTL and cycle model: quick")
    parser.add_argument("--keep", help="folder for the model, input and configuration of failing cases")
    parser.add_argument("--any-paths", action="store_true", help="do not fail when the cases leave out a path")
    return parser.parse_args()


def _keep(case: Case, configuration: Path, folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    onnx.save(case.model, folder / "model.onnx")
    np.savez(folder / "input.npz", **case.feed)
    (folder / "config.toml").write_text(configuration.read_text())


def _kind(reason: str) -> str:
    """The reason without this case's names and numbers."""
    return re.sub(r"'[^']*'|\S*/\S*|\d+", "*", reason)


def _summary(taken: Counter, faults: int, aside: dict, judged: Counter, errors: list, count: int, options) -> int:
    print("\ncases by path:")
    for path in paths.PATHS:
        print(f"  {path:24} {taken[path]:6}")
    missing = [path for path in paths.PATHS if not taken[path]]
    if errors:
        spread = np.abs(errors)
        print(
            f"cycle model against RTL, {len(errors)} cases: mean {np.mean(errors):+.2%}, "
            f"half within {np.median(spread):.2%}, 95 % within {np.quantile(spread, 0.95):.2%}, worst {spread.max():.2%}"
        )
    failed = bool(faults)
    if missing and not options.any_paths and options.only is None:
        print(f"no case took: {', '.join(missing)}")
        failed = True
    for words, reasons in aside.items():
        for reason, cases in reasons.most_common():
            print(f"{words}: {cases} × {reason}")
    equal = count - faults - sum(reasons.total() for reasons in aside.values())
    if not equal and options.only is None:
        print("no case was judged")
        failed = True
    if aside["not judged"].total() > count * MOST_UNJUDGED:
        print(f"more than {MOST_UNJUDGED:.0%} of the cases are not judged")
        failed = True
    print(
        f"{judged['elements']} elements judged; for {judged['undecided']} of them floats at a rounding boundary leave more "
        f"than one answer, at most {judged['apart']} apart"
    )
    print(
        f"{equal} equal, {faults} different; {aside['not judged'].total()} where golden = RTL and the reference has no "
        f"answer, {aside['refused'].total()} refused"
    )
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
