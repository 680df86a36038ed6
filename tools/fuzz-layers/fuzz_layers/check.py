"""Runs one case: reference = golden = RTL, and how far the cycle model is off."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import tilewright
from reference import evaluate

from fuzz_layers import paths
from fuzz_layers.cases import Case
from fuzz_layers.descriptors import Decoder

DECODER = Decoder()


@dataclass
class Result:
    """`fault` is empty when everything agrees. Cycles are those of RTL and model; 0 where nothing runs on the array."""

    fault: str = ""
    paths: Counter = field(default_factory=Counter)
    cycles: int = 0
    modelled: int = 0
    refused: str = ""


def check(case: Case, configuration: Path, with_rtl: bool = True) -> Result:
    """Compiles the case for `configuration` and runs it on all executors."""
    result = Result()
    try:
        emitted = onnx.load_from_string(tilewright.emit(case.model, "quantized", config=configuration))
        model = tilewright.compile(case.model, config=configuration)
    except tilewright.Error as error:
        result.refused = str(error)
        return result
    negative_scale = any(node.op_type == "Where" for node in emitted.graph.node)
    ring_bytes = int(re.search(r"weight_ring_bytes\s*=\s*(\d+)", configuration.read_text()).group(1))
    for program in model.programs:
        result.paths |= paths.taken(DECODER.decode(program), ring_bytes, negative_scale)
    try:
        outputs, report = model.run_and_profile(case.feed, executor="rtl" if with_rtl else "golden", check=with_rtl)
        modelled = model.profile(case.feed, executor="model") if with_rtl else None
    except tilewright.Error as error:
        result.fault = str(error)
        return result
    result.fault = _against_reference(case, emitted, outputs)
    if with_rtl and model.programs:
        result.cycles, result.modelled = report.total["cycles"], modelled.total["cycles"]
    return result


def _against_reference(case: Case, emitted: onnx.ModelProto, outputs: dict[str, np.ndarray]) -> str:
    """The emitted network decides; a model without float operators decides as well, as it is."""
    judges = {"the quantized network emitted": emitted} | ({"the model": case.model} if case.exact else {})
    for words, judge in judges.items():
        values = evaluate(judge, case.feed)
        for name, got in outputs.items():
            want = values[name]
            if got.shape != want.shape or got.dtype != want.dtype:
                return f"{name} is {got.dtype} {got.shape}, by {words} {want.dtype} {want.shape}"
            if not np.array_equal(got, want):
                wrong = np.argwhere(got != want)
                at = tuple(int(i) for i in wrong[0])
                return f"{len(wrong)} of {got.size} elements of {name} differ from {words}; at {at} {got[at]}, not {want[at]}"
    return ""
