"""Whether any ball moves, told from a few looks without following anything: decides how often to look."""

from __future__ import annotations

from collections import deque

import numpy as np

from calibration.table import Table
from tracking.observations import Bools, Floats, Observation

REST_S = 0.35  # nothing displaced for so long: all balls lie still
LEAST_M = 0.002  # displacements smaller than this are noise, or a ball that has all but stopped
SIGMAS = 5.0
SURE = 0.5  # score from which a ball that comes or goes counts


class Stillness:
    """Compares each look with the one some time before it.

    Slow balls are caught because the comparison reaches back ``REST_S``, not one frame.
    """

    def __init__(self, table: Table) -> None:
        self._table = table
        self._looks: deque[Observation] = deque()
        self._disturbed_s = -np.inf
        self.moving = False

    def push(self, seen: Observation) -> bool:
        """Take in a look; True where a ball moved, came or went since the looks before it."""
        while len(self._looks) > 1 and seen.t_s - self._looks[1].t_s >= REST_S:
            self._looks.popleft()
        disturbed = any(displaced(before, seen, self._table) for before in {id(o): o for o in self._ends()}.values())
        self._looks.append(seen)
        if disturbed:
            self._disturbed_s = seen.t_s
        self.moving = seen.t_s - self._disturbed_s < REST_S
        return disturbed

    def _ends(self) -> list[Observation]:
        return [self._looks[0], self._looks[-1]] if self._looks else []


def displaced(before: Observation, after: Observation, table: Table) -> bool:
    """Whether a ball of one look lies elsewhere in the other, beyond noise, and nothing hides where it would be."""
    return bool(_missing(before, after, table).any() or _missing(after, before, table).any())


def _missing(these: Observation, those: Observation, table: Table) -> Bools:
    """(n,) sure balls of ``these`` that ``those`` do not have at the same place, though it was open to view."""
    sure = these.score >= SURE
    if not len(these):
        return np.zeros(0, dtype=np.bool_)
    open_view = ~_hidden_at(those, these.xy, table)
    if not len(those):
        return np.asarray(sure & open_view, dtype=np.bool_)
    gaps = np.linalg.norm(these.xy[:, None] - those.xy[None], axis=2)
    nearest = gaps.argmin(axis=1)
    noise = np.trace(these.cov, axis1=1, axis2=2) + np.trace(those.cov, axis1=1, axis2=2)[nearest]
    limit = np.maximum(LEAST_M, SIGMAS * np.sqrt(noise / 2))
    return np.asarray(sure & open_view & (gaps.min(axis=1) > limit), dtype=np.bool_)


def _hidden_at(look: Observation, xy: Floats, table: Table) -> Bools:
    """(n,) whether the cell at each place is hidden in ``look``; cells span the playing surface in equal steps."""
    rows, cols = look.hidden.shape
    if not rows:
        return np.zeros(len(xy), dtype=np.bool_)
    col = np.clip((xy[:, 0] / table.width_m * cols).astype(np.int64), 0, cols - 1)
    row = np.clip((xy[:, 1] / table.length_m * rows).astype(np.int64), 0, rows - 1)
    return np.asarray(look.hidden[row, col], dtype=np.bool_)
