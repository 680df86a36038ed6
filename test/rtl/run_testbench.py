#!/usr/bin/env python3
"""Builds and runs a testbench of one RTL block: run_testbench.py NAME --build DIR [-- arguments of the testbench].

NAME.cpp is a GoogleTest program around the Verilated model Vtop. Its top module is test/rtl/NAME.sv if there is one, else
the block sim/rtl/NAME.sv itself. Comments in NAME.cpp say what else the runner does:

    // VARIANT K=8 C=4                 builds and runs once more with these parameters of the top module (and macros for C++)
    // FAULT name: text => other text  plants a fault: this text, which must occur once in the block, is replaced;
    // FAULT name in FILE: a @b@ c => d  (here only b, an expression); the testbench must fail then. All faults are in one
                                       model, chosen when it starts.

A testbench without a fault is refused: it would be a test that cannot fail. With arguments, the model without faults runs
once and no fault is planted (long runs by hand, --gtest_filter).
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RTL = ROOT / "sim" / "rtl"
ISA = ROOT / "backends" / "systolic" / "isa"
# What the coding style of the RTL is warned about and means: see docs/accelerator-rtl.md.
LINTS = ["BLKSEQ", "WIDTH", "UNUSED", "UNOPTFLAT", "UNSIGNED", "CMPCONST", "DECLFILENAME", "VARHIDDEN"]
SECONDS_PER_FAULT = 60


@dataclass
class Fault:
    name: str
    file: str
    old: str
    new: str


def directives(text: str, block: str) -> tuple[list[dict[str, str]], list[Fault]]:
    """The variants (parameter → value) and faults that the comments of a testbench ask for."""
    variants = [
        dict(word.split("=") for word in m[1].split()) for m in re.finditer(r"^// VARIANT (.+)$", text, re.MULTILINE)
    ]
    faults = []
    for m in re.finditer(r"^// FAULT (\w+)(?: in (\w+))?: (.+?) => (.+?)$", text, re.MULTILINE):
        faults.append(Fault(m[1], m[2] or block, m[3].strip(), m[4].strip()))
    if text.count("FAULT ") != len(faults):
        sys.exit(f"{block}: a FAULT comment that cannot be read; each is one line")
    return variants or [{}], faults


def write_if_changed(path: Path, text: str) -> None:
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def plant(faults: list[Fault], folder: Path) -> None:
    """Copies of the RTL in which fault number n (from 1) acts while tilewright_fault_pkg::fault is n."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {path.name for path in RTL.iterdir()}
    for stale in folder.iterdir():
        if stale.name not in names:
            stale.unlink()
    for path in RTL.iterdir():
        text = path.read_text()
        for old in dict.fromkeys(fault.old for fault in faults if fault.file == path.stem):
            plain = old.replace("@", "")
            if text.count(plain) != 1:
                sys.exit(f"planted fault: '{plain}' occurs {text.count(plain)} times in {path.name}, not once")
            # Only what stands between two @ is replaced, if the text has them.
            before, expression, after = old.split("@") if "@" in old else ("", old, "")
            choices = [
                f"tilewright_fault_pkg::fault == {number} ? ({fault.new}) : "
                for number, fault in enumerate(faults, 1)
                if (fault.file, fault.old) == (path.stem, old)
            ]
            text = text.replace(plain, f"{before}({''.join(choices)}({expression})){after}")
        write_if_changed(folder / path.name, text)


def fields_header(package: str) -> str:
    """The generated package for C++: isa::ExecuteOutBase is {lsb, width}, enumeration values and sizes are numbers."""
    values = dict(re.findall(r"localparam .*? (\w+) = (?:\d+'d)?(\d+);", package))
    lines = ["#pragma once", "namespace isa {", "struct Field {", "  unsigned lsb, width;", "};"]
    for name, value in values.items():
        stem = name.removesuffix("Lsb")
        if stem != name and stem + "Width" in values:
            lines.append(f"constexpr Field {stem}{{{value}, {values[stem + 'Width']}}};")
        elif stem == name and not name.endswith("Width"):
            lines.append(f"constexpr unsigned {name} = {value};")
    return "\n".join([*lines, "} // namespace isa", ""])


def build(name: str, variant: dict[str, str], work: Path) -> Path:
    """Verilates and compiles one variant; returns the program."""
    tag = "_".join(f"{key}{value}" for key, value in variant.items()) or "default"
    top = HERE / f"{name}.sv"
    rtl = work / "rtl"
    files = [work / "tilewright_fault_pkg.sv", work / "tilewright_isa_pkg.sv", rtl / "tilewright_float_pkg.sv"]
    files.append(top if top.exists() else rtl / f"{name}.sv")
    flags = ["-O3", "--x-assign", "fast", "--x-initial", "fast", "--noassert", "--unroll-count", "8"]
    # What differs from testbench to testbench is in headers, not in flags: so Verilator's own sources are compiled once
    # and then come from ccache.
    model = work / tag
    model.mkdir(exist_ok=True)
    macros = [f"#define PARAMETER_{key} {value}\n" for key, value in variant.items()]
    write_if_changed(model / "parameters.h", "".join(["#pragma once\n", *macros]))
    write_if_changed(model / "isa_fields.h", fields_header((work / "tilewright_isa_pkg.sv").read_text()))
    program = model / "testbench"
    command = [
        "verilator",
        "--cc",
        "--exe",
        "--build",
        *flags,
        *[f"-Wno-{lint}" for lint in LINTS],
        *[f"-G{key}={value}" for key, value in variant.items()],
        f"-I{rtl}",
        "-y",
        rtl,
        "--top-module",
        name,
        "--prefix",
        "Vtop",
        "--Mdir",
        model,
        "-o",
        program,
        "-CFLAGS",
        f"-O3 -march=x86-64-v3 -ffp-contract=off -std=gnu++20 -w -I{ROOT} -I{HERE}",
        "-MAKEFLAGS",
        "OPT_FAST=-O3 OPT_SLOW=-O1 OPT_GLOBAL=-O1",  # instead of Verilator's -Os, which would come last
        "-LDFLAGS",
        "-lgtest -pthread",
        *files,
        HERE / f"{name}.cpp",
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
    return program


def finds(program: Path, number: int) -> bool:
    """Whether the testbench's checks fail (and it does not merely crash or hang) while the fault acts."""
    command = [str(program), f"--fault={number}", "--gtest_fail_fast", "--gtest_brief=1"]
    try:
        result = subprocess.run(command, stdout=subprocess.PIPE, text=True, timeout=SECONDS_PER_FAULT, check=False)
    except subprocess.TimeoutExpired:
        return False
    return result.returncode == 1 and "FAILED" in result.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("name")
    parser.add_argument("--build", type=Path, required=True)
    words = sys.argv[1:]
    split = words.index("--") if "--" in words else len(words)
    options = parser.parse_args(words[:split])
    arguments = words[split + 1 :]
    work = options.build.resolve() / options.name
    work.mkdir(parents=True, exist_ok=True)
    variants, faults = directives((HERE / f"{options.name}.cpp").read_text(), options.name)
    if not faults:
        sys.exit(f"{options.name}: no planted fault; a test that cannot fail is no test")

    package = work / "tilewright_isa_pkg.sv"
    subprocess.run([sys.executable, ISA / "generate_isa.py", ISA / "descriptors.toml", "--sv", package], check=True)
    write_if_changed(
        work / "tilewright_fault_pkg.sv",
        "package tilewright_fault_pkg;\n  int fault /* verilator public_flat_rw */;\nendpackage\n",
    )
    plant(faults, work / "rtl")

    missed = {fault.name for fault in faults}
    for variant in variants:
        title = " ".join([options.name, *[f"{key}={value}" for key, value in variant.items()]])
        start = time.monotonic()
        program = build(options.name, variant, work)
        print(f"== {title}: built in {time.monotonic() - start:.1f} s", flush=True)
        if subprocess.run([str(program), *arguments], check=False).returncode != 0:
            sys.exit(f"{title}: failed")
        if arguments:
            continue
        for number, fault in enumerate(faults, 1):
            start = time.monotonic()
            if fault.name in missed and finds(program, number):
                missed.remove(fault.name)
                print(f"fault {fault.name}: found ({time.monotonic() - start:.1f} s)", flush=True)
    if missed and not arguments:
        sys.exit(f"{options.name}: planted faults that no check finds: {', '.join(sorted(missed))}")


if __name__ == "__main__":
    main()
