"""A shot read before it is over: what its end finds need only be carried on.

A break takes longest to read and lasts long, so that most of it can be read while the last balls roll out. The reading at the end is
made from all looks as ever; it only begins where the draft left off instead of from nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import numpy as np

from tracking.joint import Fit, Kink
from tracking.looks import Looks
from tracking.observations import Floats

Row = tuple[str, tuple[int, ...], float]  # an impact told briefly: kind, tracks, time in seconds
LOOSE_S = 0.12  # of a draft's end is left open: what happened then was only half seen


def row_of(kink: Kink) -> Row:
    return kink.kind, kink.balls, kink.t_s


def among(kink: Kink, rows: Iterable[Row], within_s: float) -> bool:
    """Whether an impact, give or take some time, is one of these."""
    return any(k == kink.kind and b == kink.balls and abs(t - kink.t_s) < within_s for k, b, t in rows)


@dataclass(frozen=True, slots=True)
class Draft:
    """A fit of the looks (by track, unwidened) up to ``until_s``, the impacts that were tried on it in vain, and those
    that it seemed to do as well without, and did not."""

    looks: Mapping[int, Looks]
    fit: Fit
    refused: tuple[Row, ...]
    needed: tuple[Row, ...]
    until_s: float

    @property
    def settled_s(self) -> float:
        """Up to when the draft's impacts are kept, seconds."""
        return self.until_s - LOOSE_S

    def holds(self, looks: Mapping[int, Looks]) -> bool:
        """Whether these looks go on from the draft's: tracks may have been joined or exchanged since, or balls found that it had not."""
        for track, seen in looks.items():
            now = seen.times <= self.until_s
            known = self.looks.get(track)
            if known is None:
                if now.any():
                    return False
            elif not np.array_equal(seen.times[now], known.times) or not np.array_equal(seen.xy[now], known.xy):
                return False
        return all(track in looks for track in self.looks)

    def carried_on(self, kinks: list[Kink]) -> list[Kink]:
        """The draft's impacts, then those of ``kinks`` that come after."""
        kept = [k for k in self.fit.kinks if k.t_s <= self.settled_s]
        return kept + [k for k in kinks if k.t_s > self.settled_s]

    def arcs(self, ball: int) -> Floats:
        """(n, 6) a ball's arcs as far as they are kept; the last goes on. None of a ball that the draft saw at rest."""
        path = self.fit.paths.get(ball)
        if path is None:
            return np.zeros((0, 6))
        kept = sum(self.fit.kinks[k].t_s <= self.settled_s for k in self.fit.kinks_of(ball))
        return path.arcs[: kept + 1]
