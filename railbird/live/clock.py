"""The shot clock of Regulation 18: starts when the balls are at rest, warns at ten seconds, one extension a rack."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass
class ShotClock:
    """Time for the shot that is due. All times are ``time.monotonic`` seconds, given by the caller.

    Parameters
    ----------
    limit_s : seconds a shot may take, ``None`` where no clock is used.
    call_left_s : seconds left at which the time is called.
    extension_s : seconds an extension adds.
    """

    limit_s: float | None = None
    call_left_s: float = 10.0
    extension_s: float = 25.0
    extended: bool = False
    _since: float | None = None
    _used: float = 0.0
    _told: set[str] = field(default_factory=set)

    def start(self, now: float) -> None:
        """Begin anew: the balls are at rest."""
        self._since, self._used, self.extended = now, 0.0, False
        self._told.clear()

    def hold(self, now: float) -> None:
        """Stand still: time-out, or the picture is gone."""
        if self._since is not None:
            self._used, self._since = self.used(now), None

    def go_on(self, now: float) -> None:
        if self._since is None:
            self._since = now

    def stop(self, now: float) -> float | None:
        """The shot has begun; seconds it took, ``None`` where no clock ran."""
        used = self.used(now) if self.limit_s is not None and (self._since is not None or self._used) else None
        self._since, self._used = None, 0.0
        return used

    def extend(self) -> None:
        self.extended = True
        self._told.discard("call")

    def used(self, now: float) -> float:
        return self._used + (now - self._since if self._since is not None else 0.0)

    def left(self, now: float) -> float | None:
        """Seconds left, ``None`` where no clock is used or it does not apply now."""
        if self.limit_s is None or (self._since is None and not self._used):
            return None
        return self.limit_s + (self.extension_s if self.extended else 0.0) - self.used(now)

    def due(self, now: float) -> str | None:
        """``call`` once when ten seconds are left, ``over`` once when time is up."""
        left = self.left(now)
        if left is None or self._since is None:
            return None
        for name, at in (("over", 0.0), ("call", self.call_left_s)):
            if left <= at and name not in self._told:
                self._told |= {name, "call"}
                return name
        return None

    def view(self, now: float) -> dict[str, object] | None:
        """For pages: seconds left and whether they run."""
        left = self.left(now)
        if left is None:
            return None
        return {"left_s": round(left, 2), "runs": self._since is not None, "extended": self.extended}
