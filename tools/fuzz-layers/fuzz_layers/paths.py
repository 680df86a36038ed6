"""Which paths of compiler and hardware a device program takes. A run of the fuzzer that leaves one out has not tested it, and
fails."""

from collections import Counter

MODES = ("dense", "depthwise", "packed")
RELEASE_BLOCK, RELEASE_STREAM = 1, 2
VECTOR_OPS = ("max", "sum", "add")
LOAD_MODES = ("words", "bytes", "planar")

PATHS = (
    *(f"execute {mode}" for mode in MODES),
    "row split",
    "channel split",
    "reduction split",
    "spill",
    "ring wrap",
    "weights kept",
    "R < H",
    "padding",
    "several samples",
    "channel offset",
    "step 1 negative scale",
    "step 2 narrowed clamp",
    "step 3 table",
    "step 4 residual",
    "step 4 swapped",
    "step 4 unsigned",
    "step 4 zero point",
    *(f"vector {op}" for op in VECTOR_OPS),
    "vector table",
    "vector add zero point",
    *(f"load {mode}" for mode in LOAD_MODES),
    "load flipped",
)


def taken(program: list[dict], ring_bytes: int, negative_scale: bool) -> Counter:
    """The paths of one program, each counted once. `ring_bytes` is the weight ring's size; `negative_scale` says that a
    layer has m_neg other than m (that is in the weights, not in a descriptor)."""
    found = set()
    executes = [d for d in program if d["kind"] == "execute"]
    for descriptor in program:
        if descriptor["kind"] == "execute":
            found |= _execute_paths(descriptor)
        elif descriptor["kind"] == "vector":
            found.add(f"vector {VECTOR_OPS[descriptor['op']]}")
            if descriptor["table"]:
                found.add("vector table")
            if VECTOR_OPS[descriptor["op"]] == "add" and _rounds_first(
                descriptor["out_zero_point"], descriptor["unsigned_add"]
            ):
                found.add("vector add zero point")
            if descriptor["in_ring_rows"] < descriptor["in_height"]:
                found.add("R < H")
        elif descriptor["kind"] == "load":
            found.add(f"load {LOAD_MODES[descriptor['mode']]}")
            if descriptor["flip_sign"]:
                found.add("load flipped")
    for layer in {d["layer"] for d in executes}:
        jobs = [d for d in executes if d["layer"] == layer]
        if len({d["out_row_start"] for d in jobs}) > 1:
            found.add("row split")
        if (
            len(
                {
                    (d["out_base"], d["out_channel_offset"])
                    for d in jobs
                    if d["out_row_start"] == jobs[0]["out_row_start"]
                }
            )
            > 1
        ):
            found.add("channel split")
    stored = {d["dram_address"] for d in program if d["kind"] == "store"}
    if any(d["kind"] == "load" and d["dram_address"] in stored for d in program):
        found.add("spill")
    ring = [d for d in program if d["kind"] == "weights" and d["destination"] == 0]
    if sum(d["byte_count"] for d in ring) > ring_bytes:
        found.add("ring wrap")
    if negative_scale:
        found.add("step 1 negative scale")
    return Counter(dict.fromkeys(found, 1))


def _rounds_first(zero_point: int, unsigned: int) -> bool:
    """Whether an addition's zero point is added after rounding: not the one that `unsigned` alone asks for."""
    return zero_point != (-128 if unsigned else 0)


def _execute_paths(d: dict) -> set[str]:
    conditions = {
        f"execute {MODES[d['mode']]}": True,
        "reduction split": d["release"] == RELEASE_STREAM or not d["acc_init"],
        "weights kept": d["release"] not in (RELEASE_BLOCK, RELEASE_STREAM),
        "R < H": d["in_ring_rows"] < d["in_height"],
        "padding": d["window_pad_top"] > 0 or d["window_pad_left"] > 0,
        "several samples": d["samples"] > 1,
        "channel offset": d["out_channel_offset"] != 0,
        "step 2 narrowed clamp": (d["clamp_min"], d["clamp_max"]) != (-128, 127),
        "step 3 table": d["table_1"] != 0,
        "step 4 residual": d["residual"] == 1,
        "step 4 swapped": d["residual"] == 1 and d["residual_swap"] == 1,
        "step 4 unsigned": d["residual"] == 1 and d["residual_unsigned"] == 1,
        "step 4 zero point": d["residual"] == 1 and _rounds_first(d["residual_zero_point"], d["residual_unsigned"]),
    }
    return {name for name, holds in conditions.items() if holds}
