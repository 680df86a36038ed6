"""The demo's face detection: with the float networks it must find what the published networks find."""

import numpy as np
import onnxruntime as ort
import pytest
import skimage

from benchmarks.demo import mtcnn


def float_networks(model):
    def load(name):
        session = ort.InferenceSession(model(name))
        names = [o.name for o in session.get_outputs()]
        return lambda feed: dict(zip(names, session.run(names, feed), strict=True))

    return mtcnn.Networks(*(load(name) for name in ("pnet", "rnet", "onet")))


def test_finds_the_face_of_the_astronaut(model):
    (face,) = mtcnn.detect(skimage.data.astronaut(), float_networks(model))
    assert face.box == (179, 60, 89, 113)
    assert face.confidence == pytest.approx(0.999995, abs=1e-6)
    points = {name: (int(x), int(y)) for name, (x, y) in face.points.items()}
    assert points == {
        "left_eye": (203, 101),
        "right_eye": (246, 103),
        "nose": (224, 128),
        "mouth_left": (201, 139),
        "mouth_right": (244, 141),
    }


def test_finds_no_face_where_there_is_none(model):
    assert mtcnn.detect(skimage.data.coffee(), float_networks(model)) == []


def test_the_pyramid_covers_faces_from_20_pixels_to_the_whole_image():
    sizes = mtcnn.pyramid_sizes(512, 512)
    assert len(sizes) == 10
    assert sizes[0] == (308, 308, 0.6)
    assert sizes[-1][:2] == (14, 14)


def test_suppression_keeps_the_best_of_what_overlaps():
    boxes = np.array([[0, 0, 9, 9], [1, 1, 10, 10], [20, 20, 29, 29], [0, 0, 4, 4]], float)
    score = np.array([0.8, 0.9, 0.5, 0.7])
    assert mtcnn.suppress(boxes, score, 0.5) == [1, 3, 2]
    # A small box inside a large one overlaps little of the union, and all of itself.
    assert mtcnn.suppress(boxes, score, 0.5, of_smaller=True) == [1, 2]


def test_crops_are_black_outside_the_image():
    image = np.full((10, 10, 3), 200, np.uint8)
    patch = mtcnn.crops(image, np.array([[-4.0, 1.0, 5.0, 10.0]]), 10)[0]
    assert (patch[:, :5] == 0).all() and (patch[:, 5:] == 200).all()


def test_resize_averages_areas():
    image = np.arange(16, dtype=np.uint8).reshape(4, 4, 1).repeat(3, 2)
    assert mtcnn.resize(image, 2, 2)[..., 0].tolist() == [[2, 4], [10, 12]]  # 2.5, 4.5, 10.5, 12.5 half to even
    assert mtcnn.resize(np.full((5, 7, 3), 99, np.uint8), 3, 11).tolist() == np.full((11, 3, 3), 99).tolist()


def test_overlap():
    assert mtcnn.overlap((0, 0, 10, 10), (0, 0, 10, 10)) == 1
    assert mtcnn.overlap((0, 0, 10, 10), (5, 0, 10, 10)) == pytest.approx(1 / 3)
    assert mtcnn.overlap((0, 0, 10, 10), (20, 0, 10, 10)) == 0
