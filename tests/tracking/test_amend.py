"""Readings amended: causes before effects, a soft contact, a squeezed ball, a pocket's point."""

from collections.abc import Callable

import numpy as np
import pytest

from calibration.table import Table
from tracking import pockets
from tracking.amend import Amender, Sketch, Trial, outcome
from tracking.impacts import causal
from tracking.joint import Fit, Kink, Path, solve
from tracking.trials import noses

TABLE = Table()
R = TABLE.ball_radius
FRAME = 1 / 60
CLOTH = (2.0, 0.1, 0.3, 0.02)


def test_a_ball_at_rest_touches_nothing_before_it_is_touched() -> None:
    strike, second, first = Kink("strike", 1.0, (0,)), Kink("contact", 1.49, (4, 7)), Kink("contact", 1.5, (0, 4))
    ordered = causal([second, strike, first], {0, 4, 7}, 0.004)
    assert [(k.kind, k.balls) for k in ordered] == [("strike", (0,)), ("contact", (0, 4)), ("contact", (4, 7))]
    assert ordered[1].t_s == 1.5
    assert 1.5 < ordered[2].t_s < 1.51


def test_moving_balls_keep_their_order() -> None:
    kinks = [Kink("contact", 1.2, (1, 2)), Kink("contact", 1.1, (2, 3))]
    assert [k.balls for k in causal(kinks, set(), 0.004)] == [(2, 3), (1, 2)]


def rolling(ball: int, times: np.ndarray, place: Callable[[np.ndarray], np.ndarray], arc: list[float]) -> Path:
    xy = place(times) + np.random.default_rng(ball).normal(0, 0.0012, (len(times), 2))
    cov = np.tile(np.eye(2) * 0.0012**2, (len(times), 1, 1))
    return Path(ball, times, xy, cov, float(times[0]), np.array([arc]), resting=False)


def brushing(push: float) -> Fit:
    """Ball 0 rolls past ball 1, which rolls as well, and at 0.5 s pushes it sideways by ``push`` m/s; read with no kink."""
    t = np.arange(0.0, 1.0, FRAME)
    after = np.maximum(t - 0.5, 0.0)
    gap = np.array([0.0, 2 * R])

    def first(s: np.ndarray) -> np.ndarray:
        return np.column_stack([0.3 + 0.3 * s, 0.6 - push * after])

    def second(s: np.ndarray) -> np.ndarray:
        return np.column_stack([0.3 + 0.3 * s, 0.6 + push * after]) + gap

    paths = {
        0: rolling(0, t, first, [0.3, 0.6, 0.3, 0.0, 0.3, 0.0]),
        1: rolling(1, t, second, [0.3, 0.6 + 2 * R, 0.3, 0.0, 0.3, 0.0]),
    }
    return solve(paths, [], radius=R, prior=(2.0, 0.005, 0.3, 0.002))


def no_others(ball: int, t_s: float) -> Path:
    raise AssertionError(f"ball {ball} is in the reading already")


@pytest.mark.parametrize(("push", "told"), [(0.0, False), (0.12, True)])
def test_a_soft_contact_is_told_where_the_looks_show_it(push: float, told: bool) -> None:
    fit = brushing(push)
    amender = Amender(TABLE, FRAME, 0.0, no_others)
    sketch = amender.amend(fit, [Trial(Kink("contact", 0.52, (0, 1)))])
    assert (sketch is not None) is told
    if sketch is not None:
        assert sketch.kinks[0].t_s == pytest.approx(0.5, abs=0.035)  # the ball it pushes does not slide here
    assert amender.tried(Trial(Kink("contact", 0.53, (0, 1)))) is not told


def test_a_ball_squeezed_against_a_cushion_bounces_and_is_met_again() -> None:
    """Ball 0 at 2 m/s square onto ball 1, which touches the left cushion: contact, cushion, contact."""
    at = [R + 2 * R + 0.2, 1.0]
    t = np.arange(0.0, 0.3, FRAME)
    moving = rolling(0, t, lambda s: np.column_stack([at[0] - 2.0 * s, np.full_like(s, 1.0)]), [*at, -2.0, 0, -2.0, 0])
    lying = rolling(1, t, lambda s: np.tile([R, 1.0], (len(s), 1)), [R, 1.0, 0, 0, 0, 0])
    lying.resting = True
    hit = Kink("contact", 0.1, (0, 1))
    wall = noses(TABLE)[0]
    told = outcome(Sketch({0: moving, 1: lying}, [], 2.0, 0.1), Trial(hit, squeezed=1, wall=wall))
    assert [k.kind for k in told.kinks] == ["contact", "rail", "contact"]
    assert np.ptp([k.t_s for k in told.kinks]) < 0.002
    assert told.paths[0].arcs[-1, 2] > 0  # the cushion's bounce comes back through the ball


@pytest.mark.parametrize(("aim", "least", "most"), [(0.0, 0.0, 0.1), (0.03, 0.9, 1.0)])
def test_the_point_of_a_pocket(aim: float, least: float, most: float) -> None:
    """A ball rolled from mid-table into the middle of a corner pocket, and one whose path leads over the facing."""
    pocket = TABLE.pockets["foot-right"]
    centre = np.array(pocket.centre)
    way = np.array([1.0, 1.0]) / np.sqrt(2)
    begin = centre - 0.5 * way + aim * np.array([way[1], -way[0]])
    t = np.arange(0.0, 0.2, FRAME)
    path = rolling(3, t, lambda s: begin + np.outer(2.0 * s, way), [*begin, *(2.0 * way), *(2.0 * way)])
    fit = solve({3: path}, [], radius=R, prior=(2.0, 0.05, 0.3, 0.01))
    drop = pockets.find(3, fit, float(t[-1]), TABLE, FRAME)
    assert drop is not None
    assert drop.pocket == "foot-right"
    graze = pockets.touch(3, fit, drop, float(t[-1]), TABLE)
    assert graze is not None
    assert least <= graze.p <= most
