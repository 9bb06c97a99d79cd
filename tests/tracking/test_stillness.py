"""Whether any ball moves: noise is not motion, slow balls are, and what an arm hides has not gone."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.table import Table
from tracking.observations import Observation
from tracking.stillness import Stillness, displaced

PLACES = np.array([[0.4, 0.6], [0.63, 1.9], [0.9, 1.2]])


def look(t_s: float, xy: np.ndarray, sigma: float = 0.0005, hidden: np.ndarray | None = None) -> Observation:
    n = len(xy)
    cov = np.tile(np.eye(2) * sigma**2, (n, 1, 1))
    cells = np.zeros((0, 0), bool) if hidden is None else hidden
    return Observation(t_s, np.asarray(xy, float), cov, np.full(n, 0.9), np.zeros((n, 16)), hidden=cells)


def test_noise_is_no_motion() -> None:
    rng = np.random.default_rng(3)
    still = Stillness(Table())
    states = [still.push(look(k / 30, PLACES + rng.normal(0, 0.0005, PLACES.shape))) for k in range(200)]
    assert not any(states)


@pytest.mark.parametrize("speed", [0.02, 0.3, 4.0])
def test_a_rolling_ball_is_motion_until_it_stops(speed: float) -> None:
    still = Stillness(Table())
    xy = PLACES.copy()
    for k in range(30):
        still.push(look(k / 30, xy))
    for k in range(30, 45):
        xy = xy + np.array([[0, speed / 30], [0, 0], [0, 0]])
        still.push(look(k / 30, xy))
    assert still.moving
    for k in range(45, 75):
        still.push(look(k / 30, xy))
    assert not still.moving


def test_a_ball_that_an_arm_hides_has_not_gone() -> None:
    table = Table()
    before = look(0.0, PLACES)
    hidden = np.zeros((127, 63), bool)
    hidden[20:40, 10:30] = True
    assert not displaced(before, look(0.1, PLACES[1:], hidden=hidden), table)
    assert displaced(before, look(0.1, PLACES[1:]), table)


def test_a_ball_put_on_the_table_is_a_change() -> None:
    assert displaced(look(0.0, PLACES[:2]), look(0.1, PLACES), Table())
