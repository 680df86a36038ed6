"""Finds the face in a photograph with MTCNN, int8, every convolution and dense layer on the array's RTL."""

from pathlib import Path

import numpy as np
import onnxruntime
import skimage
from PIL import Image, ImageDraw

from benchmarks.demo import mtcnn
from benchmarks.demo.networks import CompiledNetwork
from benchmarks.fetch_models import fetch

# What the float networks find in the photograph (skimage's astronaut), for comparison.
FLOAT_BOX = (179, 60, 89, 113)
FLOAT_POINTS = {
    "left_eye": (203, 101),
    "right_eye": (246, 103),
    "nose": (224, 128),
    "mouth_left": (201, 139),
    "mouth_right": (244, 141),
}
RNET_BATCH, ONET_BATCH = 16, 8
PNET_SAMPLE = 96


def calibration_images() -> list[np.ndarray]:
    """Pictures other than the one shown: a wall of labelled face patches, a cat, a cup, a rocket."""
    patches = np.load(Path(skimage.__file__).parent / "data" / "lfw_subset.npy")[:100]
    faces = [mtcnn.resize(np.repeat((patch * 255).astype(np.uint8)[..., None], 3, 2), 80, 80) for patch in patches[:36]]
    wall = np.concatenate([np.concatenate(faces[row * 6 : row * 6 + 6], 1) for row in range(6)])
    return [wall, skimage.data.chelsea(), skimage.data.coffee(), skimage.data.rocket()]


def calibration_data() -> dict[str, np.ndarray]:
    """What each network's input looks like when the float networks work on those pictures."""
    samples: dict[str, list[np.ndarray]] = {"input_1": [], "input_2": [], "input_3": []}

    def recorder(name: str) -> mtcnn.Network:
        session = onnxruntime.InferenceSession(str(fetch(name)), providers=["CPUExecutionProvider"])
        outputs = [output.name for output in session.get_outputs()]

        def call(feed):
            ((key, value),) = feed.items()
            samples[key].append(value)
            return dict(zip(outputs, session.run(None, feed), strict=True))

        return call

    networks = mtcnn.Networks(recorder("pnet"), recorder("rnet"), recorder("onet"))
    for image in calibration_images():
        mtcnn.detect(image, networks)
    random = np.random.default_rng(0)
    tiles = []
    for level in samples["input_1"]:
        _, width, height, _ = level.shape
        for _ in range(4 if min(width, height) >= PNET_SAMPLE else 0):
            x, y = random.integers(0, width - PNET_SAMPLE + 1), random.integers(0, height - PNET_SAMPLE + 1)
            tiles.append(level[:, x : x + PNET_SAMPLE, y : y + PNET_SAMPLE])
    data = {"input_1": np.concatenate(tiles)}
    for name in ("input_2", "input_3"):
        every = np.concatenate(samples[name])
        data[name] = every[random.permutation(len(every))[:64]]
    return data


def compile_networks(image: np.ndarray, log) -> mtcnn.Networks:
    data = calibration_data()
    height, width = image.shape[:2]
    # The networks take [N, width, height, RGB].
    levels = [{"input_1": (1, w, h, 3)} for w, h, _ in mtcnn.pyramid_sizes(width, height)]

    def network(name: str, key: str, **options):
        return CompiledNetwork(name, fetch(name), log, quantize="int8", calibration={key: data[key]}, **options)

    return mtcnn.Networks(
        network("pnet", "input_1", input_shape=levels),
        network("rnet", "input_2", batch=RNET_BATCH),
        network("onet", "input_3", batch=ONET_BATCH),
    )


def draw(image: np.ndarray, faces: list[mtcnn.Face], path: Path) -> None:
    picture = Image.fromarray(image)
    pen = ImageDraw.Draw(picture)
    for face in faces:
        left, top, width, height = face.box
        pen.rectangle([left, top, left + width, top + height], outline=(0, 230, 90), width=3)
        for x, y in face.points.values():
            pen.ellipse([x - 3, y - 3, x + 3, y + 3], fill=(255, 60, 60))
        pen.text((left, top - 12), f"{face.confidence:.3f}", fill=(0, 230, 90))
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path)


def find_faces(output: Path, log) -> bool:
    """True when the face is where the float networks see it and everything agreed with the reference."""
    image = skimage.data.astronaut()
    networks = compile_networks(image, log)
    faces = mtcnn.detect(image, networks, log)
    draw(image, faces, output)
    for network in (networks.pnet, networks.rnet, networks.onet):
        log("")
        log(str(network.reports[0]))
        log(network.totals())
    good = all(network.differing == 0 and network.checked for network in (networks.pnet, networks.rnet, networks.onet))
    if len(faces) != 1:
        log(f"{len(faces)} faces were found; there is one")
        return False
    (face,) = faces
    overlap = mtcnn.overlap(face.box, FLOAT_BOX)
    distance = max(
        np.hypot(x - FLOAT_POINTS[name][0], y - FLOAT_POINTS[name][1]) for name, (x, y) in face.points.items()
    )
    log(
        f"face at x {face.box[0]}, y {face.box[1]}, {face.box[2]} x {face.box[3]} pixels, confidence {face.confidence:.4f}; "
        f"overlap with the float networks' box (IoU) {overlap:.3f}, keypoints within {distance:.1f} pixels; picture: {output}"
    )
    return good and overlap >= 0.9 and distance <= 4
