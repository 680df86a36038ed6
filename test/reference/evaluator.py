"""Walks a graph node by node. An operator is a function of (node attributes, input arrays) in one of the tables."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

from reference import arithmetic, bounds, contractions, moves, real, windows

EXACT = {**contractions.OPERATORS, **arithmetic.OPERATORS, **windows.OPERATORS, **moves.OPERATORS}


class Unsupported(RuntimeError):
    """The graph has an operator, or a form of one, that the judge does not know."""


def _function(operator: str, operands: list):
    """What computes the operator on these operands, exact or known within bounds."""
    if operator in real.OPERATORS:
        return real.OPERATORS[operator]
    if operator not in EXACT:
        return None
    if not any(isinstance(operand, bounds.Bounds) for operand in operands):
        return EXACT[operator]
    if operator not in bounds.OPERATORS:
        raise NotImplementedError("on values that are known within bounds only")
    return bounds.OPERATORS[operator]


def evaluate(model: onnx.ModelProto, feed: dict, stop_at_unsupported=False) -> dict:
    """All tensors of the graph by name, inputs and initializers included: arrays, or Bounds where floats have no one right
    result (an 8-bit tensor behind them is an array unless a value lies at a rounding boundary).

    With `stop_at_unsupported`, whatever depends on an operator, or a form of one, that the judge does not know is left out
    of the result (a float host operator in the middle of a network); otherwise it raises Unsupported.
    """
    graph = model.graph
    opset = {entry.domain: entry.version for entry in model.opset_import}
    values = {tensor.name: numpy_helper.to_array(tensor) for tensor in graph.initializer}
    for name in (value.name for value in graph.input):
        if name in feed:
            values[name] = np.asarray(feed[name])
        elif name not in values:
            raise ValueError(f"no value for input '{name}'")
    for node in graph.node:
        operator = f"{node.domain}::{node.op_type}" if node.domain else node.op_type
        if any(name and name not in values for name in node.input):
            if stop_at_unsupported:
                continue
            missing = next(name for name in node.input if name and name not in values)
            raise ValueError(f"{operator} '{node.name}' reads '{missing}', which nothing before it makes")
        operands = [values[name] if name else None for name in node.input]
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        attributes["opset"] = opset.get(node.domain, 1)
        attributes["outputs"] = len(node.output)
        try:
            function = _function(operator, operands)
            results = function(attributes, *operands) if function else None
        except NotImplementedError as error:
            if stop_at_unsupported:
                continue
            raise Unsupported(f"{operator} '{node.name}': {error}") from error
        if function is None:
            if stop_at_unsupported:
                continue
            raise Unsupported(f"the reference knows no {operator} (node '{node.name}')")
        results = results if isinstance(results, (tuple, list)) else (results,)
        values.update((name, bounds.settled(value)) for name, value in zip(node.output, results, strict=True) if name)
    return values
