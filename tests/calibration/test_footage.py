"""Real pictures, which do not ship: corners against marks made by eye, sights, the same balls from two sides."""

from __future__ import annotations

import json
from pathlib import Path

import cv2
import numpy as np
import pytest

from calibration.errors import InputError
from calibration.find import find_table

FOOTAGE = Path(__file__).parents[3] / "shared" / "footage"
pytestmark = [
    pytest.mark.footage,
    pytest.mark.slow,
    pytest.mark.skipif(not FOOTAGE.is_dir(), reason="the real footage is not here"),
]


def test_corners_of_the_clips() -> None:
    medians = []
    for marks in sorted((FOOTAGE / "truth").glob("*.json")):
        truth = json.loads(marks.read_text())
        path = next(FOOTAGE.rglob(truth["file"]))
        _, image = cv2.VideoCapture(str(path)).read()
        try:
            found = find_table([np.asarray(image, np.uint8)])
        except InputError:
            continue  # refused with a reason
        got = np.array(list(found.corners_px.values()))
        gaps = [np.linalg.norm(got - corner, axis=1).min() for corner in truth["corners_px"].values()]
        assert np.median(gaps) < 10, marks.stem
        medians.append(float(np.median(gaps)))
    assert len(medians) >= 12
    assert np.median(medians) <= 4


@pytest.mark.parametrize("number", [12, 22, 24, 6, 10, 14, 16, 18])
def test_the_same_balls_from_two_sides(number: int) -> None:
    folder = FOOTAGE / "pix2pockets"
    other = next(x for x in "fa" if (folder / "images" / f"{number}{x}.jpg").exists())
    above, side = (_balls(folder, f"{number}{x}") for x in ("t", other))
    gaps = []
    for option in (side, np.array([1.27, 2.54]) - side):
        gaps.append(float(np.median(np.linalg.norm(above[:, None] - option[None], axis=2).min(axis=1))))
    assert min(gaps) < 0.020


def _balls(folder: Path, name: str) -> np.ndarray:
    image = np.asarray(cv2.imread(str(folder / "images" / f"{name}.jpg")), np.uint8)
    height, width = image.shape[:2]
    rows = [line.split() for line in (folder / "labels" / f"{name}.txt").read_text().splitlines()]
    pixels = np.array([(float(r[1]) * width, float(r[2]) * height) for r in rows if len(r) == 5 and r[0] != "2"])
    found = find_table([image], length_m=2.54)
    ball = found.table.ball_radius
    places = found.camera.unproject(pixels, ball)
    return found.camera.unproject(pixels - found.camera.outline_centre_offset(places, ball), ball)
