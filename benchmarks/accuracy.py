"""What 8 bits cost trained networks, by the way in which ranges are chosen: a Markdown table.

    python -m benchmarks.accuracy                       # all networks and methods
    python -m benchmarks.accuracy open_nsfw --method=mse --method=percentile:99.99

Each network is calibrated by the compiler on some inputs and judged on others, on the array's golden executor, against
onnxruntime in float. Signal to noise is that of all outputs together, probabilities as centred logarithms: what the
softmax was given. Needs `make build`.
"""

import argparse
import itertools
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import onnxruntime
import skimage
from PIL import Image, ImageDraw, ImageFont

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT / "build" / "python"))

import tilewright

from benchmarks.demo.mtcnn import resize
from benchmarks.fetch_models import fetch

METHODS = ["min-max", "percentile:99.99", "percentile:99.9", "mse"]


@dataclass
class Case:
    """Samples along the first axis."""

    model: str
    input: str
    calibration: np.ndarray
    judged: np.ndarray
    options: dict = field(default_factory=dict)


def photographs() -> dict[str, np.ndarray]:
    """scikit-image's colour photographs, uint8 [height, width, 3]."""
    load = {name: getattr(skimage.data, name)() for name in ("astronaut", "chelsea", "coffee", "rocket")}
    folder = Path(skimage.__file__).parent / "data"
    for file in ("motorcycle_left.png", "motorcycle_right.png", "retina.jpg", "hubble_deep_field.jpg", "ihc.png"):
        load[file.partition(".")[0]] = np.asarray(Image.open(folder / file).convert("RGB"))
    return load


def nsfw_input(image: np.ndarray) -> np.ndarray:
    """As the network was trained: 256 x 256, the middle 224 x 224, BGR without the mean. [224, 224, 3] float32."""
    small = resize(image, 256, 256)[16:240, 16:240, ::-1].astype(np.float32)
    return small - np.array([104, 117, 123], np.float32)


def prepared(function: Callable[[np.ndarray], np.ndarray], images: list[np.ndarray]) -> np.ndarray:
    return np.stack([function(image) for image in images])


def nsfw(quarters: bool = True) -> Case:
    """Judged on four photographs, and on their quarters."""
    judged = ("astronaut", "chelsea", "coffee", "rocket")
    images = photographs()
    others = [image for name, image in images.items() if name not in judged]
    others += [image[:, ::-1] for image in others]
    others += [
        np.repeat(getattr(skimage.data, name)()[..., None], 3, 2) for name in ("camera", "coins", "moon", "brick")
    ]
    shown = [images[name] for name in judged]
    if quarters:
        shown += [part for image in shown for half in np.array_split(image, 2) for part in np.array_split(half, 2, 1)]
    return Case("open_nsfw", "input:0", prepared(nsfw_input, others), prepared(nsfw_input, shown), {"batch": 1})


def text_input(image: np.ndarray) -> np.ndarray:
    """uint8 [height, width] or [height, width, 3] → [3, 48, 192]: 48 rows, filled up to 192 columns, pixels from -1 to 1."""
    image = image if image.ndim == 3 else np.repeat(image[..., None], 3, 2)
    width = min(192, int(np.ceil(48 * image.shape[1] / image.shape[0])))
    result = np.zeros((3, 48, 192), np.float32)
    result[:, :, :width] = (resize(image, width, 48).astype(np.float32) / 127.5 - 1).transpose(2, 0, 1)
    return result


def text_lines() -> list[np.ndarray]:
    """Cut out of the six straight lines of scikit-image's photographed page, each upright and upside down."""
    page = skimage.data.page()
    crops = []
    for top, bottom, edges in [(6, 40, (0, 150, 300)), (48, 68, (0, 130, 255, 380)), (66, 86, (0, 130, 255, 380)),
                               (82, 102, (0, 130, 255, 380)), (98, 118, (0, 130, 255, 380)), (114, 136, (0, 95, 190))]:  # fmt: skip
        crops += [page[top:bottom, left:right] for left, right in itertools.pairwise(edges)]
    return [turned for crop in crops for turned in (crop, crop[::-1, ::-1])]


def printed_lines() -> list[np.ndarray]:
    """Lines set in Pillow's font on grey paper: what the classifier is calibrated on. Upright and upside down."""
    words = ["Quantization keeps", "the answer of a net", "Systolic arrays 1978", "weights and sums", "int8 + int32",
             "A quick brown fox", "jumps over 13 dogs", "Calibrate, compile"]  # fmt: skip
    random = np.random.default_rng(0)
    lines = []
    for i, text in enumerate(words):
        paper, ink = 230 - 14 * i, 20 + 6 * i
        canvas = Image.new("L", (40 + 13 * len(text), 40), paper)
        ImageDraw.Draw(canvas).text((6, 4), text, fill=ink, font=ImageFont.load_default(20 + i % 4 * 2))
        pixels = np.asarray(canvas, np.float32) + random.normal(0, 2 + i, canvas.size[::-1])
        pixels = np.clip(pixels, 0, 255).astype(np.uint8)
        lines += [pixels, pixels[::-1, ::-1]]
    return lines


def text_direction() -> Case:
    calibration, judged = prepared(text_input, printed_lines()), prepared(text_input, text_lines())
    return Case("text_direction", "x", calibration, judged, {"input_shape": {"x": (1, 3, 48, 192)}})


def patches(size: int) -> np.ndarray:
    grey = skimage.data.lfw_subset()
    images = [np.repeat(resize((patch * 255).astype(np.uint8)[..., None], size, size), 3, -1) for patch in grey]
    return np.ascontiguousarray(((np.stack(images).astype(np.float32) - 127.5) / 128).transpose(0, 2, 1, 3))


def mtcnn(name: str, tensor: str, size: int) -> Case:
    images = patches(size)
    shape = (1, size, size, 3)
    options = {"input_shape": {tensor: shape}} if name == "pnet" else {"batch": 8}
    return Case(name, tensor, images[::8], np.delete(images, np.s_[::8], 0), options)


def keywords() -> Case:
    walk = np.cumsum(np.random.default_rng(0).normal(0, 0.1, (96, 1960)), -1).clip(-4.9, 4.9).astype(np.float32)
    session = onnxruntime.InferenceSession(fetch("micro_kws_static_fp32"), providers=["CPUExecutionProvider"])
    return Case("micro_kws_static_fp32", session.get_inputs()[0].name, walk[:16], walk[16:])


def digits() -> Case:
    """Digits of Pillow's font, moved, turned and blurred."""
    random = np.random.default_rng(0)
    images = []
    for i in range(80):
        canvas = Image.new("L", (28, 28), 0)
        where = 6 + random.integers(-2, 3), 1 + random.integers(-1, 2)
        ImageDraw.Draw(canvas).text(where, str(i % 10), fill=255, font=ImageFont.load_default(24))
        canvas = canvas.rotate(random.uniform(-12, 12), resample=Image.Resampling.BILINEAR)
        images.append(np.asarray(canvas, np.float32)[None])
    return Case("mnist_conv", "Input3", np.stack(images[:20]), np.stack(images[20:]))


CASES = {
    "pnet": lambda: mtcnn("pnet", "input_1", 48),
    "rnet": lambda: mtcnn("rnet", "input_2", 24),
    "onet": lambda: mtcnn("onet", "input_3", 48),
    "open_nsfw": nsfw,
    "text_direction": text_direction,
    "micro_kws_static_fp32": keywords,
    "mnist_conv": digits,
}


def float_outputs(case: Case) -> list[dict[str, np.ndarray]]:
    """onnxruntime's outputs, sample by sample."""
    session = onnxruntime.InferenceSession(fetch(case.model), providers=["CPUExecutionProvider"])
    names = [output.name for output in session.get_outputs()]
    feeds = ({case.input: sample[None]} for sample in case.judged)
    return [dict(zip(names, session.run(names, feed), strict=True)) for feed in feeds]


def judged_outputs(model: tilewright.Model, case: Case, executor: str = "golden") -> list[dict[str, np.ndarray]]:
    return [model.run({case.input: sample[None]}, executor=executor) for sample in case.judged]


def is_distribution(value: np.ndarray) -> bool:
    """Probabilities along the last axis."""
    return value.shape[-1] > 1 and bool(np.allclose(value.sum(-1), 1, atol=1e-3) and (value >= 0).all())


def logits(value: np.ndarray) -> np.ndarray:
    """Of probabilities: their logarithms around their mean, which is all that a softmax keeps of its operand."""
    logarithms = np.log(np.maximum(value.astype(np.float64), 1e-12))
    return logarithms - logarithms.mean(-1, keepdims=True)


def accuracy(exact: list[dict[str, np.ndarray]], rounded: list[dict[str, np.ndarray]]) -> tuple[float, int, int]:
    """Signal to noise in dB over all outputs, and of how many classes the top one is the same: (dB, same, all)."""
    signal = noise = 0.0
    same = count = 0
    for name in exact[0]:
        a, b = (np.concatenate([sample[name] for sample in samples]) for samples in (exact, rounded))
        if is_distribution(a):
            same += int((a.argmax(-1) == b.argmax(-1)).sum())
            count += a[..., 0].size
            a, b = logits(a), logits(b)
        # Each output in units of its own size: one with large numbers is not the only one that counts.
        power = float((a.astype(np.float64) ** 2).sum())
        signal += 1
        noise += float(((a.astype(np.float64) - b) ** 2).sum()) / power
    if not count:  # scores without a softmax
        (name,) = exact[0]
        same = sum(int(a[name].argmax() == b[name].argmax()) for a, b in zip(exact, rounded, strict=True))
        count = len(exact)
    return 10 * np.log10(signal / noise) if noise else np.inf, same, count


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("networks", nargs="*", metavar="NETWORK", help=f"of {', '.join(CASES)}")
    parser.add_argument("--method", action="append", help=f"a --calibration-range (default: {', '.join(METHODS)})")
    options = parser.parse_args()
    methods = options.method or METHODS
    print("| network | " + " | ".join(methods) + " |\n|---|" + "---|" * len(methods), flush=True)
    for name in options.networks or CASES:
        case = CASES[name]()
        exact = float_outputs(case)
        cells = []
        for method in methods:
            model = tilewright.compile(
                fetch(case.model), quantize="int8", calibration={case.input: case.calibration},
                calibration_range=method, **case.options,
            )  # fmt: skip
            decibels, same, count = accuracy(exact, judged_outputs(model, case))
            cells.append(f"{decibels:.1f} dB, {same}/{count}")
        print(f"| {name} | " + " | ".join(cells) + " |", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
