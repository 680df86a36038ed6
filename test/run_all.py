"""Runs every test there is (unit tests, lit, pytest, lint) and closes with one line: N passed, N failed.

Each runner writes a JUnit file, and the counts come from there, so that a runner which dies without one is a failure. Names
given on the command line choose suites: `python test/run_all.py lit pytest`.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parents[1]


def commands(build: Path, results: Path) -> dict[str, list[str]]:
    """Suite name → command; each writes <results>/<suite>.xml."""
    python = sys.executable
    lit = lit_program(build)
    return {
        "lint": [python, "test/lint.py", "--build", build, "--junit", results / "lint.xml"],
        "unit": [
            "ctest",
            "--test-dir",
            build,
            "-C",
            "slow",
            "-j2",
            "--output-on-failure",
            "--output-junit",
            results / "unit.xml",
        ],
        "lit": [lit, "-sv", "-j2", "--xunit-xml-output", results / "lit.xml", build / "test"],
        "pytest": [python, "-m", "pytest", "-q", "test/python", "--junitxml", results / "pytest.xml"],
    }


def lit_program(build: Path) -> str:
    """The lit of the LLVM that the build was configured with."""
    for line in (build / "CMakeCache.txt").read_text().splitlines():
        if line.startswith("LLVM_EXTERNAL_LIT:"):
            return line.partition("=")[2]
    raise SystemExit(f"run_all: {build} is not a configured build folder")


def counts(junit: Path) -> tuple[int, int, int]:
    """Passed, failed, skipped of one JUnit file; a missing or unreadable one, or one without a test, counts as one failure."""
    try:
        cases = list(ElementTree.parse(junit).getroot().iter("testcase"))
    except (OSError, ElementTree.ParseError):
        cases = []
    if not cases:
        return 0, 1, 0
    failed = sum(case.find("failure") is not None or case.find("error") is not None for case in cases)
    skipped = sum(case.find("skipped") is not None for case in cases)
    return len(cases) - failed - skipped, failed, skipped


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder (default: build)")
    parser.add_argument("suites", nargs="*", metavar="SUITE", help="lint, unit, lit, pytest (default: all)")
    options = parser.parse_args()
    build = options.build.resolve()
    results = build / "test-results"
    results.mkdir(exist_ok=True)
    suites = commands(build, results)
    if unknown := set(options.suites) - set(suites):
        parser.error(f"no suite {', '.join(sorted(unknown))}; there are: {', '.join(suites)}")

    # The Python package as it lies in the build folder, and the repository's own.
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(build / "python"), str(ROOT)])}
    table, total = [], [0, 0, 0]
    for suite in options.suites or suites:
        junit = results / f"{suite}.xml"
        junit.unlink(missing_ok=True)
        print(f"== {suite}", flush=True)
        start = time.monotonic()
        status = subprocess.run(
            [str(word) for word in suites[suite]], cwd=ROOT, env=environment, check=False
        ).returncode
        passed, failed, skipped = counts(junit)
        if status != 0 and failed == 0:
            failed = 1
        total = [a + b for a, b in zip(total, (passed, failed, skipped), strict=True)]
        table.append(
            f"{suite:8} {passed:6} passed {failed:4} failed {skipped:4} skipped {time.monotonic() - start:8.1f} s"
        )
    print("\n" + "\n".join(table) + "\n")
    print(f"{total[0]} passed, {total[1]} failed" + (f", {total[2]} skipped" if total[2] else ""), flush=True)
    return 1 if total[1] else 0


if __name__ == "__main__":
    sys.exit(main())
