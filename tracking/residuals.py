"""The unknowns and residuals of one reading of a shot, as arrays, with derivatives in closed form.

Six numbers an arc (see ``tracking.motion``), one time a kink, and the cloth's two frictions; against them the looks, joined
paths, contacts, cushions and priors (see ``tracking.joint``).
"""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt

from tracking.motion import fly
from tracking.normal import Normal, System
from tracking.observations import Floats
from tracking.path import Kink, Path

TAILS = 5.0  # degrees of freedom of the looks' errors
GAUSSIAN = 1e4
FIRM_TAILS = 50.0  # the same for the mean of many looks at a ball at rest
JOIN = 1e-4  # metres, how well the ends of two arcs meet
DIAMETER = 6e-4  # metres, how well two centres are a diameter apart at a contact
NOSE = 1.2e-3  # metres, how well the nose lines are known
SHARED = 100.0  # m/s, looseness of the momentum of a push that more than two balls share
RESTITUTION = 0.96  # of two balls (0.92 worn … 1 ideal)
PUSH_GROWS = np.array(
    [[0.02], [0.02], [0.04], [0.08]]
)  # of a push, how well momentum (x, y), direction and parting are known
PUSH_LOOSE = np.array([[0.008], [0.008], [0.008], [0.012]])  # m/s, at least
SLOW, TINY = 1e-6, 1e-12
CUSHION, ALONG = 0.75, 0.9  # of its speed into a cushion, and along it, that a ball keeps
ANY_SPEED, AT_REST = 20.0, 1e-4  # m/s, how fast a ball may be, and one at rest

Ints = npt.NDArray[np.intp]


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
        self.root, self.plain = _roots(self.cov)
        kind = self.kind[self.sides[:, 0]]
        contact, rail = kind == "contact", kind == "rail"
        self.through = np.where(contact, 1.0, np.where(rail, 0.6, 0.0))
        self.spin_loose = np.where(contact, ((0.03,), (0.01,)), np.where(rail, ((0.2,), (0.03,)), ((0.35,), (0.05,))))
        self.centre, self.firmness = self._held()
        self._lay_out()

    def _held(self) -> tuple[Floats, Floats]:
        """(size,) what the unknowns are drawn to before any look, and how firmly (one over the variance)."""
        centre, firm = np.zeros(self.size), np.zeros(self.size)
        motion = 6 * np.arange(self.n_arcs)[:, None] + np.arange(2, 6)
        firm[motion] = 1 / ANY_SPEED**2
        firm[motion[self.rest_arcs]] += 1 / AT_REST**2
        kinks = slice(6 * self.n_arcs, 6 * self.n_arcs + self.n_kinks)
        centre[kinks], firm[kinks] = self.times0, 1 / self.loose_s**2
        slide, roll, slide_loose, roll_loose = self.prior
        centre[-2:], firm[-2:] = (slide, roll), (1 / slide_loose**2, 1 / roll_loose**2)
        return centre, firm

    def _lay_out(self) -> None:
        """Which unknowns meet in which kind of equation: the same in every step."""
        k, before, after = self.sides[:, 0], self.sides[:, 1], self.sides[:, 2]
        sides = np.concatenate(
            [self._columns(before), 6 * self.n_arcs + k[:, None], 6 * after[:, None] + np.arange(6)], axis=1
        )
        a, b = self.contact_sides[:, 0], self.contact_sides[:, 1]
        groups = [
            self._columns(np.arange(self.n_arcs)),
            sides,
            np.concatenate([sides[a], sides[b]], axis=1),
            sides[self.wall_sides],
            6 * self.begun_arcs[:, None] + np.arange(2, 6),
        ]
        self.normal = Normal(self.size, 2, groups)

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
    def evaluate(self, x: Floats) -> tuple[float, System]:
        """Cost and normal equations at ``x``."""
        arcs, times, slide, roll = self.unpack(x)
        which = self.arc_of(times)
        cost = self._seen(which, arcs[which], self.t - self._starts(which, times), slide, roll, times)
        if len(self.sides):
            cost += self._joints(arcs, times, slide, roll)
        cost += self._priors(x, arcs)
        return cost, self.normal.taken()

    def _seen(self, which: Ints, arcs: Floats, tau: Floats, slide: float, roll: float, times: Floats) -> float:
        """The looks' part. Residuals are whitened, weighted by Student's t, and squared arc by arc."""
        n = len(self.t)
        if not n:
            self.m2 = np.zeros(0)
            return 0.0
        root, plain = self.root, self.plain
        if self.exposure > 0 and self.n_kinks:
            wide = self._straddle(times)
            rows = np.flatnonzero(wide)
            if len(rows):
                root, plain = root.copy(), plain.copy()
                root[:, rows], plain[rows] = _roots(self.cov[rows] + wide[rows, None, None] * np.eye(2))
        flight = fly(arcs, tau, slide, roll, where_only=True)
        d = flight.slopes
        off_x, off_y = flight.state - self.z.T
        white = np.empty((10, 2, n))
        white[9, 0] = root[0] * off_x + root[1] * off_y
        white[9, 1] = root[2] * off_y
        m2 = white[9, 0] ** 2 + white[9, 1] ** 2
        self.m2 = m2
        tails = np.full(n, self.tails)
        tails[self.firm] = max(self.tails, FIRM_TAILS)
        pull = np.sqrt((tails + 2) / (tails + m2))
        np.multiply(d[0], root[0], out=white[:9, 0])
        white[:9, 0] += root[1] * d[1]
        np.multiply(d[1], root[2], out=white[:9, 1])
        white *= pull
        blocks = np.zeros((self.n_arcs, 10, 10))
        bounds = np.flatnonzero(np.diff(which, prepend=-1, append=self.n_arcs))
        for begin, end in itertools.pairwise(bounds):  # looks stand ball by ball in the order of time, as arcs do
            part = white[:, :, begin:end].reshape(10, -1)
            blocks[which[begin]] = part @ part.T
        self.normal.add(0, blocks[:, :9, :9], blocks[:, :9, 9])
        return float(((tails + 2) * np.log1p(m2 / tails)).sum()) + float(plain.sum())

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

    def _add(self, group: int, res: Floats, jac: Floats, sigma: Floats, spread: list[tuple[Floats, Floats]]) -> float:
        """Residuals (q, n) with derivatives (q, c, n) and sigmas (q, n); ``spread`` from `_spread`, for sigmas that are no constants."""
        r = res / sigma
        cost = float(np.vdot(r, r))
        j = jac / sigma[:, None]
        if spread:
            r = np.concatenate([r, [value for value, _ in spread]])
            j = np.concatenate([j, [slope for _, slope in spread]])
        j = np.ascontiguousarray(j.transpose(2, 1, 0))  # (n, c, q)
        self.normal.add(group, j @ j.transpose(0, 2, 1), (j @ r.T[:, :, None])[:, :, 0])
        return cost

    def _joints(self, arcs: Floats, times: Floats, slide: float, roll: float) -> float:
        """What holds where arcs meet. A side's columns: 9 of the arc before (`_columns`), the kink's time, 6 of the arc after."""
        k, before, after = self.sides[:, 0], self.sides[:, 1], self.sides[:, 2]
        flight = fly(arcs[before], times[k] - self._starts(before, times), slide, roll)
        n = len(k)
        end = flight.state
        ends = np.zeros((6, 16, n))
        ends[:, :9] = flight.slopes
        ends[:, 9] = -flight.slopes[:, 6]
        then = arcs[after].T
        # spin: r = (5 v + 2 w) / 7, and w goes through a contact (nearly) and a cushion (partly)
        speed, speed_then = np.hypot(end[2], end[3]), np.hypot(then[2], then[3])
        grows = self.spin_loose[0]
        loose = grows * (speed + speed_then) + self.spin_loose[1]
        res = np.empty((4, n))
        res[:2] = end[:2] - then[:2]
        res[2:] = then[4:] - 5 / 7 * then[2:4] - self.through * (end[4:] - 5 / 7 * end[2:4])
        jac = np.zeros((4, 16, n))
        jac[:2] = ends[:2]
        jac[0, 10] -= 1.0
        jac[1, 11] -= 1.0
        jac[2:] = -self.through * (ends[4:] - 5 / 7 * ends[2:4])
        jac[2, 12] -= 5 / 7
        jac[3, 13] -= 5 / 7
        jac[2, 14] += 1.0
        jac[3, 15] += 1.0
        sigma = np.empty((4, n))
        sigma[:2], sigma[2:] = JOIN, loose
        d_speed = (end[2] * ends[2] + end[3] * ends[3]) / np.maximum(speed, SLOW)
        d_speed[12:14] += then[2:4] / np.maximum(speed_then, SLOW)
        spread = [_spread(res[2:], sigma[2:], np.stack([grows, grows]), d_speed, 0.5)]
        cost = self._add(1, res, jac, sigma, spread) + 2 * float(np.log(loose / 0.05).sum())
        if len(self.contact_sides):
            cost += self._contacts(end, ends, then)
        if len(self.wall_sides):
            cost += self._walls(end, ends, then)
        return cost

    def _contacts(self, end: Floats, ends: Floats, then: Floats) -> float:
        """Contacts of two balls: a diameter apart, momentum kept, the push along the line of centres, and how fast they part."""
        a, b = self.contact_sides[:, 0], self.contact_sides[:, 1]
        n = len(a)
        line = then[:2, b] - then[:2, a]
        length = np.maximum(np.hypot(line[0], line[1]), 1e-6)
        ax, ay = line / length
        sx, sy = -ay, ax  # across the line
        before_a, before_b = end[2:4, a], end[2:4, b]
        after_a, after_b = then[2:4, a], then[2:4, b]
        push = 0.5 * ((after_b - before_b) - (after_a - before_a))
        parting = after_b - after_a + RESTITUTION * (before_b - before_a)
        along = ax * push[0] + ay * push[1]
        across = sx * push[0] + sy * push[1]
        aside = sx * parting[0] + sy * parting[1]
        res = np.empty((5, n))
        res[0] = length - 2 * self.radius
        res[1:3] = after_a + after_b - before_a - before_b
        res[3], res[4] = across, ax * parting[0] + ay * parting[1]
        size = np.hypot(push[0], push[1])
        jac = np.zeros((5, 32, n))
        d_size = np.zeros((32, n))
        px, py = push / np.maximum(size, SLOW)
        for half, sign, side in ((jac[:, :16], -1.0, a), (jac[:, 16:], 1.0, b)):
            ex, ey = ends[2:4, :, side]
            half[0, 10], half[0, 11] = sign * ax, sign * ay
            half[1], half[2] = -ex, -ey
            half[1, 12] += 1.0
            half[2, 13] += 1.0
            turn = d_size[:16] if sign < 0 else d_size[16:]
            turn[:] = -0.5 * sign * (px * ex + py * ey)
            turn[12] += 0.5 * sign * px
            turn[13] += 0.5 * sign * py
            half[3] = -0.5 * sign * (sx * ex + sy * ey)
            half[4] = RESTITUTION * sign * (ax * ex + ay * ey)
            half[3, 12] += 0.5 * sign * sx
            half[3, 13] += 0.5 * sign * sy
            half[4, 12] += sign * ax
            half[4, 13] += sign * ay
            # the line turns as the balls' places shift across it
            for row, lever in ((3, -along / length), (4, aside / length)):
                half[row, 10] += sign * lever * sx
                half[row, 11] += sign * lever * sy
        grows = np.tile(PUSH_GROWS, (1, n))
        grows[:, self.shared] = 0.0
        sigma = np.concatenate([np.full((1, n), DIAMETER), grows * size + PUSH_LOOSE])
        sigma[1:, self.shared] = SHARED
        spread = [_spread(res[1:], sigma[1:], grows, d_size, 1.0)]
        return self._add(2, res, jac, sigma, spread) + 2 * float(np.log(sigma[1:, ~self.shared] / 0.02).sum())

    def _walls(self, end: Floats, ends: Floats, then: Floats) -> float:
        """Cushions: the ball a radius from the nose line, and how it comes back."""
        s = self.wall_sides
        n = len(s)
        i = np.arange(n)
        axis = self.walls[:, 0].astype(int)
        other = 1 - axis
        inward = np.abs(end[2 + axis, s])
        along = np.abs(end[2 + other, s])
        res = np.stack(
            [
                then[axis, s] - self.walls[:, 1],
                then[2 + axis, s] + CUSHION * end[2 + axis, s],
                then[2 + other, s] - ALONG * end[2 + other, s],
            ]
        )
        jac = np.zeros((3, 16, n))
        jac[0, 10 + axis, i] = 1.0
        jac[1] = CUSHION * ends[2 + axis, :, s].T
        jac[1, 12 + axis, i] += 1.0
        jac[2] = -ALONG * ends[2 + other, :, s].T
        jac[2, 12 + other, i] += 1.0
        sigma = np.stack([np.full(n, NOSE), 0.2 * inward + 0.02, 0.12 * along + 0.2 * inward + 0.02])
        d_inward = np.sign(end[2 + axis, s]) * ends[2 + axis, :, s].T
        d_along = np.sign(end[2 + other, s]) * ends[2 + other, :, s].T
        one = np.ones((1, n))
        spread = [
            _spread(res[1:2], sigma[1:2], one, 0.2 * d_inward, 1.0),
            _spread(res[2:], sigma[2:], one, 0.12 * d_along + 0.2 * d_inward, 1.0),
        ]
        return self._add(3, res, jac, sigma, spread) + 2 * float(np.log(sigma[1:] / 0.05).sum())

    def _priors(self, x: Floats, arcs: Floats) -> float:
        off = x - self.centre
        self.normal.add_diagonal(self.firmness, off * self.firmness)
        cost = float(np.vdot(off, off * self.firmness))
        if len(self.begun_arcs):
            begun = arcs[self.begun_arcs].T
            speed = np.hypot(begun[2], begun[3])
            wide = 0.15 * speed + 0.05
            jac = np.zeros((2, 4, len(wide)))
            jac[0, 0] = jac[1, 1] = -0.95
            jac[0, 2] = jac[1, 3] = 1.0
            res, sigma = begun[4:] - 0.95 * begun[2:4], np.stack([wide, wide])
            d_speed = np.zeros((4, len(wide)))
            d_speed[:2] = begun[2:4] / np.maximum(speed, SLOW)
            cost += self._add(4, res, jac, sigma, [_spread(res, sigma, np.full(sigma.shape, 0.15), d_speed, 0.0)])
        return cost


def _spread(res: Floats, sigma: Floats, grows: Floats, slope: Floats, share: float) -> tuple[Floats, Floats]:
    """What sigmas that grow with a speed add to the step: without it the step would be blind to that a slower ball is held tighter.

    Parameters
    ----------
    res, sigma, grows : (q, n) residuals, their sigmas, and how sigma grows with the speed.
    slope : (c, n) derivative of that speed.
    share : of twice the logarithm of each sigma that the cost counts.

    Returns
    -------
    One residual more, (n,), and its derivatives (c, n): the gradient is exact, the curvature is the expected one.
    """
    rate = grows / sigma
    pull = ((share - (res / sigma) ** 2) * rate).sum(axis=0)
    root = np.sqrt(2 * (rate * rate).sum(axis=0))
    return np.where(root > 0, pull / np.maximum(root, TINY), 0.0), root * slope


def _roots(cov: Floats) -> tuple[Floats, Floats]:
    """(3, n) upper root of the inverse of covariances (n, 2, 2), which whitens a residual, and (n,) the logarithms of their determinants,
    1e-12 m^4 being 0."""
    a, b, c = cov[:, 0, 0], 0.5 * (cov[:, 0, 1] + cov[:, 1, 0]), cov[:, 1, 1]
    det = a * c - b * b
    first = np.sqrt(c / det)
    # inverse = [[c, -b], [-b, a]] / det; its root R = [[r0, r1], [0, r2]] with inverse = R' R
    return np.stack([first, -b / det / first, 1 / np.sqrt(c)]), np.asarray(np.log(det / 1e-12))
