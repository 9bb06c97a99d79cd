"""What hides the table: an arm is found, balls and clear cloth are not taken for one."""

from __future__ import annotations

import cv2
import numpy as np
import pytest

from calibration.result import Calibration
from tests.flat import draw, grain, oblique, overhead
from vision.cover import Cover

BALLS = {0: (0.5, 0.6), 1: (0.63, 1.9), 5: (0.9, 1.2), 3: (0.35, 2.2)}
AT = np.array(list(BALLS.values()))


@pytest.fixture(params=[overhead, oblique], ids=["overhead", "oblique"])
def view(request: pytest.FixtureRequest) -> Calibration:
    return request.param()


def test_a_clear_table_hides_nothing(view: Calibration) -> None:
    cover = Cover(view)
    for seed in range(5):
        hidden = cover.hidden(grain(draw(view, BALLS), seed), AT, still=True)
        assert not (hidden & ~cover.outside).any()


def test_an_arm_hides_the_cells_under_it_and_no_more(view: Calibration) -> None:
    cover = Cover(view)
    cover.hidden(draw(view, BALLS), AT, still=True)
    image = draw(view, BALLS)
    a, b = view.camera.project([(0.0, 1.6), (0.55, 1.6)])
    across = np.linalg.norm(view.camera.jacobian([(0.3, 1.6)])[0][:, 1]) * 0.14
    cv2.line(image, tuple(map(int, a)), tuple(map(int, b)), (120, 150, 210), int(across))
    hidden = cover.hidden(grain(image, 1), AT, still=False)
    rows, cols = hidden.shape
    assert hidden[int(1.6 / 2.54 * rows), int(0.3 / 1.27 * cols)]
    assert not hidden[int(0.6 / 2.54 * rows), int(0.5 / 1.27 * cols)]
    assert 0.02 < (hidden & ~cover.outside).mean() < 0.12


def test_a_ball_not_yet_found_is_not_an_arm(view: Calibration) -> None:
    cover = Cover(view)
    cover.hidden(draw(view, {}), np.zeros((0, 2)), still=True)
    hidden = cover.hidden(grain(draw(view, {0: (0.6, 1.0)}), 2), np.zeros((0, 2)), still=False)
    assert not (hidden & ~cover.outside).any()
