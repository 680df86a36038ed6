"""The report of a run: how much of the array's peak each layer reached, and what took the rest (docs/report.md)."""

import json


class Report:
    """`total` and `layers` are dictionaries with the keys of the JSON form; `str(report)` is the table."""

    def __init__(self, core):
        self._core = core
        self._data = json.loads(core.to_json())

    @property
    def total(self) -> dict:
        """Cycles, utilization, lost cycles by cause, bytes, host time: of the whole run."""
        return self._data["total"]

    @property
    def layers(self) -> list[dict]:
        """One entry for each layer on the array and each step on the host, in order."""
        return self._data["layers"]

    @property
    def output_sqnr_db(self) -> dict[str, float]:
        """Signal to quantization noise of each output against float, in dB, on calibration samples; empty for networks
        that the compiler did not quantize."""
        return self.total["output_sqnr_db"]

    def least_accurate(self, count: int = 5) -> list[dict]:
        """The layers that lose most by themselves: lowest `sqnr_alone_db` first."""
        known = [layer for layer in self.layers if layer.get("sqnr_alone_db") is not None]
        return sorted(known, key=lambda layer: layer["sqnr_alone_db"])[:count]

    def to_json(self) -> str:
        return self._core.to_json()

    def to_csv(self) -> str:
        return self._core.to_csv()

    def __str__(self) -> str:
        return self._core.to_table()

    def __repr__(self) -> str:
        layers = "1 layer" if len(self.layers) == 1 else f"{len(self.layers)} layers"
        return f"<Report of {self._data['model']} on {self._data['target']}, {layers}>"
