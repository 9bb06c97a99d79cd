"""Live: observations in, finished shots with numbers out."""

from __future__ import annotations

from calibration.table import Table
from tracking.live import Recorder
from tracking.observations import Observation
from tracking.shots import RawShot, SeenShot, name_shot


class ShotWatcher:
    """Live: push observations, get finished shots.

    >>> watcher = ShotWatcher(table)                      # doctest: +SKIP
    >>> for observation in stream:                        # doctest: +SKIP
    ...     for seen in watcher.push(observation): judge(seen.shot)
    """

    def __init__(self, table: Table, *, game_balls: list[int] | None = None) -> None:
        self.table, self.game_balls = table, game_balls
        self.recorder = Recorder(table)
        self.count = 0

    @property
    def moving(self) -> bool:
        """Whether a shot may still be going on: a ball moves, or hangs where it may yet drop."""
        return self.recorder.moving

    def push(self, observation: Observation) -> list[SeenShot]:
        """Take in one observation; shots that ended with it."""
        return self._name(self.recorder.push(observation))

    def draft(self, takes_s: float = 0.0) -> bool:
        """Read a long shot as far as it has come, so that its end is read sooner; for when no look waits (`Recorder.draft`)."""
        return self.recorder.draft(takes_s)

    def flush(self) -> list[SeenShot]:
        """The shot that the end of the stream cuts off."""
        return self._name(self.recorder.flush())

    def _name(self, raws: list[RawShot]) -> list[SeenShot]:
        out = []
        for raw in raws:
            self.count += 1
            names = self.recorder.identities(self.game_balls)
            out.append(name_shot(raw, self.count, names.number, names.p, self.table))
        return out
