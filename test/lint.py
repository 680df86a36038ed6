"""Formatting and static checks over the files git knows: clang-format, ruff, clang-tidy, the index of the documentation.

clang-tidy takes the files outside of test/ that do not include MLIR (seconds each); with --tidy-all all of them (many minutes). A
file's result is kept under its content and that of all project headers, so an unchanged tree is not checked twice.
"""

import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from xml.sax.saxutils import quoteattr

ROOT = Path(__file__).resolve().parents[1]


def tracked(*patterns: str) -> list[str]:
    listing = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", *patterns],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout  # fmt: skip
    return [name for name in listing.splitlines() if (ROOT / name).is_file()]


def program(name: str) -> str:
    found = shutil.which(name) or shutil.which(name.removesuffix("-22"))
    if not found:
        raise SystemExit(f"lint: {name} was not found; on Debian 12: apt-get install {name}")
    return found


def run(command: list[str]) -> str:
    """Output of a command that failed, "" if it passed."""
    result = subprocess.run(command, cwd=ROOT, check=False, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return "" if result.returncode == 0 else result.stdout or f"{command[0]}: exit code {result.returncode}"


def clang_format() -> str:
    return run([program("clang-format-22"), "--dry-run", "-Werror", *tracked("*.cpp", "*.h")])


def ruff() -> str:
    return run([sys.executable, "-m", "ruff", "check", "--quiet", "."])


def ruff_format() -> str:
    return run([sys.executable, "-m", "ruff", "format", "--check", "--quiet", "--diff", "."])


def docs_index() -> str:
    """Every page of the documentation is linked from its index."""
    index = (ROOT / "docs" / "index.md").read_text()
    pages = [page.removeprefix("docs/") for page in tracked("docs/*.md")]
    return "".join(
        f"docs/index.md: no link to {page}\n" for page in pages if page != "index.md" and f"]({page})" not in index
    )


def clang_tidy(build: Path, everything: bool) -> str:
    database = json.loads((build / "compile_commands.json").read_text())
    sources = set(tracked("*.cpp"))
    chosen = []
    for entry in database:
        name = os.path.relpath(entry["file"], ROOT)
        if name in sources and (everything or not ("-include-pch" in entry["command"] or name.startswith("test/"))):
            chosen.append(name)
    cache = build / "tidy-passed"
    cache.mkdir(exist_ok=True)
    headers = hashlib.sha256()
    for name in sorted([*tracked("*.h", "*.td", "*.fbs", "*.toml"), ".clang-tidy"]):
        headers.update((ROOT / name).read_bytes())

    def check(name: str) -> str:
        digest = headers.copy()
        digest.update((ROOT / name).read_bytes())
        stamp = cache / f"{name.replace('/', '_')}-{digest.hexdigest()[:16]}"
        if stamp.exists():
            return ""
        output = run([program("clang-tidy-22"), "--quiet", "-p", str(build), name])
        if not output:
            stamp.touch()
        return output

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return "".join(pool.map(check, sorted(chosen)))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=ROOT / "build", help="build folder (default: build)")
    parser.add_argument("--junit", type=Path, help="also write the results there")
    parser.add_argument("--tidy-all", action="store_true", help="clang-tidy over the files that include MLIR, too")
    options = parser.parse_args()

    checks = {
        "clang-format": clang_format,
        "ruff": ruff,
        "ruff-format": ruff_format,
        "docs-index": docs_index,
        "clang-tidy": lambda: clang_tidy(options.build.resolve(), options.tidy_all),
    }
    cases, failed = [], 0
    for name, check in checks.items():
        output = check()
        print(f"{name:14} {'failed' if output else 'passed'}", flush=True)
        if output:
            print(output, flush=True)
            failed += 1
        body = f"<failure message={quoteattr(output[:4000])}/>" if output else ""
        cases.append(f'<testcase classname="lint" name="{name}">{body}</testcase>')
    if options.junit:
        options.junit.write_text(f'<testsuite name="lint" tests="{len(cases)}">{"".join(cases)}</testsuite>\n')
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
