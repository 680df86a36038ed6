"""python -m benchmarks.demo: finds a face on the simulated array, then runs ResNet-50 whole (make demo)."""

import argparse
import sys
import time
from pathlib import Path

from benchmarks.demo.faces import find_faces
from benchmarks.demo.resnet50 import run_resnet50


def log(line: str) -> None:
    # What was a progress line on a terminal is overwritten.
    print(("\r\033[K" if sys.stdout.isatty() else "") + line, flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="demo", description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("demo-output"), help="folder for the picture")
    parser.add_argument("--faces-only", action="store_true", help="leave ResNet-50 out")
    options = parser.parse_args()
    start = time.monotonic()
    good = find_faces(options.output / "faces.png", log)
    log(f"faces: {time.monotonic() - start:.0f} s\n")
    if not options.faces_only:
        start = time.monotonic()
        good &= run_resnet50(options.output, log)
        log(f"resnet50: {time.monotonic() - start:.0f} s")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
