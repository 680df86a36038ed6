"""Shared by the Python tests: the repository's own packages are importable without being installed."""

import os
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "test")]


@pytest.fixture
def model():
    """Path of a model of benchmarks/models.toml by name; the test counts as skipped where no registry is reachable."""
    from benchmarks.fetch_models import ModelUnavailable, fetch

    def get(name):
        try:
            return fetch(name)
        except ModelUnavailable as error:
            pytest.skip(f"not run: {error}")

    return get


@pytest.fixture
def build_dir():
    """The build folder; another one than build/ is given in $TILEWRIGHT_BUILD."""
    folder = Path(os.environ.get("TILEWRIGHT_BUILD", ROOT / "build"))
    assert (folder / "bin").is_dir(), f"{folder}: nothing is built there"
    return folder
