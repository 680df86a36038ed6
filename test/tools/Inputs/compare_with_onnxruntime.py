"""Runs a package on each executor and an ONNX file in onnxruntime (graph optimization off) on the same random inputs.

`compare_with_onnxruntime.py MODEL.onnx PACKAGE.twp EXECUTOR... [--tolerance=T]`: prints for each executor and output how many
elements differ, for floats by more than the tolerance.
"""

import subprocess
import sys

import numpy as np
import onnxruntime

TYPES = {"tensor(float)": np.float32, "tensor(uint8)": np.uint8, "tensor(int8)": np.int8, "tensor(int64)": np.int64}


def main() -> None:
    tolerance = next((float(a.partition("=")[2]) for a in sys.argv if a.startswith("--tolerance=")), 0)
    model, package, *executors = [a for a in sys.argv[1:] if not a.startswith("--")]
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
    random = np.random.default_rng(0)
    feeds, arguments = {}, []
    for number, given in enumerate(session.get_inputs()):
        shape = [size if isinstance(size, int) else 1 for size in given.shape]
        kind = TYPES[given.type]
        low, high = (-128, 128) if kind == np.int8 else (0, 256 if kind == np.uint8 else 2)
        value = random.uniform(-1, 1, shape) if kind == np.float32 else random.integers(low, high, shape)
        feeds[given.name] = value.astype(kind)
        np.save(f"input{number}.npy", feeds[given.name])
        arguments.append(f"--input={given.name}:input{number}.npy")
    expected = session.run(None, feeds)
    for executor in executors:
        command = ["run-model", "-q", package, *arguments, f"--executor={executor}", f"--output-dir={executor}"]
        subprocess.run(command, check=True)
        for output, want in zip(session.get_outputs(), expected, strict=True):
            got = np.load(f"{executor}/{output.name}.npy")
            assert got.shape == want.shape and got.dtype == want.dtype, (got.shape, got.dtype, want.shape, want.dtype)
            different = np.abs(got.astype(np.float64) - want.astype(np.float64)) > tolerance
            print(f"{executor} {output.name}: {np.count_nonzero(different)} of {want.size} differ")


if __name__ == "__main__":
    main()
