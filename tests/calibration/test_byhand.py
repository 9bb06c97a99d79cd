"""Four corners by hand: any order, the shape checked."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from calibration.byhand import from_corners
from calibration.camera import Camera
from calibration.errors import InputError
from calibration.table import Table
from tests.calibration.painted import error_mm

TABLE = Table()
CAMERA = Camera.looking([-1.2, -1.6, 2.2], [0.6, 1.2, 0], width=1280, height=720, focal=1100)
CORNERS = CAMERA.project(list(TABLE.corners.values()), TABLE.nose_height)


@pytest.mark.parametrize("order", list(itertools.permutations(range(4)))[::5])
def test_any_order_gives_the_same_table(order: tuple[int, ...]) -> None:
    found = from_corners((1280, 720), CORNERS[list(order)].tolist(), 2.54)
    assert error_mm(found.camera, CAMERA, TABLE).max() < 8
    assert found.camera.focal == pytest.approx(1100, rel=0.06)


def test_length_scales_the_table() -> None:
    found = from_corners((1280, 720), CORNERS.tolist(), 1.98)
    assert found.table.width_m == pytest.approx(0.99)


@pytest.mark.parametrize(
    ("corners", "says"),
    [
        ([[0, 0], [10, 0], [10, 10]], "four points"),
        ([[0, 0], [10, 0], [20, 0], [30, 0]], "corners"),
        ([[100, 100], [500, 100], [300, 300], [300, 200]], "between the others"),
        ([[100, 100], [100, 100], [500, 300], [100, 300]], "coincide"),
        ([[0, 0], [1e5, 0], [1e5, 500], [0, 500]], "far outside"),
        ([[600, 100], [650, 100], [650, 700], [600, 700]], "twice as long"),
    ],
)
def test_corners_that_make_no_sense_are_refused(corners: list[list[float]], says: str) -> None:
    with pytest.raises(InputError, match=says):
        from_corners((1280, 720), corners)


def test_not_a_number_is_refused() -> None:
    with pytest.raises(InputError, match="four points"):
        from_corners((1280, 720), [[np.nan, 0], [1, 0], [1, 1], [0, 1]])
