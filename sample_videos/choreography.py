"""What the player does around a stroke: comes to the table, addresses the ball, strokes, strikes, draws back, leaves."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from calibration.table import Table
from sample_videos import bodies
from sample_videos.bodies import Body, Dress
from sample_videos.optics import F64
from sample_videos.simulate import Played, Stroke
from tracking.events import Contact

COMES_S, LEAVES_S, GONE_S = 1.9, 0.7, 2.0
BACKSWING_M, REST_GAP_M = 0.16, 0.012


def smooth(x: float) -> float:
    """0 to 1 with level ends."""
    x = min(1.0, max(0.0, x))
    return x * x * (3 - 2 * x)


@dataclass(frozen=True, slots=True)
class Act:
    """One player's part in one stroke; ``bodies_at`` draws it at any instant."""

    table: Table
    stroke: Stroke
    strike_s: float
    ball_at: tuple[float, float]
    dress: Dress
    follow_m: float
    until_s: float
    seed: int
    people: str

    @property
    def direction(self) -> F64:
        """(3,) from butt to tip."""
        a, e = math.radians(self.stroke.direction), math.radians(max(self.stroke.elevation, 2.0))
        return np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), -math.sin(e)])

    @property
    def tip_at_impact(self) -> F64:
        """(3,) where the tip meets the ball."""
        r = self.table.ball_radius
        d = self.direction
        flat = np.array([d[0], d[1], 0.0]) / math.hypot(d[0], d[1])
        right = np.array([flat[1], -flat[0], 0.0])
        up = np.cross(right, d)
        s, b = self.stroke.side, self.stroke.above
        back = math.sqrt(max(0.0, 1 - s * s - b * b))
        return np.array([*self.ball_at, r]) - d * back * r + right * s * r + up * b * r

    def gap(self, tau: float) -> float:
        """How far the tip is behind its place at impact, metres, ``tau`` seconds after the strike."""
        speed = max(self.stroke.speed, 0.3)
        forward = 2 * BACKSWING_M / speed
        if tau >= 0:
            stop = 2 * self.follow_m / (0.5 * speed)
            u = min(tau, stop)
            return -(0.5 * speed * u - 0.5 * speed * u * u / (2 * stop)) if stop > 0 else 0.0
        if tau > -forward:
            u = tau + forward
            return BACKSWING_M - 0.5 * speed / forward * u * u
        if tau > -forward - 0.45:
            return REST_GAP_M + (BACKSWING_M - REST_GAP_M) * smooth((tau + forward + 0.45) / 0.4)
        back = -forward - 0.45
        u = (back - tau) / 0.62
        if u < 2:
            return REST_GAP_M + 0.045 * (1 - math.cos(2 * math.pi * u))
        return REST_GAP_M

    def present(self, t: float) -> bool:
        return self.people != "none" and self.strike_s - COMES_S - 1.0 < t < self.until_s

    def bodies_at(self, t: float) -> Body:
        """Cue and player at ``t`` (nothing where neither is there)."""
        if not self.present(t):
            return Body.nothing()
        tau = t - self.strike_s
        away = 1 - smooth((tau + COMES_S + 0.6) / 0.6) + smooth((tau - LEAVES_S) / 1.0)
        lift = np.array([0, 0, 0.25 * away])
        d = self.direction
        flat = np.array([d[0], d[1], 0.0]) / math.hypot(d[0], d[1])
        shift = -flat * 1.1 * away + lift
        tip = self.tip_at_impact - d * (self.gap(tau) if away < 0.999 else REST_GAP_M) - flat * 0.02 * away
        rng = np.random.default_rng(self.seed)
        if self.people == "cue":
            return bodies.cue(tip + shift, d, self.dress)
        return self._player(tip, d, flat, away, shift, rng)

    def _player(self, tip: F64, d: F64, flat: F64, away: float, shift: F64, rng: np.random.Generator) -> Body:
        side = np.array([-flat[1], flat[0], 0.0])
        still_tip = self.tip_at_impact - d * REST_GAP_M
        bridge = still_tip - d * 0.22
        palm = bridge - flat * 0.05 + side * 0.01
        palm[2] = 0.03
        outside = self._way_out(still_tip, flat)
        bend = 0.85 * (1 - away) + 0.1 * away
        feet = (still_tip - flat * max(1.28, outside + 0.16) - side * 0.1)[:2] + shift[:2] * 0.35
        left, right = bodies.shoulders(feet, flat, self.dress, bend)
        grip = tip - d * 1.15 + shift
        hand_shift = shift + np.array([0, 0, 0.05 * away])
        parts = [
            bodies.cue(tip + shift, d, self.dress),
            bodies.hand(palm + hand_shift, flat, self.dress, rng),
            bodies.arm(palm - flat * 0.05 + [0, 0, 0.012] + hand_shift, left, self.dress),
            bodies.arm(grip, right + np.array([0, 0, 0.02]), self.dress, sag=-0.08),
            Body.of([(grip - d * 0.04, 0.035, grip + d * 0.04, 0.033, self.dress.skin, 0.03, 0.05)]),
            bodies.player(feet, flat, self.dress, bend),
        ]
        whole = parts[0]
        for part in parts[1:]:
            whole = whole + part
        return whole

    def _way_out(self, tip: F64, flat: F64) -> float:
        """Metres from the tip back along the cue to the table's outer edge."""
        margin = 0.15
        best = 9.0
        for axis, size in ((0, self.table.width_m), (1, self.table.length_m)):
            if flat[axis] > 1e-6:
                best = min(best, (tip[axis] + margin) / flat[axis])
            elif flat[axis] < -1e-6:
                best = min(best, (size + margin - tip[axis]) / -flat[axis])
        return max(0.0, best)


@dataclass(frozen=True, slots=True)
class Placing:
    """A hand that puts a ball down at ``t_s`` (ball in hand, spotting)."""

    table: Table
    t_s: float
    at: tuple[float, float]
    dress: Dress
    seed: int

    def bodies_at(self, t: float) -> Body:
        tau = t - self.t_s
        if not -0.9 < tau < 0.8:
            return Body.nothing()
        away = 1 - smooth((tau + 0.9) / 0.7) + smooth((tau - 0.1) / 0.7)
        x, y = self.at
        w, length = self.table.width_m, self.table.length_m
        gaps = {(-1, 0): x, (1, 0): w - x, (0, -1): y, (0, 1): length - y}
        out = np.array([*min(gaps, key=lambda k: gaps[k]), 0.0])
        palm = np.array([x, y, 0.085]) + out * (0.05 + 0.9 * away) + np.array([0, 0, 0.2 * away])
        stand = np.array([x, y]) + out[:2] * (min(gaps.values()) + 0.45 + 0.3 * away)
        left, _ = bodies.shoulders(stand, -out, self.dress, 0.6)
        rng = np.random.default_rng(self.seed)
        return (
            bodies.hand(palm, -out, self.dress, rng, 0.7)
            + bodies.arm(palm + out * 0.05, left, self.dress)
            + bodies.player(stand, -out, self.dress, 0.6)
        )


def act_of(table: Table, stroke: Stroke, played: Played, dress: Dress, until_s: float, seed: int, people: str) -> Act:
    """The part that belongs to a played stroke; the cue follows through no farther than is safe for the cue ball."""
    at = played.start[stroke.ball]
    first = [e for e in played.events if isinstance(e, Contact) and stroke.ball in e.balls]
    way = 1.0
    if first and first[0].at is not None:
        way = max(0.0, math.dist(first[0].at, at) - table.ball_radius)
    return Act(
        table,
        stroke,
        played.start_s,
        at,
        dress,
        min(0.11, 0.02 + 0.35 * way) if way > 0.02 else 0.004,
        until_s,
        seed,
        people,
    )
