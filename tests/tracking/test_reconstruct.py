"""Readings that once came out wrong: a ball gone before anything moved, and a fit that gave up a resting place."""

from __future__ import annotations

import numpy as np

from tests.tracking.staged import TABLE, film
from tracking.analyse import analyse
from tracking.events import Contact, RailHit, Strike
from tracking.looks import Looks
from tracking.reconstruct import reconstruct

SIGMA = np.eye(2) * 0.001**2


def looks(track: int, times: np.ndarray, xy: np.ndarray) -> Looks:
    rng = np.random.default_rng(track)
    return Looks(track, times, xy + rng.normal(0, 0.001, xy.shape), np.tile(SIGMA, (len(times), 1, 1)), xy[0])


def test_a_ball_gone_just_before_anything_moves_crashes_nothing() -> None:
    times = np.arange(0.0, 3.0, 1 / 60)
    way = np.clip(times - 1.0, 0.0, None)
    rolls = np.column_stack([np.full(len(times), 0.6), 0.5 + 0.5 * way - 0.1 * way**2])
    gone = times[times < 0.93]
    seen = {0: looks(0, times, rolls), 5: looks(5, gone, np.tile([1.0, 2.0], (len(gone), 1)))}
    reading = reconstruct(seen, TABLE, begin_s=1.0, end_s=3.0, cue=0)
    assert 0 in reading.movers


def test_a_fast_contact_at_25_frames_leaves_resting_balls_where_they_lay() -> None:
    """Two looks between stroke and contact, the first of them a blur that errs by two centimetres."""
    rng = np.random.default_rng(8)
    start, ball = np.array([0.691, 1.053]), np.array([0.915, 0.959])
    v, struck = np.array([2.94, -0.575]), 2.3065
    a = start - ball
    b, c = a @ v, a @ a - TABLE.ball_m**2
    meets = struck + (-b - np.sqrt(b * b - (v @ v) * c)) / (v @ v)
    at = start + v * (meets - struck)
    line = (ball - at) / TABLE.ball_m
    push = 0.96 * (v @ line) * line

    def cue(t: float) -> tuple[float, float]:
        return tuple(start + v * np.clip(t - struck, 0, meets - struck) + (v - push) * np.clip(t - meets, 0, 0.13))

    def object_ball(t: float) -> tuple[float, float]:
        s = np.clip(t - meets, 0, 1.2)
        return tuple(ball + push * (s - 0.04 * s * s))

    stream = film({0: cue, 3: object_ball, 9: (0.4, 2.0)}, 3.4, fps=25.0, sigma=0.001)
    for k, seen in enumerate(stream):
        if struck < seen.t_s < struck + 0.03:
            xy, cov = seen.xy.copy(), seen.cov.copy()
            xy[0] += rng.normal(0, 0.01, 2) - 0.02 * v / 2.94
            cov[0] = np.eye(2) * 0.0055**2
            stream[k] = type(seen)(seen.t_s, xy, cov, seen.score, seen.evidence)
    events = analyse(stream, TABLE).shots[0].shot.events
    strike = next(e for e in events if isinstance(e, Strike))
    contact = next(e for e in events if isinstance(e, Contact))
    assert contact.balls == (0, 3)
    assert abs(contact.t_s - meets) < 0.004
    assert abs(strike.t_s - struck) < 0.012
    assert not [e for e in events if isinstance(e, RailHit) and e.ball == 3 and e.t_s < meets]
