"""One track's looks in a stretch of motion."""

from __future__ import annotations

from dataclasses import dataclass

from tracking.observations import Floats


@dataclass(frozen=True, slots=True)
class Looks:
    """One track's looks in a shot: times (k,), places (k, 2), covariances (k, 2, 2); ``rest`` its place before, if it rested."""

    track: int
    times: Floats
    xy: Floats
    cov: Floats
    rest: Floats | None
