#!/usr/bin/env python3
"""Builds the simulator of one array configuration and prints the path of the shared object.

Verilator turns sim/rtl into C++, g++ compiles that with Harness.cpp. Results are kept in $XDG_CACHE_HOME/tilewright
(or ~/.cache/tilewright), keyed by all sources, parameters, flags and tool versions; builders of the same key wait for
one another. --is-cached only tells (exit code 0) whether nothing needs to be built.
"""

import argparse
import contextlib
import ctypes
import fcntl
import hashlib
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RTL = ROOT / "sim" / "rtl"
ISA = ROOT / "backends" / "systolic" / "isa"
HEADERS = [ROOT / "sim" / name for name in ("DramModel.h", "SimulatorAbi.h", "WriteDigest.h")]

# -march=x86-64-v3 rather than native: the cache may be shared between machines. Measured in docs/accelerator-rtl.md.
COMPILE = ["-O3", "-march=x86-64-v3", "-fPIC", "-fvisibility=hidden", "-fno-semantic-interposition", "-w"]
LINTS = [
    "BLKSEQ",
    "WIDTH",
    "UNUSED",
    "UNOPTFLAT",
    "UNSIGNED",
    "CMPCONST",
    "DECLFILENAME",
    "VARHIDDEN",
    "PINCONNECTEMPTY",
]


def parameters(options: argparse.Namespace) -> dict[str, int]:
    return {
        "P": options.pixels,
        "K": options.channels,
        "C": options.reduction,
        "ScratchpadWords": options.scratchpad_bytes // 16,
        "RingWords": options.weight_ring_bytes // (options.channels * options.reduction),
        "TableSlots": options.table_slots,
        "BusBytes": options.bus_bytes,
    }


def verilator_flags(options: argparse.Namespace) -> list[str]:
    # Loops of up to max(8, C) are unrolled: an element's dot product must be, the array's loops must not.
    flags = [
        "--cc",
        "-O3",
        "--x-assign",
        "fast",
        "--x-initial",
        "fast",
        "--noassert",
        "--unroll-count",
        str(max(8, options.reduction)),
        "--top-module",
        "accelerator",
        "--prefix",
        "Vaccelerator",
    ]
    flags += [f"-G{name}={value}" for name, value in parameters(options).items()]
    flags += [f"+define+{define}" for define in options.define]
    flags += [f"-Wno-{lint}" for lint in LINTS]
    if options.trace:
        flags.append("--trace-fst")
    return flags


def defines(options: argparse.Namespace) -> list[str]:
    values = {
        "PIXELS": options.pixels,
        "CHANNELS": options.channels,
        "REDUCTION": options.reduction,
        "SCRATCHPAD_BYTES": options.scratchpad_bytes,
        "WEIGHT_RING_BYTES": options.weight_ring_bytes,
        "TABLE_SLOTS": options.table_slots,
        "BUS_BYTES": options.bus_bytes,
        "TABLE_DIGEST": first_line(
            [sys.executable, str(ISA / "generate_isa.py"), str(ISA / "descriptors.toml"), "--digest"]
        ),
    }
    return [f"-DTILEWRIGHT_{name}={value}" for name, value in values.items()]


def sources() -> list[Path]:
    return (
        sorted(RTL.glob("*.sv"))
        + sorted(RTL.glob("*.svh"))
        + HEADERS
        + [HERE / "Harness.cpp", HERE / "build_simulator.py", ISA / "descriptors.toml", ISA / "generate_isa.py"]
    )


def first_line(command: list[str]) -> str:
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()[0]
    except (OSError, subprocess.CalledProcessError, IndexError) as error:
        sys.exit(f"build_simulator.py: cannot run {command[0]} ({error})")


def check_tools(cxx: str) -> None:
    """Names everything that is missing at once, before anything runs."""
    missing = [program for program in ("verilator", cxx) if not shutil.which(program)]
    if missing:
        sys.exit(
            f"build_simulator.py: not found: {', '.join(missing)}. The RTL is simulated by a program that Verilator and a C++ "
            "compiler build when it is first needed; on Debian: apt-get install verilator g++"
        )


def key(options: argparse.Namespace) -> str:
    digest = hashlib.sha256()
    for text in [
        *verilator_flags(options),
        *COMPILE,
        *defines(options),
        first_line(["verilator", "--version"]),
        first_line([options.cxx, "--version"]),
    ]:
        digest.update(text.encode() + b"\0")
    for path in sources():
        digest.update(path.name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:20]


def run(command: list[str], cwd: Path) -> None:
    # A session of its own: the compiler's children end with it when this program is told to end.
    with subprocess.Popen(
        command, cwd=cwd, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True
    ) as process:
        try:
            output, _ = process.communicate()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            raise
    if process.returncode != 0:
        sys.stderr.write(output)
        sys.exit(f"build_simulator.py: {command[0]} failed")


def end_with(parent: int) -> None:
    """When `parent`, which waits for the simulator, ends, so does this program, and cleans up."""
    death_signal = 1  # PR_SET_PDEATHSIG of <sys/prctl.h>
    ctypes.CDLL(None).prctl(death_signal, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(1)


def build(options: argparse.Namespace, library: Path) -> None:
    for left in library.parent.glob(f"{library.stem}-*"):  # of a builder that was killed: the lock is ours
        shutil.rmtree(left, ignore_errors=True)
    with tempfile.TemporaryDirectory(prefix=f"{library.stem}-", dir=library.parent) as folder:
        work = Path(folder)
        package = work / "tilewright_isa_pkg.sv"
        run([sys.executable, str(ISA / "generate_isa.py"), str(ISA / "descriptors.toml"), "--sv", str(package)], work)
        files = [package, RTL / "tilewright_float_pkg.sv"]
        files += [path for path in sorted(RTL.glob("*.sv")) if path != files[1]]
        run(["verilator", *verilator_flags(options), f"-I{RTL}", "--Mdir", str(work / "obj"), *map(str, files)], work)
        root = Path(first_line(["verilator", "--getenv", "VERILATOR_ROOT"])) / "include"
        generated = sorted((work / "obj").glob("*.cpp"))
        runtime = [root / "verilated.cpp", root / "verilated_threads.cpp"]
        if options.trace:
            runtime.append(root / "verilated_fst_c.cpp")
        include = [
            f"-I{ROOT}",
            f"-I{work / 'obj'}",
            f"-I{root}",
            f"-I{root / 'vltstd'}",
            f"-DVM_TRACE={int(options.trace)}",
            f"-DVM_TRACE_FST={int(options.trace)}",
            "-DVM_COVERAGE=0",
            "-DVM_SC=0",
            "-DVL_IGNORE_UNKNOWN_ARCH",
        ]
        compiler = ([shutil.which("ccache")] if shutil.which("ccache") else []) + [options.cxx]
        flags = ["-std=gnu++17", *COMPILE, *include]
        jobs, objects = [], []
        for path in [HERE / "Harness.cpp", *generated, *runtime]:
            objects.append(work / (path.stem + ".o"))
            own = defines(options) if path.name == "Harness.cpp" else []
            jobs.append([*compiler, *flags, *own, "-c", str(path), "-o", str(objects[-1])])
        for command in jobs:
            run(command, work)
        output = work / library.name
        run(
            [
                options.cxx,
                "-shared",
                "-o",
                str(output),
                *map(str, objects),
                *(["-lz"] if options.trace else []),
                "-pthread",
            ],
            work,
        )
        os.replace(output, library)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in (
        "pixels",
        "channels",
        "reduction",
        "scratchpad-bytes",
        "weight-ring-bytes",
        "table-slots",
        "bus-bytes",
    ):
        parser.add_argument(f"--{name}", type=int, required=True)
    parser.add_argument("--define", action="append", default=[], help="Verilog define (planted faults of the tests)")
    parser.add_argument("--trace", action="store_true", help="can write FST waves; slower")
    parser.add_argument("--is-cached", action="store_true")
    parser.add_argument("--parent", type=int, help="end when this process does, which has started the script")
    parser.add_argument("--cxx", default="g++", help="compiler; g++ vectorizes the array's loops best")
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
    if options.parent:
        end_with(options.parent)
    check_tools(options.cxx)
    cache = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "tilewright"
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        sys.exit(f"build_simulator.py: the cache {cache} cannot be made ({error.strerror}); set XDG_CACHE_HOME")
    name = f"simulator-{options.pixels}x{options.channels}x{options.reduction}-{key(options)}"
    library = cache / f"{name}.so"
    if options.is_cached and not library.exists():
        sys.exit(1)
    with open(cache / f"{name}.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not library.exists():
            build(options, library)
    print(library)


if __name__ == "__main__":
    main()
