"""Balls that leave late or otherwise: off the table over a rail, hanging in the jaws, behind something that hides the mouth."""

from __future__ import annotations

import math
from collections import deque

import numpy as np

from calibration.table import Table
from tracking.events import POCKETS, PocketName
from tracking.joint import sample
from tracking.observations import Floats, Observation
from tracking.pockets import Drop, mouth_gap
from tracking.reconstruct import Reading

HANG_S = 5.0  # the rules' time in which a ball that hangs may still drop (8.3)
OVERHANG_M = (
    0.012  # a ball this much farther from the opening than its own radius may still be over its edge: places err
)
BEYOND_M = 0.015  # metres a centre must be seen beyond the noses to have gone over the rail
SHORT_S = 0.5  # a mouth watched no longer than this after a ball vanished says less
COVERED = (
    0.45  # probability of a drop into a mouth that something has covered ever since: the ball itself may hang there
)
UNHIDDEN = 0.6  # share of the looks in which the mouth must be covered


def hangs(place: Floats, table: Table) -> bool:
    """Whether a ball at rest at ``place`` (2,) overhangs a pocket's edge and may yet drop."""
    return mouth_gap(place, table) < table.ball_radius + OVERHANG_M


def pocket_at(place: Floats, table: Table) -> PocketName:
    """Name of the pocket nearest to a place (2,)."""
    return min(POCKETS, key=lambda name: math.dist(place, table.pockets[name].centre))


def left_table(reading: Reading, ball: int, table: Table) -> Drop | None:
    """A ball over a rail: last seen beyond the noses or about to be, away from every mouth, and not seen again."""
    looks = reading.looks[ball]
    if not len(looks.times) or mouth_gap(looks.xy[-1], table) < 2 * table.ball_radius:
        return None
    last_s, place = float(looks.times[-1]), looks.xy[-1]
    v = sample(reading.fit, ball, np.array([last_s]))[1][0] if ball in reading.fit.paths else np.zeros(2)
    low = np.array([0.0, 0.0])
    high = np.array([table.width_m, table.length_m])
    beyond = float(np.max(np.maximum(low - place, place - high)))
    outward = float(np.max(np.where(place < low, -v, np.where(place > high, v, -np.inf))))
    noise = float(np.sqrt(np.trace(looks.cov[-1]) / 2))
    if beyond > max(BEYOND_M, 4 * noise):
        return Drop(last_s, 2 * reading.frame_s, None, 0.93 if outward > 0.2 else 0.8)
    soon = place + 1.5 * reading.frame_s * v
    over = float(np.max(np.maximum(low - soon, soon - high)))
    if over > 0 and float(np.hypot(*v)) > 0.8:
        return Drop(last_s + reading.frame_s, 2 * reading.frame_s, None, 0.6)
    return None


class Mouths:
    """What hid the pockets' mouths lately: a ball that nobody sees any more may lie behind it."""

    KEPT_S = 70.0

    def __init__(self, table: Table) -> None:
        self._table = table
        self._at = np.array([np.mean([*table.pockets[n].points, table.pockets[n].centre], axis=0) for n in POCKETS])
        self._rows: deque[tuple[float, tuple[bool, ...]]] = deque()

    def push(self, seen: Observation) -> None:
        """Remember which mouths this look shows covered."""
        if not seen.hidden.size:
            return
        rows, cols = seen.hidden.shape
        i = np.clip((self._at[:, 1] / self._table.length_m * rows).astype(int), 0, rows - 1)
        j = np.clip((self._at[:, 0] / self._table.width_m * cols).astype(int), 0, cols - 1)
        self._rows.append((seen.t_s, tuple(bool(h) for h in seen.hidden[i, j])))
        while seen.t_s - self._rows[0][0] > self.KEPT_S:
            self._rows.popleft()

    def covered_since(self, pocket: str, t_s: float) -> bool:
        """Whether a mouth that was clear before ``t_s`` has been covered most of the time since."""
        k = POCKETS.index(pocket)
        before = [row[k] for t, row in self._rows if t_s - 1.0 < t < t_s - 0.1]
        since = [row[k] for t, row in self._rows if t > t_s + 0.05]
        clear = not before or np.mean(before) < 1 - UNHIDDEN
        return bool(len(since) >= 4 and np.mean(since) > UNHIDDEN and clear)


def doubted(drop: Drop, mouths: Mouths, watched_s: float) -> Drop:
    """A drop with the probability that is left where the mouth was covered ever since, or watched for a moment only."""
    p = drop.p
    if drop.pocket is not None and mouths.covered_since(drop.pocket, drop.t_s):
        p = min(p, COVERED)
    elif watched_s < SHORT_S:
        p = min(p, 0.9)
    return Drop(drop.t_s, drop.sigma_s, drop.pocket, p, drop.hung_s)
