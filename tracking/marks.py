"""Remembers where something faint is seen that no known ball accounts for: a mark on the cloth, or a ball that hangs in the jaws."""

from __future__ import annotations

import numpy as np

from tracking.observations import Bools, Floats

REACH_M = 0.012  # two faint looks nearer to each other are of one thing
ENOUGH = 4  # looks that make it a thing
MOST = 64
KEPT = 8  # looks of each that are kept

Look = tuple[float, float, float, float, float, float]


class Marks:
    """Faint things by place, with how often each was seen."""

    def __init__(self) -> None:
        self._at = np.zeros((0, 2))
        self._looks: list[list[Look]] = []
        self._evidence: list[Floats] = []
        self._often = np.zeros(0, dtype=np.intp)

    def known(self, xy: Floats) -> Bools:
        """(n,) whether each place is one of them."""
        often = self._at[self._often >= ENOUGH]
        if not len(often) or not len(xy):
            return np.zeros(len(xy), dtype=np.bool_)
        return np.asarray((np.hypot(*(xy[:, None] - often[None]).transpose(2, 0, 1)) < REACH_M).any(axis=1))

    def add(self, t_s: float, xy: Floats, cov: Floats, evidence: Floats) -> list[tuple[list[Look], Floats]]:
        """Count faint looks (n, 2) with covariances and evidence; those things that have just been seen often enough.

        Each comes as its rows ``t, x, y, cxx, cxy, cyy`` and the mean evidence (16,).
        """
        ripe = []
        for place, c, e in zip(xy, cov, evidence, strict=True):
            row: Look = (t_s, float(place[0]), float(place[1]), float(c[0, 0]), float(c[0, 1]), float(c[1, 1]))
            gap = np.hypot(*(self._at - place).T)
            if len(gap) and gap.min() < REACH_M:
                k = int(np.argmin(gap))
                self._often[k] += 1
                self._evidence[k] = self._evidence[k] + e
                self._looks[k] = [*self._looks[k], row][:KEPT]
                if self._often[k] == ENOUGH:
                    ripe.append((self._looks[k], self._evidence[k] / ENOUGH))
                continue
            if len(self._at) >= MOST:
                self._forget()
            self._at = np.vstack([self._at, place])
            self._often = np.append(self._often, 1)
            self._looks.append([row])
            self._evidence.append(e)
        return ripe

    def _forget(self) -> None:
        """Leave out the half that was seen least often."""
        keep = np.argsort(-self._often, kind="stable")[: MOST // 2]
        self._at, self._often = self._at[keep], self._often[keep]
        self._looks = [self._looks[k] for k in keep]
        self._evidence = [self._evidence[k] for k in keep]
