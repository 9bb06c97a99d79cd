"""Cuts one ball's looks into smooth pieces: where the pieces part, the ball was hit, or began to roll, or stopped.

Least cost over all ways of cutting (dynamic programming, Jackson et al. 2005): each piece is a parabola whose acceleration is
bounded softly by the cloth's friction, each cut costs a penalty.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tracking.observations import Floats

PENALTY = 28.0  # squared sigmas that a cut must save
WINDOW = 80  # most looks in a piece
BEND = 1.3  # m/s², one sigma of half the acceleration
HOLE_S = 0.28  # a piece does not reach across a longer time unseen
SLACK = 1.25  # errors are this much larger than said


@dataclass(frozen=True, slots=True)
class Piece:
    """Looks ``first`` … ``last`` (inclusive) on ``c[0] + c[1] s + c[2] s²`` with ``s = t - mid_s``; ``c`` (3, 2)."""

    first: int
    last: int
    begin_s: float
    end_s: float
    mid_s: float
    c: Floats
    spread: Floats  # (3, 3) covariance of the coefficients, mean of both axes

    def at(self, t: float) -> Floats:
        s = t - self.mid_s
        return np.asarray(self.c[0] + self.c[1] * s + self.c[2] * s * s)

    def velocity(self, t: float) -> Floats:
        s = t - self.mid_s
        return np.asarray(self.c[1] + 2 * self.c[2] * s)

    def velocity_sigma(self, t: float) -> float:
        k = np.array([0.0, 1.0, 2 * (t - self.mid_s)])
        return float(np.sqrt(max(k @ self.spread @ k, 0.0)))


def cut(times: Floats, xy: Floats, cov: Floats, penalty: float = PENALTY) -> list[Piece]:
    """Pieces of one ball's looks (k,), (k, 2), (k, 2, 2) in order of time."""
    n = len(times)
    if n == 0:
        return []
    _, frame = np.linalg.eigh(cov.mean(axis=0))
    turned = xy @ frame
    mid = float(times.mean())
    s = times - mid
    spread = np.einsum("ji,njk,ki->ni", frame, cov, frame) * SLACK**2
    weight = 1 / spread
    cost = np.full((n, WINDOW), np.inf)  # cost[j, d]: looks j-d … j
    total = np.zeros((n, WINDOW))
    powers = np.stack([np.ones(n), s, s**2, s**3, s**4], axis=1)
    j, d = np.meshgrid(np.arange(n), np.arange(WINDOW), indexing="ij")
    i = j - d
    i0 = np.maximum(i, 0)
    holes = np.concatenate([[0], np.cumsum(np.diff(times) > HOLE_S)])
    good = (i >= 0) & (holes[j] == holes[i0])
    for axis in range(2):
        w, z = weight[:, axis], turned[:, axis] - turned[:, axis].mean()
        sums = np.concatenate(
            [
                np.zeros((1, 9)),
                np.cumsum(np.column_stack([w[:, None] * powers, (w * z)[:, None] * powers[:, :3], w * z * z]), axis=0),
            ]
        )
        m = sums[j + 1] - sums[i0]
        # shift the origin of time to each piece's own middle, for the sake of the numbers and of the prior
        c = m[..., 1] / np.maximum(m[..., 0], 1e-12)
        m0 = m[..., 0]
        m1 = m[..., 1] - c * m0
        m2 = m[..., 2] - 2 * c * m[..., 1] + c**2 * m0
        m3 = m[..., 3] - 3 * c * m[..., 2] + 3 * c**2 * m[..., 1] - c**3 * m0
        m4 = m[..., 4] - 4 * c * m[..., 3] + 6 * c**2 * m[..., 2] - 4 * c**3 * m[..., 1] + c**4 * m0
        b0 = m[..., 5]
        b1 = m[..., 6] - c * b0
        b2 = m[..., 7] - 2 * c * m[..., 6] + c**2 * b0
        m4 = m4 + 1 / BEND**2
        m2 = m2 + 1e-2  # speed within 10 m/s
        m0 = m0 + 1e-6
        # Cholesky of the 3 by 3 system, written out
        l00 = np.sqrt(m0)
        l10, l20 = m1 / l00, m2 / l00
        l11 = np.sqrt(np.maximum(m2 - l10**2, 1e-12))
        l21 = (m3 - l20 * l10) / l11
        l22 = np.sqrt(np.maximum(m4 - l20**2 - l21**2, 1e-12))
        y0 = b0 / l00
        y1 = (b1 - l10 * y0) / l11
        y2 = (b2 - l20 * y0 - l21 * y1) / l22
        total += np.maximum(m[..., 8] - y0**2 - y1**2 - y2**2, 0.0)
    cost[good] = total[good]
    best = np.zeros(n + 1)
    back = np.zeros(n, dtype=int)
    for k in range(n):
        width = min(k + 1, WINDOW)
        options = cost[k, :width] + best[k - width + 1 : k + 1][::-1]
        back[k] = int(np.argmin(options))
        best[k + 1] = options[back[k]] + penalty
    pieces = []
    k = n - 1
    while k >= 0:
        first = k - back[k]
        pieces.append(_fit(times, xy, weight.mean(axis=1), first, k))
        k = first - 1
    return pieces[::-1]


def _fit(times: Floats, xy: Floats, weight: Floats, first: int, last: int) -> Piece:
    t, z, w = times[first : last + 1], xy[first : last + 1], weight[first : last + 1]
    mid = float(t.mean())
    s = t - mid
    a = np.stack([np.ones_like(s), s, s * s], axis=1)
    m = a.T @ (a * w[:, None]) + np.diag([0.0, 1e-2, 1 / BEND**2])
    inverse = np.linalg.inv(m)
    return Piece(
        first,
        last,
        float(t[0]),
        float(t[-1]),
        mid,
        np.asarray(inverse @ (a.T @ (z * w[:, None])), np.float64),
        np.asarray(inverse, np.float64),
    )


def resting_piece(times: Floats, rest: Floats) -> Piece:
    """The piece of a ball that lies at ``rest`` (2,) at ``times`` (k,)."""
    c = np.zeros((3, 2))
    c[0] = rest
    spread = np.diag([1e-6, 1e-8, 1e-8])
    return Piece(0, len(times) - 1, float(times[0]), float(times[-1]), float(times.mean()), c, spread)


def shifted(piece: Piece, by: int) -> Piece:
    """The same piece, counted from ``by`` looks earlier."""
    return replace(piece, first=piece.first + by, last=piece.last + by)


def crossing(left: Piece, right: Piece, margin: float) -> tuple[float, Floats, float]:
    """When two pieces meet best: time, place (2,) and how far apart they are then (metres).

    Looked for between the last look of ``left`` and the first of ``right``, and ``margin`` seconds to either side.
    """
    lo, hi = left.end_s - margin, right.begin_s + margin
    t = np.linspace(lo, hi, 41)
    s, u = t - left.mid_s, t - right.mid_s
    a = left.c[0] + left.c[1] * s[:, None] + left.c[2] * s[:, None] ** 2
    b = right.c[0] + right.c[1] * u[:, None] + right.c[2] * u[:, None] ** 2
    gap = np.hypot(*(a - b).T)
    outside = np.maximum(np.maximum(left.end_s - t, t - right.begin_s), 0.0)
    k = int(np.argmin(gap + 0.05 * outside))
    return float(t[k]), (a[k] + b[k]) / 2, float(gap[k])
