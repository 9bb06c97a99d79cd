"""The change gate: sees a ball that moves by a pixel, is blind to grain and to what moves beside the table."""

from __future__ import annotations

import time

import cv2
import numpy as np
import pytest

from calibration.result import Calibration
from tests.flat import draw, grain, oblique, overhead
from vision.change import ChangeGate, table_region

BALLS = {0: (0.5, 0.6), 1: (0.63, 1.9), 5: (0.9, 1.2)}


def luma(image: np.ndarray) -> np.ndarray:
    return cv2.cvtColor(image, cv2.COLOR_BGR2GRAY)


@pytest.fixture(params=[overhead, oblique], ids=["overhead", "oblique"])
def view(request: pytest.FixtureRequest) -> Calibration:
    return request.param()


def settled(view: Calibration) -> ChangeGate:
    gate = ChangeGate(view)
    for seed in range(12):
        samples = gate.samples(luma(grain(draw(view, BALLS), seed)))
        if seed == 0:
            gate.look(samples)
        else:
            gate.changed(samples)
    return gate


def test_grain_alone_is_no_change(view: Calibration) -> None:
    gate = settled(view)
    seen = [gate.changed(gate.samples(luma(grain(draw(view, BALLS), seed)))) for seed in range(100, 140)]
    assert sum(seen) == 0


@pytest.mark.parametrize("ball", [0, 1])
def test_a_ball_that_moved_a_pixel_and_a_half_is_seen(view: Calibration, ball: int) -> None:
    gate = settled(view)
    x, y = BALLS[ball]
    per_metre = np.linalg.norm(view.camera.jacobian([BALLS[ball]], view.table.ball_radius)[0][:, 0])
    moved = BALLS | {ball: (x + 1.5 / per_metre, y)}
    assert gate.changed(gate.samples(luma(grain(draw(view, moved), 7))))


def test_what_moves_beside_the_table_is_not_looked_at(view: Calibration) -> None:
    gate = settled(view)
    image = draw(view, BALLS)
    _, y0, _, y1 = table_region(view, 0.25)
    image[: max(1, y0), :] = 255
    image[y1:, :] = 255
    assert not gate.changed(gate.samples(luma(grain(image, 3))))


def test_the_region_holds_the_table_and_stays_in_the_picture(view: Calibration) -> None:
    x0, y0, x1, y1 = table_region(view)
    assert 0 <= x0 < x1 <= view.camera.width
    assert 0 <= y0 < y1 <= view.camera.height
    corners = view.camera.project(list(view.table.corners.values()), view.table.nose_height)
    inside = corners.clip([0, 0], [view.camera.width, view.camera.height])
    assert inside[:, 0].min() >= x0
    assert inside[:, 0].max() <= x1


def test_it_is_cheap() -> None:
    view = overhead(1920, 1080)
    gate = ChangeGate(view)
    picture = luma(draw(view, BALLS))
    gate.look(gate.samples(picture))
    times = []
    for _ in range(30):
        began = time.perf_counter()
        gate.changed(gate.samples(picture))
        times.append(time.perf_counter() - began)
    assert np.median(times) < 0.004
