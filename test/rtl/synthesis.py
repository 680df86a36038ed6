#!/usr/bin/env python3
"""Lets yosys read every block of the RTL and prints its cells: synthesis.py --build DIR [BLOCK...].

Blocks are read one by one (their parameters at a small shape, 2x8x4, unless --shape says otherwise), those inside them
as black boxes. A construct that is not synthesizable, a latch or an undriven wire in a process fails the test.
"""

import argparse
import re
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RTL = ROOT / "sim" / "rtl"
ISA = ROOT / "backends" / "systolic" / "isa"


def read(block: str, package: Path, shape: list[int]) -> str:
    text = (RTL / f"{block}.sv").read_text()
    header = text[text.index(f"module {block}") : text.index(");")]
    values = {
        name: value for name, value in zip("PKC", shape) if re.search(rf"parameter int unsigned {name} =", header)
    }
    parameters = " ".join(f"-chparam {name} {value}" for name, value in values.items())
    others = [path for path in sorted(RTL.glob("*.sv")) if path.stem not in (block, "tilewright_float_pkg")]
    # The interfaces of the blocks inside, without their insides.
    stubs = package.with_name("interfaces.sv")
    stubs.write_text(
        "".join(
            re.search(r"^module .*?^\);", path.read_text(), re.MULTILINE | re.DOTALL)[0] + "\nendmodule\n"
            for path in others
        )
    )
    lines = [
        f"read_verilog -sv -lib {package} {stubs}",
        f"read_verilog -sv -I{RTL} {package} {RTL / 'tilewright_float_pkg.sv'} {RTL / (block + '.sv')}",
    ]
    lines += [f"hierarchy -check -top {block} {parameters}", "proc", "select -assert-none t:$dlatch", "stat"]
    result = subprocess.run(
        ["yosys", "-p", "; ".join(lines)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if result.returncode != 0:
        sys.exit(f"{block}: yosys does not read it\n" + "\n".join(result.stdout.splitlines()[-8:]))
    return result.stdout


def count(statistics: str, pattern: str) -> int:
    return sum(int(number) for number in re.findall(rf"^\s+{pattern}\s+(\d+)", statistics, re.MULTILINE))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("blocks", nargs="*")
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--shape", default="2x8x4", help="PxKxC")
    options = parser.parse_args()
    options.build.mkdir(parents=True, exist_ok=True)
    package = options.build / "tilewright_isa_pkg.sv"
    subprocess.run(
        [sys.executable, str(ISA / "generate_isa.py"), str(ISA / "descriptors.toml"), "--sv", str(package)], check=True
    )
    shape = [int(size) for size in options.shape.split("x")]
    blocks = options.blocks or [path.stem for path in sorted(RTL.glob("*.sv")) if path.stem != "tilewright_float_pkg"]
    print(f"{'block':24} {'cells':>8} {'multipliers':>12} {'registers':>10} {'memories':>9} {'s':>6}")
    for block in blocks:
        begin = time.monotonic()
        log = read(block, package, shape)
        statistics = log[log.rindex("Number of wires") :]
        cells = count(statistics, "Number of cells:")
        multipliers = count(statistics, re.escape("$mul"))
        registers = count(statistics, re.escape("$") + "a?s?dffe?")
        memories = count(statistics, "Number of memories:")
        seconds = time.monotonic() - begin
        print(f"{block:24} {cells:8} {multipliers:12} {registers:10} {memories:9} {seconds:6.1f}", flush=True)


if __name__ == "__main__":
    main()
