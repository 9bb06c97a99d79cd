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

    def within(self, begin_s: float, end_s: float, rest: Floats | None) -> Looks:
        """The looks of a while, with the place where the ball lay before it (None: it moved)."""
        on = (self.times >= begin_s) & (self.times <= end_s)
        return Looks(self.track, self.times[on], self.xy[on], self.cov[on], rest)
