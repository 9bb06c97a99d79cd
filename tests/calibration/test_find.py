"""The table is found in painted pictures, wherever the camera stands and whatever the colours; or refused."""

from __future__ import annotations

from dataclasses import replace

import cv2
import numpy as np
import pytest

from calibration.camera import Camera
from calibration.errors import InputError
from calibration.find import find_table
from calibration.table import Table
from tests.calibration.painted import Paint, error_mm, paint

TABLE = Table()
VIEWS = {
    "above": Camera.looking([0.63, 1.3, 3.4], [0.63, 1.27, 0], width=1280, height=720, focal=1400, roll=np.pi / 2),
    "end": Camera.looking([0.6, -2.4, 1.7], [0.63, 1.1, 0], width=1280, height=720, focal=1250),
    "corner": Camera.looking([-1.6, -1.3, 2.0], [0.63, 1.2, 0], width=1280, height=720, focal=1000),
    "side": Camera.looking([3.0, 1.2, 2.3], [0.63, 1.27, 0], width=1280, height=720, focal=1000),
    "bent": Camera.looking(
        [0.6, 1.2, 2.5], [0.63, 1.27, 0], width=1280, height=720, focal=900, roll=np.pi / 2, distortion=(-0.12, 0.0)
    ),
}


@pytest.mark.parametrize("view", VIEWS)
def test_any_view_is_found_to_millimetres(view: str) -> None:
    camera = VIEWS[view]
    found = find_table([paint(camera, TABLE)], length_m=2.54)
    error = error_mm(found.camera, camera, TABLE)
    assert np.median(error) < 3
    assert np.percentile(error, 95) < 8


@pytest.mark.parametrize(
    "colours",
    [
        Paint(cloth=(60, 130, 20), rail=(40, 80, 130)),
        Paint(cloth=(35, 35, 170), rail=(200, 205, 210), sight=(20, 20, 20)),
        Paint(cloth=(150, 152, 155), rail=(45, 45, 48), floor=(60, 90, 120)),
        Paint(cloth=(70, 30, 85), rail=(30, 40, 60), floor=(140, 150, 150)),
    ],
    ids=["green", "red, light rails", "grey", "purple"],
)
def test_any_cloth_is_found(colours: Paint) -> None:
    camera = VIEWS["end"]
    found = find_table([paint(camera, TABLE, colours)], length_m=2.54)
    assert np.median(error_mm(found.camera, camera, TABLE)) < 3


@pytest.mark.parametrize("top", [0.0363, 0.040, 0.045])
def test_a_low_camera_tells_how_high_the_rails_are(top: float) -> None:
    # 5 mm of height taken wrongly would put every ball 15 mm off along so low a line of sight
    camera = Camera.looking([-1.5, -1.9, 1.3], [0.5, 1.0, 0], width=1920, height=1080, focal=1900)
    found = find_table([paint(camera, TABLE, top=top)], length_m=2.54)
    assert abs(found.rail_top_m - top) < 0.001
    assert np.median(error_mm(found.camera, camera, TABLE)) < 3


def test_corners_are_those_of_the_noses() -> None:
    camera = VIEWS["above"]
    found = find_table([paint(camera, TABLE)], length_m=2.54)
    true = camera.project(list(TABLE.corners.values()), TABLE.nose_height)
    got = np.array(list(found.corners_px.values()))
    gap = np.linalg.norm(true[:, None] - got[None], axis=2).min(axis=1)
    assert gap.max() < 2.0  # the cloth's outer edge would be 20 pixels away


def test_order_of_corners_runs_against_the_clock_seen_from_above() -> None:
    ring = np.array(list(find_table([paint(VIEWS["above"], TABLE)]).corners_px.values()))
    x, y = ring.T
    assert float(np.sum(x * np.roll(y, -1) - np.roll(x, -1) * y)) < 0


def test_a_player_over_a_rail_does_not_move_it() -> None:
    camera = VIEWS["above"]
    picture = paint(camera, TABLE)
    cv2.ellipse(picture, (400, 90), (120, 130), 20, 0, 360, (50, 70, 110), -1)
    error = error_mm(find_table([picture], length_m=2.54).camera, camera, TABLE)
    assert np.median(error) < 4


def test_stretched_picture() -> None:
    camera = VIEWS["above"]
    wide = cv2.resize(paint(camera, TABLE), (1280, 648), interpolation=cv2.INTER_AREA)
    found = find_table([np.asarray(wide, dtype=np.uint8)], length_m=2.54)
    assert found.camera.aspect == pytest.approx(0.9, abs=0.01)


def test_seven_foot_table_shows_by_its_rails() -> None:
    small = Table.of_size("7ft")
    camera = Camera.looking([0.5, 1.0, 2.7], [0.5, 0.99, 0], width=1280, height=720, focal=1400, roll=np.pi / 2)
    p = find_table([paint(camera, small)]).length_p
    assert max(p, key=lambda name: p[name]) == "7ft"


@pytest.mark.parametrize("kind", ["noise", "plain", "stripes"])
def test_a_picture_without_a_table_is_refused(kind: str) -> None:
    rng = np.random.default_rng(1)
    picture = {
        "noise": rng.integers(0, 255, (360, 640, 3)).astype(np.uint8),
        "plain": np.full((360, 640, 3), (120, 90, 30), np.uint8),
        "stripes": np.repeat(np.tile(np.arange(640) // 40 % 2 * 120 + 60, (360, 1))[..., None], 3, 2).astype(np.uint8),
    }[kind]
    with pytest.raises(InputError, match="table"):
        find_table([picture])


def test_pick_takes_the_next_table() -> None:
    near = Camera.looking([1.9, -2.6, 2.6], [1.7, 1.2, 0], width=1920, height=1080, focal=1250)
    beside = replace(near, translation=near.translation + near.rotation @ np.array([2.3, 0.35, 0.0]))
    one, two = paint(near, TABLE), paint(beside, TABLE, Paint(cloth=(60, 130, 20), rail=(40, 60, 90)))
    drawn = np.abs(two.astype(int) - np.array(Paint().floor)).max(axis=2) > 16
    mask = cv2.morphologyEx(drawn.astype(np.uint8), cv2.MORPH_CLOSE, np.ones((9, 9), np.uint8))
    mask = cv2.morphologyEx(mask, cv2.MORPH_OPEN, np.ones((9, 9), np.uint8))
    both = np.where(mask[..., None] > 0, two, one).astype(np.uint8)
    picked = [find_table([both], length_m=2.54, pick=k).camera for k in (0, 1)]
    errors = [[float(np.median(error_mm(found, true, TABLE))) for true in (near, beside)] for found in picked]
    assert all(min(row) < 5 for row in errors)
    assert np.argmin(errors[0]) != np.argmin(errors[1])


def test_pick_beyond_what_is_there_is_refused() -> None:
    with pytest.raises(InputError, match="pick is 5"):
        find_table([paint(VIEWS["end"], TABLE)], pick=5)


def test_no_picture_is_refused() -> None:
    with pytest.raises(InputError, match="no picture"):
        find_table([])
