"""What happens between strokes: somebody leans over the table, a sleeve brushes a ball, the balls are racked."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibration.table import Table
from sample_videos import bodies
from sample_videos.bodies import Body, Dress
from sample_videos.choreography import smooth
from sample_videos.motion import ROLLING, Piece
from sample_videos.optics import F64
from sample_videos.simulate import Simulator

Point = tuple[float, float]
STANDS_M = 0.34  # from the nose line, whoever leans over
BRUSH_S = 0.5


def _outward(table: Table, at: Point) -> tuple[F64, float]:
    """(3,) the way to the nearest rail, and how far it is."""
    x, y = at
    gaps = {(-1, 0): x, (1, 0): table.width_m - x, (0, -1): y, (0, 1): table.length_m - y}
    way = min(gaps, key=lambda k: gaps[k])
    return np.array([*way, 0.0]), gaps[way]


def _hand(at: F64, toward: F64, dress: Dress, seed: int, spread: float = 1.0) -> Body:
    """A hand above the cloth: `bodies.hand` lays one on it."""
    flat = bodies.hand(np.array([at[0], at[1], 0.03]), toward, dress, np.random.default_rng(seed), spread)
    return flat.moved((0.0, 0.0, at[2] - 0.03))


@dataclass(frozen=True, slots=True)
class Leaning:
    """Somebody bends far over the table from ``begin_s`` to ``end_s`` and reaches for ``at`` without touching anything."""

    table: Table
    begin_s: float
    end_s: float
    at: Point
    dress: Dress
    seed: int
    height_m: float = 0.17

    def bodies_at(self, t: float) -> Body:
        if not self.begin_s < t < self.end_s:
            return Body.nothing()
        away = 1 - smooth((t - self.begin_s) / 0.8) + smooth((t - self.end_s + 0.8) / 0.8)
        out, gap = _outward(self.table, self.at)
        stand = np.array(self.at) + out[:2] * (gap + STANDS_M + 0.7 * away)
        bend = 1.0 - 0.9 * away
        body = bodies.player(stand, -out, self.dress, bend)
        side = np.array([-out[1], out[0], 0.0])
        shoulders = bodies.shoulders(stand, -out, self.dress, bend)
        for sign, shoulder in zip((1, -1), shoulders, strict=True):
            wrist = np.array([*self.at, self.height_m]) + side * 0.13 * sign + out * (0.9 * away) + [0, 0, 0.3 * away]
            body = body + bodies.arm(wrist, shoulder, self.dress, sag=-0.04)
            body = body + _hand(wrist - out * 0.05, -out, self.dress, self.seed)
        return body


@dataclass(frozen=True, slots=True)
class Brushing:
    """A hand and its sleeve that push a ball from ``start`` to ``end`` within half a second from ``t_s``."""

    table: Table
    t_s: float
    start: Point
    end: Point
    dress: Dress
    seed: int

    def bodies_at(self, t: float) -> Body:
        tau = t - self.t_s
        if not -1.2 < tau < BRUSH_S + 1.0:
            return Body.nothing()
        away = 1 - smooth((tau + 1.2) / 0.9) + smooth((tau - BRUSH_S - 0.1) / 0.8)
        s = smooth(tau / BRUSH_S)
        here = np.array(self.start) + s * (np.array(self.end) - np.array(self.start))
        way = np.array([self.end[0] - self.start[0], self.end[1] - self.start[1], 0.0])
        way /= max(1e-9, float(np.linalg.norm(way)))
        out, gap = _outward(self.table, self.start)
        r = self.table.ball_radius
        wrist = (
            np.array([*here, 0.0])
            - way * (r + 0.028)
            + np.array([0, 0, 0.045])
            + out * (0.8 * away)
            + [0, 0, 0.25 * away]
        )
        stand = np.array(self.start) + out[:2] * (gap + STANDS_M + 0.05 + 0.5 * away)
        shoulder, _ = bodies.shoulders(stand, -out, self.dress, 0.6)
        return (
            _hand(wrist - out * 0.06, -out, self.dress, self.seed, 0.6)
            + bodies.arm(wrist, shoulder, self.dress, sag=-0.03)
            + bodies.player(stand, -out, self.dress, 0.6)
        )


def brush(simulator: Simulator, ball: int, end: Point, t: float) -> None:
    """Let a ball be pushed to ``end`` from where it lies, by hand and so without any bounce."""
    track = simulator.tracks[ball]
    state = track.rvw(t)
    assert state is not None
    start = state[0].copy()
    r = simulator.table.ball_radius
    way = np.array([end[0] - start[0], end[1] - start[1], 0.0])

    def path(s: float) -> F64:
        u = min(1.0, max(0.0, s / BRUSH_S))
        speed = way * (6 * u * (1 - u) / BRUSH_S)
        return np.stack([start + way * smooth(u), speed, np.cross([0, 0, 1.0], speed) / r])

    track.add(Piece(t, ROLLING, path=path))
    simulator.place(ball, end[0], end[1], t + BRUSH_S)


@dataclass(frozen=True, slots=True)
class Racking:
    """Somebody at the foot of the table who gathers the balls into a triangle from ``begin_s`` on and lifts it off."""

    table: Table
    begin_s: float
    end_s: float
    dress: Dress
    seed: int

    @property
    def taken_s(self) -> float:
        """When the balls left over are taken off."""
        return self.begin_s + 0.9

    def set_s(self, k: int) -> float:
        """When ball ``k`` of the rack, from 0, is there."""
        return self.begin_s + 1.3 + 0.1 * k

    @property
    def lifted_s(self) -> float:
        return self.begin_s + 3.3

    def bodies_at(self, t: float) -> Body:
        if not self.begin_s < t < self.end_s:
            return Body.nothing()
        away = 1 - smooth((t - self.begin_s) / 0.8) + smooth((t - self.lifted_s - 0.4) / 0.9)
        x, y = self.table.foot_spot
        reach = (x, y + 0.12)
        lean = Leaning(self.table, self.begin_s - 1, self.end_s + 1, reach, self.dress, self.seed, 0.09)
        out = np.array([0.0, 1.0, 0.0])
        stand = np.array([x, self.table.length_m + STANDS_M + 0.7 * away])
        body = bodies.player(stand, -out, self.dress, 0.75 * (1 - away) + 0.1)
        for sign, shoulder in zip(
            (1, -1), bodies.shoulders(stand, -out, self.dress, 0.75 * (1 - away) + 0.1), strict=True
        ):
            wrist = np.array([reach[0] - 0.17 * sign, reach[1] + 0.1, lean.height_m + 0.3 * away]) + out * 0.7 * away
            body = body + bodies.arm(wrist, shoulder, self.dress, sag=-0.04)
            body = body + _hand(wrist - out * 0.05, -out, self.dress, self.seed)
        if self.begin_s + 1.0 < t < self.lifted_s + 0.9:
            up = smooth((t - self.lifted_s) / 0.8)
            wood = bodies.rack((x, y), "triangle", self.table.ball_m, (120, 70, 35))
            body = body + wood.moved((0.0, 0.75 * up, 0.35 * math.sin(math.pi * min(1.0, up)) + 0.002))
        return body


def rack(simulator: Simulator, places: dict[int, Point], racking: Racking) -> None:
    """Take all balls off and set them up at ``places``; the cue ball stays off until it is put down."""
    for track in simulator.tracks.values():
        if track.rvw(racking.taken_s) is not None:
            track.add(Piece(racking.taken_s))
    for k, (ball, (x, y)) in enumerate(sorted((b, p) for b, p in places.items() if b)):
        simulator.place(ball, x, y, racking.set_s(k))
