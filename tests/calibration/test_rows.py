"""Tables are found by their diamonds where cloth, rails and floor cannot be told apart."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.camera import Camera, Floats
from calibration.errors import InputError
from calibration.find import find_table
from calibration.rows import cameras_from_rows, find_rows, small_marks
from calibration.table import Table
from tests.calibration.painted import RAIL_TOP, Paint, error_mm, paint
from tests.calibration.test_find import VIEWS

TABLE = Table()
NIGHT = Paint(cloth=(34, 32, 32), rail=(30, 29, 29), floor=(33, 32, 31))


@pytest.mark.parametrize("view", ["above", "end", "side"])
def test_black_table_on_a_black_floor(view: str) -> None:
    camera = VIEWS[view]
    found = find_table([paint(camera, TABLE, NIGHT)], length_m=2.54)
    error = error_mm(found.camera, camera, TABLE)
    assert np.median(error) < 3
    assert np.percentile(error, 95) < 8


def test_black_table_without_diamonds_is_refused() -> None:
    plain = Paint(cloth=NIGHT.cloth, rail=NIGHT.rail, floor=NIGHT.floor, sight=NIGHT.rail)
    with pytest.raises(InputError, match="table"):
        find_table([paint(VIEWS["above"], TABLE, plain)])


def test_every_diamond_is_a_mark() -> None:
    camera = VIEWS["side"]
    grey = cv2.cvtColor(paint(camera, TABLE, NIGHT), cv2.COLOR_BGR2GRAY)
    bright, _ = small_marks(np.asarray(grey, np.uint8))[0]
    gaps = np.linalg.norm(camera.project(TABLE.sights, RAIL_TOP)[:, None] - bright[None], axis=2).min(axis=1)
    assert gaps.max() < 1.5


def _long_rail(camera: Camera) -> Floats:
    return camera.project([(-0.0937, 2.54 * k / 8) for k in (1, 2, 3, 5, 6, 7)], RAIL_TOP)


def test_a_row_is_found_among_strewn_marks_with_one_diamond_hidden() -> None:
    row = _long_rail(VIEWS["corner"])[[0, 1, 2, 3, 5]]
    strewn = np.random.default_rng(3).uniform((0, 0), (1280, 720), (40, 2))
    rows = find_rows(np.vstack([strewn, row]), np.full(45, 9.0), 1280.0)
    assert any(len(r.places) == 5 and np.allclose(np.sort(r.pixels[:, 0]), np.sort(row[:, 0])) for r in rows)


def test_marks_strewn_at_random_make_no_table() -> None:
    picture = np.full((720, 1280), 40, np.uint8)
    for x, y in np.random.default_rng(5).uniform((20, 20), (1260, 700), (60, 2)):
        cv2.circle(picture, (int(x), int(y)), 3, 220, -1, cv2.LINE_AA)
    image = cv2.cvtColor(picture, cv2.COLOR_GRAY2BGR)
    with pytest.raises(InputError, match="table"):
        find_table([np.asarray(image, np.uint8)])


def test_evenly_spaced_marks_without_the_side_pockets_gap_are_no_long_rail() -> None:
    row = np.column_stack([np.linspace(100, 1000, 5), np.full(5, 200.0)])
    assert not find_rows(row, np.full(5, 9.0), 1280.0)


def test_no_camera_without_marks() -> None:
    assert cameras_from_rows(np.full((360, 640), 90, np.uint8), TABLE) == []
