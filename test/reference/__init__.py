"""The judge: evaluates quantized ONNX graphs by definition.

Integer layers are summed exactly in integers; every float32 step is one rounded numpy operation in the order that
docs/accelerator.md gives. Float functions and float sums, which have no one right result, are given within bounds. It
shares no code with the compiler and knows nothing of tiles, descriptors or layouts: what it says about a file written by
`compile-model --emit=quantized` is what golden and RTL are held to.
"""

from reference.bounds import Bounds, outside, undecided
from reference.evaluator import Unsupported, evaluate

__all__ = ["Bounds", "Unsupported", "evaluate", "outside", "undecided"]
