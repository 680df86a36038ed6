"""What is installed needs nothing of the source tree: configurations, the RTL and what builds its simulators come along.

`pip install .` installs the component `python`, and `cmake --install` the programs; both are installed here from the build folder.
"""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

COMPILE = ["--quantize=int8", "--calibration=random:1", "--config=copy"]

SCRIPT = """
import sys
import numpy as np
import tilewright

model = tilewright.compile("net.onnx", quantize="int8", calibration="random:1", config="copy")
x = np.random.default_rng(0).standard_normal((1, 3, 8, 8)).astype(np.float32)
outputs = [model.run({"x": x}, executor=executor)["y"] for executor in ("golden", "rtl")]
assert np.array_equal(*outputs) and outputs[0].any()
assert model.profile({"x": x}, executor="model").total["cycles"] > 0
print(tilewright.__file__)
"""


def install(build_dir: Path, component: str, prefix: Path) -> Path:
    """Returns share/tilewright; its configuration `copy` is in no source tree."""
    command = ["cmake", "--install", build_dir, "--component", component, "--prefix", prefix]
    subprocess.run(command, check=True, capture_output=True)
    (share,) = prefix.rglob("share/tilewright")
    shutil.copy(share / "configs" / "4x16x4.toml", share / "configs" / "copy.toml")
    return share


def run(command: list, folder: Path, **variables: str) -> subprocess.CompletedProcess:
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PYTHONPATH", "TILEWRIGHT"))} | variables
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path):
    """An empty folder with a small network."""
    empty = tmp_path / "empty"
    empty.mkdir()
    weight = np.random.default_rng(1).standard_normal((16, 3, 3, 3)).astype(np.float32)
    graph = helper.make_graph(
        [helper.make_node("Conv", ["x", "w"], ["y"])],
        "net",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 3, 8, 8])],
        [helper.make_tensor_value_info("y", TensorProto.FLOAT, [1, 16, 6, 6])],
        [onnx.numpy_helper.from_array(weight, "w")],
    )
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 21)], ir_version=10), empty / "net.onnx")
    return empty


def test_the_python_package(build_dir, tmp_path, folder):
    package = tmp_path / "site"
    install(build_dir, "python", package)
    # What the wheel takes from python/tilewright.
    shutil.copytree(
        Path(__file__).resolve().parents[2] / "python" / "tilewright", package / "tilewright", dirs_exist_ok=True
    )
    result = run([sys.executable, "-c", SCRIPT], folder, PYTHONPATH=str(package))
    assert result.returncode == 0, result.stderr
    assert Path(result.stdout.strip()).parent == package / "tilewright"

    command = "import tilewright.commands; tilewright.commands.compile_model()"
    result = run(
        [sys.executable, "-c", command, "net.onnx", *COMPILE, "-o", "net.twp"], folder, PYTHONPATH=str(package)
    )
    assert result.returncode == 0, result.stderr
    assert (folder / "net.twp").exists()


def test_the_programs(build_dir, tmp_path, folder):
    prefix = tmp_path / "prefix"
    share = install(build_dir, "tilewright", prefix)
    compiled = run([prefix / "bin" / "compile-model", "net.onnx", *COMPILE, "-o", "net.twp"], folder)
    assert compiled.returncode == 0, compiled.stderr
    run_model = [prefix / "bin" / "run-model", "net.twp", "--random-inputs=1", "--executor=rtl"]
    result = run(run_model, folder)
    assert result.returncode == 0, result.stderr

    # Without the programs that build a simulator: all are named, and the one error names the installed script.
    result = run(run_model, folder, PATH=str(tmp_path / "nothing"), XDG_CACHE_HOME=str(tmp_path / "cache"))
    assert result.returncode == 1
    assert "not found: verilator, g++" in result.stderr
    assert str(share / "sim" / "verilator" / "build_simulator.py") in result.stderr
