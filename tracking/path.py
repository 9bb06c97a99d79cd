"""What a reading of a shot is made of: the balls' paths, and the instants at which they bend."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from tracking.observations import Floats

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


def causeless(kinks: Iterable[Kink], paths: Mapping[int, Path]) -> list[Kink]:
    """The kinks all of whose balls lay at rest until then, so that nothing can have brought them about."""
    met: set[int] = set()
    out = []
    for kink in sorted(kinks, key=lambda k: k.t_s):
        if all(b in paths and paths[b].resting and b not in met for b in kink.balls):
            out.append(kink)
        met |= set(kink.balls)
    return out
