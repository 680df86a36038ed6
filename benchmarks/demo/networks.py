"""A compiled network as the demo uses it: runs on the simulated array, keeps its reports, checks every run.

The judge is test/reference: it evaluates what `emit(..., "quantized")` wrote, node by node, by definition. Outputs are compared up to the last
8-bit tensor exactly; the float operators behind it (softmax) within 1e-5.
"""

import sys
import time
from pathlib import Path

import numpy as np
import onnx
import tilewright

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "test"))
from reference import evaluate, outside

FLOAT_TOLERANCE = 1e-5


class CompiledNetwork:
    """Callable like the networks of mtcnn.py: {input: array} -> {output: array}."""

    def __init__(self, name: str, path, log, input_shape=None, **options):
        self.name, self.path, self.log, self.options = name, path, log, options
        self.reports: list[tilewright.Report] = []
        self.checked = self.differing = 0
        self._judges: dict[tuple, onnx.ModelProto] = {}
        start = time.monotonic()
        self.model = tilewright.compile(path, input_shape=input_shape, **options)
        log(f"{name}: compiled in {time.monotonic() - start:.1f} s, serves {', '.join(self.model.specialisations)}")

    def __call__(self, feed: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
        outputs, report = self.model.run_and_profile(feed, executor="rtl", progress=self._progress)
        self.reports.append(report)
        self._check(feed, outputs)
        return outputs

    def _progress(self, line: str) -> None:
        print(f"\r\033[K{self.name}: {line}" if sys.stderr.isatty() else f"{self.name}: {line}\n",
              end="", file=sys.stderr, flush=True)  # fmt: skip

    def _check(self, feed, outputs) -> None:
        """Against the reference, in the shapes that were compiled."""
        batch = self.options.get("batch")
        count = len(next(iter(feed.values())))
        size = batch or count
        for start in range(0, count, size):
            part = {name: value[start : start + size] for name, value in feed.items()}
            real = len(next(iter(part.values())))
            if real < size:
                part = {name: np.concatenate([value, np.zeros((size - real, *value.shape[1:]), value.dtype)])
                        for name, value in part.items()}  # fmt: skip
            values = evaluate(self._judge(part), part, stop_at_unsupported=True)
            for name, value in outputs.items():
                if name in values:
                    self._compare(value[start : start + size], values[name][:real])

    def _judge(self, feed) -> onnx.ModelProto:
        key = tuple(value.shape for value in feed.values())
        if key not in self._judges:
            shapes = {name: value.shape for name, value in feed.items()}
            options = {word: value for word, value in self.options.items() if word != "batch"}
            bytes_ = tilewright.emit(self.path, "quantized", input_shape=shapes, **options)
            self._judges[key] = onnx.load_from_string(bytes_)
        return self._judges[key]

    def _compare(self, got: np.ndarray, want: np.ndarray) -> None:
        self.checked += got.size
        self.differing += int(np.count_nonzero(outside(got.astype(np.float64), want, FLOAT_TOLERANCE)))

    def totals(self) -> str:
        """All runs together."""
        cycles = sum(report.total["cycles"] for report in self.reports)
        macs = sum(report.total["macs"] for report in self.reports)
        slots = sum(report.total["slots"]["all"] for report in self.reports)
        return (
            f"{self.name}: {len(self.reports)} runs, {cycles:,} cycles (simulated, RTL), utilization "
            f"{100 * macs / slots if slots else 0:.1f} %; {self.checked:,} outputs compared with the reference, "
            f"{self.differing} differ"
        )
