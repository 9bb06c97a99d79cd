"""Says what each kink in a ball's path was: another ball, a cushion, a jaw, the tip; by where, which way and who answered."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from calibration.table import RAILS, Table
from tracking.joint import Kink
from tracking.kinks import Piece, crossing
from tracking.observations import Floats

STILL = 0.025  # m/s, below it a piece is a ball at rest
PLACE = 0.006  # metres, one sigma of where a kink is found
BALL_ANGLE = 0.17  # radians, one sigma of a push's direction off the line of centres
RAIL_ANGLE = 0.45
SEEN_JUMP = 0.07  # m/s, one sigma of what may escape notice in the partner
NOTHING = 14.0  # cost of a kink that nothing explains
OPENING = 0.13  # metres from a pocket's centre within which jaws explain a kink


@dataclass(slots=True)
class Jump:
    """A kink of one ball as cut: when, where, the jump of its velocity (2,) and one sigma of it."""

    ball: int
    t_s: float
    lo_s: float
    hi_s: float
    place: Floats
    before: Floats
    jump: Floats
    sigma: float
    gap: float

    @property
    def size(self) -> float:
        return float(np.hypot(self.jump[0], self.jump[1]))

    @property
    def departs(self) -> bool:
        return float(np.hypot(self.before[0], self.before[1])) < STILL


@dataclass(slots=True)
class Trail:
    """One ball's pieces in a shot: a function of time, constant before the first and after the last."""

    ball: int
    pieces: list[Piece]
    rest: Floats  # (2,) where it lay before
    jumps: list[Jump] = field(default_factory=list)
    end_s: float = np.inf  # last seen, where it was not seen to the end

    def at(self, t: Floats) -> Floats:
        """(n, 2) places at times (n,)."""
        if not self.pieces:
            return np.tile(self.rest, (len(t), 1))
        borders = [(a.end_s + b.begin_s) / 2 for a, b in zip(self.pieces, self.pieces[1:], strict=False)]
        for jump in self.jumps:
            k = int(np.argmin([abs(jump.t_s - b) for b in borders])) if borders else -1
            if k >= 0:
                borders[k] = jump.t_s
        which = np.searchsorted(borders, t)
        first, last = self.pieces[0], self.pieces[-1]
        inside = np.clip(t, first.begin_s, max(last.end_s, min(self.end_s, last.end_s + 0.2)))
        c = np.array([p.c for p in self.pieces])[which]
        s = (inside - np.array([p.mid_s for p in self.pieces])[which])[:, None]
        return np.asarray(c[:, 0] + c[:, 1] * s + c[:, 2] * s * s)

    def moves(self) -> bool:
        return any(np.hypot(*p.c[1]) > STILL for p in self.pieces)


def jumps_of(ball: int, pieces: list[Piece], margin: float) -> list[Jump]:
    """The kinks between pieces at which the velocity jumps."""
    out = []
    for left, right in zip(pieces, pieces[1:], strict=False):
        t, place, gap = crossing(left, right, margin)
        before, after = left.velocity(t), right.velocity(t)
        sigma = float(np.hypot(left.velocity_sigma(t), right.velocity_sigma(t)))
        jump = after - before
        if np.hypot(*jump) > max(3.0 * sigma, 0.03):
            out.append(Jump(ball, t, left.end_s - margin, right.begin_s + margin, place, before, jump, sigma, gap))
    return out


def tidy(pieces: list[Piece], sigma: float) -> tuple[list[Piece], list[int]]:
    """Pieces without stray looks (a look or two that the neighbours join without), and the strays' indices."""
    out: list[Piece] = []
    stray: list[int] = []
    for k, piece in enumerate(pieces):
        if piece.last - piece.first < 2 and out and k + 1 < len(pieces):
            left, right = out[-1], pieces[k + 1]
            t = 0.5 * (left.end_s + right.begin_s)
            apart = np.hypot(*(left.at(t) - right.at(t)))
            bend = np.hypot(*(left.velocity(t) - right.velocity(t)))
            loose = float(np.hypot(left.velocity_sigma(t), right.velocity_sigma(t)))
            if apart < 3 * sigma + 0.5 * loose * (right.begin_s - left.end_s) + 0.002 and bend < 4 * loose + 0.1:
                stray += range(piece.first, piece.last + 1)
                continue
        out.append(piece)
    return out, stray


class Explainer:
    """Names the kinks of a shot. ``trails`` by ball, all of one shot; ``frame_s`` the time between looks."""

    def __init__(self, trails: dict[int, Trail], table: Table, frame_s: float) -> None:
        self.trails, self.table, self.frame = trails, table, frame_s
        self.pockets = list(table.pockets.values())
        self.reactions = {b: trail.jumps for b, trail in trails.items()}

    def explain(self) -> list[Kink]:
        """Kinks named, in order of time; those that nothing explains and that are small are left out."""
        jumps = sorted((j for trail in self.trails.values() for j in trail.jumps), key=lambda j: (j.t_s - 0.5 * self.frame * j.departs))
        movers = [j for j in jumps if j.departs]
        opener = min(movers, key=lambda j: j.t_s, default=None)
        found: list[Kink] = []
        for jump in jumps:
            if jump is opener:
                found.append(Kink("strike", jump.t_s, (jump.ball,)))
                continue
            if self._known(jump, found):
                continue
            kink = self._best(jump)
            if kink is not None:
                found.append(kink)
        return sorted(found, key=lambda k: k.t_s)

    def _known(self, jump: Jump, found: list[Kink]) -> bool:
        """Whether a contact that a partner's jump named already accounts for this one."""
        for kink in found:
            if kink.kind != "contact" or jump.ball not in kink.balls:
                continue
            if jump.lo_s - 0.5 * self.frame <= kink.t_s <= jump.hi_s + 0.5 * self.frame:
                other = kink.balls[0] if kink.balls[1] == jump.ball else kink.balls[1]
                theirs = [j for j in self.reactions[other] if abs(j.t_s - kink.t_s) < 1.5 * self.frame]
                answer = -sum((j.jump for j in theirs), np.zeros(2))
                left = jump.jump - answer
                if np.hypot(*left) < 0.5 * jump.size + 3 * jump.sigma or self._rail(jump)[0] > NOTHING:
                    return True
        return False

    def _best(self, jump: Jump) -> Kink | None:
        options: list[tuple[float, Kink]] = []
        for other in self.trails:
            if other != jump.ball:
                cost, t = self._pair(jump, other)
                options.append((cost, Kink("contact", t, (min(jump.ball, other), max(jump.ball, other)))))
        cost, rail_kink = self._rail(jump)
        if rail_kink is not None:
            options.append((cost, rail_kink))
        mouth = min(float(np.hypot(*(jump.place - np.array(p.centre)))) for p in self.pockets)
        if mouth < OPENING:
            options.append((6.0, Kink("jaw", jump.t_s, (jump.ball,))))
        if options:
            cost, kink = min(options, key=lambda o: o[0])
            if cost < NOTHING:
                return kink
        if jump.size > 8 * jump.sigma and jump.size > 0.25:
            return Kink("free", jump.t_s, (jump.ball,))
        return None

    def _pair(self, jump: Jump, other: int) -> tuple[float, float]:
        them = self.trails[other]
        t = np.linspace(jump.lo_s, jump.hi_s, 25)
        mine = self.trails[jump.ball].at(t)
        if jump.departs:
            mine = np.where((t < jump.t_s)[:, None], self.trails[jump.ball].rest if not self._moved(jump) else mine, mine)
        line = mine - them.at(t)
        length = np.hypot(line[:, 0], line[:, 1])
        off = np.abs(length - 2 * self.table.ball_radius)
        k = int(np.argmin(off + 0.3 * np.abs(t - jump.t_s)))
        if off[k] > 0.03 or t[k] > them.end_s + 2 * self.frame:
            return np.inf, jump.t_s
        cos = float(jump.jump @ line[k]) / max(jump.size * float(length[k]), 1e-9)
        angle = float(np.arccos(np.clip(cos, -1, 1)))
        loose = float(np.hypot(BALL_ANGLE, jump.sigma / max(jump.size, 1e-6)))
        theirs = [j for j in self.reactions[other] if abs(j.t_s - t[k]) < 1.6 * self.frame]
        answer = max((-float(j.jump @ jump.jump) / jump.size for j in theirs), default=0.0)
        if answer > 0.25 * jump.size:
            silent = 0.0
        else:
            silent = min((jump.size / SEEN_JUMP) ** 2, 30.0)
            if self._passes_on(other, jump, float(t[k])):
                silent = min(silent, 5.0)
        when = float(t[k]) if off[k] < 0.5 * PLACE else jump.t_s
        return float((off[k] / PLACE) ** 2 + (angle / loose) ** 2 + silent), when

    def _moved(self, jump: Jump) -> bool:
        first = self.trails[jump.ball].jumps[0]
        return first is not jump

    def _passes_on(self, other: int, jump: Jump, t: float) -> bool:
        """Whether ``other`` touches a third ball that starts at about the same time (it passes the push on)."""
        place = self.trails[other].at(np.array([t]))[0]
        for third, trail in self.trails.items():
            if third in (other, jump.ball):
                continue
            for j in trail.jumps:
                if abs(j.t_s - t) < 2 * self.frame and np.hypot(*(j.place - place)) < 2 * self.table.ball_radius + 0.012:
                    return True
        return False

    def _rail(self, jump: Jump) -> tuple[float, Kink | None]:
        best: tuple[float, Kink | None] = (np.inf, None)
        t = np.linspace(jump.lo_s, jump.hi_s, 25)
        mine = self.trails[jump.ball].at(t)
        r, w, length = self.table.ball_radius, self.table.width_m, self.table.length_m
        sides = {"left": (0, r, 1.0), "right": (0, w - r, -1.0), "head": (1, r, 1.0), "foot": (1, length - r, -1.0)}
        for rail in RAILS:
            axis, place, sign = sides[rail]
            if jump.jump[axis] * sign <= 0 or jump.before[axis] * sign > 0.03:
                continue
            off = np.abs(mine[:, axis] - place)
            k = int(np.argmin(off + 0.3 * np.abs(t - jump.t_s)))
            e = min(float(off[k]), abs(float(jump.place[axis]) - place))
            cos = jump.jump[axis] * sign / jump.size
            angle = float(np.arccos(np.clip(cos, -1, 1)))
            loose = float(np.hypot(RAIL_ANGLE, jump.sigma / max(jump.size, 1e-6)))
            cost = (e / PLACE) ** 2 + (angle / loose) ** 2
            if cost < best[0]:
                when = float(t[k]) if off[k] < 0.5 * PLACE else jump.t_s
                best = (cost, Kink("rail", when, (jump.ball,), wall=(axis, place, sign)))
        return best
