"""The commands compile-model and run-model of an installed package: the programs lie in its folder bin."""

import os
import sys
from pathlib import Path


def compile_model() -> None:
    _replace_process("compile-model")


def run_model() -> None:
    _replace_process("run-model")


def _replace_process(name: str) -> None:
    program = Path(__file__).parent / "bin" / name
    os.execv(program, [name, *sys.argv[1:]])
