"""Contacts so near the stroke, or so near a cushion, that single looks hardly show them."""

from __future__ import annotations

import numpy as np
import pytest

from calibration.table import Table
from tests.tracking.staged import TABLE, film, travelled
from tracking import pockets
from tracking.analyse import analyse
from tracking.checks import needless
from tracking.events import Contact, RailHit, Strike
from tracking.joint import Fit, Kink, Path
from tracking.kinks import cut, resting_piece, shifted
from tracking.trails import first_away, jumps_of, rests
from tracking.trials import candidates

R = TABLE.ball_radius
FRAME = 1 / 30


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_ball_played_from_two_centimetres_was_not_struck_itself(seed: int) -> None:
    """The cue ball stops where it met the other: all that is seen to move fast is the object ball."""
    gap, v = 0.02, 4.0
    meets = 1.0 + gap / v
    y = 0.8

    def cue(t: float) -> tuple[float, float]:
        return 0.6, y + min(max(t - 1.0, 0.0) * v, gap)

    def other(t: float) -> tuple[float, float]:
        return 0.6, y + gap + 2 * R + travelled(0.96 * v, min(t - meets, 0.25))

    stream = film({0: cue, 3: other, 9: (0.3, 2.2)}, 2.5, fps=30.0, seed=seed, sigma=0.0025)
    events = analyse(stream, TABLE).shots[0].shot.events
    assert isinstance(events[0], Strike)
    assert events[0].ball == 0
    contact = next(e for e in events if isinstance(e, Contact))
    assert contact.balls == (0, 3)
    assert abs(contact.t_s - meets) < 0.012


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_ball_at_a_cushion_is_sent_off_by_the_ball_and_not_by_the_cushion(seed: int) -> None:
    """A ball that touches the left nose, met at 45 degrees by the cue ball at 2 m/s: it comes back off the cushion at once."""
    way, v = 0.6, 2.0
    meets = 1.0 + way / v
    at = np.array([R + 2 * R / np.sqrt(2), 1.2 - 2 * R / np.sqrt(2)])  # of the cue ball when they touch

    def cue(t: float) -> tuple[float, float]:
        if t < meets:
            return at[0] + way - max(t - 1.0, 0.0) * v, at[1]
        s, to_nose = min(t - meets, 0.5), at[0] - R
        x = at[0] - s if s < to_nose else R + 0.75 * (s - to_nose)
        return x, at[1] - s

    def other(t: float) -> tuple[float, float]:
        s = min(max(t - meets, 0.0), 0.5)
        return R + 0.75 * s, 1.2 + s

    stream = film({0: cue, 5: other, 9: (0.9, 2.2)}, 2.6, fps=30.0, seed=seed, sigma=0.0025)
    events = analyse(stream, TABLE).shots[0].shot.events
    first = next(e for e in events if not isinstance(e, Strike))
    assert isinstance(first, Contact)
    assert first.balls == (0, 5)
    assert abs(first.t_s - meets) < 0.008
    assert [e for e in events if isinstance(e, RailHit) and e.ball == 5 and abs(e.t_s - meets) < 0.02]


def test_a_ball_may_have_left_as_late_as_it_was_last_seen_at_home() -> None:
    """Its way, run back, leads out of its place before it left: looks there say until when it lay."""
    times = np.arange(0.0, 1.5, FRAME)
    left = 0.52
    y = 1.0 + np.maximum(times - left, 0.0) * 0.6 + np.where(times > left, 0.02, 0.0)  # seen too far ahead
    xy = np.column_stack([np.full_like(times, 0.5), y])
    cov = np.tile(np.eye(2) * 0.004**2, (len(times), 1, 1))
    away = first_away(times, xy, cov, xy[0])
    assert left < away <= left + FRAME
    still = int((times < 0.4).sum())
    pieces = [resting_piece(times[:still], xy[0])]
    pieces += [shifted(p, still) for p in cut(times[still:], xy[still:], cov[still:])]
    jump = jumps_of(1, pieces, 0.6 * FRAME, xy[0], away)[0]
    assert jump.departs
    assert jump.hi_s >= away


def test_a_single_look_on_the_way_is_no_rest() -> None:
    times = np.array([0.0, FRAME])
    pieces = cut(times, np.array([[0.3, 0.3], [0.5, 0.9]]), np.tile(np.eye(2) * 1e-6, (2, 1, 1)), penalty=-1.0)
    assert [p.last - p.first for p in pieces] == [0, 0]
    assert not any(rests(p) for p in pieces)


def reading(paths: dict[int, Path], kinks: list[Kink], push: list[float]) -> Fit:
    n = len(kinks)
    return Fit(paths, kinks, 2.0, 0.1, 0.0, np.eye(n) * 1e-6, {}, np.array(push), np.full(n, 0.01))


def path(ball: int, times: np.ndarray, xy: np.ndarray, arcs: list[list[float]], sigma: float) -> Path:
    cov = np.tile(np.eye(2) * sigma**2, (len(times), 1, 1))
    return Path(ball, times, xy, cov, float(times[0]), np.array(arcs), resting=False)


@pytest.mark.parametrize(("sigma", "tried"), [(0.005, True), (0.001, False)])
def test_an_arc_that_turns_back_before_a_nose_is_tried_as_a_bounce(sigma: float, tried: bool) -> None:
    """A spin that no ball has bends the way back 15 mm off the left nose: within the noise of some looks, not of others."""
    t = np.arange(0.0, 1.2, FRAME)
    arc = [R + 0.0975, 1.0, -0.3, 0.4, 0.2, 0.4]
    fit = reading({0: path(0, t, np.zeros((len(t), 2)), [arc, [0.9, 2.0, 0.0, 0.0, 0.0, 0.0]], sigma)}, [], [])
    fit.kinks.append(Kink("strike", -0.5, (0,)))

    def places(ball: int, at: np.ndarray) -> np.ndarray:
        x = R + 0.015 + 0.9 * (at - 0.4) ** 2
        return np.column_stack([x, 1.0 + 0.4 * at])

    rails = [k.kink for k in candidates(fit, TABLE, FRAME, places, [0], {}, 1.2) if k.kink.kind == "rail"]
    assert bool(rails) is tried
    if tried:
        assert rails[0].wall is not None
        assert rails[0].wall[0] == 0
        assert abs(rails[0].t_s - 0.4) < 0.02


def test_one_pair_does_not_meet_twice_at_once_but_off_a_cushion_it_may() -> None:
    t = np.arange(0.0, 1.0, FRAME)
    rows = [[0.3, 0.3, 1.0, 0, 1.0, 0]] * 4
    paths = {b: path(b, t, np.zeros((len(t), 2)), rows, 0.001) for b in (0, 1)}
    twice = [Kink("contact", 0.5, (0, 1)), Kink("contact", 0.5001, (0, 1))]
    assert needless(reading(paths, twice, [1.0, 0.5]), FRAME) == {1}
    between = Kink("rail", 0.50005, (1,), wall=(0, R, 1.0))
    assert needless(reading(paths, [twice[0], between, twice[1]], [1.0, 2.0, 0.5]), FRAME) == set()


@pytest.mark.parametrize("late", [True, False])
def test_a_slow_ball_drops_after_it_was_last_seen_outside(late: bool) -> None:
    """The path leads over the edge at 0.5 s; looks that still show the ball outside for 0.2 s more are believed."""
    table = Table()
    pocket = table.pockets["foot-right"]
    centre = np.array(pocket.centre)
    way = np.array([1.0, 1.0]) / np.sqrt(2)
    begin = centre - (pocket.radius + 0.05) * way
    t = np.arange(0.0, 0.72 if late else 0.5, FRAME)
    gone = np.minimum(0.1 * t, 0.048)
    arc = [*begin, *(0.1 * way), *(0.1 * way)]
    fit = Fit({3: path(3, t, begin + gone[:, None] * way, [arc], 0.002)}, [], 2.0, 1e-4, 0.0, np.zeros((0, 0)), {}, np.zeros(0), np.zeros(0))  # fmt: skip
    drop = pockets.find(3, fit, float(t[-1]), table, FRAME)
    assert drop is not None
    assert drop.pocket == "foot-right"
    if late:
        assert t[-1] < drop.t_s < t[-1] + FRAME
        assert drop.sigma_s > 0.3 * FRAME
    else:
        assert drop.t_s == pytest.approx(0.5, abs=0.02)


def test_a_ball_that_is_pushed_again_while_it_creeps_left_its_place_with_a_jump() -> None:
    """0.12 m/s from rest and 0.19 m/s an eighth of a second later: one parabola fits both, that begins with no speed."""
    times = np.arange(0.0, 1.0, 1 / 60)
    y = 1.0 + 0.12 * np.clip(times - 0.5, 0, None) + 0.07 * np.clip(times - 0.62, 0, None)
    xy = np.column_stack([np.full_like(times, 0.5), y])
    cov = np.tile(np.eye(2) * 0.0015**2, (len(times), 1, 1))
    still = int((times < 0.48).sum())
    pieces = [
        resting_piece(times[:still], xy[0]),
        *(shifted(p, still) for p in cut(times[still:], xy[still:], cov[still:])),
    ]
    jump = jumps_of(1, pieces, 0.6 / 60, xy[0])[0]
    assert jump.departs
    assert jump.real
    assert jump.size > 0.08


def test_what_lies_still_at_first_and_moves_at_the_end_does_not_rest() -> None:
    times = np.arange(0.0, 1.0, 1 / 60)
    creeping = np.column_stack([np.full_like(times, 0.5), 1.0 + 0.06 * (times - 0.3) ** 2])
    lying = np.column_stack([np.full_like(times, 0.5), np.ones_like(times)])
    cov = np.tile(np.eye(2) * 0.0015**2, (len(times), 1, 1))
    assert [rests(p) for p in cut(times, creeping, cov)] == [False]
    assert [rests(p) for p in cut(times, lying, cov)] == [True]
