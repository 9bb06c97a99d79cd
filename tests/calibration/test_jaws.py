"""Where cushions end at pockets shows whether a camera is right along the rails, and finds tables that have no diamonds."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from calibration.camera import Camera
from calibration.find import find_table
from calibration.jaws import agree, aside, find_jaws, halves
from calibration.table import Table
from tests.calibration.painted import Paint, error_mm, paint

TABLE = Table()
VIEWS = {
    "above": Camera.looking([0.63, 1.3, 3.4], [0.63, 1.27, 0], width=1280, height=720, focal=1400, roll=np.pi / 2),
    "corner": Camera.looking([-1.6, -1.3, 2.0], [0.63, 1.2, 0], width=1280, height=720, focal=1000),
    "side": Camera.looking([3.0, 1.2, 2.3], [0.63, 1.27, 0], width=1280, height=720, focal=1000),
}
BARE = Paint(rail=(40, 80, 130), sight=(40, 80, 130))


def along(camera: Camera, metres: float) -> Camera:
    """The camera of a reading that takes the table to lie so much farther along itself than it does."""
    return replace(camera, translation=camera.translation + camera.rotation @ [0.0, metres, 0.0])


@pytest.mark.parametrize("view", VIEWS)
def test_in_the_right_view_pockets_lie_halfway_and_ends_are_alike(view: str) -> None:
    jaws = find_jaws(paint(VIEWS[view], TABLE, BARE), VIEWS[view], TABLE)
    pairs = halves(jaws, TABLE)
    assert len(jaws) >= 10
    assert sum(side for side, _ in pairs) == 2
    assert max(abs(middle) for _, middle in pairs) < 0.012
    assert agree(jaws, TABLE)


@pytest.mark.parametrize("metres", [-0.05, 0.05])
def test_a_view_shifted_along_the_table_is_seen_to_be(metres: float) -> None:
    camera = VIEWS["above"]
    jaws = find_jaws(paint(camera, TABLE, BARE), along(camera, metres), TABLE)
    sides = [middle for side, middle in halves(jaws, TABLE) if side]
    assert sides == pytest.approx([-metres] * len(sides), abs=0.012)
    assert sides
    assert not agree(jaws, TABLE)


def test_a_view_shifted_across_the_table_shows_at_its_ends() -> None:
    camera = VIEWS["above"]
    shifted = replace(camera, translation=camera.translation + camera.rotation @ [0.025, 0.0, 0.0])
    jaws = find_jaws(paint(camera, TABLE, BARE), shifted, TABLE)
    assert aside(jaws, TABLE, ("head", "foot")) == pytest.approx(-0.025, abs=0.006)
    assert aside([], TABLE, ("head", "foot")) is None


def test_a_cushion_without_pockets_has_no_jaws() -> None:
    camera = VIEWS["above"]
    cloth = np.full((720, 1280, 3), (40, 130, 30), dtype=np.uint8)
    assert find_jaws(cloth, camera, TABLE) == []


@pytest.mark.parametrize("view", VIEWS)
def test_a_table_without_diamonds_is_found(view: str) -> None:
    found = find_table([paint(VIEWS[view], TABLE, BARE)], length_m=2.54)
    assert np.median(error_mm(found.camera, VIEWS[view], TABLE)) < 4
