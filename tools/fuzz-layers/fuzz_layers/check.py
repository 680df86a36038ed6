"""Runs one case: reference = golden = RTL, and how far the cycle model is off."""

import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnx
import tilewright
from reference import Unsupported, evaluate, outside, undecided

from fuzz_layers import paths
from fuzz_layers.cases import Case
from fuzz_layers.descriptors import Decoder

DECODER = Decoder()


@dataclass
class Result:
    """`fault` is empty when everything agrees. `unjudged`: golden and RTL agree, but the reference has no answer. Cycles
    are those of RTL and model; 0 where nothing runs on the array. Of the `elements` that were judged, the reference allows
    more than one answer in the `undecided`, at most `apart`: floats come to lie at a rounding boundary before them."""

    fault: str = ""
    paths: Counter = field(default_factory=Counter)
    cycles: int = 0
    modelled: int = 0
    elements: int = 0
    undecided: int = 0
    apart: int = 0
    refused: str = ""
    unjudged: str = ""


def check(case: Case, configuration: Path, with_rtl: bool = True) -> Result:
    """Compiles the case for `configuration` and runs it on all executors."""
    result = Result()
    judges = {"the model": case.model} if case.decides else {}
    negative_scale = False
    try:
        model = tilewright.compile(case.model, config=configuration)
    except tilewright.Error as error:
        # Only an array that is too small is a reason not to compile a model: for all its layers, or for one kernel tap.
        if any(words in str(error) for words in ("this array holds no layer", "cannot hold one kernel tap")):
            result.refused = str(error)
        else:
            result.fault = str(error)
        return result
    try:
        emitted = onnx.load_from_string(tilewright.emit(case.model, "quantized", config=configuration))
        judges["the quantized network emitted"] = emitted
        negative_scale = any(node.op_type == "Where" for node in emitted.graph.node)
    except tilewright.Error as error:  # some layers have no spelling in ONNX; the model itself may still decide
        if not judges:
            result.unjudged = str(error)
    ring_bytes = int(re.search(r"weight_ring_bytes\s*=\s*(\d+)", configuration.read_text()).group(1))
    for program in model.programs:
        result.paths |= paths.taken(DECODER.decode(program), ring_bytes, negative_scale)
    try:
        check = with_rtl and bool(model.programs)  # there may be nothing that the array takes
        outputs, report = model.run_and_profile(case.feed, executor="rtl" if with_rtl else "golden", check=check)
        modelled = model.profile(case.feed, executor="model") if with_rtl else None
    except tilewright.Error as error:
        result.fault = str(error)
        return result
    try:
        result.fault = _against_reference(case, judges, outputs, result)
    except Unsupported as error:
        result.unjudged = str(error)
    if with_rtl and model.programs:
        result.cycles, result.modelled = report.total["cycles"], modelled.total["cycles"]
    return result


def _against_reference(case: Case, judges: dict[str, onnx.ModelProto], outputs: dict, result: Result) -> str:
    """What differs first, or nothing. The quantized network emitted decides, and the model unless the compiler quantized
    something of it."""
    for words, judge in judges.items():
        values = evaluate(judge, case.feed)
        for name, got in outputs.items():
            want = values[name]
            if got.shape != want.shape or got.dtype != want.dtype:
                return f"{name} is {got.dtype} {got.shape}, by {words} {want.dtype} {want.shape}"
            wrong = np.argwhere(outside(got, want))
            if len(wrong):
                at = tuple(int(i) for i in wrong[0])
                right = want[at] if isinstance(want, np.ndarray) else f"{want[at].low} to {want[at].high}"
                return (
                    f"{len(wrong)} of {got.size} elements of {name} differ from {words}: at {at} {got[at]}, not {right}"
                )
            result.elements += got.size
            if count := undecided(want):
                result.undecided += count
                result.apart = max(result.apart, int((want.high.astype(int) - want.low).max()))
    return ""
