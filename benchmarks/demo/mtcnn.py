"""MTCNN face detection (Zhang et al., 2016): three small networks, and the arithmetic between them.

P-Net looks at every 12x12 window of an image pyramid, R-Net and O-Net look again at what is left, at 24x24 and 48x48
pixels. A network here is any callable {input: array} -> {output: array}, so the same pipeline runs on onnxruntime (tests)
and on compiled packages (the demo).

Layout: the networks come from a column-major original. They take [N, width, height, RGB] with pixels (value - 127.5) / 128,
and what they call x and y are the image's x and y. Boxes are rows of (left, top, right, bottom) in pixels.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

Network = Callable[[dict[str, np.ndarray]], dict[str, np.ndarray]]

MIN_FACE = 20
PYRAMID_FACTOR = 0.709
THRESHOLDS = (0.6, 0.7, 0.7)
CELL, STRIDE = 12, 2  # P-Net's window and the distance between two of them


@dataclass
class Face:
    box: tuple[int, int, int, int]  # left, top, width, height
    confidence: float
    points: dict[str, tuple[float, float]]


POINT_NAMES = ("left_eye", "right_eye", "nose", "mouth_left", "mouth_right")


@dataclass
class Networks:
    """The three networks; each also has the tensor names of the published files."""

    pnet: Network
    rnet: Network
    onet: Network


def pyramid_sizes(width: int, height: int) -> list[tuple[int, int, float]]:
    """(width, height, scale) of each level, largest first."""
    sizes, scale = [], CELL / MIN_FACE
    while min(width, height) * scale >= CELL:
        sizes.append((int(np.ceil(width * scale)), int(np.ceil(height * scale)), scale))
        scale *= PYRAMID_FACTOR
    return sizes


def to_network(images: np.ndarray) -> np.ndarray:
    """uint8 [N, height, width, 3] → float32 [N, width, height, 3]."""
    return np.ascontiguousarray(((images.astype(np.float32) - 127.5) * (1 / 128)).transpose(0, 2, 1, 3))


def resize(image: np.ndarray, width: int, height: int) -> np.ndarray:
    """uint8 [height, width, 3] of another size. The networks were trained on area averages: with another filter the box
    found in a photograph moves by a pixel or two."""
    rows, columns = _resampling(image.shape[0], height), _resampling(image.shape[1], width)
    values = np.tensordot(columns, np.tensordot(rows, image.astype(np.float32), 1), (1, 1)).transpose(1, 0, 2)
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def _resampling(size: int, new_size: int) -> np.ndarray:
    """[new_size, size] weights: the average over a new pixel's extent when it shrinks, between two pixels when it grows."""
    source = np.arange(size)
    if new_size <= size:
        edges = np.arange(new_size + 1)[:, None] * (size / new_size)
        shared = np.minimum(edges[1:], source + 1) - np.maximum(edges[:-1], source)
        return (np.maximum(shared, 0) * (new_size / size)).astype(np.float32)
    centre = np.clip((np.arange(new_size)[:, None] + 0.5) * (size / new_size) - 0.5, 0, size - 1)
    return np.maximum(0, 1 - np.abs(centre - source)).astype(np.float32)


def detect(image: np.ndarray, networks: Networks, log: Callable[[str], None] = lambda line: None) -> list[Face]:
    """Faces in `image`, uint8 [height, width, 3], most confident first."""
    boxes = _propose(image, networks.pnet)
    log(f"P-Net: {len(boxes)} candidates")
    boxes = _refine(image, boxes, networks.rnet)
    log(f"R-Net: {len(boxes)} left")
    faces = _finish(image, boxes, networks.onet)
    log(f"O-Net: {len(faces)} faces")
    return faces


def _propose(image: np.ndarray, pnet: Network) -> np.ndarray:
    height, width = image.shape[:2]
    found = [np.empty((0, 9))]
    for level_width, level_height, scale in pyramid_sizes(width, height):
        level = to_network(resize(image, level_width, level_height)[None])
        outputs = pnet({"input_1": level})
        rows = _windows(outputs["softmax"][0, :, :, 1], outputs["conv2d_4"][0], scale)
        found.append(rows[suppress(rows[:, :4], rows[:, 4], 0.5)])
    rows = np.concatenate(found)
    rows = rows[suppress(rows[:, :4], rows[:, 4], 0.7)]
    size = np.stack([rows[:, 2] - rows[:, 0], rows[:, 3] - rows[:, 1]], 1)
    boxes = rows[:, :4] + rows[:, 5:9] * np.concatenate([size, size], 1)
    return np.trunc(squared(boxes))


def _windows(face: np.ndarray, offsets: np.ndarray, scale: float) -> np.ndarray:
    """Rows (box, probability, offsets) of the windows above the threshold; maps are indexed [x, y]."""
    x, y = np.nonzero(face >= THRESHOLDS[0])
    corner = np.stack([x, y], 1) * STRIDE
    box = np.concatenate([np.trunc((corner + 1) / scale), np.trunc((corner + CELL) / scale)], 1)
    return np.concatenate([box, face[x, y, None], offsets[x, y]], 1)


def _refine(image: np.ndarray, boxes: np.ndarray, rnet: Network) -> np.ndarray:
    if not len(boxes):
        return boxes
    outputs = rnet({"input_2": to_network(crops(image, boxes, 24))})
    score = outputs["softmax_1"][:, 1]
    keep = score > THRESHOLDS[1]
    boxes, score, offsets = boxes[keep], score[keep], outputs["dense_2"][keep]
    chosen = suppress(boxes, score, 0.7)
    return np.trunc(squared(_moved(boxes[chosen], offsets[chosen])))


def _finish(image: np.ndarray, boxes: np.ndarray, onet: Network) -> list[Face]:
    if not len(boxes):
        return []
    outputs = onet({"input_3": to_network(crops(image, boxes, 48))})
    score = outputs["softmax_2"][:, 1]
    keep = score > THRESHOLDS[2]
    boxes, score, offsets, points = boxes[keep], score[keep], outputs["dense_5"][keep], outputs["dense_6"][keep]
    size = boxes[:, 2:] - boxes[:, :2] + 1
    x = points[:, 0:5] * size[:, :1] + boxes[:, :1] - 1
    y = points[:, 5:10] * size[:, 1:] + boxes[:, 1:2] - 1
    boxes = _moved(boxes, offsets)
    faces = []
    for i in suppress(boxes, score, 0.7, of_smaller=True):
        left, top = (max(0, int(edge)) for edge in boxes[i, :2])
        box = (left, top, int(boxes[i, 2] - left), int(boxes[i, 3] - top))
        located = {name: (float(x[i, k]), float(y[i, k])) for k, name in enumerate(POINT_NAMES)}
        faces.append(Face(box, float(score[i]), located))
    return faces


def crops(image: np.ndarray, boxes: np.ndarray, size: int) -> np.ndarray:
    """uint8 [N, size, size, 3]; what lies outside the image is black. Pixels are counted from 1, both ends included."""
    height, width = image.shape[:2]
    result = np.empty((len(boxes), size, size, 3), np.uint8)
    for i, (left, top, right, bottom) in enumerate(boxes.astype(int)):
        patch = np.zeros((max(bottom - top + 1, 1), max(right - left + 1, 1), 3), np.uint8)
        x0, y0, x1, y1 = max(left, 1), max(top, 1), min(right, width), min(bottom, height)
        if x0 <= x1 and y0 <= y1:
            patch[y0 - top : y1 - top + 1, x0 - left : x1 - left + 1] = image[y0 - 1 : y1, x0 - 1 : x1]
        result[i] = resize(patch, size, size)
    return result


def _moved(boxes: np.ndarray, offsets: np.ndarray) -> np.ndarray:
    size = boxes[:, 2:] - boxes[:, :2] + 1
    return boxes + offsets * np.concatenate([size, size], 1)


def squared(boxes: np.ndarray) -> np.ndarray:
    """Squares of the longer side around the same centres."""
    size = boxes[:, 2:] - boxes[:, :2]
    side = size.max(1, keepdims=True, initial=0)
    corner = boxes[:, :2] + size * 0.5 - side * 0.5
    return np.concatenate([corner, corner + side], 1)


def suppress(boxes: np.ndarray, score: np.ndarray, threshold: float, of_smaller=False) -> list[int]:
    """Non-maximum suppression: indices that stay, best first. Overlap is of the union, or of the smaller box."""
    area = (boxes[:, 2:] - boxes[:, :2] + 1).prod(1)
    order, kept = list(np.argsort(-score, kind="stable")), []
    while order:
        best, rest = order[0], np.array(order[1:], int)
        kept.append(int(best))
        low, high = np.maximum(boxes[best, :2], boxes[rest, :2]), np.minimum(boxes[best, 2:], boxes[rest, 2:])
        shared = np.maximum(high - low + 1, 0).prod(1)
        whole = np.minimum(area[best], area[rest]) if of_smaller else area[best] + area[rest] - shared
        order = list(rest[shared / whole <= threshold])
    return kept


def overlap(a: tuple[int, int, int, int], b: tuple[int, int, int, int]) -> float:
    """Intersection over union of two (left, top, width, height) boxes."""
    width = min(a[0] + a[2], b[0] + b[2]) - max(a[0], b[0])
    height = min(a[1] + a[3], b[1] + b[3]) - max(a[1], b[1])
    shared = max(width, 0) * max(height, 0)
    return shared / (a[2] * a[3] + b[2] * b[3] - shared)
