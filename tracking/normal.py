"""Normal equations whose pattern does not change from step to step: summed and solved as a band with a border.

Unknowns that belong to impacts near in time meet in the same equations, so in a good order (Cuthill and McKee 1969) all entries lie near
the diagonal: factoring costs the square of the band's width, not of the number of unknowns. The last unknowns (frictions) meet all
others and stand in a border that is solved for by its Schur complement.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
from scipy.linalg.lapack import dpbtrf, dpbtrs
from scipy.sparse import coo_array
from scipy.sparse.csgraph import reverse_cuthill_mckee

from tracking.observations import Floats

Ints = npt.NDArray[np.intp]
FEW = 60  # unknowns under which an order is not worth looking for
FAINT = 1e-13  # of the diagonal, added where rounding has taken a matrix's definiteness
VAGUE = 1.0  # s², (m/s)²: so little is known that it may be said in a result, and no order follows from it
LOUD = 1e-5  # of the diagonal: what needs more has no covariance to speak of


class NotDefinite(ValueError):
    """The matrix has no Cholesky factor."""


class Normal:
    """Sums blocks into a symmetric matrix and a gradient, and solves.

    Parameters
    ----------
    size : unknowns.
    border : how many of them, the last, meet all others.
    groups : for each kind of equation (n, c) the unknowns of its n blocks; ``size`` stands for no unknown.
    """

    def __init__(self, size: int, border: int, groups: Sequence[Ints]) -> None:
        self.size, self.border = size, border
        self.inner = m = size - border
        place = np.empty(size + 1, dtype=np.intp)
        order = _order(m, groups) if m > FEW else np.arange(m)
        place[order] = np.arange(m)
        place[m:] = np.arange(m, size + 1)
        self.order, self.place = order, place
        pairs = []
        wide = 0
        for columns in groups:
            at = place[columns]
            i, j = np.broadcast_arrays(at[:, :, None], at[:, None, :])
            used = np.flatnonzero((i >= j) & (i < size))
            i, j = i.ravel()[used], j.ravel()[used]
            within = i < m
            wide = max(wide, int((i[within] - j[within]).max(initial=0)))
            pairs.append((used, i, j, within))
        self.width = wide
        self._rim = (wide + 1) * m  # where the border begins in the store: rows of it, then its own corner
        self._corner = self._rim + border * m
        self._length = self._corner + border * border
        self._slots: list[tuple[Ints, Ints]] = []
        for used, i, j, within in pairs:
            # LAPACK's lower band, column by column: entry (i, j) at [j, i - j]
            slot = np.where(within, j * (wide + 1) + i - j, 0)
            edge = ~within & (j < m)
            slot[edge] = self._rim + (i[edge] - m) * m + j[edge]
            corner = ~within & (j >= m)
            slot[corner] = self._corner + (i[corner] - m) * border + j[corner] - m
            self._slots.append((used, slot))
        self._columns = [g.ravel() for g in groups]
        at = place[:size]
        self._diagonal = np.where(at < m, at * (wide + 1), self._corner + (at - m) * (border + 1))
        self.clear()

    def clear(self) -> None:
        """Begin a new sum."""
        self.store = np.zeros(self._length)
        self.gradient = np.zeros(self.size + 1)

    def add(self, group: int, blocks: Floats, gradients: Floats) -> None:
        """Add blocks (n, c, c) and gradients (n, c) of one kind of equation."""
        used, slot = self._slots[group]
        np.add.at(self.store, slot, blocks.ravel()[used])
        np.add.at(self.gradient, self._columns[group], gradients.ravel())

    def add_diagonal(self, value: Floats, gradient: Floats) -> None:
        """Add (size,) to the diagonal and to the gradient."""
        self.store[self._diagonal] += value
        self.gradient[:-1] += gradient

    def taken(self) -> System:
        """What was summed, for steps from here; the next sum begins anew."""
        system = System(self, self.store, self.gradient[:-1])
        self.clear()
        return system


class System:
    """One sum of `Normal`: its gradient (size,), damped steps, and covariances."""

    def __init__(self, layout: Normal, store: Floats, gradient: Floats) -> None:
        self._layout, self.gradient = layout, gradient
        m, k = layout.inner, layout.border
        self._band = store[: layout._rim].reshape(m, layout.width + 1).T  # Fortran order, as LAPACK has it
        self._rim = store[layout._rim : layout._corner].reshape(k, m)
        corner = store[layout._corner :].reshape(k, k)
        self._corner = np.tril(corner) + np.tril(corner, -1).T

    def step(self, damp: float) -> Floats:
        """(size,) the step of a Levenberg-Marquardt iteration.

        Raises
        ------
        NotDefinite
            Where it needs more damping.
        """
        out = np.empty(self._layout.size)
        inner, outer = self._solve(self._factored(damp), -self._split(self.gradient)[:, None])
        out[self._layout.order] = inner[:, 0]
        out[self._layout.inner :] = outer[:, 0]
        return out

    def covariance(self, index: Ints) -> Floats:
        """(size, n) columns ``index`` (n,) of the inverse; where there is none, variances of ``VAGUE`` and nothing shared."""
        unit = np.zeros((self._layout.size, len(index)))
        unit[self._layout.place[index], np.arange(len(index))] = 1.0
        damp = 0.0
        while True:
            try:
                inner, outer = self._solve(self._factored(damp), unit)
                break
            except NotDefinite:
                damp = max(10 * damp, FAINT)
                if damp > LOUD:
                    vague = np.zeros_like(unit)
                    vague[index, np.arange(len(index))] = VAGUE
                    return vague
        out = np.empty_like(unit)
        out[self._layout.order] = inner
        out[self._layout.inner :] = outer
        return out

    def _split(self, value: Floats) -> Floats:
        """(size,) in the order of the band, the border behind it."""
        return np.concatenate([value[self._layout.order], value[self._layout.inner :]])

    def _factored(self, damp: float) -> tuple[Floats, Floats, Floats]:
        """The band's factor, the border run through it, and the border's own factor."""
        band = self._band.copy(order="F")
        band[0] += damp * (band[0] + 1e-9)
        factor, info = dpbtrf(band, lower=1, overwrite_ab=1) if band.size else (band, 0)
        if info:
            raise NotDefinite
        corner = self._corner + np.diag(damp * (np.diag(self._corner) + 1e-9))
        through = _behind(factor, self._rim.T)
        rest = corner - self._rim @ through
        try:
            np.linalg.cholesky(rest)
        except np.linalg.LinAlgError:
            raise NotDefinite from None
        return factor, through, rest

    def _solve(self, factored: tuple[Floats, Floats, Floats], right: Floats) -> tuple[Floats, Floats]:
        factor, through, rest = factored
        m = self._layout.inner
        first = _behind(factor, right[:m])
        outer = np.asarray(np.linalg.solve(rest, right[m:] - self._rim @ first), dtype=np.float64)
        return first - through @ outer, outer


def _behind(factor: Floats, right: Floats) -> Floats:
    """The band's inverse times ``right`` (n, k); LAPACK knows no empty matrices."""
    return np.asarray(dpbtrs(factor, right, lower=1)[0]) if right.size else np.zeros(right.shape)


def _order(m: int, groups: Sequence[Ints]) -> Ints:
    """(m,) an order of unknowns in which those that meet are near each other."""
    rows, columns = [], []
    for group in groups:
        i, j = np.broadcast_arrays(group[:, :, None], group[:, None, :])
        good = (i < m) & (j < m)
        rows.append(i[good])
        columns.append(j[good])
    i, j = np.concatenate(rows), np.concatenate(columns)
    graph = coo_array((np.ones(len(i), dtype=np.int8), (i, j)), shape=(m, m)).tocsr()
    return np.asarray(reverse_cuthill_mckee(graph, symmetric_mode=True), dtype=np.intp)
