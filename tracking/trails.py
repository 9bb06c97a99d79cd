"""A ball's pieces put together: where it was at any time, where its velocity jumps, which looks are strays, when it lay still."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import numpy as np

from tracking.kinks import Piece, crossing
from tracking.motion import ROLL
from tracking.observations import Floats

STILL = 0.025  # m/s, below it a piece is a ball at rest
AT_HOME_M = 0.006  # from where a ball lay: no farther, and it lies there still
FAR = 0.08  # metres from where it lay at which a ball that was seen twice was not one taken for another that it touches
LEAP = 0.05  # metres between two pieces that no ball can have jumped
FASTEST = 17.0  # m/s
CREEPS = 0.5  # of the speed in its middle with which a piece begins that no ball sets out on
DRIFT_M = 0.008  # metres, and four sigmas, by which the ends of a piece may lie off its middle for the ball to rest
HOLE_S = 0.3  # longer, and a hand may have been at work
SLACK, SLACK_S = 2.5, 0.12  # sigmas of when a ball set out, and seconds at most, beyond the looks on either side
UNSEEN = 0.15  # one sigma of the speed of a ball not seen on its way, in parts of it
AWAY, LATE_S = (
    2.5,
    0.12,
)  # sigmas from where it lay beyond which a ball has left; seconds, most that it is seen to be there still
LEAST_WAY = 0.001  # metres between two places of rest that a ball must have been pushed over


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
    departs: bool  # from rest
    left: Piece

    @property
    def real(self) -> bool:
        """Whether the velocity jumps by more than noise and sliding do."""
        return self.size > max((1.5 if self.departs else 2.7) * self.sigma, 0.03)

    @property
    def size(self) -> float:
        return float(np.hypot(self.jump[0], self.jump[1]))


@dataclass(slots=True)
class Trail:
    """One ball's pieces in a shot: a function of time, constant before the first and after the last.

    Pieces and jumps are not changed after it is made.
    """

    ball: int
    pieces: list[Piece]
    rest: Floats  # (2,) where it lay before
    jumps: list[Jump] = field(default_factory=list)
    end_s: float = np.inf  # last seen, where it was not seen to the end
    _table: tuple[Floats, Floats, Floats] | None = field(default=None, repr=False, compare=False)

    def at(self, t: Floats) -> Floats:
        """(n, 2) places at times (n,)."""
        if not self.pieces:
            return np.tile(self.rest, (len(t), 1))
        if self._table is None:
            self._table = self._tabled()
        borders, coefficients, mids = self._table
        which = borders.searchsorted(t)
        first, last = self.pieces[0], self.pieces[-1]
        until = max(last.end_s, min(self.end_s, last.end_s + 0.2))
        c = coefficients[which]
        s = (np.minimum(np.maximum(t, first.begin_s), until) - mids[which])[:, None]
        return np.asarray(c[:, 0] + c[:, 1] * s + c[:, 2] * s * s)

    def _tabled(self) -> tuple[Floats, Floats, Floats]:
        """Times (k - 1,) at which one piece follows another, and the pieces' coefficients (k, 3, 2) and middles (k,)."""
        borders = np.array([(a.end_s + b.begin_s) / 2 for a, b in itertools.pairwise(self.pieces)])
        for jump in self.jumps if len(borders) else []:
            borders[int(np.abs(jump.t_s - borders).argmin())] = jump.t_s
        return borders, np.array([p.c for p in self.pieces]), np.array([p.mid_s for p in self.pieces])

    @property
    def lay(self) -> bool:
        """Whether it lay still at first."""
        return (
            not self.pieces or (bool(self.jumps) and self.jumps[0].departs) or begins_at_rest(self.pieces[0], self.rest)
        )

    def way(self) -> float:
        """How far it was seen from where it lay, metres; single looks are not believed, nor two that two touching balls may give."""
        ways = [
            float(np.hypot(*(p.c[0] - self.rest))) - 2 * float(np.sqrt(p.spread[0, 0]))
            for p in self.pieces
            if p.last > p.first
        ]
        looks = [p.last - p.first for p in self.pieces if p.last > p.first]
        return max((way for way, n in zip(ways, looks, strict=True) if n > 1 or way > FAR), default=0.0)

    def moves(self) -> bool:
        return any(not rests(p) for p in self.pieces)


def jumps_of(ball: int, pieces: list[Piece], margin: float, rest: Floats, away_s: float = -np.inf) -> list[Jump]:
    """The kinks between pieces at which the velocity jumps.

    A piece of a few looks says little of its velocity: across it the pieces on either side are compared as well.
    ``away_s``: the first look that surely shows the ball elsewhere than where it lay, if it lay; it may have left as late as that.
    """
    out: list[Jump] = []
    firm = [k for k, piece in enumerate(pieces) if piece.last - piece.first >= 3 or k in (0, len(pieces) - 1)]
    lies = 0  # pieces at first that show the ball where it lay: a look or two of them may have been cut off by noise
    if pieces and begins_at_rest(pieces[0], rest):
        lies = 1 + sum(1 for _ in itertools.takewhile(lambda p: _idles(p, rest), pieces[1:]))
    for a, b in itertools.pairwise(firm):
        steps = [_jump(ball, pieces[k], pieces[k + 1], margin, k < lies) for k in range(a, b)]
        found = [j for j in steps if j.real]
        if not found and b > a + 1:
            whole = _jump(ball, pieces[a], pieces[b], margin, a == 0 and begins_at_rest(pieces[0], rest))
            found = [whole] if whole.real else []
        out += found
    if out and out[0].departs and pieces and begins_at_rest(pieces[0], rest):
        out[0].hi_s = max(out[0].hi_s, min(away_s, out[0].hi_s + LATE_S))
    return out


def first_away(times: Floats, xy: Floats, cov: Floats, rest: Floats) -> float:
    """The first look (k,), (k, 2), (k, 2, 2) after which a ball is not seen where it lay any more, within its errors."""
    off = np.hypot(*(xy - rest).T)
    sigma = np.sqrt(np.trace(cov, axis1=1, axis2=2) / 2)
    home = np.flatnonzero(off < AWAY * sigma)
    return float(times[home[-1] + 1]) if len(home) and home[-1] + 1 < len(times) else -np.inf


def _jump(ball: int, left: Piece, right: Piece, margin: float, departs: bool) -> Jump:
    t, place, gap = crossing(left, right, margin)
    departs = departs or rests(left)
    before = np.zeros(2) if departs else left.velocity(t)
    after = np.zeros(2) if rests(right) else right.velocity(t)
    if departs and float(np.hypot(*after)) < CREEPS * float(np.hypot(*right.c[1])):
        after = right.c[1]  # a parabola may creep out of rest, a ball does not
    if rests(left) and rests(right):
        # it lies elsewhere than before: whatever moved it gave it the speed that rolled out over that way
        way = right.at(right.end_s) - left.c[0]
        far = float(np.hypot(way[0], way[1]))
        if far > LEAST_WAY + 3.0 * float(np.sqrt(left.spread[0, 0] + right.spread[0, 0])):
            after = way / far * np.sqrt(2 * ROLL * far)
    mine = 0.004 if departs else left.velocity_sigma(t)
    theirs = 0.004 if rests(right) else right.velocity_sigma(t)
    sigma = float(np.hypot(mine, theirs))
    lo, hi = left.end_s - margin, right.begin_s + margin
    if departs:  # when a slow ball left its place is known the worse, the slower it is
        loose = float(np.sqrt(left.spread[0, 0] + 4 * right.spread[0, 0])) / max(
            float(np.hypot(*(after - before))), 1e-6
        )
        lo, hi = lo - min(SLACK * loose, SLACK_S), hi + min(SLACK * loose, SLACK_S)
    return Jump(ball, t, lo, hi, place, before, after - before, sigma, gap, departs, left)


def bridged(pieces: list[Piece], rest: Floats, margin: float) -> list[Piece]:
    """The pieces with a straight one put in where a ball left its place and was next seen far off, too fast to be seen between."""
    if len(pieces) < 2 or not begins_at_rest(pieces[0], rest):
        return pieces
    left, right = pieces[:2]
    begin, end = left.end_s + margin, right.begin_s - 0.1 * margin
    way = right.at(right.begin_s) - left.at(left.end_s)
    if crossing(left, right, margin)[2] < LEAP or not margin < end - begin < HOLE_S or np.hypot(*way) < 2 * LEAP:
        return pieces
    v = way / (end - begin)
    mid = 0.5 * (begin + end)
    c = np.array([left.at(left.end_s) + 0.5 * way, v, np.zeros(2)])
    spread = np.diag([LEAP**2, (UNSEEN * float(np.hypot(*v))) ** 2, 1e-6])
    return [left, Piece(right.first, right.first - 1, begin, end, mid, c, spread), *pieces[1:]]


def along(piece: Piece, t: Floats) -> Floats:
    s = (t - piece.mid_s)[:, None]
    return np.asarray(piece.c[0] + piece.c[1] * s + piece.c[2] * s * s)


def begins_at_rest(piece: Piece, rest: Floats) -> bool:
    """Whether a ball's first piece shows it where it lay."""
    way = float(np.hypot(piece.c[1, 0], piece.c[1, 1])) * (piece.end_s - piece.begin_s)
    return rests(piece) or (way < 0.02 and float(np.hypot(*(piece.c[0] - rest))) < AT_HOME_M)


def _idles(piece: Piece, rest: Floats) -> bool:
    """Whether a piece of a few looks is too short to tell a speed, and nowhere but where the ball lay."""
    ends = piece.at(piece.begin_s) - rest, piece.at(piece.end_s) - rest
    strays = 4.0 * float(np.sqrt(2 * piece.spread[0, 0]))  # a single look may, the piece's middle is a mean of two
    return 0 <= piece.last - piece.first < 3 and max(float(np.hypot(*end)) for end in ends) < max(AT_HOME_M, strays)


def rests(piece: Piece) -> bool:
    """Whether a piece shows a ball at rest."""
    speed = float(np.hypot(piece.c[1, 0], piece.c[1, 1]))
    loose = float(np.sqrt(piece.spread[1, 1]))
    way = speed * (piece.end_s - piece.begin_s)
    if piece.last - piece.first >= 2:  # it may lie still at first, and move at the end
        s = np.array([piece.begin_s, piece.end_s]) - piece.mid_s
        off = np.hypot(*(np.outer(piece.c[1], s) + np.outer(piece.c[2], s * s)))
        slack = np.sqrt(
            np.maximum(s * s * piece.spread[1, 1] + 2 * s**3 * piece.spread[1, 2] + s**4 * piece.spread[2, 2], 0)
        )
        if (off > DRIFT_M + 4 * slack).any():
            return False
    return (speed == 0.0 and piece.last > piece.first) or (  # a single look has no speed
        piece.last - piece.first >= 2 and (speed < STILL or (speed < 3 * loose and loose < 0.05) or way < 0.004)
    )


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
            _, _, gap = crossing(left, right, 0.0)
            joined = apart < 3 * sigma + 0.5 * loose * (right.begin_s - left.end_s) + 0.002 and bend < 4 * loose + 0.1
            if joined or gap < sigma + 0.001:
                stray += range(piece.first, piece.last + 1)
                continue
        out.append(piece)
    while len(out) > 1 and out[-1].last - out[-1].first < 3:  # a look or two far from the end of the path
        _, _, gap = crossing(out[-2], out[-1], 0.0)
        if gap < LEAP + 3 * sigma:
            break
        stray += range(out[-1].first, out[-1].last + 1)
        out.pop()
    groups: list[list[Piece]] = [out[:1]]
    for left, right in itertools.pairwise(out):
        hole = right.begin_s - left.end_s
        apart = float(
            np.hypot(
                *(
                    left.c[0]
                    + left.c[1] * (left.end_s - left.mid_s)
                    - right.c[0]
                    - right.c[1] * (right.begin_s - right.mid_s)
                )
            )
        )
        _, _, gap = crossing(left, right, 0.6 * hole)
        leapt = gap > LEAP + 3 * sigma and apart > FASTEST * hole * (1.0 if rests(left) else 0.6) + LEAP
        groups.append([right]) if leapt else groups[-1].append(right)
    if len(groups) > 1:
        sizes = [sum(p.last - p.first + 1 for p in g) for g in groups]
        keep = 0 if sizes[0] >= 8 else int(np.argmax(sizes))
        for k, group in enumerate(groups):
            if k != keep:
                for p in group:
                    stray += range(p.first, p.last + 1)
        out = groups[keep]
    return out, stray
