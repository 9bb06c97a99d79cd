"""Arcs against closed forms and against their own differences."""

import numpy as np
import pytest

from tracking.motion import fly, places


def arcs(n: int = 400, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    v = rng.normal(0, 1.5, (n, 2))
    return np.hstack([rng.normal(0, 1, (n, 2)), v, 0.7 * v + rng.normal(0, 0.3, (n, 2))]), rng.uniform(
        0, 20, n
    ) * rng.random(n) ** 2


def test_stunned_ball_slides_then_rolls_at_five_sevenths() -> None:
    arc = np.array([[0.0, 0.0, 1.4, 0.0, 1.0, 0.0]])
    _, v = places(arc, np.array([0.2 - 1e-9]), 2.0, 0.1)
    assert v[0, 0] == pytest.approx(1.0, abs=1e-6)
    x, v = places(arc, np.array([100.0]), 2.0, 0.1)
    assert x[0, 0] == pytest.approx(0.5 * (1.4 + 1.0) * 0.2 + 0.5 / 0.1)
    assert v[0, 0] == pytest.approx(0.0)


def test_draw_comes_back() -> None:
    _x, v = places(np.array([[0.0, 0.0, 1.0, 0.0, -0.4, 0.0]]), np.array([1.0]), 2.0, 0.1)
    assert v[0, 0] < -0.3


def test_fly_agrees_with_places() -> None:
    a, tau = arcs()
    x, v = places(a, tau, 2.0, 0.1)
    flight = fly(a, tau, 2.0, 0.1)
    np.testing.assert_allclose(flight.x, x, atol=1e-12)
    np.testing.assert_allclose(flight.v, v, atol=1e-12)


@pytest.mark.parametrize("column", range(9))
def test_derivatives(column: int) -> None:
    a, tau = arcs()
    step = 1e-6

    def moved(by: float):
        b, t, slide, roll = a.copy(), tau.copy(), 2.0, 0.1
        if column < 6:
            b[:, column] += by
        elif column == 6:
            t = t - by
        elif column == 7:
            slide += by
        else:
            roll += by
        return fly(b, t, slide, roll)

    up, down, here = moved(step), moved(-step), fly(a, tau, 2.0, 0.1)
    numeric = (up.state - down.state) / (2 * step)
    np.testing.assert_allclose(here.slopes[:, column], numeric, atol=5e-7)
    where = fly(a, tau, 2.0, 0.1, where_only=True)
    np.testing.assert_array_equal(where.slopes, here.slopes[:2])
    np.testing.assert_array_equal(where.state, here.state[:2])
