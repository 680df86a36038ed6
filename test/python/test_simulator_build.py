"""The build of a simulator ends with the program that waits for it, and leaves nothing behind."""

import os
import subprocess
import sys
import time
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "sim" / "verilator" / "build_simulator.py"
SIZES = ["--pixels=2", "--channels=16", "--reduction=1", "--scratchpad-bytes=65536", "--weight-ring-bytes=4096"]
# Starts a build as run-model does, says its process number, and waits.
PARENT = """
import os, subprocess, sys
child = subprocess.Popen([*sys.argv[1:], f"--parent={os.getpid()}"])
print(child.pid, flush=True)
child.wait()
"""


def wait_for(condition) -> bool:
    end = time.monotonic() + 30
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.05)
    return False


def has_ended(number: int) -> bool:
    try:
        return not Path(f"/proc/{number}/cmdline").read_bytes()  # empty: nobody has asked for its exit code yet
    except OSError:
        return True


def uses(folder: Path) -> bool:
    """Some process was started with a path in `folder`."""
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if str(folder).encode() in entry.read_bytes():
                return True
        except OSError:  # it has ended
            continue
    return False


def test_build_ends_with_its_parent(tmp_path):
    command = [sys.executable, str(SCRIPT), *SIZES, "--table-slots=2", "--bus-bytes=16"]
    environment = {**os.environ, "XDG_CACHE_HOME": str(tmp_path)}
    with subprocess.Popen(
        [sys.executable, "-c", PARENT, *command], env=environment, stdout=subprocess.PIPE, text=True
    ) as parent:
        child = int(parent.stdout.readline())
        cache = tmp_path / "tilewright"
        assert wait_for(lambda: list(cache.glob("simulator-*/obj/*.cpp"))), "nothing is built"
        parent.kill()
    assert wait_for(lambda: has_ended(child) and not uses(tmp_path))
    assert [path.suffix for path in cache.iterdir()] == [".lock"]
