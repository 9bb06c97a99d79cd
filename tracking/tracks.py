"""A ball's history as it is followed from look to look, and what is known of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from tracking.observations import Floats


class Status(Enum):
    """What the tracker knows of a ball."""

    TENTATIVE = "tentative"  # seen once or twice
    RESTING = "resting"
    MOVING = "moving"
    LOST = "lost"  # moved, then was not seen any more: pocketed, off the table or hidden
    GONE = "gone"  # rested, then was not there any more


@dataclass(slots=True)
class Track:
    """One ball's history. ``looks`` holds rows ``t, x, y, cxx, cxy, cyy``; ``rest`` is the mean of its resting place."""

    id: int
    mean: Floats
    cov: Floats
    status: Status
    seen_s: float
    born_s: float
    rest: Floats
    rest_looks: int = 1
    hits: int = 1
    misses: int = 0
    missed_s: float = -1.0  # the first look that missed it, if the last did
    flown: int = 0  # looks since it left its resting place
    moved_s: float = -1.0
    pending: list[tuple[float, float, float]] = field(default_factory=list)
    looks: list[tuple[float, float, float, float, float, float]] = field(default_factory=list)
    evidence: Floats = field(default_factory=lambda: np.zeros(16))
    looked: float = 0.0  # how many independent looks the evidence is worth
    seen_as: list[tuple[float, Floats]] = field(default_factory=list)  # when and what each look adds to the evidence

    def arrays(self, since_s: float = -np.inf) -> tuple[Floats, Floats, Floats]:
        """Times (k,), places (k, 2) and covariances (k, 2, 2) of the looks since ``since_s``."""
        a = np.array([look for look in self.looks if look[0] >= since_s]).reshape(-1, 6)
        return a[:, 0], a[:, 1:3], a[:, [3, 4, 4, 5]].reshape(-1, 2, 2)
