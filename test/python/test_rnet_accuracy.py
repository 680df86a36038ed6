"""What quantization costs a trained classifier, on real pictures: MTCNN's R-Net on 200 labelled face patches."""

import numpy as np
import skimage
import tilewright

from benchmarks.demo.mtcnn import resize


def patches() -> np.ndarray:
    """[200, 24, 24, 3], standardized and transposed as the network expects; the first 100 are faces."""
    grey = skimage.data.lfw_subset()
    images = [np.repeat(resize((patch * 255).astype(np.uint8)[..., None], 24, 24), 3, -1) for patch in grey]
    return ((np.stack(images).astype(np.float32) - 127.5) / 128).transpose(0, 2, 1, 3)


def test_int8_keeps_the_answers(model):
    images = np.ascontiguousarray(patches())
    net = tilewright.compile(model("rnet"), quantize="int8", calibration={"input_2": images[::4]}, batch=8)
    outputs = net.run({"input_2": images}, executor="golden")
    face = next(value for value in outputs.values() if value.shape[1] == 2)[:, 1]
    right = (face > 0.5) == (np.arange(200) < 100)
    assert right.sum() >= 198
    assert face[:100].mean() > 0.99 and face[100:].mean() < 0.02
