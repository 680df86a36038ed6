#!/usr/bin/env python3
"""Builds and runs a testbench of one RTL block: run_testbench.py NAME --build DIR.

NAME.sv is the top module (it instantiates the block), NAME.cpp a GoogleTest program around the Verilated model VNAME.
"""

import argparse
import os
import shutil
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RTL = ROOT / "sim" / "rtl"
ISA = ROOT / "backends" / "systolic" / "isa"
# What the coding style of the RTL is warned about and means: see docs/accelerator-rtl.md.
LINTS = ["BLKSEQ", "WIDTH", "UNUSED", "UNOPTFLAT", "UNSIGNED", "CMPCONST", "DECLFILENAME", "VARHIDDEN"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--build", type=Path, required=True)
    options = parser.parse_args()
    work = options.build.resolve() / options.name
    work.mkdir(parents=True, exist_ok=True)
    package = work / "tilewright_isa_pkg.sv"
    subprocess.run([sys.executable, ISA / "generate_isa.py", ISA / "descriptors.toml", "--sv", package], check=True)
    files = [package, RTL / "tilewright_float_pkg.sv", HERE / f"{options.name}.sv"]
    flags = ["-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "--unroll-count", "8"]
    command = [
        "verilator",
        "--cc",
        "--exe",
        "--build",
        *flags,
        *[f"-Wno-{lint}" for lint in LINTS],
        f"-I{RTL}",
        "-y",
        RTL,
        "--top-module",
        options.name,
        "--prefix",
        f"V{options.name}",
        "--Mdir",
        work / "obj",
        "-o",
        work / "testbench",
        "-CFLAGS",
        "-O3 -march=x86-64-v3 -ffp-contract=off -std=gnu++17 -w",
        "-LDFLAGS",
        "-lgtest -lgtest_main -pthread",
        *files,
        HERE / f"{options.name}.cpp",
    ]
    environment = dict(os.environ)
    if shutil.which("ccache"):
        environment["OBJCACHE"] = "ccache"
    result = subprocess.run(
        list(map(str, command)),
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        sys.exit(result.stdout)
    sys.exit(subprocess.run([str(work / "testbench")], check=False).returncode)


if __name__ == "__main__":
    main()
