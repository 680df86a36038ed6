"""ResNet-50 whole, batch 1, int8, on the RTL: the report, and the outputs against the reference."""

from pathlib import Path

import numpy as np
import onnx
import skimage

from benchmarks.build_model import NETWORKS
from benchmarks.demo.mtcnn import resize
from benchmarks.demo.networks import CompiledNetwork


def photographs(size: int) -> np.ndarray:
    """[N, 3, size, size], standardized as ImageNet networks expect."""
    pictures = [skimage.data.chelsea(), skimage.data.coffee(), skimage.data.rocket(), skimage.data.astronaut()]
    images = np.stack([resize(picture, size, size) for picture in pictures]).astype(np.float32) / 255
    mean, deviation = np.float32([0.485, 0.456, 0.406]), np.float32([0.229, 0.224, 0.225])
    return np.ascontiguousarray(((images - mean) / deviation).transpose(0, 3, 1, 2))


def run_resnet50(folder: Path, log) -> bool:
    model = NETWORKS["resnet50"]()
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / "resnet50.onnx"
    onnx.save(model, path)
    name = model.graph.input[0].name
    images = photographs(224)
    network = CompiledNetwork("resnet50", path, log, batch=1, quantize="int8", calibration={name: images[:3]})
    network({name: images[3:]})
    log("")
    log(str(network.reports[0]))
    log(network.totals())
    return network.differing == 0 and network.checked > 0
