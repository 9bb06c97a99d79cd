"""The unknowns and residuals of one reading of a shot, as arrays, with derivatives in closed form.

Six numbers an arc (see ``tracking.motion``), one time a kink, and the cloth's two frictions; against them the looks, joined
paths, contacts, cushions and priors (see ``tracking.joint``).
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
import numpy.typing as npt

from tracking.motion import Flight, fly
from tracking.observations import Floats

TAILS = 5.0  # degrees of freedom of the looks' errors
GAUSSIAN = 1e4
FIRM_TAILS = 50.0  # the same for the mean of many looks at a ball at rest
JOIN = 1e-4  # metres, how well the ends of two arcs meet
DIAMETER = 6e-4  # metres, how well two centres are a diameter apart at a contact
NOSE = 1.2e-3  # metres, how well the nose lines are known
SHARED = 100.0  # m/s, looseness of the momentum of a push that more than two balls share
RESTITUTION = 0.96  # of two balls (0.92 worn … 1 ideal)
CUSHION = 0.75

Ints = npt.NDArray[np.intp]
KinkKind = Literal["strike", "contact", "rail", "jaw", "free"]


@dataclass(slots=True)
class Kink:
    """An instant at which the velocities of one or two balls jump.

    ``wall``: axis (0 x, 1 y), place of the ball's centre on it, and the sign of the way back, for ``rail``.
    ``crowd``: one among several at once, whose push is shared (see ``tracking.packs``): only the place of a contact counts.
    ``again``: a contact that was two: the ball that was met could not give way, and came back at once.
    """

    kind: KinkKind
    t_s: float
    balls: tuple[int, ...]
    wall: tuple[int, float, float] | None = None
    p: float = 1.0
    sigma_s: float = 0.0
    crowd: bool = False
    again: bool = False


@dataclass(slots=True)
class Path:
    """One ball's looks in a shot, and the arcs between its kinks (as many as kinks, plus the one before the first)."""

    ball: int
    times: Floats
    xy: Floats
    cov: Floats
    begin_s: float
    arcs: Floats  # (kinks + 1, 6)
    resting: bool = True  # whether the first arc is a ball at rest
    weight: Floats = field(default_factory=lambda: np.zeros(0))


class Problem:
    """The unknowns of one reading of a shot laid out as arrays."""

    def __init__(
        self,
        paths: dict[int, Path],
        kinks: list[Kink],
        exposure_s: float,
        prior: tuple[float, float, float, float],
        radius: float,
        loose_s: float = 0.1,
    ) -> None:
        self.paths, self.kinks, self.radius, self.prior = paths, kinks, radius, prior
        self.loose_s = loose_s
        order = {
            b: sorted((k for k, kink in enumerate(kinks) if b in kink.balls), key=lambda k: kinks[k].t_s) for b in paths
        }
        self.order = order
        self.first: dict[int, int] = {}
        arcs: list[Floats] = []
        starts: list[int] = []
        begins: list[float] = []
        owner: list[int] = []
        for b, path in paths.items():
            self.first[b] = len(starts)
            arcs.append(path.arcs)
            starts += [-1, *order[b]]
            begins += [path.begin_s] * (len(order[b]) + 1)
            owner += [b] * (len(order[b]) + 1)
        self.n_arcs, self.n_kinks = len(starts), len(kinks)
        self.arcs = np.vstack(arcs) if arcs else np.zeros((0, 6))
        self.start_kink = np.array(starts, dtype=int)
        self.begin = np.array(begins)
        self.owner = owner
        self.size = 6 * self.n_arcs + self.n_kinks + 2
        self.times0 = np.array([k.t_s for k in kinks])
        self.x = np.concatenate([self.arcs.ravel(), self.times0, [prior[0], prior[1]]])
        t, z, w = [], [], []
        self.slices: dict[int, slice] = {}
        self.firm: list[int] = []  # rows that stand for many looks at rest: such a place is no outlier
        at = 0
        for b, path in paths.items():
            n = len(path.times)
            self.slices[b] = slice(at, at + n)
            if path.resting and n:
                self.firm.append(at)
            at += n
            t.append(path.times)
            z.append(path.xy)
            w.append(path.cov)
        self.t = np.concatenate(t) if t else np.zeros(0)
        self.z = np.vstack(z) if z else np.zeros((0, 2))
        self.cov = np.concatenate(w) if w else np.zeros((0, 2, 2))
        self.exposure = exposure_s
        # sides: one per (kink, ball)
        sides = []
        for b in paths:
            for j, k in enumerate(order[b]):
                sides.append((k, self.first[b] + j, self.first[b] + j + 1, kinks[k].balls.index(b)))
        self.sides = np.array(sides, dtype=int).reshape(-1, 4)
        self.side_of = {(int(k), int(i)): s for s, (k, _, _, i) in enumerate(sides)}
        self.contact_sides = np.array(
            [(self.side_of[k, 0], self.side_of[k, 1]) for k, kink in enumerate(kinks) if kink.kind == "contact"],
            dtype=int,
        ).reshape(-1, 2)
        self.wall_sides = np.array(
            [self.side_of[k, 0] for k, kink in enumerate(kinks) if kink.wall is not None], dtype=int
        )
        self.shared = np.array([kink.crowd for kink in kinks if kink.kind == "contact"], dtype=np.bool_)
        self.walls = np.array([kink.wall for kink in kinks if kink.wall is not None], dtype=float).reshape(-1, 3)
        self.kind = np.array([kink.kind for kink in kinks])
        self.tails = GAUSSIAN  # nearly Gaussian at first: from a poor guess the looks must pull
        self.rest_arcs = np.array([self.first[b] for b, path in paths.items() if path.resting], dtype=int)
        self.begun_arcs = np.array([self.first[b] for b, path in paths.items() if not path.resting], dtype=int)

    # -- pieces --------------------------------------------------------------------------------------------------
    def unpack(self, x: Floats) -> tuple[Floats, Floats, float, float]:
        a = 6 * self.n_arcs
        return x[:a].reshape(-1, 6), x[a : a + self.n_kinks], float(x[-2]), float(x[-1])

    def _columns(self, arcs: Ints) -> Ints:
        """(n, 9) columns of the unknowns that an arc's flight depends on; the dummy column is ``size``."""
        base = 6 * arcs[:, None] + np.arange(6)
        start = self.start_kink[arcs]
        t = np.where(start >= 0, 6 * self.n_arcs + start, self.size)
        n = len(arcs)
        return np.concatenate(
            [base, t[:, None], np.full((n, 1), self.size - 2), np.full((n, 1), self.size - 1)], axis=1
        )

    def arc_of(self, times: Floats) -> Ints:
        """(n,) which arc each look lies on, given the kinks' times."""
        out = np.zeros(len(self.t), dtype=int)
        for b, s in self.slices.items():
            out[s] = self.first[b] + np.searchsorted(times[self.order[b]], self.t[s], side="right")
        return out

    def _starts(self, arcs: Ints, times: Floats) -> Floats:
        start = self.start_kink[arcs]
        if not self.n_kinks:
            return np.asarray(self.begin[arcs])
        return np.asarray(np.where(start >= 0, times[np.maximum(start, 0)], self.begin[arcs]))

    def order_times(self, x: Floats) -> None:
        """Keep every ball's kinks in their order."""
        a = 6 * self.n_arcs
        for _ in range(3):
            for ks in self.order.values():
                for i, k in itertools.pairwise(ks):
                    if x[a + k] < x[a + i] + 2e-5:
                        mid = (x[a + k] + x[a + i]) / 2
                        x[a + i], x[a + k] = mid - 1e-5, mid + 1e-5

    # -- residuals -----------------------------------------------------------------------------------------------
    def evaluate(self, x: Floats, derive: bool = True) -> tuple[float, Floats, Floats]:
        """Cost, normal matrix (size, size) and gradient (size,) at ``x``."""
        arcs, times, slide, roll = self.unpack(x)
        n = self.size + 1
        h, g = np.zeros((n, n)), np.zeros(n)
        cost = 0.0
        # looks
        which = self.arc_of(times)
        flight = fly(arcs[which], self.t - self._starts(which, times), slide, roll, where_only=True)
        cov = self.cov
        if self.exposure > 0 and self.n_kinks:
            cov = cov + self._straddle(times)[:, None, None] * np.eye(2)
        inv = np.linalg.inv(cov)
        res = flight.x - self.z
        pull = np.einsum("nij,nj->ni", inv, res)
        m2 = np.einsum("ni,ni->n", pull, res)
        self.m2 = m2
        tails = np.full(len(m2), self.tails)
        tails[self.firm] = max(self.tails, FIRM_TAILS)
        weight = (tails + 2) / (tails + m2)
        cost += float(((tails + 2) * np.log1p(m2 / tails)).sum()) + float(np.log(np.linalg.det(cov) / 1e-12).sum())
        if derive and len(self.t):
            left = np.einsum("nij,nik->njk", inv, flight.dx) * weight[:, None, None]
            blocks = np.einsum("nji,njk->nik", flight.dx, left)
            grads = np.einsum("nij,ni->nj", flight.dx, pull * weight[:, None])
            order = np.argsort(which, kind="stable")
            used, begin = np.unique(which[order], return_index=True)
            self._scatter(
                h, g, self._columns(used), np.add.reduceat(blocks[order], begin), np.add.reduceat(grads[order], begin)
            )
        if len(self.sides):
            cost += self._joints(arcs, times, slide, roll, h, g)
        cost += self._priors(x, arcs, times, slide, roll, h, g)
        return cost, h[:-1, :-1], g[:-1]

    def _straddle(self, times: Floats) -> Floats:
        """(n,) variance added to looks whose exposure an impact falls into: the mean place is on neither arc."""
        out = np.zeros(len(self.t))
        arcs = self.x[: 6 * self.n_arcs].reshape(-1, 6)
        for b, s in self.slices.items():
            t = self.t[s]
            for j, k in enumerate(self.order[b]):
                near = np.abs(t - times[k]) < self.exposure / 2
                if near.any():
                    jump = arcs[self.first[b] + j + 1, 2:4] - arcs[self.first[b] + j, 2:4]
                    size = min(float(np.hypot(*jump)), 8.0)
                    part = self.exposure / 2 - np.abs(t[near] - times[k])
                    out[s.start + np.flatnonzero(near)] += (0.5 * size * part**2 / max(self.exposure, 1e-6)) ** 2
        return out

    def _scatter(self, h: Floats, g: Floats, columns: Ints, blocks: Floats, grads: Floats) -> None:
        np.add.at(h, (columns[:, :, None], columns[:, None, :]), blocks)
        np.add.at(g, columns, grads)

    def _add(self, h: Floats, g: Floats, columns: Ints, res: Floats, jac: Floats, sigma: Floats) -> float:
        """Residuals (n, q) with derivatives (n, q, c) and sigmas (n, q)."""
        r = res / sigma
        j = jac / sigma[:, :, None]
        self._scatter(h, g, columns, np.einsum("nqi,nqj->nij", j, j), np.einsum("nqi,nq->ni", j, r))
        return float((r**2).sum())

    def _joints(self, arcs: Floats, times: Floats, slide: float, roll: float, h: Floats, g: Floats) -> float:
        k, before, after = self.sides[:, 0], self.sides[:, 1], self.sides[:, 2]
        end: Flight = fly(arcs[before], times[k] - self._starts(before, times), slide, roll)
        n = len(k)
        columns = np.concatenate(
            [self._columns(before), 6 * self.n_arcs + k[:, None], 6 * after[:, None] + np.arange(6)], axis=1
        )
        p2, v2, r2 = arcs[after, :2], arcs[after, 2:4], arcs[after, 4:]

        def widen(d: Floats) -> Floats:
            """Derivatives of an end state by the side's 16 columns."""
            return np.concatenate([d, -d[:, :, 6:7], np.zeros((n, 2, 6))], axis=2)

        dx, dv, dr = widen(end.dx), widen(end.dv), widen(end.dr)
        dp2, dv2, dr2 = np.zeros((n, 2, 16)), np.zeros((n, 2, 16)), np.zeros((n, 2, 16))
        dp2[:, 0, 10] = dp2[:, 1, 11] = dv2[:, 0, 12] = dv2[:, 1, 13] = dr2[:, 0, 14] = dr2[:, 1, 15] = 1.0
        cost = self._add(h, g, columns, end.x - p2, dx - dp2, np.full((n, 2), JOIN))
        # spin: r = (5 v + 2 w) / 7, and w goes through a contact (nearly) and a cushion (partly)
        speed = np.hypot(end.v[:, 0], end.v[:, 1]) + np.hypot(v2[:, 0], v2[:, 1])
        kind = self.kind[k]
        contact = kind == "contact"
        through = np.where(contact, 1.0, np.where(kind == "rail", 0.6, 0.0))[:, None]
        loose = np.where(
            contact, 0.03 * speed + 0.01, np.where(kind == "rail", 0.2 * speed + 0.03, 0.35 * speed + 0.05)
        )
        res = r2 - 5 / 7 * v2 - through * (end.r - 5 / 7 * end.v)
        jac = dr2 - 5 / 7 * dv2 - through[:, :, None] * (dr - 5 / 7 * dv)
        cost += (
            self._add(h, g, columns, res, jac, np.repeat(loose[:, None], 2, axis=1))
            + 4 * float(np.log(loose / 0.05).sum()) / 2
        )
        if len(self.contact_sides):
            cost += self._contacts(end, columns, (p2, v2), (dv, dp2, dv2), h, g)
        if len(self.wall_sides):
            cost += self._walls(end, columns, (p2, v2), (dv, dp2, dv2), h, g)
        return cost

    def _contacts(
        self,
        end: Flight,
        columns: Ints,
        after: tuple[Floats, Floats],
        derivs: tuple[Floats, Floats, Floats],
        h: Floats,
        g: Floats,
    ) -> float:
        a, b = self.contact_sides[:, 0], self.contact_sides[:, 1]
        (p2, v2), (dv, dp2, dv2) = after, derivs
        n = len(a)
        cols = np.concatenate([columns[a], columns[b]], axis=1)
        zero = np.zeros((n, 2, 16))

        def left(d: Floats) -> Floats:
            return np.concatenate([d[a], zero], axis=2)

        def right(d: Floats) -> Floats:
            return np.concatenate([zero, d[b]], axis=2)

        line = p2[b] - p2[a]
        dline = right(dp2) - left(dp2)
        length = np.maximum(np.hypot(line[:, 0], line[:, 1]), 1e-6)
        axis = line / length[:, None]
        side = np.stack([-axis[:, 1], axis[:, 0]], axis=1)
        dlength = np.einsum("ni,nij->nj", axis, dline)
        dangle = np.einsum("ni,nij->nj", side, dline) / length[:, None]  # axis turns toward side
        va, vb, va2, vb2 = end.v[a], end.v[b], v2[a], v2[b]
        dva, dvb, dva2, dvb2 = left(dv), right(dv), left(dv2), right(dv2)
        kept = va2 + vb2 - va - vb
        dkept = dva2 + dvb2 - dva - dvb
        push = 0.5 * ((vb2 - vb) - (va2 - va))
        dpush = 0.5 * ((dvb2 - dvb) - (dva2 - dva))
        across = np.einsum("ni,ni->n", side, push)
        dacross = np.einsum("ni,nij->nj", side, dpush) - np.einsum("ni,ni->n", axis, push)[:, None] * dangle
        apart = np.einsum("ni,ni->n", axis, vb2 - va2 + RESTITUTION * (vb - va))
        dapart = np.einsum("ni,nij->nj", axis, dvb2 - dva2 + RESTITUTION * (dvb - dva))
        dapart += np.einsum("ni,ni->n", side, vb2 - va2 + RESTITUTION * (vb - va))[:, None] * dangle
        size = np.hypot(push[:, 0], push[:, 1])
        res = np.stack([length - 2 * self.radius, kept[:, 0], kept[:, 1], across, apart], axis=1)
        jac = np.stack([dlength, dkept[:, 0], dkept[:, 1], dacross, dapart], axis=1)
        loose = 0.02 * size + 0.008
        sigma = np.stack([np.full(n, DIAMETER), loose, loose, 0.04 * size + 0.008, 0.08 * size + 0.012], axis=1)
        sigma[self.shared, 1:] = SHARED
        return self._add(h, g, cols, res, jac, sigma) + 2 * float(np.log(sigma[~self.shared, 1:] / 0.02).sum())

    def _walls(
        self,
        end: Flight,
        columns: Ints,
        after: tuple[Floats, Floats],
        derivs: tuple[Floats, Floats, Floats],
        h: Floats,
        g: Floats,
    ) -> float:
        s = self.wall_sides
        (p2, v2), (dv, dp2, dv2) = after, derivs
        n = len(s)
        i = np.arange(n)
        axis = self.walls[:, 0].astype(int)
        other = 1 - axis
        place = p2[s, axis] - self.walls[:, 1]
        inward = np.abs(end.v[s, axis])
        along = np.abs(end.v[s, other])
        back = v2[s, axis] + CUSHION * end.v[s, axis]
        slip = v2[s, other] - 0.9 * end.v[s, other]

        def d(block: Floats, ax: Ints) -> Floats:
            return np.asarray(block[s][i, ax])

        jac = np.stack([d(dp2, axis), d(dv2, axis) + CUSHION * d(dv, axis), d(dv2, other) - 0.9 * d(dv, other)], axis=1)
        sigma = np.stack([np.full(n, NOSE), 0.2 * inward + 0.02, 0.12 * along + 0.2 * inward + 0.02], axis=1)
        res = np.stack([place, back, slip], axis=1)
        return self._add(h, g, columns[s], res, jac, sigma) + 2 * float(np.log(sigma[:, 1:] / 0.05).sum())

    def _priors(self, x: Floats, arcs: Floats, times: Floats, slide: float, roll: float, h: Floats, g: Floats) -> float:
        cost = 0.0
        diag = np.zeros(self.size)
        grad = np.zeros(self.size)

        def add(index: Ints, value: Floats, sigma: float | Floats) -> None:
            nonlocal cost
            w = 1 / np.square(np.broadcast_to(sigma, value.shape))
            np.add.at(diag, index, w)
            np.add.at(grad, index, value * w)
            cost += float((value**2 * w).sum())

        for group, loose in ((self.rest_arcs, 1e-4),):
            if len(group):
                index = (6 * group[:, None] + np.arange(2, 6)).ravel()
                add(index, x[index], loose)
        every = (6 * np.arange(self.n_arcs)[:, None] + np.arange(2, 6)).ravel()
        add(every, x[every], 20.0)
        base = 6 * self.n_arcs
        if self.n_kinks:
            add(base + np.arange(self.n_kinks), times - self.times0, self.loose_s)
        s0, d0, s_loose, d_loose = self.prior
        add(np.array([self.size - 2]), np.array([slide - s0]), s_loose)
        add(np.array([self.size - 1]), np.array([roll - d0]), d_loose)
        i = np.arange(self.size)
        h[i, i] += diag
        g[:-1] += grad
        if len(self.begun_arcs):
            a = self.begun_arcs
            v, r = arcs[a, 2:4], arcs[a, 4:]
            wide = 0.15 * np.hypot(v[:, 0], v[:, 1]) + 0.05
            jac = np.zeros((len(a), 2, 4))
            jac[:, 0, 0] = jac[:, 1, 1] = -0.95
            jac[:, 0, 2] = jac[:, 1, 3] = 1.0
            cost += self._add(
                h, g, 6 * a[:, None] + np.arange(2, 6), r - 0.95 * v, jac, np.repeat(wide[:, None], 2, axis=1)
            )
        return cost
