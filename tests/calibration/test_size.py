"""Size from the balls, which end is the head, and what a calibration keeps when it is written and read."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.camera import Camera
from calibration.ends import head_from_break, head_from_rack
from calibration.preview import preview, verdict
from calibration.result import Calibration
from calibration.size import length_probabilities, size_from_balls
from calibration.table import SIZES, Table
from tests.calibration.painted import paint


def seen(name: str) -> tuple[Calibration, np.ndarray, np.ndarray]:
    """A table of a size, taken for a 9-ft one, and balls as they really look on it."""
    table = Table.of_size(name)
    camera = Camera.looking([0.4, -1.8, 2.2], [table.width_m / 2, 1.0, 0], width=1280, height=720, focal=1100)
    places = np.array([[0.2, 0.3], [0.7, 0.9], [0.5, 1.5], [0.3, 1.7], [0.8, 0.4]])
    ball = table.ball_radius
    centres = camera.project(places, ball) + camera.outline_centre_offset(places, ball)
    return Calibration(table, camera, 0.3).resized(2.54), centres, camera.ball_radius_px(places, ball)


@pytest.mark.parametrize("name", ["7ft", "9ft"])
def test_balls_tell_the_size(name: str) -> None:
    calibration, centres, radii = seen(name)
    assert calibration.table.length_m == 2.54
    sized = size_from_balls(calibration, centres, radii * 1.01)
    assert sized.table.length_m == pytest.approx(SIZES[name][0])
    assert sized.length_p[name] > 0.6
    assert "length-assumed" not in sized.notes


def test_without_balls_the_size_stays_and_says_so() -> None:
    calibration, _, _ = seen("9ft")
    sized = size_from_balls(calibration, np.zeros((0, 2)), np.zeros(0))
    assert sized.table.length_m == 2.54
    assert "length-assumed" in sized.notes
    assert sum(length_probabilities(calibration).values()) == pytest.approx(1)


def test_resizing_keeps_the_noses_in_the_picture() -> None:
    calibration, _, _ = seen("9ft")
    small = calibration.resized(1.98)
    before, after = np.array(list(calibration.corners_px.values())), np.array(list(small.corners_px.values()))
    assert np.abs(before - after).max() < 1e-6


def test_rack_and_break_tell_the_head() -> None:
    calibration, _, _ = seen("9ft")
    rack = np.array([[0.6, 0.5], [0.65, 0.55], [0.63, 0.6]])
    turned = head_from_rack(calibration, rack)
    assert turned.head_p > 0.9
    assert np.allclose(turned.corners_px["head-left"], calibration.corners_px["foot-right"])
    assert head_from_break(calibration, [0.6, 0.4]).camera is calibration.camera


def test_json_round_trip() -> None:
    calibration, _, _ = seen("8ft")
    again = Calibration.from_json(calibration.to_json())
    assert np.allclose(list(again.corners_px.values()), list(calibration.corners_px.values()), atol=1e-6)
    assert again.notes == calibration.notes
    assert again.table == calibration.table


def test_preview_is_green_when_good_and_red_when_not() -> None:
    calibration, _, _ = seen("9ft")
    picture = paint(calibration.camera, calibration.table)
    drawn = preview(picture, calibration)
    assert drawn.shape == picture.shape
    assert (drawn != picture).any()
    assert "good" in verdict(calibration)[0]
    bad = Calibration(calibration.table, calibration.camera, 9.0)
    assert "do not trust" in verdict(bad)[0]
