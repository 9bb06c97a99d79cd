"""The detector: decoding, regions, and the same answer from every backend."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from calibration.errors import InputError
from tests.vision.picture import table
from vision import yolo
from vision.detections import Detections

BALLS = [(70.0, 60.0, 9.0), (150.0, 90.0, 9.0), (240.0, 130.0, 9.0), (112.0, 150.0, 9.0)]
COLOURS = [(40, 40, 200), (40, 200, 230), (225, 235, 240), (25, 25, 25)]


def scene() -> np.ndarray:
    return table(BALLS, COLOURS, size=(320, 192))


def head(balls: list[tuple[float, float, float]], shape: tuple[int, int] = (24, 40)) -> np.ndarray:
    """A raw head that sees exactly these balls: the nine cells about each centre point at it."""
    raw = np.full((5, *shape), 0.5, dtype=np.float32)
    raw[4] = -9
    for x, y, r in balls:
        u, v = int((x + 0.5) / 8), int((y + 0.5) / 8)
        for i in range(max(v - 1, 0), min(v + 2, shape[0])):
            for j in range(max(u - 1, 0), min(u + 2, shape[1])):
                cx, cy = (j + 0.5) * 8 - 0.5, (i + 0.5) * 8 - 0.5
                sides = ((cx - x + r), (cy - y + r), (x + r - cx), (y + r - cy))
                raw[:4, i, j] = np.array(sides) / 8
                raw[4, i, j] = 3.0 - abs(i - v) - abs(j - u)
    return raw


def test_decode_gives_back_circles() -> None:
    balls = [(50.3, 60.7, 9.0), (100.0, 40.0, 14.0), (200.5, 120.25, 5.0)]
    found = yolo.decode(head(balls), 0.25)
    assert len(found) == 3
    for x, y, r in balls:
        k = np.hypot(found[:, 0] - x, found[:, 1] - y).argmin()
        np.testing.assert_allclose(found[k, :3], (x, y, r), atol=1e-3)


def test_touching_balls_stay_two() -> None:
    found = yolo.decode(head([(80.0, 80.0, 12.0), (104.0, 80.0, 12.0)]), 0.25)
    assert len(found) == 2


def test_decode_of_nothing() -> None:
    assert yolo.decode(head([]), 0.25).shape == (0, 4)


@pytest.mark.parametrize("size", [(1080, 1920), (576, 1024), (2100, 3360), (800, 450), (40, 900)])
def test_fit_keeps_shape_and_budget(size: tuple[int, int]) -> None:
    image = np.zeros((*size, 3), dtype=np.uint8)
    small, scale = yolo.fit(image, yolo.VIDEO_PIXELS)
    assert small.shape[0] % 32 == small.shape[1] % 32 == 0
    assert size[0] * scale <= small.shape[0] + 1
    assert size[1] * scale <= small.shape[1] + 1
    assert small.shape[0] * small.shape[1] < 1.5 * yolo.VIDEO_PIXELS


def test_finds_drawn_balls_and_maps_regions_back() -> None:
    image = scene()
    big = np.full((600, 900, 3), 60, dtype=np.uint8)
    big[100:292, 200:520] = image
    detector = yolo.load(threads=1)
    for found, shift in ((detector(image), (0, 0)), (detector(big, (200, 100, 520, 292)), (200, 100))):
        found = found[found.score > 0.4]
        for x, y, r in BALLS:
            gap = np.hypot(*(found.centre - (x + shift[0], y + shift[1])).T)
            assert gap.min() < 0.25 * r
            assert found.radius[gap.argmin()] == pytest.approx(r, rel=0.25)


@pytest.mark.parametrize("backend", ["onnx", "torch"])
def test_backends_agree(backend: str) -> None:
    pytest.importorskip({"onnx": "onnxruntime", "torch": "ultralytics"}[backend], reason="the backend is not installed")
    image = scene()
    full = yolo.load(yolo.weights_folder() / "detector.onnx", backend="openvino", threads=1)(image)
    same(full, yolo.load(backend=backend, threads=1)(image), pixels=0.3, score=0.03)


def test_eight_bits_find_the_same_balls() -> None:
    image = scene()
    full = yolo.load(yolo.weights_folder() / "detector.onnx", backend="openvino", threads=1)(image)
    small = yolo.load(threads=1)(image)
    same(full[full.score > 0.5], small[small.score > 0.4], pixels=0.5, score=0.12)


def same(a: Detections, b: Detections, *, pixels: float, score: float) -> None:
    assert len(a) == len(b) >= 4
    order = [int(np.hypot(*(b.centre - c).T).argmin()) for c in a.centre]
    np.testing.assert_allclose(a.centre, b.centre[order], atol=pixels)
    np.testing.assert_allclose(a.radius, b.radius[order], atol=pixels)
    np.testing.assert_allclose(a.score, b.score[order], atol=score)


def test_openvino_needs_no_torch() -> None:
    code = "import sys; from vision.seer import Seer; Seer(threads=1); print('torch' in sys.modules, 'ultralytics' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_bad_weights_and_backends_are_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"nothing\.onnx"):
        yolo.load(tmp_path / "nothing.onnx")
    with pytest.raises(InputError, match="tensorrt"):
        yolo.load(backend="tensorrt")
    (tmp_path / "x.txt").write_text("")
    with pytest.raises(InputError, match=r"reads \.onnx"):
        yolo.load(tmp_path / "x.txt", backend="onnx")


def test_weights_are_small() -> None:
    assert sum(p.stat().st_size for p in yolo.weights_folder().iterdir()) < 12e6


@pytest.mark.parametrize(
    ("needed", "level"), [(1.0, 0.75), (150_000, 0.75), (225_000, 1.0), (280_000, 1.3), (9e6, 1.3)]
)
def test_pixels_follow_the_smaller_balls(needed: float, level: float) -> None:
    from vision.seer import pixels_for

    assert pixels_for(needed, 225_280) == round(level * 225_280)


def test_a_ball_of_another_size_counts_less() -> None:
    from vision.detections import Detections
    from vision.sizes import weigh

    rng = np.random.default_rng(1)
    centre = rng.uniform(0, 1000, (9, 2))
    radius = 10 + centre[:, 1] / 100  # nearer balls are larger
    found = Detections.of(centre, radius, np.full(9, 0.8))
    np.testing.assert_allclose(weigh(found).score, 0.8, atol=0.02)
    odd = radius.copy()
    odd[4] *= 0.45
    score = weigh(Detections.of(centre, odd, np.full(9, 0.8))).score
    assert score[4] < 0.2
    assert np.delete(score, 4).min() > 0.7


def test_few_balls_are_not_compared() -> None:
    from vision.detections import Detections
    from vision.sizes import weigh

    found = Detections.of([[0, 0], [50, 0], [90, 10]], [10, 3, 10], [0.9, 0.9, 0.9])
    np.testing.assert_array_equal(weigh(found).score, found.score)
