"""Walks a graph node by node. An operator is a function of (node attributes, input arrays) in one of the tables."""

import numpy as np
import onnx
from onnx import helper, numpy_helper

from reference import arithmetic, contractions, moves, windows

OPERATORS = {**contractions.OPERATORS, **arithmetic.OPERATORS, **windows.OPERATORS, **moves.OPERATORS}


class Unsupported(RuntimeError):
    """The graph has an operator, or a form of one, that the judge does not know."""


def evaluate(model: onnx.ModelProto, feed: dict[str, np.ndarray], stop_at_unsupported=False) -> dict[str, np.ndarray]:
    """All tensors of the graph by name, inputs and initializers included.

    With `stop_at_unsupported`, whatever depends on an operator that the judge does not know is left out of the result
    (a float host operator in the middle of a network); otherwise it raises Unsupported.
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
        if operator not in OPERATORS:
            if stop_at_unsupported:
                continue
            raise Unsupported(f"the reference knows no {operator} (node '{node.name}')")
        attributes = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        attributes["opset"] = opset.get(node.domain, 1)
        attributes["outputs"] = len(node.output)
        try:
            results = OPERATORS[operator](attributes, *(values[name] if name else None for name in node.input))
        except NotImplementedError as error:
            raise Unsupported(f"{operator} '{node.name}': {error}") from error
        results = results if isinstance(results, (tuple, list)) else (results,)
        values.update((name, value) for name, value in zip(node.output, results, strict=True) if name)
    return values
